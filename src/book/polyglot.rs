//! A book in memory, and the choice of a move.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::entry::{ENTRY_BYTES, Entry};
use crate::board::{Move, Position};
use crate::util::kind::Kind;
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

#[cfg(test)]
mod tests {
    use super::super::entry::code_of;
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
