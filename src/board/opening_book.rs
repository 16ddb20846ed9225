//! Books of openings: lists of positions or of first moves, from a file or built in.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail};
use flate2::read::GzDecoder;

use super::{CastlingMode, Move, Position};
use crate::util::encoding::read_text;

/// The name that stands for the built-in book where a file is expected.
pub const BUILTIN: &str = "builtin";
/// Lines of moves from the initial position. `tests/openings.rs` makes it.
const BUILTIN_LINES: &[u8] = include_bytes!("openings.txt.gz");

/// Where a game begins: a position, and the first moves from it.
#[derive(Clone)]
pub struct Opening {
    /// The position before the moves.
    pub start: Position,
    /// The moves of the line.
    pub moves: Vec<Move>,
}

impl Opening {
    /// The position after the moves, with the moves as its history.
    pub fn position(&self) -> Position {
        let mut position = self.start.clone();
        for &m in &self.moves {
            position.do_move(m);
        }
        position
    }

    /// Reads a line: a FEN or EPD, or moves from the initial position as UCI writes them.
    fn read(line: &str, mode: CastlingMode) -> Result<Self> {
        if line.contains('/') {
            let start = Position::from_fen(&fen_of(line), mode)?;
            return Ok(Self {
                start,
                moves: Vec::new(),
            });
        }
        let start = Position::startpos();
        let (mut position, mut moves) = (start.clone(), Vec::new());
        for word in line.split_whitespace() {
            let m = position.parse_uci(word)?;
            position.do_move(m);
            moves.push(m);
        }
        Ok(Self { start, moves })
    }
}

/// A book: one opening a line.
///
/// It stores the text, because a [`Position`] with its room for a history is a thousand times as large.
pub struct Book {
    lines: Vec<String>,
    mode: CastlingMode,
    skipped: Option<Skipped>,
}

/// Lines of a book that are no openings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// How many there are.
    pub count: usize,
    /// Number of the first one in the file, from 1.
    pub line: usize,
    /// What is wrong with the first one.
    pub reason: String,
}

impl Book {
    /// Reads a book from a file, or the built-in one where the name is [`BUILTIN`]. Bad lines are skipped, unless all
    /// are bad; empty lines and lines after a `#` do not count.
    ///
    /// # Errors
    /// When the file cannot be read or has no opening; the error names the file, the first bad line and what is wrong
    /// with it.
    pub fn read(path: &Path, mode: CastlingMode) -> Result<Self> {
        if path == Path::new(BUILTIN) {
            if mode == CastlingMode::Chess960 {
                bail!("the built-in book has no openings of Chess960");
            }
            return Self::builtin();
        }
        let text = read_text(path);
        let text = text.with_context(|| format!("cannot read the book {}", path.display()))?;
        Self::parse(&text, mode).with_context(|| format!("book {}", path.display()))
    }

    /// The built-in book: balanced openings after six to eight random plies.
    ///
    /// # Errors
    /// When the program is damaged.
    pub fn builtin() -> Result<Self> {
        let mut text = String::new();
        GzDecoder::new(BUILTIN_LINES)
            .read_to_string(&mut text)
            .context("the built-in book is damaged")?;
        Self::parse(&text, CastlingMode::Standard)
    }

    pub(super) fn parse(text: &str, mode: CastlingMode) -> Result<Self> {
        let mut lines = Vec::new();
        let mut skipped: Option<Skipped> = None;
        for (line, number) in text.lines().map(str::trim).zip(1..) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match Opening::read(line, mode) {
                Ok(_) => lines.push(line.to_owned()),
                Err(error) => {
                    let first = skipped.get_or_insert_with(|| Skipped {
                        count: 0,
                        line: number,
                        reason: format!("{error:#}"),
                    });
                    first.count += 1;
                }
            }
        }
        match skipped {
            Some(first) if lines.is_empty() => bail!("line {}: {}", first.line, first.reason),
            None if lines.is_empty() => bail!("it is empty"),
            skipped => Ok(Self {
                lines,
                mode,
                skipped,
            }),
        }
    }

    /// Number of openings.
    #[allow(clippy::len_without_is_empty)] // It never is.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// The lines of the openings, in the order of the file.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// The lines that were skipped, if any.
    pub fn skipped(&self) -> Option<&Skipped> {
        self.skipped.as_ref()
    }

    /// The opening of this number, from 0.
    pub fn opening(&self, number: usize) -> Opening {
        // Every line was read once already.
        Opening::read(&self.lines[number], self.mode).unwrap_or_else(|_| Opening {
            start: Position::startpos(),
            moves: Vec::new(),
        })
    }
}

/// The position of a line: four fields, and the counters if the next two words are numbers.
fn fen_of(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let fields = words.len().min(4);
    let counters: Vec<&str> = words[fields..]
        .iter()
        .take(2)
        .map(|word| word.trim_end_matches(';'))
        .filter(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit()))
        .collect();
    let mut fen = words[..fields].join(" ").trim_end_matches(';').to_owned();
    if let [halfmoves, fullmoves] = counters[..] {
        fen = format!("{fen} {halfmoves} {fullmoves}");
    }
    fen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn book_reads_fen_epd_and_moves() {
        let text = "# a comment\n\n4k3/8/8/8/8/8/8/4K2R w K -\n4k3/8/8/8/8/8/8/4K2R w K - 3 9\n\
                    4k3/8/8/8/8/8/8/4K2R w K - bm e1g1; id \"x\";\nrubbish\n\
                    4k3/8/8/8/8/8/8/4K2R w K -; ce 20;\ne2e4 e7e5\ne2e5\n";
        let book = Book::parse(text, CastlingMode::Standard).expect("a book");
        assert_eq!(book.len(), 5);
        let fen = |number| book.opening(number).position().fen();
        assert_eq!(fen(1), "4k3/8/8/8/8/8/8/4K2R w K - 3 9");
        assert!(fen(4).starts_with("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w"));
        let skipped = book.skipped().expect("two lines");
        assert_eq!((skipped.count, skipped.line), (2, 6));
    }

    #[test]
    fn book_without_openings_is_refused() {
        let refused = |text| Book::parse(text, CastlingMode::Standard).err();
        let error = refused("\nrubbish\n").expect("no opening").to_string();
        assert!(error.contains("line 2"), "{error}");
        assert!(refused("\n").is_some());
    }
}
