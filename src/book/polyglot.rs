//! A book in memory, its entries, and the choice of a move.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::board::{Color, Move, Position, Square};
use crate::util::files::Kind;
use crate::util::rng::SplitMix64;
use crate::util::text::Shown as _;

/// Maximum size of a file in bytes. The largest books have several hundred MB.
const MAX_FILE_BYTES: u64 = 4 << 30;

/// A Polyglot book in memory.
#[derive(Debug)]
pub struct Book {
    /// The entries in the order of their keys, as in the file.
    bytes: Vec<u8>,
}

/// A legal book move of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookMove {
    /// The move.
    pub m: Move,
    /// Relative frequency of the move among the position's moves. A move of weight 0 is in the book, but is not
    /// played.
    pub weight: u16,
}

/// The kind of file that a book may overwrite: whole entries in the order of their keys. Text almost never has this
/// form.
pub const KIND: Kind = Kind {
    name: "a Polyglot book",
    is: |head| {
        let (entries, rest) = head.as_chunks::<ENTRY_BYTES>();
        let key = |entry: &[u8; ENTRY_BYTES]| entry.first_chunk().copied().map(u64::from_be_bytes);
        rest.is_empty() && entries.is_sorted_by_key(key) && head.contains(&0)
    },
};

impl Book {
    /// Reads a book.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is not a book: not a whole number of entries, or not in the order of the
    /// keys.
    pub fn open(path: &Path) -> Result<Self> {
        let read = || -> Result<Self> {
            let found = fs::metadata(path)?;
            if !found.is_file() {
                bail!("it is not a regular file");
            }
            if found.len() > MAX_FILE_BYTES {
                bail!("the file is larger than the maximum of {} GiB", MAX_FILE_BYTES >> 30);
            }
            Self::from_bytes(fs::read(path)?)
        };
        read().with_context(|| format!("book '{}'", path.shown()))
    }

    /// A book from the bytes of a file.
    ///
    /// # Errors
    /// Fails if the bytes are not a valid book.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        if bytes.is_empty() || !bytes.len().is_multiple_of(ENTRY_BYTES) {
            bail!(
                "not a Polyglot book: {} bytes are not a whole number of entries of {ENTRY_BYTES} bytes",
                bytes.len()
            );
        }
        let book = Self { bytes };
        if let Some(at) = (1..book.len()).find(|&at| book.key(at - 1) > book.key(at)) {
            bail!("not a Polyglot book: entry {} is out of order", at + 1);
        }
        Ok(book)
    }

    /// Number of entries.
    #[allow(clippy::len_without_is_empty)] // An empty file is not a book.
    pub fn len(&self) -> usize {
        self.bytes.len() / ENTRY_BYTES
    }

    fn entry(&self, index: usize) -> Entry {
        let (entries, _) = self.bytes.as_chunks();
        Entry::from_bytes(&entries[index])
    }

    fn key(&self, index: usize) -> u64 {
        self.entry(index).key
    }

    /// The index of the first entry whose key is not below `key`.
    fn first_at_least(&self, key: u64) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.key(middle) < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The legal book moves of a position, by falling weight.
    pub fn moves(&self, position: &Position) -> Vec<BookMove> {
        let key = position.polyglot_key();
        let mut moves: Vec<BookMove> = Vec::new();
        let entries = (self.first_at_least(key)..self.len()).map(|index| self.entry(index));
        for entry in entries.take_while(|entry| entry.key == key) {
            let Some(m) = entry.legal_move(position) else {
                continue;
            };
            if moves.iter().all(|known| known.m != m) {
                moves.push(BookMove { m, weight: entry.weight });
            }
        }
        moves.sort_by_key(|found| std::cmp::Reverse(found.weight));
        moves
    }

    /// A random move with probabilities by weight; `None` if the book has no move of positive weight.
    pub fn choose(&self, position: &Position, rng: &mut SplitMix64) -> Option<BookMove> {
        let moves = self.moves(position);
        let total: usize = moves.iter().map(|found| usize::from(found.weight)).sum();
        if total == 0 {
            return None;
        }
        let mut drawn = rng.below(total);
        moves.into_iter().find(|found| {
            let weight = usize::from(found.weight);
            let is_chosen = drawn < weight;
            drawn = drawn.saturating_sub(weight);
            is_chosen
        })
    }
}

// An entry of a Polyglot book: 16 bytes, all numbers big-endian.
//
// ```text
// key     8 bytes   of the position; the engine uses the same Zobrist keys as the format
// move    2 bytes   to | from << 6 | promotion << 12 (knight 1 to queen 4); castling is king takes rook
// weight  2 bytes   relative frequency of the move among the position's moves
// learn   4 bytes   for learning programs; not used here
// ```

// CITE: Michel Van den Bergh, "Polyglot book format" (hgm.nubati.net/book_format.html).

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
    use super::*;

    /// A book with these moves of the initial position, and entries of other positions around them.
    fn book(moves: &[(&str, u16)]) -> Book {
        let start = Position::startpos();
        let entry = |key, code, weight| Entry { key, code, weight };
        let mut entries = vec![entry(3, 77, 5), entry(start.polyglot_key(), 0xFFFF, 9), entry(u64::MAX, 1, 1)];
        for (text, weight) in moves {
            let m = start.parse_uci(text).expect("legal");
            entries.push(entry(start.polyglot_key(), code_of(m), *weight));
        }
        entries.sort_by_key(|entry| entry.key);
        let bytes = entries.iter().flat_map(|entry| entry.to_bytes()).collect();
        Book::from_bytes(bytes).expect("a book")
    }

    #[test]
    fn moves_are_legal_and_sorted_by_weight() {
        let start = Position::startpos();
        let book = book(&[("e2e4", 3), ("d2d4", 7), ("a2a3", 0), ("e2e4", 3)]);
        let found: Vec<_> = book.moves(&start).iter().map(|found| (start.uci(found.m, false), found.weight)).collect();
        let expected = [("d2d4", 7), ("e2e4", 3), ("a2a3", 0)];
        assert_eq!(found, expected.map(|(text, weight)| (text.to_owned(), weight)));
        let mut next = start.clone();
        next.do_move(start.parse_uci("e2e4").expect("legal"));
        assert!(book.moves(&next).is_empty());
        assert_eq!(book.choose(&next, &mut SplitMix64::new(1)), None);
    }

    #[test]
    fn choose_follows_the_weights_and_the_seed() {
        let start = Position::startpos();
        let some = book(&[("e2e4", 30), ("d2d4", 10), ("a2a3", 0)]);
        let draw = |seed| {
            let mut rng = SplitMix64::new(seed);
            let chosen = (0..1000).map(|_| some.choose(&start, &mut rng).expect("a move"));
            chosen.map(|found| start.uci(found.m, false)).collect::<Vec<_>>()
        };
        let count = |text: &str| draw(1).iter().filter(|found| *found == text).count();
        assert!((700..800).contains(&count("e2e4")), "{}", count("e2e4"));
        assert_eq!(count("e2e4") + count("d2d4"), 1000);
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        let none = book(&[("a2a3", 0)]);
        assert_eq!(none.choose(&start, &mut SplitMix64::new(1)), None);
    }

    #[test]
    fn from_bytes_rejects_invalid_books_and_random_books_give_legal_moves() {
        let refusal = |bytes: Vec<u8>| Book::from_bytes(bytes).expect_err("no book").to_string();
        assert!(refusal(Vec::new()).contains("0 bytes"));
        assert!(refusal(vec![0; 17]).contains("17 bytes"));
        let [high, low] = [9, 3].map(|key| {
            let entry = Entry { key, code: 0, weight: 0 };
            entry.to_bytes()
        });
        assert!(refusal([high, low].concat()).contains("entry 2"));
        let start = Position::startpos();
        let mut rng = SplitMix64::new(7);
        for _ in 0..200 {
            let entry = |code| Entry { key: start.polyglot_key(), code, weight: 1 };
            let codes: Vec<u16> = (0..500).map(|_| rng.next_u64() as u16).collect();
            let bytes = codes.iter().flat_map(|&code| entry(code).to_bytes());
            let book = Book::from_bytes(bytes.collect()).expect("sorted");
            let legal = start.legal_moves();
            for found in book.moves(&start) {
                assert!(legal.contains(&found.m));
            }
        }
    }
}

#[cfg(test)]
mod entry_tests {
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
