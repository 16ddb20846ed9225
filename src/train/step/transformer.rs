//! The transformer's gradient: for each row, the sum of the deltas of the accumulators that use it. The piece-square
//! values of a batch.
//!
//! A block of columns at a time, because each delta is read once for every piece on the board and should then be in the
//! cache. The blocks of deltas are contiguous, so that they occupy all of it.
//!
//! The index of the accumulators that use each row comes first.

use std::ops::Range;

use rayon::prelude::*;

use super::simd::{COLUMNS, Kernels, PackedColumns};
use crate::nnue::Architecture;
use crate::nnue::features::FeatureSet;
use crate::train::model::parameters::{ActiveRow, DenseParameters, RowLayout};
use crate::train::samples::{Active, ActiveRows};
use crate::util::memory::{Zeroed, zeroed_slice_or_abort};

// The index.
//
// Index of the accumulators that use each row of the transformer. The gradient of a row is the sum over its users, so
// that rows without users cost nothing.
//
// Accumulators whose king is in the same bucket use the same few hundred rows. They are numbered one bucket after the
// other, and indexed in chunks: the deltas of a chunk and the gradient of the bucket's rows, a block of columns at a
// time, fit into the second-level cache together.
//
// The rows of attack inputs do not depend on the king, but are indexed in the same chunks. A chunk uses only a part of
// these rows, so the index lists the rows in use.

/// Maximum number of accumulators in a chunk.
const CHUNK: usize = 1024;

/// For each of the transformer's rows, the accumulators in which it is active, over a range of positions.
pub struct RowIndex {
    set: &'static FeatureSet,
    /// Number of each accumulator: two per position, the side to move's first.
    numbers: Vec<[u32; 2]>,
    /// The chunks, in the order of their numbers.
    chunks: Vec<Chunk>,
    /// For each chunk, the start of each row's users; one entry more than rows.
    starts: Vec<u32>,
    users: Vec<u32>,
    attacks: AttackIndex,
}

/// The accumulators in which attack inputs are active.
struct AttackIndex {
    /// The active row of the first attack input.
    first: usize,
    /// For each attack input, whether an accumulator uses it.
    used: Vec<bool>,
    /// For each chunk, the attack inputs in use in ascending order, and the end of their users.
    ends: Vec<(u32, u32)>,
    users: Vec<u32>,
    /// For each attack input, the place of its next user.
    next: Vec<u32>,
}

/// A range of accumulators with kings in the same bucket.
struct Chunk {
    king: usize,
    /// Entries of the starts.
    starts: Range<usize>,
}

/// The bucket of an accumulator's king; 0 without active rows.
fn king_bucket(set: &FeatureSet, active: Active, side: usize) -> usize {
    active.side(side).first().map_or(0, |&row| set.king_and_piece_row(row.into()).0)
}

impl RowIndex {
    /// Returns the index of no positions.
    pub fn new(architecture: Architecture) -> Self {
        let set = architecture.features.set();
        let attacks = AttackIndex::new(set.active_rows(), architecture.attacks.rows());
        Self { set, numbers: Vec::new(), chunks: Vec::new(), starts: Vec::new(), users: Vec::new(), attacks }
    }

    /// Numbers the accumulators of `positions`, and sorts them by the rows that they use.
    pub fn fill(&mut self, positions: &ActiveRows) {
        let order = self.number(positions);
        self.chunks.clear();
        self.starts.clear();
        self.users.clear();
        self.attacks.clear();
        let set = self.set;
        let king = |&(position, side): &(usize, usize)| king_bucket(set, positions.get(position), side);
        let mut first = 0;
        for members in order.chunk_by(|a, b| king(a) == king(b)) {
            for chunk in members.chunks(CHUNK) {
                let rows = chunk.iter().map(|&(position, side)| positions.get(position).parts(side));
                self.add_chunk(king(&chunk[0]), first, rows.clone().map(|(pieces, _)| pieces));
                self.attacks.add_chunk(first, rows.map(|(_, attacks)| attacks));
                first += chunk.len();
            }
        }
    }

    /// Numbers the accumulators, one king bucket after the other. Returns the position and side of each, in the order
    /// of the numbers.
    fn number(&mut self, positions: &ActiveRows) -> Vec<(usize, usize)> {
        let set = self.set;
        let king = |active: Active, side: usize| king_bucket(set, active, side);
        // The number of the next accumulator of each bucket.
        let mut next = vec![0; set.kings + 1];
        for active in positions.range(0..positions.len()) {
            (0..2).for_each(|side| next[king(active, side) + 1] += 1);
        }
        for king in 1..next.len() {
            next[king] += next[king - 1];
        }
        let mut order = vec![(0, 0); 2 * positions.len()];
        self.numbers.clear();
        self.numbers.extend(positions.range(0..positions.len()).enumerate().map(|(position, active)| {
            [0, 1].map(|side| {
                let next = &mut next[king(active, side)];
                order[*next] = (position, side);
                *next += 1;
                (*next - 1) as u32
            })
        }));
        order
    }

    /// Adds a chunk of accumulators, numbered from `first` on, with the rows that they use.
    fn add_chunk<'a>(&mut self, king: usize, first: usize, accumulators: impl Iterator<Item = &'a [u16]> + Clone) {
        let (start, base) = (self.starts.len(), king * self.set.piece_rows());
        let user_start = self.users.len();
        // Counts are stored two entries later. After the prefix sums, entry `row + 1` is the place of the row's next
        // user, and at the end it is the start of the next row.
        self.starts.resize(start + self.set.piece_rows() + 2, 0);
        let starts = &mut self.starts[start..];
        for &row in accumulators.clone().flatten() {
            starts[usize::from(row) - base + 2] += 1;
        }
        let mut sum = user_start as u32;
        for start in &mut *starts {
            sum += *start;
            *start = sum;
        }
        self.users.resize(sum as usize, 0);
        for (at, rows) in accumulators.enumerate() {
            for &row in rows {
                let next = &mut starts[usize::from(row) - base + 1];
                self.users[*next as usize] = (first + at) as u32;
                *next += 1;
            }
        }
        self.chunks.push(Chunk { king, starts: start..start + self.set.piece_rows() + 1 });
    }

    /// Returns the numbers of a position's accumulators.
    pub fn numbers(&self, position: usize) -> [usize; 2] {
        self.numbers[position].map(|number| number as usize)
    }

    /// Returns the chunks of a king bucket. Each is an iterator over the users of the bucket's rows, in order.
    pub fn chunks(&self, king: usize) -> impl Iterator<Item = impl Iterator<Item = &[u32]>> {
        self.of_king(king).map(|chunk| {
            let starts = &self.starts[chunk.starts.clone()];
            starts.windows(2).map(|range| &self.users[range[0] as usize..range[1] as usize])
        })
    }

    /// Returns the attack inputs of each chunk that are in use, with their users, in order. An attack input can occur
    /// once in every chunk.
    pub fn attacks(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let mut start = 0;
        self.attacks.ends.iter().map(move |&(row, end)| {
            let users = &self.attacks.users[start..end as usize];
            start = end as usize;
            (row as usize, users)
        })
    }

    /// Whether an accumulator uses an attack input.
    pub fn uses_attack(&self, attack: usize) -> bool {
        self.attacks.used[attack]
    }

    /// Whether an accumulator uses an active row.
    pub fn uses(&self, row: usize) -> bool {
        if let Some(attack) = row.checked_sub(self.attacks.first) {
            return self.uses_attack(attack);
        }
        let (king, piece_row) = self.set.king_and_piece_row(row);
        self.of_king(king).any(|chunk| {
            let start = chunk.starts.start + piece_row;
            self.starts[start] < self.starts[start + 1]
        })
    }

    fn of_king(&self, king: usize) -> impl Iterator<Item = &Chunk> {
        let first = self.chunks.partition_point(|chunk| chunk.king < king);
        self.chunks[first..].iter().take_while(move |chunk| chunk.king == king)
    }
}

impl AttackIndex {
    fn new(first: usize, rows: usize) -> Self {
        Self { first, used: vec![false; rows], ends: Vec::new(), users: Vec::new(), next: vec![0; rows] }
    }

    fn clear(&mut self) {
        self.used.fill(false);
        self.ends.clear();
        self.users.clear();
    }

    /// Adds a chunk of accumulators, numbered from `number` on, with the rows that they use.
    fn add_chunk<'a>(&mut self, number: usize, accumulators: impl Iterator<Item = &'a [u16]> + Clone) {
        let first = self.first;
        self.next.fill(0);
        for &row in accumulators.clone().flatten() {
            self.next[usize::from(row) - first] += 1;
        }
        let mut end = self.users.len() as u32;
        for (row, next) in self.next.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
            let start = end;
            end += *next;
            *next = start;
            self.ends.push((row as u32, end));
            self.used[row] = true;
        }
        self.users.resize(end as usize, 0);
        for (at, rows) in accumulators.enumerate() {
            for &row in rows {
                let next = &mut self.next[usize::from(row) - first];
                self.users[*next as usize] = (number + at) as u32;
                *next += 1;
            }
        }
    }
}

// The gradient.

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::model::shapes;
    use crate::train::samples::positions;

    #[test]
    fn chunks_list_users_of_every_row() {
        for architecture in shapes::for_tests().filter(|shape| shape.l1 == 256) {
            check_users(architecture);
        }
    }

    fn check_users(architecture: Architecture) {
        let set = architecture.features.set();
        let all = set.active_rows() + architecture.attacks.rows();
        let records = positions(3 * CHUNK);
        let mut actives = ActiveRows::default();
        let mut index = RowIndex::new(architecture);
        index.fill(&actives);
        assert!((0..all).all(|row| !index.uses(row)));
        records.iter().for_each(|record| actives.push(architecture, record, false));
        index.fill(&actives);
        let mut rows_of = vec![Vec::new(); 2 * actives.len()];
        let mut largest = 0;
        for king in 0..set.kings {
            for chunk in index.chunks(king) {
                let mut members = Vec::new();
                for (piece_row, users) in chunk.enumerate() {
                    assert!(users.is_sorted());
                    let row = (set.piece_rows() * king + piece_row) as u16;
                    users.iter().for_each(|&user| rows_of[user as usize].push(row));
                    members.extend_from_slice(users);
                }
                members.sort_unstable();
                members.dedup();
                largest = largest.max(members.len());
            }
        }
        for (attack, users) in index.attacks() {
            assert!(!users.is_empty() && users.is_sorted());
            let row = (set.active_rows() + attack) as u16;
            users.iter().for_each(|&user| rows_of[user as usize].push(row));
        }
        assert_eq!(largest, CHUNK);
        for (position, active) in actives.range(0..actives.len()).enumerate() {
            for (side, number) in index.numbers(position).into_iter().enumerate() {
                let mut expected = active.side(side).to_vec();
                expected.sort_unstable();
                let mut found = std::mem::take(&mut rows_of[number]);
                found.sort_unstable();
                assert_eq!(found, expected);
                assert!(expected.iter().all(|&row| index.uses(usize::from(row))));
            }
        }
    }
}
