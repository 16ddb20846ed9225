//! An entry of a Polyglot book: 16 bytes, all numbers big-endian.
//!
//! ```text
//! key     8 bytes   of the position; the engine uses the same Zobrist keys as the format
//! move    2 bytes   to | from << 6 | promotion << 12 (knight 1 to queen 4); castling is king takes rook
//! weight  2 bytes   relative frequency of the move among the position's moves
//! learn   4 bytes   for learning programs; not used here
//! ```
// CITE: Michel Van den Bergh, "Polyglot book format" (hgm.nubati.net/book_format.html).

use crate::board::{Color, Move, Position, Square};

/// Bytes of an entry.
pub const ENTRY_BYTES: usize = 16;

/// A book move of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// [`Position::polyglot_key`] of the position.
    pub key: u64,
    /// The move in the format's code.
    pub code: u16,
    /// Relative frequency of the move among the position's moves.
    pub weight: u16,
}

impl Entry {
    /// Reads an entry from 16 bytes.
    pub fn from_bytes(bytes: &[u8; ENTRY_BYTES]) -> Self {
        let number = u128::from_be_bytes(*bytes);
        Self { key: (number >> 64) as u64, code: (number >> 48) as u16, weight: (number >> 32) as u16 }
    }

    /// The 16 bytes of the entry.
    pub fn to_bytes(self) -> [u8; ENTRY_BYTES] {
        let parts = u128::from(self.key) << 64 | u128::from(self.code) << 48 | u128::from(self.weight) << 32;
        parts.to_be_bytes()
    }

    /// The legal move of `position` that the entry encodes, or `None`. Two positions may have the same key, and files
    /// may contain invalid codes.
    pub fn legal_move(&self, position: &Position) -> Option<Move> {
        let (to, from) = (self.code & 63, self.code >> 6 & 63);
        let m = Move::from_bits(from | to << 6 | self.code & 0xF000)?;
        let is_legal = |m: &Move| position.pseudo_legal(*m) && position.legal(*m);
        is_legal(&m).then_some(m).or_else(|| castling_by_goal(position, m).filter(is_legal))
    }
}

/// The format's code of a move.
pub fn code_of(m: Move) -> u16 {
    m.to() as u16 | (m.from() as u16) << 6 | m.bits() & 0xF000
}

/// Converts castling that a file writes as a king's move of two squares, contrary to the format.
fn castling_by_goal(position: &Position, m: Move) -> Option<Move> {
    let king = position.turn().fold_wb(Square::E1, Square::E8);
    let is_king = m.from() == king && position.king(position.turn()) == king;
    let side = usize::from(m.to() < m.from());
    let goals = match position.turn() {
        Color::White => [Square::G1, Square::C1],
        Color::Black => [Square::G8, Square::C8],
    };
    if !is_king || m.to() != goals[side] {
        return None;
    }
    let right = position.turn().fold_wb(0, 2) + side;
    Move::new(king, position.castling_rook(right)?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::board::CastlingMode;
    use crate::util::rng::SplitMix64;

    fn position(fen: &str) -> Position {
        Position::from_fen(fen, CastlingMode::Standard).expect(fen)
    }

    /// The move of a code, in coordinates.
    fn meaning(fen: &str, code: u16) -> Option<String> {
        let position = position(fen);
        let entry = Entry { key: position.polyglot_key(), code, weight: 1 };
        entry.legal_move(&position).map(|m| position.uci(m, false))
    }

    #[test]
    fn entry_round_trips_through_bytes() {
        let mut rng = SplitMix64::new(3);
        for _ in 0..1000 {
            let entry = Entry { key: rng.next_u64(), code: rng.next_u64() as u16, weight: rng.next_u64() as u16 };
            assert_eq!(Entry::from_bytes(&entry.to_bytes()), entry);
        }
        // 1. e4 of the initial position.
        let first = Entry { key: 0x463b_9618_1691_fc9c, code: 0x031C, weight: 1 };
        let bytes = [0x46, 0x3b, 0x96, 0x18, 0x16, 0x91, 0xfc, 0x9c, 3, 0x1C, 0, 1, 0, 0, 0, 0];
        assert_eq!(first.to_bytes(), bytes);
    }

    /// The example positions of the format's description, with their keys.
    #[test]
    fn polyglot_keys_match_the_description_of_the_format() {
        for (fen, key) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 0x463b_9618_1691_fc9c_u64),
            ("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1", 0x823c_9b50_fd11_4196),
            ("rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3", 0x22a4_8b5a_8e47_ff78),
            ("rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPPKPPP/RNBQ1BNR b kq - 0 3", 0x652a_607c_a3f2_42c1),
            ("rnbqkbnr/p1pppppp/8/8/PpP4P/8/1P1PPPP1/RNBQKBNR b KQkq c3 0 3", 0x3c81_23ea_7b06_7637),
            ("rnbqkbnr/p1pppppp/8/8/P6P/R1p5/1P1PPPP1/1NBQKBNR b Kkq - 0 4", 0x5c3f_9b82_9b27_9560),
        ] {
            assert_eq!(position(fen).polyglot_key(), key, "{fen}");
        }
    }

    #[test]
    fn legal_move_accepts_only_legal_moves() {
        const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        const CASTLING: &str = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
        const PROMOTION: &str = "8/P6k/8/8/8/8/7K/8 w - - 0 1";
        let code = |from: Square, to: Square| to as u16 | (from as u16) << 6;
        assert_eq!(meaning(START, code(Square::E2, Square::E4)).as_deref(), Some("e2e4"));
        assert_eq!(meaning(START, code(Square::E2, Square::E5)), None);
        for (goal, rook, text) in [(Square::G1, Square::H1, "e1g1"), (Square::C1, Square::A1, "e1c1")] {
            for to in [goal, rook] {
                assert_eq!(meaning(CASTLING, code(Square::E1, to)).as_deref(), Some(text));
            }
        }
        let promotion = code(Square::A7, Square::A8);
        assert_eq!(meaning(PROMOTION, promotion | 4 << 12).as_deref(), Some("a7a8q"));
        assert_eq!(meaning(PROMOTION, promotion | 1 << 12).as_deref(), Some("a7a8n"));
        assert_eq!(meaning(PROMOTION, promotion), None);
        for fen in [START, CASTLING, PROMOTION] {
            let position = position(fen);
            let found: BTreeSet<String> = (0..=u16::MAX).filter_map(|code| meaning(fen, code)).collect();
            assert_eq!(found.len(), position.legal_moves().len(), "{fen}");
            for m in position.legal_moves() {
                assert_eq!(meaning(fen, code_of(m)), Some(position.uci(m, false)), "{fen}");
            }
        }
    }
}
