//! The piece-square values of a batch: their contribution to the outputs, and their gradient.
//!
//! These parameters are few, so every step updates all of them, together with the dense parameters.

use crate::nnue::Architecture;
use crate::train::model::dense::DenseParameters;
use crate::train::model::psqt::{block, layout};
use crate::train::samples::active::Active;

/// One value per row and layer stack, in the order of the trainer's rows; empty for nets without piece-square values.
pub struct PsqtRows {
    architecture: Architecture,
    values: Vec<f32>,
}

impl PsqtRows {
    /// Returns zeros.
    pub fn zeros(architecture: Architecture) -> Self {
        let rows = layout(architecture).active_rows();
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
            let values = layout(architecture).folded(&dense.psqt, row);
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
        let layout = layout(architecture);
        let (pieces, attacks) = self.values.split_at(layout.first_attack() * width);
        let (total_blocks, total_attacks) = total.psqt.split_at_mut(layout.blocks());
        add(total_attacks, attacks);
        for (king, rows) in pieces.chunks_exact(layout.piece_rows * width).enumerate() {
            let blocks = total_blocks.chunks_exact_mut(block(architecture));
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
