//! The float model, and its plain forward pass: the specification that the fast ones of a step approximate.

pub(super) mod average;
pub(super) mod dense;
pub(super) mod scales;
pub(super) mod shapes;
pub(super) mod transformer;

use dense::DenseParameters;
use scales::HIDDEN;
use transformer::Table;

use super::samples::active::Active;
use crate::data::Record;
use crate::nnue::{Activation, Architecture};
use crate::util::rng::SplitMix64;

/// All parameters. Activations of 1.0 stand for 127 in the integer net, an output of 1.0 for 600 engine units.
pub(super) struct Model {
    /// Its shape.
    pub architecture: Architecture,
    /// Real and factor rows of the feature transformer.
    pub transformer: Table,
    /// Everything else.
    pub dense: DenseParameters,
}

impl Model {
    /// A fresh model, factor rows uniform within `span`.
    pub fn initial(rng: &mut SplitMix64, architecture: Architecture, span: f32) -> Self {
        Self {
            architecture,
            transformer: transformer::initial(rng, architecture, span),
            dense: DenseParameters::initial(rng, architecture),
        }
    }

    /// A model of zeros.
    pub fn zeros(architecture: Architecture) -> Self {
        Self {
            architecture,
            transformer: transformer::zeros(architecture),
            dense: DenseParameters::zeros(architecture),
        }
    }

    /// A row of the transformer as the engine will see it: real plus factor.
    pub fn row(&self, piece_row: usize, king: usize) -> impl Iterator<Item = f32> + '_ {
        transformer::folded(&self.transformer, self.architecture, piece_row, king)
    }

    /// The net's output, side to move's view, without any rounding but that of the floats.
    pub fn output(&self, record: &Record) -> f32 {
        self.sums(record).output
    }

    /// The sums of the layers after the transformer.
    pub fn sums(&self, record: &Record) -> LayerSums {
        let (inputs, dense) = (self.inputs(record), &self.dense);
        let bucket = self.architecture.bucket(record.piece_count() as usize);
        let hidden1 = affine(bucket, &dense.l1_weight, &dense.l1_bias, &inputs);
        let hidden2 = affine(bucket, &dense.l2_weight, &dense.l2_bias, &clipped(hidden1));
        let last = (&dense.output_weight, &dense.output_bias);
        let [output] = affine(bucket, last.0, last.1, &clipped(hidden2));
        LayerSums {
            hidden1,
            hidden2,
            output,
        }
    }

    /// The inputs of the first dense layer: both accumulators, activated, the side to move's first.
    pub fn inputs(&self, record: &Record) -> Vec<f32> {
        let active = Active::of(self.architecture.features, record, false);
        let mut inputs = self.accumulator(active.side(0));
        inputs.extend(self.accumulator(active.side(1)));
        inputs
    }

    /// One perspective's accumulator, activated.
    fn accumulator(&self, rows: &[u16]) -> Vec<f32> {
        let mut sums = self.dense.transformer_bias.clone();
        for &row in rows {
            let (row, kings) = (usize::from(row), self.architecture.features.set().kings);
            let (piece_row, king) = (row / kings, row % kings);
            for (sum, weight) in sums.iter_mut().zip(self.row(piece_row, king)) {
                *sum += weight;
            }
        }
        sums.iter_mut()
            .for_each(|sum| *sum = activated(self.architecture.activation, *sum));
        sums
    }
}

/// What the layers after the transformer say of a position, before clipping.
#[derive(Clone, Copy, Debug)]
pub(super) struct LayerSums {
    /// First hidden layer.
    pub hidden1: [f32; HIDDEN],
    /// Second hidden layer.
    pub hidden2: [f32; HIDDEN],
    /// The net's output.
    pub output: f32,
}

/// A layer of the stack of that number.
fn affine<const OUTPUTS: usize>(
    stack: usize,
    weights: &[f32],
    bias: &[f32],
    inputs: &[f32],
) -> [f32; OUTPUTS] {
    let dot = |row: &[f32]| -> f32 { row.iter().zip(inputs).map(|(w, x)| w * x).sum() };
    let first = stack * OUTPUTS;
    let mut rows = weights.chunks_exact(inputs.len()).skip(first);
    std::array::from_fn(|output| bias[first + output] + rows.next().map_or(0.0, dot))
}

/// The activation of an accumulator's sum.
fn activated(activation: Activation, sum: f32) -> f32 {
    let clipped = sum.clamp(0.0, 1.0);
    match activation {
        Activation::Crelu => clipped,
        Activation::Screlu | Activation::Pairwise | Activation::WidePairwise => clipped * clipped,
    }
}

fn clipped(sums: [f32; HIDDEN]) -> [f32; HIDDEN] {
    sums.map(|sum| sum.clamp(0.0, 1.0))
}
