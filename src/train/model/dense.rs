//! The dense parameters: all parameters except the transformer's rows. Weights, gradients and optimiser moments share
//! this shape.

use super::rows::{psqt_initial, psqt_zeros, uniform};
use super::shapes::{ACTIVATION_ONE, OUTPUT_ONE, Rounding, SKIP, WEIGHT_ONE, direct_weight_one, input_one, rounded};
use crate::nnue::architecture::{LayerShape, Topology};
use crate::nnue::{Activation, Architecture};
use crate::util::rng::SplitMix64;

/// One number per dense parameter. In the shapes, `L1` is the width of an accumulator and `B` the number of stacks.
/// The architecture defines the inputs and outputs of a layer (`H1`, `H2`: the outputs of the hidden layers). Without
/// hidden layers their tensors are empty.
#[derive(Clone, Debug)]
pub struct DenseParameters {
    /// `[L1]`: biases of the transformer.
    pub transformer_bias: Vec<f32>,
    /// `[B][H1][inputs]`, one row per output.
    pub l1_weight: Vec<f32>,
    /// `[B][H1]`.
    pub l1_bias: Vec<f32>,
    /// `[B][H2][inputs]`, one row per output.
    pub l2_weight: Vec<f32>,
    /// `[B][H2]`.
    pub l2_bias: Vec<f32>,
    /// `[B][inputs]`: of the second hidden layer's units, or of the accumulators' without hidden layers.
    pub output_weight: Vec<f32>,
    /// `[B]`.
    pub output_bias: Vec<f32>,
    /// `[piece rows][kings + 1][P]`: piece-square values, the factor row last as in the transformer; then `[attack
    /// inputs][P]`. Empty if the architecture has none.
    pub psqt: Vec<f32>,
}

/// Number of tensors in `DenseParameters`.
pub const TENSORS: usize = 8;
/// Indices of the weight tensors; the others are biases.
pub const WEIGHTS: [usize; 3] = [1, 3, 5];

/// Fraction of the limit from which a weight counts as limited; the margin covers float rounding.
const AT_LIMIT: f32 = 0.999;

/// The largest absolute weights of the layers in the range of the file's integers.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// First layer.
    pub first: f32,
    /// The skip output of the first layer, which has the scale of the output.
    pub skip: f32,
    /// Second layer.
    pub hidden: f32,
    /// Output layer.
    pub output: f32,
}

/// Returns the limits of the weights for an output multiplied by `output_scale`.
pub fn limits(architecture: Architecture, output_scale: f32) -> Limits {
    let hidden = 127.0 / WEIGHT_ONE;
    let first = hidden * input_one(architecture.activation) / ACTIVATION_ONE;
    let output = match architecture.topology {
        Topology::Direct => f32::from(i16::MAX) / direct_weight_one(architecture.activation, output_scale),
        _ => 127.0 * ACTIVATION_ONE / (OUTPUT_ONE * output_scale),
    };
    Limits { first, skip: first / output_scale.max(1.0), hidden, output }
}

impl Limits {
    /// Returns the limits of the three layers, without the skip output.
    fn layers(self) -> [f32; 3] {
        [self.first, self.hidden, self.output]
    }
}

impl DenseParameters {
    /// Returns zeros.
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
            psqt: psqt_zeros(architecture),
        }
    }

    /// Returns initial parameters: weights uniform within one over the root of the inputs, biases 0.1 (0 for the output
    /// layer, and for the transformer without pairwise products). All stacks start with the same values.
    pub fn initial(rng: &mut SplitMix64, architecture: Architecture) -> Self {
        let mut dense = Self::zeros(architecture);
        let mut fill = |weights: &mut [f32], inputs: usize| {
            if weights.is_empty() {
                return;
            }
            let span = (inputs as f32).sqrt().recip();
            let (first, others) = weights.split_at_mut(weights.len() / architecture.buckets);
            first.fill_with(|| span * uniform(rng));
            others.chunks_exact_mut(first.len()).for_each(|other| other.copy_from_slice(first));
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
        dense.psqt = psqt_initial(architecture);
        dense
    }

    /// Returns every tensor, in a fixed order.
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

    /// Returns every tensor for writing, in the order of [`Self::tensors`].
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

    /// Returns the share of weights at the limit of [`Self::clip`]. NaN counts as limited.
    pub fn limited(&self, architecture: Architecture, output_scale: f32) -> f64 {
        let tensors = [&self.l1_weight, &self.l2_weight, &self.output_weight];
        let (mut limited, mut all) = (0, 0);
        for (weights, limit) in tensors.into_iter().zip(limits(architecture, output_scale).layers()) {
            let unlimited = |w: &&f32| w.abs() < AT_LIMIT * limit;
            limited += weights.len() - weights.iter().filter(unlimited).count();
            all += weights.len();
        }
        limited as f64 / all as f64
    }

    /// Returns the parameters with weights and transformer biases rounded. Rounding the other biases and the
    /// piece-square values has a negligible effect.
    pub fn rounded(&self, architecture: Architecture, rounding: Rounding) -> Self {
        let round = |weights: &mut [f32], one: f32| weights.iter_mut().for_each(|w| *w = rounded(*w, one));
        let mut dense = self.clone();
        let scales = rounding.scales(architecture);
        round(&mut dense.transformer_bias, ACTIVATION_ONE);
        let [first, ..] = architecture.layers();
        for (number, row) in dense.l1_weight.chunks_exact_mut(first.inputs.max(1)).enumerate() {
            let skips = matches!(architecture.topology, Topology::Skip { .. }) && number % first.outputs == SKIP;
            round(row, if skips { scales.skip } else { scales.first });
        }
        round(&mut dense.l2_weight, scales.second);
        round(&mut dense.output_weight, scales.output);
        dense
    }

    /// Clamps the weights to the range of the file's bytes, for an output multiplied by `output_scale`.
    pub fn clip(&mut self, architecture: Architecture, output_scale: f32) {
        let limits = limits(architecture, output_scale);
        let tensors = [&mut self.l1_weight, &mut self.l2_weight, &mut self.output_weight];
        for (weights, limit) in tensors.into_iter().zip(limits.layers()) {
            weights.iter_mut().for_each(|w| *w = w.clamp(-limit, limit));
        }
        if let Topology::Skip { .. } = architecture.topology {
            let rows = self.l1_weight.chunks_exact_mut(architecture.inputs());
            for row in rows.skip(SKIP).step_by(SKIP + 1) {
                row.iter_mut().for_each(|w| *w = w.clamp(-limits.skip, limits.skip));
            }
        }
    }
}
