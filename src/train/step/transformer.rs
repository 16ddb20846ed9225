//! The transformer's gradient: for each row, the sum of the deltas of the accumulators that use it.
//!
//! A block of columns at a time, because each delta is read once for every piece on the board and should then be in the
//! cache. The blocks of deltas are contiguous, so that they occupy all of it.

use rayon::prelude::*;

use super::layout::{COLUMNS, Deltas, PackedColumns};
use super::row_index::RowIndex;
use super::simd::Kernels;
use crate::nnue::Architecture;
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
    architecture: Architecture,
    /// `[kings][L1 / COLUMNS][piece rows][COLUMNS]`.
    sums: Zeroed<[f32; COLUMNS]>,
}

impl TransformerGradient {
    /// Returns a gradient of zeros.
    pub fn zeros(architecture: Architecture) -> Self {
        let blocks = architecture.l1 / COLUMNS;
        Self { architecture, sums: zeroed_slice_or_abort(blocks * architecture.features.set().active_rows()) }
    }

    /// Sums the deltas of the shards' accumulators, in parallel in the current thread pool. Each sum has a fixed order,
    /// so the result does not depend on the threads' timing.
    pub fn sum(&mut self, kernels: Kernels, shards: &[(&RowIndex, &PackedDeltas)]) {
        let blocks = self.architecture.l1 / COLUMNS;
        let piece_rows = self.architecture.features.set().piece_rows();
        self.sums.par_chunks_exact_mut(piece_rows).enumerate().for_each(|(number, sums)| {
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
    }

    /// Returns the gradient of a row, block by block.
    pub fn row(&self, king: usize, piece_row: usize) -> impl Iterator<Item = &[f32; COLUMNS]> {
        let blocks = self.architecture.l1 / COLUMNS;
        let piece_rows = self.architecture.features.set().piece_rows();
        (0..blocks).map(move |block| &self.sums[(king * blocks + block) * piece_rows + piece_row])
    }
}
