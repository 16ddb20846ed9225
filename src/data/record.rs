//! One labelled position in 32 bytes, so that tens of millions fit in memory and can be shuffled.

use bytemuck::{Pod, Zeroable};

/// A labelled position.
///
/// ```text
/// bytes  0..8   occupied squares, a1 = bit 0
///        8..24  one nibble per occupied square, low nibble first: 2 * role + colour (white 0), pawn 0 .. king 5
///       24..26  score in engine units, side to move's view
///       26..28  ply of the game
///       28      result, side to move's view: -1, 0, 1
///       29      flags: bit 0 black to move, bit 1 somebody may still castle
///       30..32  zero
/// ```
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct Record {
    occupied: u64,
    nibbles: [u8; 16],
    /// Score in engine units, from the side to move's view.
    pub score: i16,
    /// Ply of the game.
    pub ply: u16,
    /// Game result from the side to move's view: -1, 0, 1.
    pub result: i8,
    flags: u8,
    reserved: [u8; 2],
}

const BLACK_TO_MOVE: u8 = 1;
const CAN_CASTLE: u8 = 2;

/// A piece as a record holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedPiece {
    /// 0 (a1) to 63 (h8).
    pub square: u8,
    /// 0 pawn .. 5 king.
    pub role: u8,
    /// 0 white, 1 black.
    pub colour: u8,
}

impl Record {
    /// Packs the pieces, which must come in the order of their squares and be at most 32.
    pub fn pack(
        pieces: impl Iterator<Item = PackedPiece>,
        black_to_move: bool,
        can_castle: bool,
    ) -> Self {
        let mut record = Self::zeroed();
        for (slot, piece) in pieces.take(32).enumerate() {
            record.occupied |= 1 << piece.square;
            record.nibbles[slot / 2] |= (2 * piece.role + piece.colour) << (4 * (slot % 2));
        }
        record.flags = BLACK_TO_MOVE * u8::from(black_to_move) + CAN_CASTLE * u8::from(can_castle);
        record
    }

    /// The pieces, in the order of their squares.
    #[inline]
    pub fn pieces(&self) -> impl Iterator<Item = PackedPiece> + '_ {
        let mut left = self.occupied;
        (0..32_usize).map_while(move |slot| {
            if left == 0 {
                return None;
            }
            let square = left.trailing_zeros() as u8;
            left &= left - 1;
            let nibble = self.nibbles[slot / 2] >> (4 * (slot % 2)) & 15;
            Some(PackedPiece {
                square,
                role: nibble >> 1,
                colour: nibble & 1,
            })
        })
    }

    /// How many pieces stand on the board, kings included.
    pub fn piece_count(&self) -> u32 {
        self.occupied.count_ones()
    }

    /// Whether black is to move.
    #[inline]
    pub fn black_to_move(&self) -> bool {
        self.flags & BLACK_TO_MOVE != 0
    }

    /// Whether any castling right is left; without one, the left-to-right mirror image is as good a position.
    #[inline]
    pub fn can_castle(&self) -> bool {
        self.flags & CAN_CASTLE != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_back() {
        let pieces: Vec<_> = (0..32)
            .map(|i| PackedPiece {
                square: 2 * i,
                role: i % 6,
                colour: i % 2,
            })
            .collect();
        let record = Record::pack(pieces.iter().copied(), true, false);
        assert_eq!(record.pieces().collect::<Vec<_>>(), pieces);
        assert!(record.black_to_move() && !record.can_castle());
        assert_eq!(size_of::<Record>(), 32);
    }
}
