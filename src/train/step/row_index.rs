//! Index of the accumulators that use each row of the transformer. It makes the optimiser's step sparse.

use crate::train::samples::active::Active;

/// For each of the transformer's rows, the accumulators in which it is active, over a range of positions.
#[derive(Default)]
pub struct RowIndex {
    /// Start of each row's accumulators in `users`; one entry more than rows.
    starts: Vec<u32>,
    users: Vec<u32>,
}

impl RowIndex {
    /// Sorts the accumulators of `positions` by the rows that they use. The first position has number `first` in the
    /// batch. An accumulator is `2 * position + side`.
    pub fn fill(&mut self, rows: usize, positions: &[Active], first: usize) {
        // Counts are stored two entries later. After the prefix sums, entry `row + 1` is the place of the row's next
        // user, and at the end it is the start of the next row.
        self.starts.clear();
        self.starts.resize(rows + 2, 0);
        let mut total = 0;
        for active in positions {
            for side in 0..2 {
                for &row in active.side(side) {
                    self.starts[usize::from(row) + 2] += 1;
                }
                total += active.side(side).len();
            }
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.users.resize(total, 0);
        for (position, active) in positions.iter().enumerate() {
            for side in 0..2 {
                let user = (2 * (first + position) + side) as u32;
                for &row in active.side(side) {
                    let next = &mut self.starts[usize::from(row) + 1];
                    self.users[*next as usize] = user;
                    *next += 1;
                }
            }
        }
    }

    /// Returns the accumulators that use a row, in order.
    #[inline]
    pub fn users(&self, row: usize) -> &[u32] {
        &self.users[self.starts[row] as usize..self.starts[row + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::Features;
    use crate::train::samples::active::record_of;

    #[test]
    fn row_index_lists_users_in_order() {
        let boards = ["2k5/pp6/8/4n3/8/5Q2/6PP/R5K1", "6k1/pp6/8/4n3/8/5Q2/6PP/R5K1", "8/k7/8/8/8/8/8/K7"];
        let actives = boards.map(|board| {
            let board = shakmaty::Board::from_ascii_board_fen(board.as_bytes()).unwrap();
            Active::of(Features::HalfKp, &record_of(&board, false), false)
        });
        let mut index = RowIndex::default();
        let rows = Features::HalfKp.set().active_rows();
        index.fill(rows, &[Active::default()], 0);
        index.fill(rows, &actives, 7);
        let mut expected = vec![Vec::new(); rows];
        for (position, active) in actives.iter().enumerate() {
            for side in 0..2 {
                for &row in active.side(side) {
                    expected[usize::from(row)].push((2 * (position + 7) + side) as u32);
                }
            }
        }
        for (row, expected) in expected.iter().enumerate() {
            assert_eq!(index.users(row), expected);
        }
    }
}
