//! Who used which row of the transformer: what makes the optimiser's step cost what the batch touched.

use crate::train::samples::active::Active;

/// For every transformer row (there are `rows` of them), the accumulators of a run of positions that used it.
#[derive(Default)]
pub struct RowIndex {
    /// Where each row's users begin; one entry more than rows.
    starts: Vec<u32>,
    users: Vec<u32>,
}

impl RowIndex {
    /// Sorts the accumulators of `positions`, the first of which is position `first` of its batch, by the rows that
    /// they used. An accumulator is `2 * position + side`.
    pub fn fill(&mut self, rows: usize, positions: &[Active], first: usize) {
        // Counted two places further on, so that after the sums a row's entry is where its next user goes, and in
        // the end where the next row begins.
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

    /// The accumulators that used a row, in order.
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
    fn every_use_is_found_in_order() {
        let boards = [
            "2k5/pp6/8/4n3/8/5Q2/6PP/R5K1",
            "6k1/pp6/8/4n3/8/5Q2/6PP/R5K1",
            "8/k7/8/8/8/8/8/K7",
        ];
        let actives = boards.map(|board| {
            let board = shakmaty::Board::from_ascii_board_fen(board.as_bytes()).unwrap();
            Active::of(Features::HalfKp, &record_of(&board, false), false)
        });
        let mut index = RowIndex::default();
        let rows = Features::HalfKp.set().active_rows();
        index.fill(rows, &[Active::default()], 0);
        index.fill(rows, &actives, 7);
        let mut wanted = vec![Vec::new(); rows];
        for (position, active) in actives.iter().enumerate() {
            for side in 0..2 {
                for &row in active.side(side) {
                    wanted[usize::from(row)].push((2 * (position + 7) + side) as u32);
                }
            }
        }
        for (row, wanted) in wanted.iter().enumerate() {
            assert_eq!(index.users(row), wanted);
        }
    }
}
