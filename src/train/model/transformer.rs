//! The feature transformer during training: real rows, and virtual factor rows that they share.
//!
//! Each king square occurs in only a small share of the positions. So the part of a piece's weights that is common to
//! all king squares is trained in a *factor* row, and the real row contains only the difference. The export adds both,
//! so the engine has no factor rows.
// CITE: factorised features, Yu Nasu's shogi NNUE (2018) and nnue-pytorch's feature factoriser.

use super::rows::RowLayout;
use crate::nnue::Architecture;
use crate::nnue::Features;
use crate::util::memory::{Zeroed, zeroed_slice_or_abort};
use crate::util::rng::SplitMix64;

/// Returns the layout of a table.
pub fn layout(architecture: Architecture) -> RowLayout {
    RowLayout::new(architecture, architecture.l1)
}

/// Floats of a block: one row per king bucket and, last, the factor row, each `l1` wide.
pub fn block(architecture: Architecture) -> usize {
    layout(architecture).block()
}

/// Index of the factor row in its block.
pub fn factor(features: Features) -> usize {
    features.set().kings
}

/// A table of one block per piece row, and the rows of attack inputs, on large pages: weights, or a moment of the
/// optimiser.
pub type Table = Zeroed<f32>;

/// Returns a table of zeros.
pub fn zeros(architecture: Architecture) -> Table {
    zeroed_slice_or_abort(layout(architecture).len())
}

/// Returns initial weights: factor rows uniform within `span`, real rows and those of attack inputs zero.
pub fn initial(rng: &mut SplitMix64, architecture: Architecture, span: f32) -> Table {
    let mut table = zeros(architecture);
    let blocks = &mut table[..layout(architecture).blocks()];
    for block in blocks.chunks_exact_mut(block(architecture)) {
        for weight in &mut block[factor(architecture.features) * architecture.l1..] {
            *weight = span * uniform(rng);
        }
    }
    table
}

/// Returns a random number from -1 to 1.
pub fn uniform(rng: &mut SplitMix64) -> f32 {
    (rng.next_u64() >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
}
