//! Outputs of the first dense layer in a net with a skip connection: squares, clipped sums, and the skipping output.
// CITE: Stockfish 15.1's nets (SFNNv5) and nnue-pytorch.

/// The output of the first layer that skips the others; those before it go on.
pub const SKIP: usize = 15;

/// What a square of 1.0 counts: the integers divide it by 2^19, where a whole would be 127 times 64 squared by 127.
pub const SQUARE: f32 = 127.0 / 128.0;

/// What goes on of sums: their squares, then the sums, both clipped; zeros fill it up.
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

/// From the deltas of what went on to those of the sums, that of the skipping output excepted.
#[inline(always)]
pub fn squared_and_clipped_backward<const SUMS: usize>(
    sums: &[f32; SUMS],
    deltas: &[f32; SUMS],
) -> [f32; SUMS] {
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
