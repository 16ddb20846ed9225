//! The part of a position that a network reads.

use shakmaty::{Bitboard, ByColor, ByRole, Color, Piece, Role, Square};

use crate::board::{PieceCodes, Position};

/// A board that a network evaluates: the pieces and the side to move. Each side has one king. No other rule of chess
/// applies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Board {
    by_role: ByRole<Bitboard>,
    by_color: ByColor<Bitboard>,
    turn: Color,
}

impl Board {
    /// A board without pieces.
    pub const fn empty(turn: Color) -> Self {
        let none = Bitboard::EMPTY;
        let by_role = ByRole { pawn: none, knight: none, bishop: none, rook: none, queen: none, king: none };
        Self { by_role, by_color: ByColor { black: none, white: none }, turn }
    }

    /// Puts a piece on an empty square.
    #[inline]
    pub fn add(&mut self, piece: Piece, square: Square) {
        self.by_role.get_mut(piece.role).add(square);
        self.by_color.get_mut(piece.color).add(square);
    }

    /// Removes a piece from its square.
    #[inline]
    pub fn remove(&mut self, piece: Piece, square: Square) {
        self.by_role.get_mut(piece.role).discard(square);
        self.by_color.get_mut(piece.color).discard(square);
    }

    /// The side to move.
    #[inline]
    pub fn turn(&self) -> Color {
        self.turn
    }

    /// The square of the king of `color`.
    #[inline]
    pub fn king(&self, color: Color) -> Square {
        // The mask only avoids the check for an empty set.
        Square::new(self.pieces(color, Role::King).0.trailing_zeros() & 63)
    }

    /// The pieces of one colour and role.
    #[inline]
    pub fn pieces(&self, color: Color, role: Role) -> Bitboard {
        *self.by_color.get(color) & *self.by_role.get(role)
    }

    /// The pieces of each colour.
    #[inline]
    pub fn sides(&self) -> &ByColor<Bitboard> {
        &self.by_color
    }

    /// The piece on a square; `None` if the square is empty.
    #[inline]
    pub fn piece_at(&self, square: Square) -> Option<Piece> {
        let role = Role::ALL.into_iter().find(|&role| self.by_role.get(role).contains(square))?;
        Some(role.of(Color::from_white(self.by_color.white.contains(square))))
    }

    /// The pieces as bits of their codes.
    #[inline]
    pub(crate) fn codes(&self) -> PieceCodes {
        PieceCodes::new(&self.by_role, &self.by_color)
    }

    /// The pawns of both colours.
    #[inline]
    pub fn pawns(&self) -> ByColor<Bitboard> {
        ByColor::new_with(|color| self.pieces(color, Role::Pawn))
    }

    /// The number of pieces, kings included.
    #[inline]
    pub fn count(&self) -> usize {
        (self.by_color.white | self.by_color.black).count()
    }
}

impl From<&Position> for Board {
    #[inline]
    fn from(position: &Position) -> Self {
        Self {
            by_role: ByRole::new_with(|role| position.by_role(role)),
            by_color: ByColor::new_with(|color| position.by_color(color)),
            turn: position.turn(),
        }
    }
}

impl From<&Self> for Board {
    #[inline]
    fn from(board: &Self) -> Self {
        board.clone()
    }
}
