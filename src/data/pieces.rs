//! Bitboards by colour and role for network evaluation, detached from the position.

use anyhow::{Result, ensure};
use shakmaty::{Bitboard, Color, Role, Square};

use super::entry::Entry;
use crate::nnue::BoardView;

/// Piece bitboards and side to move.
pub struct Pieces {
    turn: Color,
    kings: [Square; 2],
    pieces: [[Bitboard; 6]; 2],
    count: usize,
}

impl Pieces {
    /// Extracts the pieces of an entry.
    ///
    /// # Errors
    /// Fails unless there is exactly one king on each side.
    pub fn of_entry(entry: &Entry) -> Result<Self> {
        let mut pieces = [[Bitboard::EMPTY; 6]; 2];
        for piece in entry.board.pieces() {
            let of_colour = &mut pieces[usize::from(piece.colour)];
            if let Some(of_role) = of_colour.get_mut(usize::from(piece.role)) {
                of_role.add(Square::new(piece.square.into()));
            }
        }
        let kings = pieces.map(|roles| roles[Role::King as usize - 1]);
        let found = kings.map(Bitboard::first);
        let one_each = kings.iter().all(|kings| kings.count() == 1);
        ensure!(one_each, "the position does not have exactly one king on each side");
        Ok(Self {
            turn: Color::from_white(!entry.black_to_move),
            kings: found.map(|king| king.unwrap_or(Square::A1)),
            pieces,
            count: entry.board.count() as usize,
        })
    }

    /// Copies the pieces of a board.
    pub fn of(board: &impl BoardView) -> Self {
        let of_colour = |color| Role::ALL.map(|role| board.pieces(color, role));
        Self {
            turn: board.turn(),
            kings: COLORS.map(|color| board.king(color)),
            pieces: COLORS.map(of_colour),
            count: board.count(),
        }
    }
}

/// Colours in the order of the arrays, which is that of packed boards.
const COLORS: [Color; 2] = [Color::White, Color::Black];

/// Index of a colour in the arrays.
fn at(color: Color) -> usize {
    color.fold_wb(0, 1)
}

impl BoardView for Pieces {
    fn turn(&self) -> Color {
        self.turn
    }
    fn king(&self, color: Color) -> Square {
        self.kings[at(color)]
    }
    fn pieces(&self, color: Color, role: Role) -> Bitboard {
        self.pieces[at(color)][role as usize - 1]
    }
    fn count(&self) -> usize {
        self.count
    }
}
