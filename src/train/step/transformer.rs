//! The transformer's gradient: for each row, the sum of the deltas of the accumulators that use it.
//!
//! A block of columns at a time, because each delta is read once for every piece on the board and should then be in the
//! cache. The blocks of deltas are contiguous, so that they occupy all of it.

use rayon::prelude::*;

use super::layout::{COLUMNS, Deltas, PackedColumns};
use super::row_index::RowIndex;
use super::simd::Kernels;
use crate::nnue::Architecture;
use crate::train::model::rows::{ActiveRow, RowLayout};
use crate::train::model::transformer::layout;
use crate::util::memory::{Zeroed, zeroed_slice_or_abort};

/// The deltas of a shard's accumulators, in bfloat16.
pub struct PackedDeltas {
    /// `[L1 / COLUMNS][accumulators]`.
    blocks: Vec<PackedColumns>,
    accumulators: usize,
}

impl PackedDeltas {
    /// Returns the deltas of an empty shard.
    pub fn empty() -> Self {
        Self { blocks: Vec::new(), accumulators: 0 }
    }

    /// Prepares for deltas of `accumulators` accumulators of width `l1`.
    pub fn resize(&mut self, l1: usize, accumulators: usize) {
        self.accumulators = accumulators;
        self.blocks.resize(l1 / COLUMNS * accumulators, PackedColumns::ZERO);
    }

    /// Stores the deltas of a position's accumulators under their numbers.
    #[inline]
    pub fn store<const L1: usize>(&mut self, kernels: Kernels, numbers: [usize; 2], deltas: &Deltas<L1>) {
        for (number, deltas) in numbers.into_iter().zip(deltas) {
            for (block, columns) in deltas.as_chunks().0.iter().enumerate() {
                kernels.pack(columns, &mut self.blocks[block * self.accumulators + number]);
            }
        }
    }

    fn block(&self, number: usize) -> &[PackedColumns] {
        &self.blocks[number * self.accumulators..][..self.accumulators]
    }
}

/// The gradient of all rows that a batch uses.
pub struct TransformerGradient {
    layout: RowLayout,
    /// `[kings][L1 / COLUMNS][piece rows][COLUMNS]`, then `[L1 / COLUMNS][attack inputs][COLUMNS]`. Only the attack
    /// inputs that the batch uses are valid.
    sums: Zeroed<[f32; COLUMNS]>,
}

impl TransformerGradient {
    /// Returns a gradient of zeros.
    pub fn zeros(architecture: Architecture) -> Self {
        let layout = layout(architecture);
        Self { layout, sums: zeroed_slice_or_abort(layout.width / COLUMNS * layout.active_rows()) }
    }

    /// Number of blocks of columns.
    fn blocks(&self) -> usize {
        self.layout.width / COLUMNS
    }

    /// Sums the deltas of the shards' accumulators, in parallel in the current thread pool. Each sum has a fixed order,
    /// so the result does not depend on the threads' timing.
    pub fn sum(&mut self, kernels: Kernels, shards: &[(&RowIndex, &PackedDeltas)]) {
        let (blocks, layout) = (self.blocks(), self.layout);
        let (pieces, attacks) = self.sums.split_at_mut(blocks * layout.first_attack());
        pieces.par_chunks_exact_mut(layout.piece_rows).enumerate().for_each(|(number, sums)| {
            let (king, block) = (number / blocks, number % blocks);
            sums.fill([0.0; COLUMNS]);
            for (index, deltas) in shards {
                let deltas = deltas.block(block);
                for chunk in index.chunks(king) {
                    for (sums, users) in sums.iter_mut().zip(chunk) {
                        if !users.is_empty() {
                            kernels.add_rows(deltas, users, sums);
                        }
                    }
                }
            }
        });
        attacks.par_chunks_exact_mut(layout.attack_rows.max(1)).enumerate().for_each(|(block, sums)| {
            for (row, sums) in sums.iter_mut().enumerate() {
                if shards.iter().any(|(index, _)| index.uses_attack(row)) {
                    *sums = [0.0; COLUMNS];
                }
            }
            for (index, deltas) in shards {
                let deltas = deltas.block(block);
                for (row, users) in index.attacks() {
                    kernels.add_rows(deltas, users, &mut sums[row]);
                }
            }
        });
    }

    /// Returns the gradient of an active row, block by block.
    pub fn row(&self, row: usize) -> impl Iterator<Item = &[f32; COLUMNS]> {
        let (blocks, layout) = (self.blocks(), self.layout);
        let (start, step) = match layout.active_row(row) {
            ActiveRow::Piece { king, piece_row } => (king * blocks * layout.piece_rows + piece_row, layout.piece_rows),
            ActiveRow::Attack(attack) => (blocks * layout.first_attack() + attack, layout.attack_rows),
        };
        (0..blocks).map(move |block| &self.sums[start + block * step])
    }
}
