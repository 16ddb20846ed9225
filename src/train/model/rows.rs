//! Layout of the tables with an entry for each row of the first layer: weights, piece-square values, and the moments of
//! both.
//!
//! The rows of pieces on squares come first, in blocks: for each piece row its real rows, one per king bucket, and last
//! the factor row that they share. Sets with one king bucket and no mirroring have no factor row.
//!
//! The rows of attack inputs follow. They do not depend on the king and have no factor row.
//!
//! *Active rows* are numbered in another order, that of the positions' features and of a file: the piece rows of the
//! first king bucket, those of the next ones, and then the rows of attack inputs.

use super::shapes::UNITS;
use crate::nnue::Architecture;
use crate::util::memory::{Zeroed, zeroed_slice_or_abort};
use crate::util::rng::SplitMix64;

/// Layout of a table.
#[derive(Clone, Copy, Debug)]
pub struct RowLayout {
    /// Numbers of an entry.
    pub width: usize,
    /// King buckets.
    pub kings: usize,
    /// Piece rows of a king bucket.
    pub piece_rows: usize,
    /// Rows of attack inputs.
    pub attack_rows: usize,
    /// Whether the rows of a block share a factor row.
    pub has_factor: bool,
}

/// What an active row stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ActiveRow {
    /// A piece on a square.
    Piece {
        /// King bucket.
        king: usize,
        /// Row within the bucket.
        piece_row: usize,
    },
    /// An attack input, numbered from 0.
    Attack(usize),
}

impl RowLayout {
    /// Returns the layout of the weights of the transformer.
    pub fn weights(architecture: Architecture) -> Self {
        Self::new(architecture, architecture.l1)
    }

    /// Returns the layout of the piece-square values.
    pub fn psqt(architecture: Architecture) -> Self {
        Self::new(architecture, architecture.psqt)
    }

    /// Returns the layout of a table with entries of `width` numbers.
    fn new(architecture: Architecture, width: usize) -> Self {
        let set = architecture.features.set();
        Self {
            width,
            kings: set.kings,
            piece_rows: set.piece_rows(),
            attack_rows: architecture.attacks.rows(),
            // Mirrored sets with one bucket keep theirs: graphics cards train these, and checkpoints have it.
            has_factor: set.kings > 1 || set.mirrored,
        }
    }

    /// Numbers of a block: one entry per king bucket and, last, that of the factor row if there is one.
    pub fn block(self) -> usize {
        (self.kings + usize::from(self.has_factor)) * self.width
    }

    /// Numbers of all blocks, before those of attack inputs.
    pub fn blocks(self) -> usize {
        self.piece_rows * self.block()
    }

    /// Numbers of the table.
    pub fn len(self) -> usize {
        self.blocks() + self.attack_rows * self.width
    }

    /// The first active row of attack inputs.
    pub fn first_attack(self) -> usize {
        self.kings * self.piece_rows
    }

    /// Number of active rows.
    pub fn active_rows(self) -> usize {
        self.first_attack() + self.attack_rows
    }

    /// Returns the meaning of an active row.
    #[inline]
    pub fn active_row(self, row: usize) -> ActiveRow {
        match row.checked_sub(self.first_attack()) {
            Some(attack) => ActiveRow::Attack(attack),
            None => ActiveRow::Piece { king: row / self.piece_rows, piece_row: row % self.piece_rows },
        }
    }

    /// Returns the entries that make up an active row: that of the row, and that of its factor row if it has one.
    #[inline]
    pub fn entries(self, table: &[f32], row: usize) -> (&[f32], Option<&[f32]>) {
        let entry = |start: usize| &table[start..][..self.width];
        match self.active_row(row) {
            ActiveRow::Piece { king, piece_row } => {
                let block = piece_row * self.block();
                let factor = self.has_factor.then(|| entry(block + self.kings * self.width));
                (entry(block + king * self.width), factor)
            }
            ActiveRow::Attack(attack) => (entry(self.blocks() + attack * self.width), None),
        }
    }

    /// Returns an active row as in the exported net: real plus factor.
    pub fn folded(self, table: &[f32], row: usize) -> impl Iterator<Item = f32> + '_ {
        let (real, factor) = self.entries(table, row);
        let factor = factor.into_iter().flatten().copied().chain(std::iter::repeat(0.0));
        real.iter().zip(factor).map(|(real, factor)| real + factor)
    }
}

// The feature transformer during training: real rows, and virtual factor rows that they share.
//
// Each king square occurs in only a small share of the positions. So the part of a piece's weights that is common to
// all king squares is trained in a *factor* row, and the real row contains only the difference. The export adds both,
// so the engine has no factor rows.

// CITE: factorised features, Yu Nasu's shogi NNUE (2018) and nnue-pytorch's feature factoriser.

/// A table of one block per piece row, and the rows of attack inputs, on large pages: weights, or a moment of the
/// optimiser.
pub type Table = Zeroed<f32>;

/// Returns a table of zeros.
pub fn zeros(architecture: Architecture) -> Table {
    zeroed_slice_or_abort(RowLayout::weights(architecture).len())
}

/// Returns initial weights: the last row of each block, which is the factor row if there is one, uniform within `span`;
/// the other rows and those of attack inputs zero.
pub fn initial(rng: &mut SplitMix64, architecture: Architecture, span: f32) -> Table {
    let (layout, mut table) = (RowLayout::weights(architecture), zeros(architecture));
    let blocks = &mut table[..layout.blocks()];
    for block in blocks.chunks_exact_mut(layout.block()) {
        let last = block.len() - architecture.l1;
        for weight in &mut block[last..] {
            *weight = span * uniform(rng);
        }
    }
    table
}

/// Returns a random number from -1 to 1.
pub fn uniform(rng: &mut SplitMix64) -> f32 {
    (rng.next_u64() >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
}

// Piece-square values: outputs of features that bypass the layers, one value per layer stack, in units of the output.
//
// Half the difference of both sides' sums is added to the output, so the layers need not represent material. As in
// the transformer, a factor row contains the part common to all king buckets, and the export adds both. Attack inputs
// have such values too.

// CITE: piece-square outputs of Stockfish 14's nets (Tomasz Sobczyk and others), with the idea of initialising them
// with piece values.

/// Value of a piece (0 pawn to 5 king) in engine units.
pub fn piece_value(role: usize) -> i16 {
    [208, 780, 830, 1270, 2520, 0][role]
}

/// Returns values of zero; empty for an architecture without piece-square values.
pub fn psqt_zeros(architecture: Architecture) -> Vec<f32> {
    vec![0.0; RowLayout::psqt(architecture).len()]
}

/// Returns initial values: piece values in the factor rows, negative for the opponent's pieces, zero for kings and
/// attack inputs.
pub fn psqt_initial(architecture: Architecture) -> Vec<f32> {
    let (layout, mut values) = (RowLayout::psqt(architecture), psqt_zeros(architecture));
    if values.is_empty() {
        return values;
    }
    let blocks = &mut values[..layout.blocks()];
    for (piece_row, block) in blocks.chunks_exact_mut(layout.block()).enumerate() {
        let (piece, is_other) = (piece_row / 64 / 2, piece_row / 64 % 2 == 1);
        let value = f32::from(piece_value(piece)) / UNITS;
        let factor = block.len() - architecture.psqt;
        block[factor..].fill(if is_other { -value } else { value });
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::model::{Model, shapes};
    use crate::train::samples::record_of;
    use crate::util::rng::SplitMix64;

    #[test]
    fn initial_psqt_counts_a_queen_for_either_side() {
        let architecture = shapes::for_tests().find(|shape| shape.psqt > 0);
        let architecture = architecture.expect("a trainable shape has piece-square values");
        let model = Model::initial(&mut SplitMix64::new(1), architecture, 0.0);
        let board = |fen: &str| shakmaty::Board::from_ascii_board_fen(fen.as_bytes()).unwrap();
        let ahead = board("4k3/pppp4/8/8/8/8/PPPP4/3QK3");
        let queen = f32::from(piece_value(4)) / UNITS;
        for (black_to_move, sign) in [(false, 1.0), (true, -1.0)] {
            let found = model.psqt(&record_of(&ahead, black_to_move));
            assert!((found - sign * queen).abs() < 1e-5, "{found}");
        }
    }
}
