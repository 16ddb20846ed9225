//! The part of a position that a network reads.

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
    /// The number of pieces, kings included.
    fn count(&self) -> usize {
        let sets = Color::ALL.into_iter().flat_map(|color| Role::ALL.map(|role| (color, role)));
        sets.map(|(color, role)| self.pieces(color, role).count()).sum()
    }
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
    #[inline]
    fn count(&self) -> usize {
        self.occupied().count()
    }
}
