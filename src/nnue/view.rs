//! What a network needs to see of a board: far less than a whole position.

use shakmaty::{Bitboard, Color, Role, Square};

use crate::board::Position;

/// A board that a network can evaluate: piece sets, both kings, and the side to move.
pub trait BoardView {
    /// The side to move.
    fn turn(&self) -> Color;
    /// The square of the king of `color`.
    fn king(&self, color: Color) -> Square;
    /// The pieces of one colour and role.
    fn pieces(&self, color: Color, role: Role) -> Bitboard;
}

impl BoardView for Position {
    #[inline]
    fn turn(&self) -> Color {
        Position::turn(self)
    }
    #[inline]
    fn king(&self, color: Color) -> Square {
        Position::king(self, color)
    }
    #[inline]
    fn pieces(&self, color: Color, role: Role) -> Bitboard {
        Position::pieces(self, color, role)
    }
}
