//! Layout of the tables with an entry for each row of the first layer: weights, piece-square values, and the moments of
//! both.
//!
//! The rows of pieces on squares come first, in blocks: for each piece row its real rows, one per king bucket, and last
//! the factor row that they share. Sets with one king bucket and no mirroring have no factor row.
//!
//! The rows of attack inputs follow. They do not depend on the king and have no factor
//! row.
//!
//! *Active rows* are numbered in another order, that of the positions' features and of a file: the piece rows of the
//! first king bucket, those of the next ones, and then the rows of attack inputs.

use crate::nnue::{Architecture, Features};
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
    /// Returns the layout of a table with entries of `width` numbers.
    pub fn new(architecture: Architecture, width: usize) -> Self {
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

/// Returns the layout of a table.
pub fn layout(architecture: Architecture) -> RowLayout {
    RowLayout::new(architecture, architecture.l1)
}

/// Floats of a block: one row per king bucket and, last, the factor row if there is one, each `l1` wide.
pub fn block(architecture: Architecture) -> usize {
    layout(architecture).block()
}

/// Index of the factor row in its block; the number of rows if there is none.
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

/// Returns initial weights: the last row of each block, which is the factor row if there is one, uniform within `span`;
/// the other rows and those of attack inputs zero.
pub fn initial(rng: &mut SplitMix64, architecture: Architecture, span: f32) -> Table {
    let mut table = zeros(architecture);
    let blocks = &mut table[..layout(architecture).blocks()];
    for block in blocks.chunks_exact_mut(block(architecture)) {
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
