//! Data of the dense layers after the first: 32 to 32 to 1, or 30 (squares and clipped units) to 32 to 1. The
//! arithmetic is in `simd`.

use crate::nnue::Architecture;
use crate::nnue::architecture::LayerShape;
use crate::train::model::dense::DenseParameters;
use crate::train::model::scales::HIDDEN;
use crate::train::step::layout::Hidden;

/// The parameters in the layouts of the kernels.
#[derive(Clone, Debug, Default)]
pub struct UpperWeights {
    /// Second layer's weights, one row per output.
    pub l2_weight: [Hidden; HIDDEN],
    /// Second layer's weights, one row per input.
    pub l2_input_major: [Hidden; HIDDEN],
    /// Second layer's biases.
    pub l2_bias: Hidden,
    /// Output layer's weights.
    pub output_weight: Hidden,
    /// Output layer's bias.
    pub output_bias: f32,
}

impl UpperWeights {
    /// Copies the parameters of stack `number`. Weights of inputs that the second layer lacks are zero.
    pub fn of(architecture: Architecture, dense: &DenseParameters, number: usize) -> Self {
        let [_, LayerShape { inputs, .. }, _] = architecture.layers();
        let units = HIDDEN * number..HIDDEN * (number + 1);
        let mut weights = Self { output_bias: dense.output_bias[number], ..Self::default() };
        weights.l2_bias.copy_from_slice(&dense.l2_bias[units.clone()]);
        let last = &dense.output_weight[units.clone()];
        weights.output_weight.copy_from_slice(last);
        let second = &dense.l2_weight[inputs * units.start..inputs * units.end];
        let rows = second.chunks_exact(inputs);
        for (output, (to, from)) in weights.l2_weight.iter_mut().zip(rows).enumerate() {
            to[..inputs].copy_from_slice(from);
            for (input, &weight) in from.iter().enumerate() {
                weights.l2_input_major[input][output] = weight;
            }
        }
        weights
    }
}

/// Values of a position's forward pass that the backward pass needs.
#[derive(Clone, Copy, Debug, Default)]
pub struct UpperActivations {
    /// Sums of the first layer, for nets with a skip connection.
    pub sums1: Hidden,
    /// Inputs of the second layer: clipped units, or squares and then clipped units.
    pub hidden1: Hidden,
    /// Clipped units of the second layer.
    pub hidden2: Hidden,
    /// Output of the layers, from the side to move's view.
    pub output: f32,
}

/// Gradient of the upper layers and of the first layer's biases, summed over positions.
#[derive(Clone, Debug, Default)]
pub struct UpperGradient {
    /// First layer's biases.
    pub l1_bias: Hidden,
    /// Second layer's weights, one row per output.
    pub l2_weight: [Hidden; HIDDEN],
    /// Second layer's biases.
    pub l2_bias: Hidden,
    /// Output layer's weights.
    pub output_weight: Hidden,
    /// Output layer's bias.
    pub output_bias: f32,
}
