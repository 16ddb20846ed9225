//! viriformat: games as an initial position and a list of moves and scores, as Viridithas and other engines write them.
//!
//! ```text
//! bytes  0..32  initial position: occupied squares, a1 = bit 0 (8 bytes); one nibble per occupied square, low nibble
//!               first: pawn 0 .. king 5, 6 for a rook with a castling right, plus 8 for Black (16 bytes); en passant
//!               square or 64, plus 128 if Black is to move; halfmove clock; move number (2 bytes); score (2 bytes);
//!               result, 0 if Black wins, 1, 2; unused
//!       32..    4 bytes per ply: move (from 6 bits, to 6, promotion 2 with knight 0, kind 2: 1 en passant, 2 castling
//!               as king takes rook, 3 promotion), and the score of the position before the move, from White's view
//!               four zero bytes
//! ```
// CITE: the specification of the crate viriformat 3.0.0 (Cosmo Bobak); marlinformat, its position, is by Jamie Whiting
// and others.

use std::io::{Read, Write};

use anyhow::{Context, Result, bail, ensure};
use shakmaty::Square;

use super::bin::fill;
use super::entry::{Entry, MAX_PIECES, MoveKind, PackedBoard, PackedPiece};
use super::games::StoredGame;
use super::plain;
use crate::board::{CastlingMode, Move, Position, Role};
use crate::util::files::Kind;

/// Size of an initial position in bytes.
pub const START_BYTES: usize = 32;
/// Size of a move with its score, and of the end of a game.
pub const MOVE_BYTES: usize = 4;
/// Kind of a file: it starts with a valid position.
pub const KIND: Kind = Kind {
    name: "a viriformat file of games",
    is: |head| head.first_chunk().and_then(Start::decode).is_some_and(|start| start.allows(&head[START_BYTES..])),
};
/// Role codes of a king and of a rook with a castling right.
const KING: u8 = 5;
const UNMOVED_ROOK: u8 = 6;
/// Largest number of moves of a game. A longer one is damage.
const MAX_MOVES: usize = 1 << 14;

/// Calls `visit` with every position of every game, in order. Returns the number of bytes of an incomplete game at the
/// end.
///
/// # Errors
/// Fails on a read error, on a game with an impossible position or move, and if `visit` fails.
pub fn for_each(mut source: impl Read, mut visit: impl FnMut(&Entry) -> Result<()>) -> Result<usize> {
    let mut moves = Vec::new();
    for index in 0_u64.. {
        let mut start = [0; START_BYTES];
        let length = fill(&mut source, &mut start)?;
        if length < START_BYTES {
            return Ok(length);
        }
        let game = || format!("game {index}");
        let start = Start::decode(&start).with_context(|| format!("{} has no valid initial position", game()))?;
        moves.clear();
        loop {
            let mut bytes = [0; MOVE_BYTES];
            let length = fill(&mut source, &mut bytes)?;
            if length < MOVE_BYTES {
                return Ok(START_BYTES + MOVE_BYTES * moves.len() + length);
            }
            if bytes == [0; MOVE_BYTES] {
                break;
            }
            ensure!(moves.len() < MAX_MOVES, "{} has more than {MAX_MOVES} moves", game());
            moves.push(bytes);
        }
        start.play(&moves, &mut visit).with_context(game)?;
    }
    Ok(0)
}

/// Initial position of a game.
struct Start {
    position: Position,
    ply: u16,
    /// Score of the position, from White's view.
    score: i16,
    /// Result from White's view.
    result: i8,
}

impl Start {
    /// Decodes a position. Returns `None` if the bytes are not a legal position.
    fn decode(bytes: &[u8; START_BYTES]) -> Option<Self> {
        let occupied = u64::from_le_bytes(*bytes.first_chunk()?);
        let nibbles = u128::from_le_bytes(*bytes[8..].first_chunk()?);
        let count = occupied.count_ones();
        if count as usize > MAX_PIECES || bytes[30] > 2 {
            return None;
        }
        let (mut left, mut ours, mut castling, mut king_seen) = (occupied, 0_u128, String::new(), [false; 2]);
        for slot in 0..count {
            let square = left.trailing_zeros();
            left &= left - 1;
            let code = (nibbles >> (4 * slot) & 15) as u8;
            let (mut role, colour) = (code & 7, code >> 3);
            if role == UNMOVED_ROOK {
                let file = b'A' + (square % 8) as u8;
                castling.push(char::from(if colour == 0 { file } else { file.to_ascii_lowercase() }));
                role = Role::Rook as u8 - 1;
            }
            if role > KING || (role == KING && std::mem::replace(&mut king_seen[usize::from(colour)], true)) {
                return None;
            }
            ours |= u128::from(2 * role + colour) << (4 * slot);
        }
        let black_to_move = bytes[24] >= 128;
        let ep = bytes[24] & 127;
        if ep > 64 {
            return None;
        }
        let number = u16::from_le_bytes([bytes[26], bytes[27]]).max(1);
        let entry = Entry {
            board: PackedBoard::from_nibbles(occupied, ours),
            black_to_move,
            castling: 0,
            ep: (ep < 64).then(|| Square::new(ep.into())),
            rule50: bytes[25].min(127),
            m: None,
            score: 0,
            ply: 0,
            result: 0,
            score_alone: false,
        };
        let castling = if castling.is_empty() { "-" } else { &castling };
        let fen = plain::fen(&entry).replacen(" - ", &format!(" {castling} "), 1);
        Some(Self {
            position: Position::from_fen(&fen, CastlingMode::Chess960).ok()?,
            ply: (2 * (number - 1).min(i16::MAX as u16)).saturating_add(black_to_move.into()),
            score: i16::from_le_bytes([bytes[28], bytes[29]]),
            result: bytes[30] as i8 - 1,
        })
    }

    /// Whether the first of these moves, if there is one, is possible.
    fn allows(&self, moves: &[u8]) -> bool {
        moves.first_chunk().is_none_or(|&[a, b, _, _]| {
            let code = u16::from_le_bytes([a, b]);
            code == 0 || self.legal(code).is_some()
        })
    }

    /// The move of a code, if it is legal in the current position.
    fn legal(&self, code: u16) -> Option<Move> {
        let position = &self.position;
        decode_move(code).filter(|&m| position.pseudo_legal(m) && position.legal(m))
    }

    /// Visits the positions of the game. A game without moves is a single position.
    fn play(mut self, moves: &[[u8; MOVE_BYTES]], visit: &mut impl FnMut(&Entry) -> Result<()>) -> Result<()> {
        if moves.is_empty() {
            return visit(&self.entry(0, None, self.score));
        }
        for (ply, &[a, b, c, d]) in moves.iter().enumerate() {
            let Some(m) = self.legal(u16::from_le_bytes([a, b])) else {
                bail!("move {} is impossible in its position", ply + 1);
            };
            visit(&self.entry(ply, Some(m), i16::from_le_bytes([c, d])))?;
            self.position.do_move(m);
        }
        Ok(())
    }

    /// The entry of the current position, after `plies`.
    fn entry(&self, plies: usize, m: Option<Move>, white_score: i16) -> Entry {
        let mut entry = Entry { m, ply: self.ply.saturating_add(plies as u16), ..Entry::of(&self.position) };
        entry.score = if entry.black_to_move { white_score.saturating_neg() } else { white_score };
        entry.set_result(self.result);
        entry
    }
}

/// A game as bytes, of which the terminator is missing.
pub struct GameBytes(Vec<u8>);

impl StoredGame for GameBytes {
    fn start(first: &Entry, position: &Position) -> Self {
        let mut bytes = vec![0; START_BYTES];
        let mut nibbles = 0_u128;
        let castling = unmoved_rooks(first);
        for (slot, piece) in first.board.pieces().enumerate() {
            let code = if castling >> piece.square & 1 == 1 { UNMOVED_ROOK } else { piece.role };
            nibbles |= u128::from(code | piece.colour << 3) << (4 * slot);
        }
        bytes[..8].copy_from_slice(&first.board.occupied().to_le_bytes());
        bytes[8..24].copy_from_slice(&nibbles.to_le_bytes());
        let ep = position.ep_adjacent().map_or(64, |square| square as u8);
        bytes[24] = ep | u8::from(first.black_to_move) << 7;
        bytes[25] = first.rule50;
        bytes[26..28].copy_from_slice(&(first.ply / 2 + 1).to_le_bytes());
        bytes[28..30].copy_from_slice(&white_score(first).to_le_bytes());
        let white = if first.black_to_move { -first.result } else { first.result };
        bytes[30] = (white.signum() + 1) as u8;
        Self(bytes)
    }

    fn push(&mut self, entry: &Entry, _: &Position) -> Result<()> {
        ensure!(self.0.len() < START_BYTES + MOVE_BYTES * MAX_MOVES, "a game with more than {MAX_MOVES} moves");
        if let Some(m) = entry.m {
            self.0.extend(encode_move(entry, m).to_le_bytes());
            self.0.extend(white_score(entry).to_le_bytes());
        }
        Ok(())
    }

    fn write(self, sink: &mut impl Write) -> Result<()> {
        sink.write_all(&self.0)?;
        Ok(sink.write_all(&[0; MOVE_BYTES])?)
    }
}

/// The score from White's view. An entry without a score keeps its mark, a value beyond all mates.
fn white_score(entry: &Entry) -> i16 {
    if entry.black_to_move { entry.score.saturating_neg() } else { entry.score }
}

/// Squares of rooks with a castling right: the outermost ones on the side of the right.
fn unmoved_rooks(entry: &Entry) -> u64 {
    let mut squares = 0;
    for right in (0..4).filter(|right| entry.castling >> right & 1 == 1) {
        let (colour, is_queenside) = (right / 2, right % 2 == 1);
        let Some(king) = entry.board.king(colour == 1) else { continue };
        let rook = |piece: &PackedPiece| {
            let on_rank = piece.square / 8 == king as u8 / 8 && (piece.square < king as u8) == is_queenside;
            on_rank && piece.colour == colour && piece.role() == Some(Role::Rook)
        };
        let mut rooks = entry.board.pieces().filter(rook);
        let outermost = if is_queenside { rooks.next() } else { rooks.last() };
        squares |= outermost.map_or(0, |rook| 1_u64 << rook.square);
    }
    squares
}

fn encode_move(entry: &Entry, m: Move) -> u16 {
    let code = m.from() as u16 | (m.to() as u16) << 6;
    code | match entry.kind_of(m) {
        MoveKind::Normal => 0,
        MoveKind::EnPassant => 1 << 14,
        MoveKind::Castling => 2 << 14,
        MoveKind::Promotion => 3 << 14 | m.promotion().map_or(0, |role| role as u16 - Role::Knight as u16) << 12,
    }
}

fn decode_move(code: u16) -> Option<Move> {
    let square = |shift: u16| Square::new(u32::from(code >> shift & 63));
    let (from, to) = (square(0), square(6));
    if code >> 14 != 3 {
        return Move::new(from, to);
    }
    let roles = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen];
    Move::promoting(from, to, roles[usize::from(code >> 12 & 3)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::games::GameWriter;

    fn read(bytes: &[u8]) -> Result<(Vec<Entry>, usize)> {
        let mut entries = Vec::new();
        let left = for_each(bytes, |entry| {
            entries.push(*entry);
            Ok(())
        })?;
        Ok((entries, left))
    }

    /// The example of the specification: 1. e4 e5 2. Qh5 Ke7 3. Qxe5#.
    const EXAMPLE: [u8; 56] = [
        0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0x16, 0x42, 0x25, 0x61, 0x00, 0x00, 0x00, 0x00, 0x88, 0x88,
        0x88, 0x88, 0x9e, 0xca, 0xad, 0xe9, 0x40, 0x00, 0x01, 0x00, 0x00, 0x00, 0x02, 0x00, 0x0c, 0x07, 0x0a, 0x00,
        0x34, 0x09, 0x14, 0x00, 0xc3, 0x09, 0xe2, 0xff, 0x3c, 0x0d, 0xff, 0x7f, 0x27, 0x09, 0xff, 0x7f, 0x00, 0x00,
        0x00, 0x00,
    ];

    #[test]
    fn example_of_the_specification_is_read() {
        let (entries, left) = read(&EXAMPLE).expect("a valid game");
        assert_eq!(left, 0);
        let moves: Vec<_> = entries.iter().filter_map(|entry| entry.m).map(|m| (m.from(), m.to())).collect();
        let squares = [("e2", "e4"), ("e7", "e5"), ("d1", "h5"), ("e8", "e7"), ("h5", "e5")];
        let square = |name: &str| name.parse::<Square>().expect(name);
        assert_eq!(moves, squares.map(|(from, to)| (square(from), square(to))));
        let labels: Vec<_> = entries.iter().map(|entry| (entry.score, entry.result, entry.ply)).collect();
        assert_eq!(labels, [(10, 1, 0), (-20, -1, 1), (-30, 1, 2), (-32767, -1, 3), (32767, 1, 4)]);
        assert!(plain::fen(&entries[0]).starts_with("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"));
        assert!((KIND.is)(&EXAMPLE));
    }

    fn written(entries: &[Entry]) -> Vec<u8> {
        let mut writer = GameWriter::<_, GameBytes>::new(Vec::new());
        entries.iter().for_each(|entry| writer.write(entry).expect("a legal move"));
        writer.finish().expect("writing to a vector")
    }

    #[test]
    fn example_of_the_specification_is_written() {
        let (mut entries, _) = read(&EXAMPLE).expect("a valid game");
        let mut expected = EXAMPLE;
        // The score of the first position, which the example leaves 0.
        expected[28] = 10;
        assert_eq!(written(&entries), expected);
        // A missing entry begins a new game.
        entries.remove(2);
        assert_eq!(read(&written(&entries)).expect("two games").0, entries);
    }

    #[test]
    fn castling_en_passant_promotion_and_positions_without_a_move_round_trip() {
        let mut entries = Vec::new();
        for (fen, m) in [
            ("r3k2r/8/8/3pP3/8/8/1p6/R3K2R w KQq d6 5 30", Some("e5d6")),
            ("r3k2r/8/8/3pP3/8/8/1p6/R3K2R w Kkq - 5 30", Some("e1h1")),
            ("r3k2r/8/8/3pP3/8/8/1p6/R3K2R b KQkq - 5 30", Some("e8a8")),
            ("r3k2r/8/8/3pP3/8/8/1p6/R3K2R b kq - 5 30", Some("b2a1r")),
            ("4k3/8/8/8/8/8/8/1R2KR2 w KQ - 0 1", Some("e1f1")),
            ("r3k2r/8/8/3pP3/8/8/1p6/R3K2R b kq - 5 30", None),
        ] {
            let position = Position::from_fen(fen, CastlingMode::Chess960).expect(fen);
            let m = m.map(|m| {
                let legal = position.legal_moves();
                *legal.iter().find(|legal| format!("{}{}", legal.from(), legal.to()) == m[..4]).expect(m)
            });
            let mut entry = Entry { m, score: -7, ..Entry::of(&position) };
            entry.set_result(1);
            entries.push(entry);
        }
        let found = read(&written(&entries)).expect("valid games").0;
        assert_eq!(found, entries);
    }

    #[test]
    fn incomplete_games_are_counted_and_impossible_ones_are_errors() {
        let twice = [EXAMPLE, EXAMPLE].concat();
        for cut in [1, 4, 24, 30, 56] {
            let (entries, left) = read(&twice[..112 - cut]).expect("a complete game");
            assert_eq!((entries.len(), left), (5, 56 - cut), "{cut}");
        }
        let mut bad = EXAMPLE;
        bad[41] ^= 1;
        let error = format!("{:#}", read(&bad).expect_err("an impossible move"));
        assert!(error.contains("game 0") && error.contains("move 3 is impossible"), "{error}");
        bad = EXAMPLE;
        bad[8] = 0x55;
        assert!(format!("{:#}", read(&bad).expect_err("three kings")).contains("game 0 has no valid initial position"));
        let mut rng = crate::util::rng::SplitMix64::new(5);
        for _ in 0..5000 {
            let mut bytes = EXAMPLE;
            bytes[rng.below(56)] = rng.next_u64() as u8;
            let _ = read(&bytes);
        }
    }
}
