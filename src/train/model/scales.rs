//! Scales of the integers in a net file.
// CITE: Stockfish 12 and nnue-pytorch.

use crate::nnue::Activation;

/// Width of both hidden layers. With pairwise products the first one has fewer outputs.
pub const HIDDEN: usize = 32;

/// Fixed-point scale of activations and feature-transformer weights: 127 represents 1.0.
pub const ACTIVATION_ONE: f32 = 127.0;
/// Fixed-point scale of the hidden layers' weights: 64 represents 1.0.
pub const WEIGHT_ONE: f32 = 64.0;
/// Engine units represented by a float output of 1.0.
pub const UNITS: f32 = 600.0;
/// Raw integer output that represents a float output of 1.0.
pub const OUTPUT_ONE: f32 = 16.0 * UNITS;

/// Integer value that represents an activated accumulator of 1.0.
pub fn input_one(activation: Activation) -> f32 {
    match activation {
        Activation::Crelu => ACTIVATION_ONE,
        // Before truncation to an integer, which subtracts another half on average.
        Activation::Screlu | Activation::Pairwise | Activation::WidePairwise => ACTIVATION_ONE * ACTIVATION_ONE / 128.0,
    }
}

/// Integer value that represents a first-layer weight of 1.0. The layer's sums are 127 * 64 for 1.0.
pub fn first_weight_one(activation: Activation) -> f32 {
    WEIGHT_ONE * ACTIVATION_ONE / input_one(activation)
}
