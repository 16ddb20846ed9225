//! Index of the accumulators that use each row of the transformer. The gradient of a row is the sum over its users, so
//! that rows without users cost nothing.
//!
//! Accumulators whose king is in the same bucket use the same few hundred rows. They are numbered one bucket after the
//! other, and indexed in chunks: the deltas of a chunk and the gradient of the bucket's rows, a block of columns at a
//! time, fit into the second-level cache together.
//!
//! The rows of attack inputs do not depend on the king, but are indexed in the same chunks. A chunk uses only a part of
//! these rows, so the index lists the rows in use.

use std::ops::Range;

use crate::nnue::Architecture;
use crate::nnue::features::FeatureSet;
use crate::train::samples::{Active, ActiveRows};

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
