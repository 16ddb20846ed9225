//! The dense parameters: everything but the transformer's rows. The same shape serves weights, gradients and moments.

use crate::nnue::architecture::{LayerShape, Topology};
use crate::nnue::{Activation, Architecture};
use crate::train::model::psqt;
use crate::train::model::scales::{ACTIVATION_ONE, OUTPUT_ONE, WEIGHT_ONE, input_one};
use crate::train::model::topology::SKIP;
use crate::train::model::transformer::uniform;
use crate::util::rng::SplitMix64;

/// One number per dense parameter. `L1` stands for the width of an accumulator, `B` for the number of stacks; the
/// inputs and outputs of a layer are those of the architecture (`H1`, `H2`: the outputs of the hidden layers).
#[derive(Clone, Debug)]
pub struct DenseParameters {
    /// `[L1]`: the transformer's bias.
    pub transformer_bias: Vec<f32>,
    /// `[B][H1][inputs]`, row by output.
    pub l1_weight: Vec<f32>,
    /// `[B][H1]`.
    pub l1_bias: Vec<f32>,
    /// `[B][H2][inputs]`, row by output.
    pub l2_weight: Vec<f32>,
    /// `[B][H2]`.
    pub l2_bias: Vec<f32>,
    /// `[B][H2]`.
    pub output_weight: Vec<f32>,
    /// `[B]`.
    pub output_bias: Vec<f32>,
    /// `[piece rows][kings + 1][P]`: the piece-square values, those of a factor row last as in the transformer; empty
    /// if the architecture has none.
    pub psqt: Vec<f32>,
}

/// How many tensors `DenseParameters` has.
pub const TENSORS: usize = 8;
/// Which of them are weights; the others are biases.
pub const WEIGHTS: [usize; 3] = [1, 3, 5];

/// Share of its limit from which a weight is at it, whatever rounding does.
const AT_LIMIT: f32 = 0.999;

/// Largest weights of the three layers that the file's bytes can hold, if the output will be multiplied by
/// `output_scale`.
fn limits(architecture: Architecture, output_scale: f32) -> [f32; 3] {
    let hidden = 127.0 / WEIGHT_ONE;
    let first = hidden * input_one(architecture.activation) / ACTIVATION_ONE;
    [
        first,
        hidden,
        127.0 * ACTIVATION_ONE / (OUTPUT_ONE * output_scale),
    ]
}

impl DenseParameters {
    /// All zero.
    pub fn zeros(architecture: Architecture) -> Self {
        let buckets = architecture.buckets;
        let [first, second, output] = architecture.layers();
        let weights = |layer: LayerShape| vec![0.0; buckets * layer.inputs * layer.outputs];
        let biases = |layer: LayerShape| vec![0.0; buckets * layer.outputs];
        Self {
            transformer_bias: vec![0.0; architecture.l1],
            l1_weight: weights(first),
            l1_bias: biases(first),
            l2_weight: weights(second),
            l2_bias: biases(second),
            output_weight: weights(output),
            output_bias: biases(output),
            psqt: psqt::zeros(architecture),
        }
    }

    /// Weights to begin with: uniform within one over the root of the inputs, biases 0.1 (the transformer's 0 where its
    /// sums are not multiplied).
    /// The stacks begin as one and the same.
    pub fn initial(rng: &mut SplitMix64, architecture: Architecture) -> Self {
        let mut dense = Self::zeros(architecture);
        let mut fill = |weights: &mut [f32], inputs: usize| {
            let span = (inputs as f32).sqrt().recip();
            let (first, others) = weights.split_at_mut(weights.len() / architecture.buckets);
            first.fill_with(|| span * uniform(rng));
            others
                .chunks_exact_mut(first.len())
                .for_each(|other| other.copy_from_slice(first));
        };
        let [first, second, output] = architecture.layers();
        fill(&mut dense.l1_weight, first.inputs);
        fill(&mut dense.l2_weight, second.inputs);
        fill(&mut dense.output_weight, output.inputs);
        if let Activation::Pairwise = architecture.activation {
            dense.transformer_bias.fill(0.1);
        }
        dense.l1_bias.fill(0.1);
        dense.l2_bias.fill(0.1);
        dense.output_bias.fill(0.0);
        dense.psqt = psqt::initial(architecture);
        dense
    }

    /// Every tensor, in a fixed order.
    pub fn tensors(&self) -> [&[f32]; TENSORS] {
        [
            &self.transformer_bias,
            &self.l1_weight,
            &self.l1_bias,
            &self.l2_weight,
            &self.l2_bias,
            &self.output_weight,
            &self.output_bias,
            &self.psqt,
        ]
    }

    /// Every tensor, in the same order.
    pub fn tensors_mut(&mut self) -> [&mut [f32]; TENSORS] {
        [
            &mut self.transformer_bias,
            &mut self.l1_weight,
            &mut self.l1_bias,
            &mut self.l2_weight,
            &mut self.l2_bias,
            &mut self.output_weight,
            &mut self.output_bias,
            &mut self.psqt,
        ]
    }

    /// Share of the weights that [`Self::clip`] keeps at their limit.
    pub fn limited(&self, architecture: Architecture, output_scale: f32) -> f64 {
        let tensors = [&self.l1_weight, &self.l2_weight, &self.output_weight];
        let (mut limited, mut all) = (0, 0);
        for (weights, limit) in tensors.into_iter().zip(limits(architecture, output_scale)) {
            // What is no number is no sound weight either.
            let sound = |w: &&f32| w.abs() < AT_LIMIT * limit;
            limited += weights.len() - weights.iter().filter(sound).count();
            all += weights.len();
        }
        limited as f64 / all as f64
    }

    /// Keeps the weights within what the file's bytes can hold, if the output will be multiplied by `output_scale`.
    pub fn clip(&mut self, architecture: Architecture, output_scale: f32) {
        let limits = limits(architecture, output_scale);
        let [first_limit, ..] = limits;
        let tensors = [
            &mut self.l1_weight,
            &mut self.l2_weight,
            &mut self.output_weight,
        ];
        for (weights, limit) in tensors.into_iter().zip(limits) {
            weights.iter_mut().for_each(|w| *w = w.clamp(-limit, limit));
        }
        if let Topology::Skip { .. } = architecture.topology {
            // What skips is multiplied with the output.
            let limit = first_limit / output_scale.max(1.0);
            let rows = self.l1_weight.chunks_exact_mut(architecture.inputs());
            for row in rows.skip(SKIP).step_by(SKIP + 1) {
                row.iter_mut().for_each(|w| *w = w.clamp(-limit, limit));
            }
        }
    }
}
