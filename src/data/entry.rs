//! A labelled position, independent of the file format: the type that readers yield and writers accept. Its compact
//! form in memory, its pieces in 24 bytes as in all binary formats, the boards of both for network evaluation, the
//! units of its score, and the filter of positions.

use std::str::FromStr;

use anyhow::{Error, Result, bail, ensure};
use bytemuck::{Pod, Zeroable};
use shakmaty::{Bitboard, Piece, Square};

use crate::board::{Color, Move, Position, Role, attacks};
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

// Units of scores, and their conversion to engine units.

/// Engine units in a centipawn.
// MEASURED: the win-rate model of the search has 1.96 to 2.04 for the value at which half of the games are won.
pub const UNITS_PER_CENTIPAWN: f64 = 2.0;
/// Largest |score| after a conversion; larger numbers such as [`NO_SCORE`] have special meanings.
const MAX_SCORE: f64 = 30_000.0;

/// Unit of the scores in a file. An engine unit is the unit of a net's output: 200 of them are a pawn, the advantage
/// with which half of the games are won.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ScoreUnit {
    /// That of the format: centipawns in PGN and EPD, engine units otherwise.
    #[default]
    OfFormat,
    /// Engine units.
    Engine,
    /// Centipawns.
    Centipawns,
    /// This many engine units.
    Factor(f64),
}

impl FromStr for ScoreUnit {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "engine" => return Ok(Self::Engine),
            "cp" => return Ok(Self::Centipawns),
            _ => {}
        }
        match text.parse() {
            Ok(factor) if (1e-3..=1e3).contains(&factor) => Ok(Self::Factor(factor)),
            _ => bail!(
                "'{text}' is not a unit; expected engine, cp, or the number of engine units in a unit, such as 2.5"
            ),
        }
    }
}

impl ScoreUnit {
    /// Engine units in this unit. `own` is the unit of the format.
    pub fn factor(self, own: f64) -> f64 {
        match self {
            Self::OfFormat => own,
            Self::Engine => 1.0,
            Self::Centipawns => UNITS_PER_CENTIPAWN,
            Self::Factor(factor) => factor,
        }
    }
}

/// The entry with its score multiplied by a factor. An entry without a score has none afterwards.
pub fn scaled(entry: &Entry, factor: f64) -> Entry {
    if entry.score == NO_SCORE {
        return *entry;
    }
    let score = (f64::from(entry.score) * factor).round().clamp(-MAX_SCORE, MAX_SCORE);
    Entry { score: score as i16, ..*entry }
}

// Filter of training positions.

/// Conditions for keeping a position.
///
/// A static evaluation is used only in quiet positions. In check, or where the best move captures or promotes, the
/// score comes from a search and a static evaluation cannot reproduce it.
// CITE: the same conditions as in nnue-pytorch ("smart FEN skipping").
#[derive(Clone, Copy, Debug)]
pub struct Filter {
    /// Largest |score| in engine units.
    pub max_score: i16,
    /// Smallest ply; earlier positions are opening noise.
    pub min_ply: u16,
    /// Keep only positions whose best move neither captures nor promotes, and that are not in check.
    pub quiet: bool,
    /// Keep only positions whose best move neither captures nor promotes.
    pub no_captures: bool,
    /// Keep only positions that are not in check.
    pub no_checks: bool,
    /// Smallest number of pieces on the board, kings included.
    pub min_pieces: u32,
    /// Largest number of pieces on the board, kings included.
    pub max_pieces: u32,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            max_score: 3000,
            min_ply: 0,
            quiet: true,
            no_captures: false,
            no_checks: false,
            min_pieces: 0,
            max_pieces: 32,
        }
    }
}

/// Filter options of a command. A rejected position is dropped. In a .binpack it is kept without a score, because
/// dropping it would break the chain of its game and make the file larger.
#[derive(clap::Args, Clone, Debug)]
pub struct FilterArgs {
    /// Keep only positions that are not in check and whose move neither captures nor promotes
    #[arg(long)]
    pub quiet: bool,
    /// Keep only positions whose move neither captures nor promotes
    #[arg(long)]
    pub no_captures: bool,
    /// Keep only positions that are not in check
    #[arg(long)]
    pub no_checks: bool,
    /// Keep only positions with at most this |score|, in engine units
    #[arg(long, value_name = "UNITS", default_value_t = 32_000, value_parser = clap::value_parser!(i16).range(0..))]
    pub max_score: i16,
    /// Keep only positions from this ply of the game on
    #[arg(long, value_name = "PLY", default_value_t = 0)]
    pub min_ply: u16,
    /// Keep only positions with at least N pieces, kings included
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub min_pieces: u32,
    /// Keep only positions with at most N pieces, kings included
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub max_pieces: u32,
}

impl FilterArgs {
    /// The filter that the arguments describe.
    pub fn filter(&self) -> Filter {
        Filter {
            max_score: self.max_score,
            min_ply: self.min_ply,
            quiet: self.quiet,
            no_captures: self.no_captures,
            no_checks: self.no_checks,
            min_pieces: self.min_pieces,
            max_pieces: self.max_pieces,
        }
    }
}

impl Filter {
    /// Whether the filter keeps the entry.
    #[inline]
    pub fn keeps(&self, entry: &Entry) -> bool {
        entry.score.unsigned_abs() <= self.max_score.unsigned_abs()
            && entry.score != NO_SCORE
            && entry.ply >= self.min_ply
            && (self.min_pieces..=self.max_pieces).contains(&entry.board.count())
            && (!(self.quiet || self.no_captures) || !entry.captures_or_promotes())
            && (!(self.quiet || self.no_checks) || !entry.is_check())
    }
}

/// The entry to write: unchanged if `kept`. Otherwise `None`, or with `chains` the entry without its score.
pub fn remainder(entry: &Entry, kept: bool, chains: bool) -> Option<Entry> {
    match (kept, chains) {
        (true, _) => Some(*entry),
        (false, false) => None,
        (false, true) => Some(Entry { score: NO_SCORE, ..*entry }),
    }
}

// The pieces of a position in 24 bytes, common to all formats.

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

#[cfg(test)]
mod units_tests {
    use super::*;
    use crate::board::Position;

    #[test]
    fn units_parse_and_scale_scores() {
        for (text, factor) in [("engine", 1.0), ("cp", 2.0), ("2.5", 2.5)] {
            let unit: ScoreUnit = text.parse().expect(text);
            assert_eq!(unit.factor(3.0), factor, "{text}");
        }
        assert_eq!(ScoreUnit::default().factor(3.0), 3.0);
        assert!("pawns".parse::<ScoreUnit>().is_err() && "0".parse::<ScoreUnit>().is_err());
        let entry = |score| Entry { score, ..Entry::of(&Position::startpos()) };
        let scores = [100, -7, 20_000, i16::MIN, NO_SCORE].map(|score| scaled(&entry(score), 2.5).score);
        assert_eq!(scores, [250, -18, 30_000, -30_000, NO_SCORE]);
    }
}

#[cfg(test)]
mod packed_tests {
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
