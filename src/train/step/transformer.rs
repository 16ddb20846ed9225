//! The transformer's gradient: for each row, the sum of the deltas of the accumulators that use it. The piece-square
//! values of a batch.
//!
//! A block of columns at a time, because each delta is read once for every piece on the board and should then be in the
//! cache. The blocks of deltas are contiguous, so that they occupy all of it.

use rayon::prelude::*;

use super::row_index::RowIndex;
use super::simd::{COLUMNS, Kernels, PackedColumns};
use crate::nnue::Architecture;
use crate::train::model::dense::DenseParameters;
use crate::train::model::rows::{ActiveRow, RowLayout};
use crate::train::samples::Active;
use crate::util::memory::{Zeroed, zeroed_slice_or_abort};

/// The deltas of a shard's accumulators, in bfloat16.
pub struct PackedDeltas {
    /// `[blocks of columns][accumulators]`.
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
        self.blocks.resize(l1.div_ceil(COLUMNS) * accumulators, PackedColumns::ZERO);
    }

    /// Stores the deltas of a position's accumulators under their numbers.
    #[inline]
    pub fn store(&mut self, kernels: Kernels, numbers: [usize; 2], deltas: &[f32]) {
        for (number, deltas) in numbers.into_iter().zip(deltas.chunks_exact(deltas.len() / 2)) {
            let (blocks, rest) = deltas.as_chunks();
            for (block, columns) in blocks.iter().enumerate() {
                kernels.pack(columns, &mut self.blocks[block * self.accumulators + number]);
            }
            if !rest.is_empty() {
                let mut columns = [0.0; COLUMNS];
                columns[..rest.len()].copy_from_slice(rest);
                kernels.pack(&columns, &mut self.blocks[blocks.len() * self.accumulators + number]);
            }
        }
    }

    fn block(&self, number: usize) -> &[PackedColumns] {
        &self.blocks[number * self.accumulators..][..self.accumulators]
    }
}

/// The gradient of all rows that a batch uses. The last block of columns is filled up with zeros.
pub struct TransformerGradient {
    layout: RowLayout,
    /// `[kings][blocks][piece rows][COLUMNS]`, then `[blocks][attack inputs][COLUMNS]`. Only the attack inputs that the
    /// batch uses are valid.
    sums: Zeroed<[f32; COLUMNS]>,
}

impl TransformerGradient {
    /// Returns a gradient of zeros.
    pub fn zeros(architecture: Architecture) -> Self {
        let layout = RowLayout::weights(architecture);
        Self { layout, sums: zeroed_slice_or_abort(layout.width.div_ceil(COLUMNS) * layout.active_rows()) }
    }

    /// Number of blocks of columns.
    fn blocks(&self) -> usize {
        self.layout.width.div_ceil(COLUMNS)
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

    /// Returns the gradient of an active row, block by block. Only the last block can be smaller than the others.
    pub fn row(&self, row: usize) -> impl Iterator<Item = &[f32]> {
        let (blocks, layout) = (self.blocks(), self.layout);
        let (start, step) = match layout.active_row(row) {
            ActiveRow::Piece { king, piece_row } => (king * blocks * layout.piece_rows + piece_row, layout.piece_rows),
            ActiveRow::Attack(attack) => (blocks * layout.first_attack() + attack, layout.attack_rows),
        };
        (0..blocks).map(move |block| {
            let columns = COLUMNS.min(layout.width - block * COLUMNS);
            &self.sums[start + block * step][..columns]
        })
    }
}

// The piece-square values of a batch: their contribution to the outputs, and their gradient.
//
// These parameters are few, so every step updates all of them, together with the dense parameters.

/// One value per row and layer stack, in the order of the trainer's rows; empty for nets without piece-square values.
pub struct PsqtRows {
    architecture: Architecture,
    values: Vec<f32>,
}

impl PsqtRows {
    /// Returns zeros.
    pub fn zeros(architecture: Architecture) -> Self {
        let rows = RowLayout::psqt(architecture).active_rows();
        Self { architecture, values: vec![0.0; rows * architecture.psqt] }
    }

    /// Copies the values of a model, real plus factor.
    pub fn take(&mut self, dense: &DenseParameters) {
        let architecture = self.architecture;
        if self.values.is_empty() {
            return;
        }
        let rows = self.values.chunks_exact_mut(architecture.psqt);
        for (row, out) in rows.enumerate() {
            let values = RowLayout::psqt(architecture).folded(&dense.psqt, row);
            out.iter_mut().zip(values).for_each(|(out, value)| *out = value);
        }
    }

    /// Returns the piece-square output of a position: half the difference of both sides' sums, for its stack.
    pub fn output(&self, active: Active, stack: usize) -> f32 {
        if self.values.is_empty() {
            return 0.0;
        }
        let at = |row: &u16| self.values[usize::from(*row) * self.architecture.psqt + stack];
        let sum = |side: usize| -> f32 { active.side(side).iter().map(at).sum() };
        (sum(0) - sum(1)) / 2.0
    }

    /// Adds the gradient by the values for a position whose output has the derivative `delta`.
    pub fn add_gradient(&mut self, active: Active, stack: usize, delta: f32) {
        if self.values.is_empty() {
            return;
        }
        for (side, half) in [delta / 2.0, -delta / 2.0].into_iter().enumerate() {
            for &row in active.side(side) {
                self.values[usize::from(row) * self.architecture.psqt + stack] += half;
            }
        }
    }

    /// Adds the gradient by the rows to the gradient by the parameters. A factor row's gradient is the sum over its
    /// rows.
    pub fn add_to(&self, total: &mut DenseParameters) {
        let (architecture, width) = (self.architecture, self.architecture.psqt);
        if self.values.is_empty() {
            return;
        }
        let layout = RowLayout::psqt(architecture);
        let (pieces, attacks) = self.values.split_at(layout.first_attack() * width);
        let (total_blocks, total_attacks) = total.psqt.split_at_mut(layout.blocks());
        add(total_attacks, attacks);
        for (king, rows) in pieces.chunks_exact(layout.piece_rows * width).enumerate() {
            let blocks = total_blocks.chunks_exact_mut(layout.block());
            for (block, row) in blocks.zip(rows.chunks_exact(width)) {
                add(&mut block[king * width..][..width], row);
                let factor = block.len() - width;
                add(&mut block[factor..], row);
            }
        }
    }

    /// Sets all values to zero.
    pub fn clear(&mut self) {
        self.values.fill(0.0);
    }
}

fn add(sums: &mut [f32], terms: &[f32]) {
    let pairs = sums.iter_mut().zip(terms);
    pairs.for_each(|(sum, term)| *sum += term);
}
