//! The plies of the current line, with the recorded changes of each. Stored apart from the sums, so that a push writes
//! only a few bytes.

use shakmaty::{Bitboard, ByColor, Color, Role, Square};

use crate::board::{DirtyPieces, Move, PieceCodes, Position};
use crate::nnue::Board;

/// Initial capacity of a stack, in plies. A longer line only costs an allocation.
pub const INITIAL_PLIES: usize = 272;

/// The changes of a ply, and which of its sums are computed.
#[derive(Clone)]
pub struct Ply {
    /// The pieces that the ply's move changed.
    pub dirty: DirtyPieces,
    /// Whether the sums are up to date, by perspective.
    pub computed: [bool; 2],
}

impl Ply {
    #[inline]
    fn new(dirty: DirtyPieces) -> Self {
        Self { dirty, computed: [false; 2] }
    }
}

/// The plies from the last reset to the position on the board.
pub struct Plies {
    pub stack: Vec<Ply>,
    /// Index of the current ply in `stack`.
    pub top: usize,
}

impl Plies {
    /// An empty line.
    pub fn new() -> Self {
        Self { stack: vec![Ply::new(DirtyPieces::none()); INITIAL_PLIES], top: 0 }
    }

    /// Makes `m` and pushes its changes.
    #[inline]
    pub fn make(&mut self, position: &mut Position, m: Move) {
        position.do_move_to(m, self.next());
    }

    /// Clears the line.
    pub fn reset(&mut self) {
        self.top = 0;
        self.stack[0] = Ply::new(DirtyPieces::none());
    }

    /// Pushes a move's changes.
    #[inline]
    pub fn push(&mut self, dirty: &DirtyPieces) {
        *self.next() = *dirty;
    }

    /// Advances by one ply and returns the storage for its changed pieces.
    #[inline]
    fn next(&mut self) -> &mut DirtyPieces {
        self.top += 1;
        if self.top >= self.stack.len() {
            self.grow();
        }
        let ply = &mut self.stack[self.top];
        ply.computed = [false; 2];
        &mut ply.dirty
    }

    #[cold]
    fn grow(&mut self) {
        self.stack.push(Ply::new(DirtyPieces::none()));
    }

    /// Removes the last ply.
    #[inline]
    pub fn pop(&mut self) {
        debug_assert!(self.top > 0, "pop without a matching push");
        self.top = self.top.saturating_sub(1);
    }

    /// The pawns at a ply, given the pawns `now` at the top.
    #[inline]
    pub fn pawns_at(&self, ply: usize, mut now: ByColor<Bitboard>) -> ByColor<Bitboard> {
        for later in self.stack[ply + 1..=self.top].iter().rev() {
            for change in later.dirty.iter().filter(|c| c.piece.role == Role::Pawn) {
                let pawns = now.get_mut(change.piece.color);
                if let Some(to) = change.to {
                    pawns.discard(to);
                }
                if let Some(from) = change.from {
                    pawns.add(from);
                }
            }
        }
        now
    }

    /// The board at a ply, given the board at the top. The side to move is that of the top: sums do not depend on it.
    pub fn board_at(&self, ply: usize, top: &Board) -> Board {
        let mut board = top.clone();
        for later in self.stack[ply + 1..=self.top].iter().rev() {
            // Removes the arrivals before restoring departures: in castling the two sets of squares can overlap.
            for change in later.dirty.iter() {
                if let Some(to) = change.to {
                    board.remove(change.piece, to);
                }
            }
            for change in later.dirty.iter() {
                if let Some(from) = change.from {
                    board.add(change.piece, from);
                }
            }
        }
        board
    }

    /// The king's square at a ply, given its square `now` at the top.
    #[inline]
    pub fn king_at(&self, ply: usize, color: Color, now: Square) -> Square {
        let later = self.stack[ply + 1..=self.top].iter();
        let first = later.map(|ply| &ply.dirty).find(|dirty| dirty.king_moved() == Some(color));
        first.and_then(|dirty| dirty[0].from).unwrap_or(now)
    }

    /// The pieces at a ply, given those at the top.
    #[inline]
    pub fn codes_at(&self, ply: usize, mut now: PieceCodes) -> PieceCodes {
        self.stack[ply + 1..=self.top].iter().rev().for_each(|later| now.undo(&later.dirty));
        now
    }

    /// The highest ply with computed sums of a perspective from which the changes of all later plies can be applied.
    /// `is_incremental` returns whether the changes of a ply can be applied.
    #[inline(always)]
    pub fn base(&self, perspective: Color, is_incremental: impl Fn(&Ply) -> bool) -> Base {
        let mut ply = self.top;
        loop {
            let here = &self.stack[ply];
            let is_computed = here.computed[perspective as usize];
            if is_computed || ply == 0 || !is_incremental(here) {
                return Base { ply, is_computed };
            }
            ply -= 1;
        }
    }
}

/// The ply from which the sums of a perspective are updated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Base {
    /// Index of the ply.
    pub ply: usize,
    /// Whether its sums are computed. If not, it is the lowest ply from which the changes can be applied up to the top.
    pub is_computed: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Piece;

    use crate::board::{CastlingMode, DirtyPiece};
    use crate::util::rng::SplitMix64;

    #[test]
    fn boards_of_earlier_plies_match_the_positions() {
        let mut rng = SplitMix64::new(29);
        for fen in [
            "bqnrkbrn/pppppppp/8/8/8/8/PPPPPPPP/BQNRKBRN w GDgd - 0 1",
            "1rk4r/8/8/pPp5/8/8/8/1RK4R w BHbh a6 0 1",
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        ] {
            let mut position = Position::from_fen(fen, CastlingMode::Chess960).expect(fen);
            let mut plies = Plies::new();
            let mut boards = vec![Board::from(&position)];
            for _ in 0..100 {
                let moves = position.legal_moves();
                if moves.is_empty() {
                    break;
                }
                plies.make(&mut position, moves[rng.below(moves.len())]);
                boards.push(Board::from(&position));
            }
            let top = Board::from(&position);
            for (ply, expected) in boards.iter().enumerate() {
                let board = plies.board_at(ply, &top);
                for color in Color::ALL {
                    for role in Role::ALL {
                        assert_eq!(board.pieces(color, role), expected.pieces(color, role), "{fen}, ply {ply}");
                    }
                    assert_eq!(plies.king_at(ply, color, top.king(color)), expected.king(color), "{fen}, ply {ply}");
                }
                assert_eq!(plies.pawns_at(ply, top.pawns()), expected.pawns(), "{fen}, ply {ply}");
            }
        }
    }

    #[test]
    fn base_is_the_last_computed_ply_or_the_first_after_which_all_changes_apply() {
        let mut plies = Plies::new();
        (0..5).for_each(|_| plies.push(&DirtyPieces::none()));
        let always = |_: &Ply| true;
        assert_eq!(plies.base(Color::White, always), Base { ply: 0, is_computed: false });
        plies.stack[2].computed[Color::White as usize] = true;
        assert_eq!(plies.base(Color::White, always), Base { ply: 2, is_computed: true });
        assert_eq!(plies.base(Color::Black, always), Base { ply: 0, is_computed: false });
        let pawn = Piece { color: Color::White, role: Role::Pawn };
        plies.stack[4].dirty.push(DirtyPiece { piece: pawn, from: Some(Square::E2), to: Some(Square::E4) });
        assert_eq!(plies.base(Color::White, |ply| ply.dirty.is_empty()), Base { ply: 4, is_computed: false });
        plies.pop();
        plies.push(&DirtyPieces::none());
        assert_eq!(plies.base(Color::White, always).ply, 2);
    }
}
