//! A labelled position, independent of the file format: the type that readers yield and writers accept. Its compact
//! form in memory, and the boards of both for network evaluation.

use anyhow::{Result, ensure};
use bytemuck::{Pod, Zeroable};
use shakmaty::{Piece, Square};

use super::packed::PackedBoard;
pub use super::packed::PackedPiece;
use crate::board::{Color, Move, Position, Role};
use crate::gpu::PackedPosition;
use crate::nnue::Board;
use crate::util::rng::SplitMix64;

/// Score that stands for "no score": the entry only continues the chain of its game.
pub const NO_SCORE: i16 = 32002;

/// A position with its labels: move, score and game result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The pieces.
    pub board: PackedBoard,
    /// Whether black is to move.
    pub black_to_move: bool,
    /// Castling rights as bits 0 to 3: K, Q, k, q.
    pub castling: u8,
    /// The square on which a pawn could capture en passant.
    pub ep: Option<Square>,
    /// Plies since the last capture or pawn move.
    pub rule50: u8,
    /// The move played or the best move found; castling is stored as king takes own rook.
    pub m: Option<Move>,
    /// Score in engine units, from the side to move's view; [`NO_SCORE`] if there is none.
    pub score: i16,
    /// Ply of the game.
    pub ply: u16,
    /// Game result from the side to move's view: -1, 0, 1.
    pub result: i8,
    /// Whether the score alone is the label: the result is unknown, or unrelated to the position because the position
    /// was sampled from a search tree.
    pub score_alone: bool,
}

/// Kind of a move, as the file formats distinguish them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveKind {
    /// Any other move.
    Normal,
    /// A pawn promotes.
    Promotion,
    /// A pawn captures en passant.
    EnPassant,
    /// Castling, stored as king takes own rook.
    Castling,
}

impl Entry {
    /// Sets the game result, given from White's view: -1, 0, 1.
    pub fn set_result(&mut self, white: i8) {
        self.result = if self.black_to_move { -white } else { white };
    }

    /// Creates an unlabelled entry of a position: no move, score 0, drawn.
    pub fn of(position: &Position) -> Self {
        let black_to_move = position.turn() == Color::Black;
        let ply = 2 * (position.fullmoves().max(1) - 1) + u32::from(black_to_move);
        Self {
            board: PackedBoard::of(position),
            black_to_move,
            castling: position.castling_rights(),
            // The formats store the square next to an enemy pawn, whether or not the capture is legal.
            ep: position.ep_adjacent(),
            rule50: position.halfmoves().min(127) as u8,
            m: None,
            score: 0,
            ply: ply.min(u32::from(u16::MAX)) as u16,
            result: 0,
            score_alone: false,
        }
    }

    /// The position in the layout of graphics cards.
    pub fn packed_position(&self) -> PackedPosition {
        bytemuck::cast(self.record())
    }

    /// Converts the entry to the trainer's record.
    #[inline]
    pub fn record(&self) -> Record {
        let mut record = Record::new(self.board, self.black_to_move, self.castling != 0);
        record.score = self.score;
        record.ply = self.ply;
        record.result = self.result;
        if self.score_alone {
            record.trust_score_alone();
        }
        record
    }

    /// Hash of everything that determines the legal moves: pieces, side to move, castling rights, en passant square.
    pub fn key(&self) -> u64 {
        let ep = self.ep.map_or(64, |square| square as u64);
        let state = u64::from(self.black_to_move) | u64::from(self.castling) << 1 | ep << 8;
        let [a, b] = self.board.words();
        [self.board.occupied(), a, b, state].iter().fold(0, |key, word| SplitMix64::new(key ^ word).next_u64())
    }

    /// The kind of a move in this position.
    pub fn kind_of(&self, m: Move) -> MoveKind {
        if m.promotion().is_some() {
            return MoveKind::Promotion;
        }
        let own = |piece: &PackedPiece| (piece.colour == 1) == self.black_to_move;
        if self.board.piece_at(m.to()).is_some_and(|p| own(&p)) {
            return MoveKind::Castling;
        }
        let is_pawn = |piece: PackedPiece| piece.role() == Some(Role::Pawn);
        if self.ep == Some(m.to()) && self.board.piece_at(m.from()).is_some_and(is_pawn) {
            return MoveKind::EnPassant;
        }
        MoveKind::Normal
    }

    /// Whether the side to move is not in check and the move, if any, neither captures nor promotes.
    pub fn is_quiet(&self) -> bool {
        !self.captures_or_promotes() && !self.is_check()
    }

    /// Whether the move, if any, captures or promotes.
    pub fn captures_or_promotes(&self) -> bool {
        self.m.is_some_and(|m| match self.kind_of(m) {
            MoveKind::Normal => self.board.occupied() >> m.to() as u32 & 1 == 1,
            MoveKind::Castling => false,
            MoveKind::Promotion | MoveKind::EnPassant => true,
        })
    }

    /// Whether the side to move is in check.
    pub fn is_check(&self) -> bool {
        self.board.in_check(self.black_to_move)
    }
}

// A labelled position in 32 bytes, so that tens of millions fit in memory and can be shuffled.

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

// Boards of entries and records, for network evaluation.

/// Returns the board of an entry.
///
/// # Errors
/// Fails unless there is exactly one king on each side.
pub fn board_of_entry(entry: &Entry) -> Result<Board> {
    let board = board_of(entry.board.pieces(), entry.black_to_move);
    let one_each = Color::ALL.iter().all(|&color| board.pieces(color, Role::King).count() == 1);
    ensure!(one_each, "the position does not have exactly one king on each side");
    Ok(board)
}

/// Every record has both kings: the file readers reject positions without them.
impl From<&Record> for Board {
    fn from(record: &Record) -> Self {
        board_of(record.pieces(), record.black_to_move())
    }
}

/// Returns the board of a record, or its left-to-right mirror image.
pub fn mirrored_board(record: &Record, mirrored: bool) -> Board {
    let mirror = if mirrored { 7 } else { 0 };
    let turned = |piece: PackedPiece| PackedPiece { square: piece.square ^ mirror, ..piece };
    board_of(record.pieces().map(turned), record.black_to_move())
}

fn board_of(pieces: impl Iterator<Item = PackedPiece>, black_to_move: bool) -> Board {
    let mut board = Board::empty(Color::from_black(black_to_move));
    for piece in pieces {
        if let Ok(role) = Role::try_from(piece.role + 1) {
            let color = Color::from_black(piece.colour != 0);
            board.add(Piece { color, role }, Square::new(piece.square.into()));
        }
    }
    board
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::CastlingMode;

    #[test]
    fn quiet_excludes_captures_promotions_and_checks() {
        let fen = "r3k3/1P6/8/3pP3/8/2n5/1P6/R3K2R w KQ d6 0 1";
        let position = Position::from_fen(fen, CastlingMode::Standard).expect(fen);
        for (text, kind, quiet) in [
            ("e1h1", MoveKind::Castling, true),
            ("e5d6", MoveKind::EnPassant, false),
            ("b7b8q", MoveKind::Promotion, false),
            ("b2c3", MoveKind::Normal, false),
            ("b2b3", MoveKind::Normal, true),
        ] {
            let mut entry = Entry::of(&position);
            entry.m = position.parse_uci(text).ok();
            assert_eq!(entry.m.map(|m| entry.kind_of(m)), Some(kind), "{text}");
            assert_eq!(entry.is_quiet(), quiet, "{text}");
        }
        let check = Position::from_fen("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1", CastlingMode::Standard);
        assert!(!Entry::of(&check.expect("a check")).is_quiet());
    }
}

#[cfg(test)]
mod record_tests {
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
