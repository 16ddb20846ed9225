//! A labelled position in 32 bytes, so that tens of millions fit in memory and can be shuffled.

use bytemuck::{Pod, Zeroable};

use super::packed::PackedBoard;
pub use super::packed::PackedPiece;

/// A labelled position.
///
/// ```text
/// bytes  0..24  pieces, a PackedBoard
///       24..26  score in engine units, from the side to move's view
///       26..28  ply of the game
///       28      result, from the side to move's view: -1, 0, 1
///       29      flags: bit 0 black to move, bit 1 any castling right left, bit 2 result unrelated (score-only label)
///       30..32  zero
/// ```
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct Record {
    board: PackedBoard,
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
const SCORE_ALONE: u8 = 4;

impl Record {
    /// Creates an unlabelled record.
    #[inline]
    pub fn new(board: PackedBoard, black_to_move: bool, can_castle: bool) -> Self {
        Self {
            board,
            score: 0,
            ply: 0,
            result: 0,
            flags: BLACK_TO_MOVE * u8::from(black_to_move) + CAN_CASTLE * u8::from(can_castle),
            reserved: [0; 2],
        }
    }

    /// Packs at most 32 pieces, which must be in the order of their squares.
    pub fn pack(pieces: impl Iterator<Item = PackedPiece>, black_to_move: bool, can_castle: bool) -> Self {
        Self::new(PackedBoard::new(pieces), black_to_move, can_castle)
    }

    /// The pieces, in the order of their squares.
    #[inline]
    pub fn pieces(&self) -> impl Iterator<Item = PackedPiece> + '_ {
        self.board.pieces()
    }

    /// Number of pieces on the board, kings included.
    pub fn piece_count(&self) -> u32 {
        self.board.count()
    }

    /// Whether black is to move.
    #[inline]
    pub fn black_to_move(&self) -> bool {
        self.flags & BLACK_TO_MOVE != 0
    }

    /// Whether any castling right is left. Without castling rights, the left-right mirror image is an equivalent
    /// position.
    #[inline]
    pub fn can_castle(&self) -> bool {
        self.flags & CAN_CASTLE != 0
    }

    /// Marks the game result as unrelated: the position was sampled from a search tree, not from the game.
    pub fn trust_score_alone(&mut self) {
        self.flags |= SCORE_ALONE;
    }

    /// Whether the score alone is the label.
    #[inline]
    pub fn has_score_alone(&self) -> bool {
        self.flags & SCORE_ALONE != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_round_trips_pieces() {
        let pieces: Vec<_> = (0..32).map(|i| PackedPiece { square: 2 * i, role: i % 6, colour: i % 2 }).collect();
        let record = Record::pack(pieces.iter().copied(), true, false);
        assert_eq!(record.pieces().collect::<Vec<_>>(), pieces);
        assert!(record.black_to_move() && !record.can_castle());
        assert_eq!(size_of::<Record>(), 32);
    }
}
