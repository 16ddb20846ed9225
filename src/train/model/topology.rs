//! Outputs of the first dense layer in a net with a skip connection: squares, clipped sums, and the skip output.
// CITE: Stockfish 15.1's nets (SFNNv5) and nnue-pytorch.

/// Index of the skip output of the first layer; the outputs before it are the inputs of the second layer.
pub const SKIP: usize = 15;

/// Value of a square of 1.0: the integers divide it by 2^19, where exact scaling would be (127 * 64)^2 / 127.
pub const SQUARE: f32 = 127.0 / 128.0;

/// Returns the inputs of the second layer: the squares of the sums, then the sums, both clipped, padded with zeros.
#[inline(always)]
pub fn squared_and_clipped<const SUMS: usize>(sums: &[f32; SUMS]) -> [f32; SUMS] {
    const { assert!(SUMS >= 2 * SKIP) };
    let mut out = [0.0; SUMS];
    for unit in 0..SKIP {
        out[unit] = (sums[unit] * sums[unit] * SQUARE).min(1.0);
        out[SKIP + unit] = sums[unit].clamp(0.0, 1.0);
    }
    out
}

/// Backpropagates the deltas of the second layer's inputs to the first layer's sums, except the skip output.
#[inline(always)]
pub fn squared_and_clipped_backward<const SUMS: usize>(sums: &[f32; SUMS], deltas: &[f32; SUMS]) -> [f32; SUMS] {
    let mut out = [0.0; SUMS];
    for unit in 0..SKIP {
        let sum = sums[unit];
        if sum * sum * SQUARE < 1.0 {
            out[unit] += 2.0 * SQUARE * sum * deltas[unit];
        }
        if sum > 0.0 && sum < 1.0 {
            out[unit] += deltas[SKIP + unit];
        }
    }
    out
}
