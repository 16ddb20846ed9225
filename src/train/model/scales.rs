//! Scales of the integers in a net file.
// CITE: Stockfish 12 and nnue-pytorch.

use crate::nnue::Activation;

/// Width of both hidden layers; behind products of halves the first one has fewer outputs.
pub const HIDDEN: usize = 32;

/// Fixed-point scale of activations and feature-transformer weights: 127 stands for 1.0.
pub const ACTIVATION_ONE: f32 = 127.0;
/// Fixed-point scale of the hidden layers' weights: 64 stands for 1.0.
pub const WEIGHT_ONE: f32 = 64.0;
/// Engine units that a float output of 1.0 stands for.
pub const UNITS: f32 = 600.0;
/// Raw output that stands for a float output of 1.0.
pub const OUTPUT_ONE: f32 = 16.0 * UNITS;

/// What an activated accumulator of 1.0 is in the integer net.
pub fn input_one(activation: Activation) -> f32 {
    match activation {
        Activation::Crelu => ACTIVATION_ONE,
        // Before the cut to an integer, which takes half a unit more on average.
        Activation::Screlu | Activation::Pairwise | Activation::WidePairwise => {
            ACTIVATION_ONE * ACTIVATION_ONE / 128.0
        }
    }
}

/// What a weight of 1.0 of the first dense layer is in the integer net, whose sums are 127 times 64 for 1.0.
pub fn first_weight_one(activation: Activation) -> f32 {
    WEIGHT_ONE * ACTIVATION_ONE / input_one(activation)
}
