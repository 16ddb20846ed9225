//! Simulated quantisation: rounds the parameters as in the net file. In the last part of a run the forward passes use
//! the rounded values, so that training takes the rounding into account.
//!
//! The gradient bypasses the rounding and updates the exact parameter.

use super::dense::DenseParameters;
use super::shapes::{ACTIVATION_ONE, OUTPUT_ONE, SKIP, WEIGHT_ONE, direct_weight_one, first_weight_one, input_one};
use crate::nnue::architecture::Topology;
use crate::nnue::{Activation, Architecture};

// CITE: Y. Bengio, N. Léonard and A. Courville, "Estimating or Propagating Gradients Through Stochastic Neurons"
// (2013): the straight-through estimator; B. Jacob et al., "Quantization and Training of Neural Networks" (2018):
// training with the roundings of inference.

/// Rounding for a file whose outputs are multiplied by `output_scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rounding {
    /// Factor of the net's outputs.
    pub output_scale: f32,
}

/// The integers that represent weights of 1.0.
#[derive(Clone, Copy, Debug)]
pub struct Scales {
    /// First layer.
    pub first: f32,
    /// The skip output of the first layer.
    pub skip: f32,
    /// Second layer.
    pub second: f32,
    /// Output layer.
    pub output: f32,
}

impl Rounding {
    /// Returns the scales of the dense layers' weights.
    pub fn scales(self, architecture: Architecture) -> Scales {
        let first = first_weight_one(architecture.activation);
        Scales {
            first,
            skip: first * self.output_scale,
            second: WEIGHT_ONE,
            output: match architecture.topology {
                Topology::Direct => direct_weight_one(architecture.activation, self.output_scale),
                _ => OUTPUT_ONE * self.output_scale / ACTIVATION_ONE,
            },
        }
    }

    /// Returns the dense parameters, with weights and transformer biases rounded. Rounding the other biases and the
    /// piece-square values has a negligible effect.
    pub fn dense(self, architecture: Architecture, dense: &DenseParameters) -> DenseParameters {
        let mut dense = dense.clone();
        let scales = self.scales(architecture);
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
}

/// Rounds a weight of the transformer's rows, real plus factor.
pub fn row_weight(weight: f32) -> f32 {
    rounded(weight, ACTIVATION_ONE)
}

/// Whether the engine truncates products of units. Without hidden layers it does not.
pub fn truncates_products(architecture: Architecture) -> bool {
    architecture.activation == Activation::Pairwise && !architecture.is_direct()
}

/// Rounds a product of two clipped units down, as the engine truncates it. Units are integers in fixed point.
#[inline(always)]
pub fn product(product: f32) -> f32 {
    // Products are multiples of 1/128, so this margin absorbs float errors without reaching the next multiple.
    const MARGIN: f32 = 1.0 / 256.0;
    let one = input_one(Activation::Pairwise);
    (product * one + MARGIN).floor() / one
}

fn round(weights: &mut [f32], one: f32) {
    weights.iter_mut().for_each(|w| *w = rounded(*w, one));
}

fn rounded(weight: f32, one: f32) -> f32 {
    (weight * one).round() / one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounded_products_equal_engine_products() {
        for a in 0..=127_u32 {
            for b in 0..=127_u32 {
                let float = product(a as f32 / ACTIVATION_ONE * (b as f32 / ACTIVATION_ONE));
                let integer = float * input_one(Activation::Pairwise);
                assert!((integer - (a * b / 128) as f32).abs() < 1e-3, "{a} {b}");
            }
        }
    }
}
