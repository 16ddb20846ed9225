//! The feature transformer while it learns: real HalfKP rows and the virtual rows that they share.
//!
//! Few positions are seen with a given king square, all of them with some: so what a piece on a square is worth is
//! learnt once in a *factor* row that takes part whatever the king does, and the real row learns only what the king
//! adds. The export adds the two; the engine never knows.
// CITE: factorised features, Yu Nasu's shogi NNUE (2018) and nnue-pytorch's feature factoriser.

use super::features::{KINGS, PIECE_ROWS};
use crate::util::memory::{Zeroed, zeroed_slice_or_abort};
use crate::util::rng::SplitMix64;

/// Rows of a block: one per king, and the factor row.
pub const BLOCK_ROWS: usize = KINGS + 1;
/// Where the factor row stands in its block.
pub const FACTOR: usize = KINGS;

/// Floats of a block whose rows are `l1` wide.
pub const fn block(l1: usize) -> usize {
    BLOCK_ROWS * l1
}

/// A table of `PIECE_ROWS` blocks, on large pages: weights, or a moment of the optimiser.
pub type Table = Zeroed<f32>;

/// A table of zeros, its rows `l1` wide.
pub fn zeros(l1: usize) -> Table {
    zeroed_slice_or_abort(PIECE_ROWS * block(l1))
}

/// Weights to begin with: all knowledge starts in the factor rows, uniform within `span`; the real rows are zero.
pub fn initial(rng: &mut SplitMix64, l1: usize, span: f32) -> Table {
    let mut table = zeros(l1);
    for block in table.chunks_exact_mut(block(l1)) {
        for weight in &mut block[FACTOR * l1..] {
            *weight = span * uniform(rng);
        }
    }
    table
}

/// A number from -1 to 1.
pub fn uniform(rng: &mut SplitMix64) -> f32 {
    (rng.next_u64() >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
}

/// A row of `l1` weights as the engine will see it: real plus factor.
pub fn folded(
    table: &[f32],
    l1: usize,
    piece_row: usize,
    king: usize,
) -> impl Iterator<Item = f32> + '_ {
    let block = &table[piece_row * block(l1)..][..block(l1)];
    let real = &block[king * l1..][..l1];
    let factor = &block[FACTOR * l1..][..l1];
    real.iter().zip(factor).map(|(real, factor)| real + factor)
}
