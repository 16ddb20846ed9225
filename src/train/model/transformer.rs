//! The feature transformer while it learns: real rows and the virtual rows that they share.
//!
//! Few positions are seen with a given king square, all of them with some: so what a piece on a square is worth is
//! learnt once in a *factor* row that takes part whatever the king does, and the real row learns only what the king
//! adds. The export adds the two; the engine never knows.
// CITE: factorised features, Yu Nasu's shogi NNUE (2018) and nnue-pytorch's feature factoriser.

use crate::nnue::Architecture;
use crate::nnue::Features;
use crate::util::memory::{Zeroed, zeroed_slice_or_abort};
use crate::util::rng::SplitMix64;

/// Floats of a block: a row per king and, last, the factor row, each `l1` wide.
pub fn block(architecture: Architecture) -> usize {
    (architecture.features.set().kings + 1) * architecture.l1
}

/// Where the factor row stands in its block.
pub fn factor(features: Features) -> usize {
    features.set().kings
}

/// A table of a block per piece row, on large pages: weights, or a moment of the optimiser.
pub type Table = Zeroed<f32>;

/// A table of zeros.
pub fn zeros(architecture: Architecture) -> Table {
    zeroed_slice_or_abort(architecture.features.set().piece_rows() * block(architecture))
}

/// Weights to begin with: all knowledge starts in the factor rows, uniform within `span`; the real rows are zero.
pub fn initial(rng: &mut SplitMix64, architecture: Architecture, span: f32) -> Table {
    let mut table = zeros(architecture);
    for block in table.chunks_exact_mut(block(architecture)) {
        for weight in &mut block[factor(architecture.features) * architecture.l1..] {
            *weight = span * uniform(rng);
        }
    }
    table
}

/// A number from -1 to 1.
pub fn uniform(rng: &mut SplitMix64) -> f32 {
    (rng.next_u64() >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
}

/// A row of weights as the engine will see it: real plus factor.
pub fn folded(
    table: &[f32],
    architecture: Architecture,
    piece_row: usize,
    king: usize,
) -> impl Iterator<Item = f32> + '_ {
    let l1 = architecture.l1;
    let block = &table[piece_row * block(architecture)..][..block(architecture)];
    let real = &block[king * l1..][..l1];
    let factor = &block[factor(architecture.features) * l1..][..l1];
    real.iter().zip(factor).map(|(real, factor)| real + factor)
}
