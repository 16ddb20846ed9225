//! The pieces of a position in 24 bytes, common to all formats.

use bytemuck::{Pod, Zeroable};
use shakmaty::{Bitboard, Square};

use crate::board::attacks;
use crate::board::{Color, Position, Role};

/// Largest number of pieces; no legal position has more.
pub const MAX_PIECES: usize = 32;
/// Role code of a king in a nibble; `Role` counts from 1.
const KING: u8 = 5;

/// Piece placement.
///
/// ```text
/// bytes  0..8   occupied squares, a1 = bit 0
///        8..24  one nibble per occupied square, low nibble first: 2 * role + colour (white 0), pawn 0 .. king 5
/// ```
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pod, Zeroable)]
pub struct PackedBoard {
    occupied: u64,
    nibbles: [u8; 16],
}

/// A piece of a packed board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedPiece {
    /// Square: 0 (a1) to 63 (h8).
    pub square: u8,
    /// Role: 0 (pawn) to 5 (king).
    pub role: u8,
    /// Colour: 0 white, 1 black.
    pub colour: u8,
}

impl PackedPiece {
    /// The role as the board's type; `None` for an invalid code.
    pub fn role(self) -> Option<Role> {
        Role::try_from(u32::from(self.role) + 1).ok()
    }

    /// The square as the board's type.
    pub fn square(self) -> Square {
        Square::new(u32::from(self.square & 63))
    }
}

impl PackedBoard {
    /// Packs the pieces, which must be in the order of their squares. Pieces after the 32nd are ignored.
    pub fn new(pieces: impl Iterator<Item = PackedPiece>) -> Self {
        let mut occupied = 0;
        let mut nibbles = 0_u128;
        for (slot, piece) in pieces.take(MAX_PIECES).enumerate() {
            occupied |= 1 << piece.square;
            nibbles |= u128::from(2 * piece.role + piece.colour) << (4 * slot);
        }
        Self { occupied, nibbles: nibbles.to_le_bytes() }
    }

    /// Packs at most 32 pieces. `codes` has the nibble of each occupied square.
    #[inline]
    pub(super) fn from_codes(occupied: u64, codes: &[u8; 64]) -> Self {
        let (mut left, mut nibbles, mut shift) = (occupied, 0_u128, 0);
        while left != 0 && shift < 128 {
            nibbles |= u128::from(codes[left.trailing_zeros() as usize & 63]) << shift;
            left &= left - 1;
            shift += 4;
        }
        Self { occupied, nibbles: nibbles.to_le_bytes() }
    }

    /// Creates a board from the occupied squares and their nibbles in square order, lowest first.
    #[inline]
    pub(super) fn from_nibbles(occupied: u64, nibbles: u128) -> Self {
        Self { occupied, nibbles: nibbles.to_le_bytes() }
    }

    /// Packs the pieces of a position.
    pub fn of(position: &Position) -> Self {
        let occupied = position.occupied();
        let black = position.by_color(Color::Black);
        Self::new(occupied.into_iter().map(|square| PackedPiece {
            square: u8::from(square),
            role: position.role_at(square).map_or(0, |role| role as u8 - 1),
            colour: u8::from(black.contains(square)),
        }))
    }

    /// The pieces, in the order of their squares.
    #[inline]
    pub fn pieces(&self) -> impl Iterator<Item = PackedPiece> + '_ {
        let mut left = self.occupied;
        (0..MAX_PIECES).map_while(move |slot| {
            if left == 0 {
                return None;
            }
            let square = left.trailing_zeros() as u8;
            left &= left - 1;
            let nibble = self.nibbles[slot / 2] >> (4 * (slot % 2)) & 15;
            Some(PackedPiece { square, role: nibble >> 1, colour: nibble & 1 })
        })
    }

    /// The occupied squares, a1 = bit 0.
    pub fn occupied(&self) -> u64 {
        self.occupied
    }

    /// The nibbles, sixteen per word.
    pub(super) fn words(&self) -> [u64; 2] {
        let nibbles = u128::from_le_bytes(self.nibbles);
        [nibbles as u64, (nibbles >> 64) as u64]
    }

    /// Number of pieces on the board, kings included.
    pub fn count(&self) -> u32 {
        self.occupied.count_ones()
    }

    /// The piece on a square, if there is one.
    pub fn piece_at(&self, square: Square) -> Option<PackedPiece> {
        let bit = 1_u64 << square as u32;
        if self.occupied & bit == 0 {
            return None;
        }
        let slot = (self.occupied & (bit - 1)).count_ones() as usize;
        self.pieces().nth(slot)
    }

    /// The square of a side's king, if there is one.
    pub fn king(&self, black: bool) -> Option<Square> {
        let colour = u8::from(black);
        self.pieces().find(|piece| piece.role == KING && piece.colour == colour).map(PackedPiece::square)
    }

    /// Whether a side's king is attacked.
    pub fn in_check(&self, black: bool) -> bool {
        let mut by_code = [0_u64; 16];
        for piece in self.pieces() {
            by_code[usize::from(2 * piece.role + piece.colour) & 15] |= 1 << piece.square;
        }
        let (own, other) = (usize::from(black), usize::from(!black));
        let king = by_code[2 * usize::from(KING) + own];
        if king == 0 {
            return false;
        }
        let king = Square::new(king.trailing_zeros());
        let enemy = |role: Role| Bitboard(by_code[2 * (role as usize - 1) + other]);
        let occupied = Bitboard(self.occupied);
        let own = if black { Color::Black } else { Color::White };
        let straight = enemy(Role::Rook) | enemy(Role::Queen);
        let diagonal = enemy(Role::Bishop) | enemy(Role::Queen);
        let attackers = attacks::pawn_attacks(own, king) & enemy(Role::Pawn)
            | attacks::knight_attacks(king) & enemy(Role::Knight)
            | attacks::king_attacks(king) & enemy(Role::King)
            | attacks::rook_attacks(king, occupied) & straight
            | attacks::bishop_attacks(king, occupied) & diagonal;
        attackers.any()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::CastlingMode;

    #[test]
    fn packed_board_round_trips_pieces() {
        let pieces: Vec<_> = (0..32).map(|i| PackedPiece { square: 2 * i, role: i % 6, colour: i % 2 }).collect();
        let board = PackedBoard::new(pieces.iter().copied());
        assert_eq!(board.pieces().collect::<Vec<_>>(), pieces);
        assert_eq!(board.count(), 32);
        for piece in pieces {
            assert_eq!(board.piece_at(piece.square()), Some(piece));
        }
        assert_eq!(board.piece_at(Square::B1), None);
    }

    #[test]
    fn in_check_agrees_with_the_position() {
        for fen in [
            "4k3/8/8/8/8/8/8/4K3 w - - 0 1",
            "4k3/8/8/8/8/8/4r3/4K3 w - - 0 1",
            "4k3/8/8/8/8/3p4/4P3/4K3 w - - 0 1",
            "4k3/8/8/8/8/8/3p4/4K3 w - - 0 1",
            "4k3/8/8/8/1b6/8/8/4K3 w - - 0 1",
            "4k3/8/3N4/8/8/8/8/4K3 b - - 0 1",
            "4k3/3P4/8/8/8/8/8/4K3 b - - 0 1",
            "4k3/8/2Q5/8/8/8/8/4K3 b - - 0 1",
        ] {
            let position = Position::from_fen(fen, CastlingMode::Standard).expect(fen);
            let board = PackedBoard::of(&position);
            let black = position.turn() == Color::Black;
            assert_eq!(board.in_check(black), position.in_check(), "{fen}");
            assert_eq!(board.king(black), Some(position.king(position.turn())));
        }
    }
}
