//! The small layers after the first: 32 to 32 to 1. What they are made of in a pass; the arithmetic is in `simd`.

use super::dense::Dense;
use super::quantised::HIDDEN;
use super::simd::Hidden;

/// The parameters as a pass reads them.
#[derive(Clone, Debug)]
pub struct TailWeights {
    /// Second layer, one row per output.
    pub l2_weight: [Hidden; HIDDEN],
    /// The same, one row per input.
    pub l2_input_major: [Hidden; HIDDEN],
    /// Second layer.
    pub l2_bias: Hidden,
    /// Output layer.
    pub output_weight: Hidden,
    /// Output layer.
    pub output_bias: f32,
}

impl TailWeights {
    /// A copy of the dense parameters of these layers.
    pub fn of(dense: &Dense) -> Self {
        let mut weights = Self {
            l2_weight: [[0.0; HIDDEN]; HIDDEN],
            l2_input_major: [[0.0; HIDDEN]; HIDDEN],
            l2_bias: [0.0; HIDDEN],
            output_weight: [0.0; HIDDEN],
            output_bias: dense.output_bias[0],
        };
        weights.l2_bias.copy_from_slice(&dense.l2_bias);
        weights.output_weight.copy_from_slice(&dense.output_weight);
        let rows = dense.l2_weight.chunks_exact(HIDDEN);
        for (output, (to, from)) in weights.l2_weight.iter_mut().zip(rows).enumerate() {
            to.copy_from_slice(from);
            for (input, &weight) in from.iter().enumerate() {
                weights.l2_input_major[input][output] = weight;
            }
        }
        weights
    }
}

/// What the forward pass of a position leaves for the way back.
#[derive(Clone, Copy, Debug, Default)]
pub struct TailPass {
    /// Clipped units of the first layer.
    pub hidden1: Hidden,
    /// Clipped units of the second layer.
    pub hidden2: Hidden,
    /// The net's output, side to move's view.
    pub output: f32,
}

/// The gradient of the small parameters, summed over positions.
#[derive(Clone, Debug, Default)]
pub struct TailGradient {
    /// First layer's bias.
    pub l1_bias: Hidden,
    /// Second layer, one row per output.
    pub l2_weight: [Hidden; HIDDEN],
    /// Second layer.
    pub l2_bias: Hidden,
    /// Output layer.
    pub output_weight: Hidden,
    /// Output layer.
    pub output_bias: f32,
}
