//! The float model, and its plain forward pass: the statement of what the fast passes approximate.

use super::activation::Activation;
use super::dense::Dense;
use super::features::Active;
use super::quantised::HIDDEN;
use super::transformer::{self, Table};
use crate::util::rng::SplitMix64;

/// All parameters. Activations of 1.0 stand for 127 in the integer net, an output of 1.0 for 600 engine units.
pub struct Model {
    /// Real and factor rows of the feature transformer.
    pub transformer: Table,
    /// Everything else.
    pub dense: Dense,
    /// What becomes of the accumulators.
    pub activation: Activation,
}

impl Model {
    /// A fresh model of width `l1` with clipped ReLUs, factor rows uniform within `span`.
    pub fn initial(rng: &mut SplitMix64, l1: usize, span: f32) -> Self {
        Self {
            transformer: transformer::initial(rng, l1, span),
            dense: Dense::initial(rng, l1),
            activation: Activation::Crelu,
        }
    }

    /// Width of one perspective's accumulator.
    pub fn l1(&self) -> usize {
        self.dense.l1()
    }

    /// A row of the transformer as the engine will see it: real plus factor.
    pub fn row(&self, piece_row: usize, king: usize) -> impl Iterator<Item = f32> + '_ {
        transformer::folded(&self.transformer, self.l1(), piece_row, king)
    }

    /// The net's output, side to move's view, without any rounding but that of the floats.
    pub fn output(&self, active: &Active) -> f32 {
        self.sums(active).output
    }

    /// The sums of the layers after the transformer.
    pub fn sums(&self, active: &Active) -> Sums {
        let mut inputs = self.accumulator(active.side(0));
        inputs.extend(self.accumulator(active.side(1)));
        let dense = &self.dense;
        let hidden1 = affine(&dense.l1_weight, &dense.l1_bias, &inputs);
        let hidden2 = affine(&dense.l2_weight, &dense.l2_bias, &clipped(hidden1));
        let [output] = affine(&dense.output_weight, &dense.output_bias, &clipped(hidden2));
        Sums {
            hidden1,
            hidden2,
            output,
        }
    }

    /// One perspective's accumulator, activated.
    fn accumulator(&self, rows: &[u16]) -> Vec<f32> {
        let mut sums = self.dense.transformer_bias.clone();
        for &row in rows {
            let (piece_row, king) = (usize::from(row >> 6), usize::from(row & 63));
            for (sum, weight) in sums.iter_mut().zip(self.row(piece_row, king)) {
                *sum += weight;
            }
        }
        sums.iter_mut()
            .for_each(|sum| *sum = self.activation.of(*sum));
        sums
    }
}

/// What the layers after the transformer say of a position, before clipping.
#[derive(Clone, Copy, Debug)]
pub struct Sums {
    /// First hidden layer.
    pub hidden1: [f32; HIDDEN],
    /// Second hidden layer.
    pub hidden2: [f32; HIDDEN],
    /// The net's output.
    pub output: f32,
}

fn affine<const OUTPUTS: usize>(weights: &[f32], bias: &[f32], inputs: &[f32]) -> [f32; OUTPUTS] {
    let dot = |row: &[f32]| -> f32 { row.iter().zip(inputs).map(|(w, x)| w * x).sum() };
    let mut rows = weights.chunks_exact(inputs.len());
    std::array::from_fn(|output| bias[output] + rows.next().map_or(0.0, dot))
}

fn clipped(sums: [f32; HIDDEN]) -> [f32; HIDDEN] {
    sums.map(|sum| sum.clamp(0.0, 1.0))
}
