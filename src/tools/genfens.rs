//! Random balanced openings for data generation, in OpenBench's `genfens` format.
//!
//! An opening is a sequence of random legal moves from the initial position or a book line. A short search discards
//! openings that are already decided. The same seed gives the same openings.

use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};

use crate::board::openings::Openings;
use crate::board::{CastlingMode, Position};
use crate::nnue::Network;
use crate::search::score::{Score, Silent};
use crate::search::{Limits, SearchOptions, ThreadPool};
use crate::util::rng::SplitMix64;

/// Openings with an absolute score above this, in centipawns, are discarded.
const MAX_SCORE: i32 = 300;
/// Nodes of the search that evaluates an opening; less than a second even on a slow machine.
const NODES: u64 = 2000;

/// Arguments of `genfens`.
#[derive(clap::Args, Debug)]
pub struct GenfensArgs {
    /// N seed S book FILE|None; one quoted argument with the whole command also works
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORD")]
    pub words: Vec<String>,
}

/// Request for openings, from the words of `genfens`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Number of openings.
    pub count: usize,
    /// Seed of the random numbers.
    pub seed: u64,
    /// File of FEN or EPD lines to start from.
    pub book: Option<PathBuf>,
}

impl Request {
    /// Parses `N seed S book FILE|None [...]`, with or without a leading `genfens`. Words after the book are for other
    /// engines and are ignored.
    ///
    /// # Errors
    /// Fails if a word is missing or not a number.
    pub fn parse(text: &str) -> Result<Self> {
        let mut words = text.split_whitespace().peekable();
        words.next_if_eq(&"genfens");
        let form = "genfens N seed S book FILE|None";
        let mut value = |name: &str| -> Result<&str> {
            if !name.is_empty() && words.next() != Some(name) {
                bail!("'{name}' is missing, the format is: {form}");
            }
            words.next().with_context(|| format!("a value is missing, the format is: {form}"))
        };
        let number = |word: &str| word.parse::<u64>().with_context(|| format!("'{word}' is not a number"));
        let count = number(value("")?)? as usize;
        let seed = number(value("seed")?)?;
        let book = Some(value("book")?).filter(|book| !book.eq_ignore_ascii_case("none"));
        Ok(Self { count, seed, book: book.map(PathBuf::from) })
    }
}

/// Runs the command `genfens` with its words.
///
/// # Errors
/// Fails if a word is missing or invalid, and as [`generate`].
pub fn run(words: &str, out: &mut dyn Write) -> Result<()> {
    generate(&Request::parse(words)?, Network::embedded(), out)
}

/// Prints `info string genfens <FEN>` for each opening.
///
/// # Errors
/// Fails if the book is unusable, no opening is balanced, or a write fails.
pub fn generate(request: &Request, network: Arc<Network>, out: &mut dyn Write) -> Result<()> {
    let book = request.book.as_deref();
    let openings = Openings::new(book, CastlingMode::Standard, None)?;
    let mut rng = SplitMix64::new(request.seed);
    let mut judge = Judge(ThreadPool::new(network, 1, 1));
    let mut seen = HashSet::new();
    while seen.len() < request.count {
        let opening = openings.next(&mut rng, |position| judge.is_playable(position) && seen.insert(position.key()));
        let opening = opening.with_context(|| format!("after {} good openings", seen.len()))?;
        writeln!(out, "info string genfens {}", opening.fen())?;
        out.flush()?;
    }
    Ok(())
}

/// Decides by a short search whether an opening is balanced.
struct Judge(ThreadPool);

impl Judge {
    fn is_playable(&mut self, position: &Position) -> bool {
        // Cleared so that the result does not depend on earlier openings.
        self.0.clear();
        let limits = Limits { nodes: Some(NODES), ..Limits::default() };
        let outcome = self.0.search(position.clone(), limits, SearchOptions::default(), Arc::new(Silent));
        match outcome.line.map(|line| line.score) {
            Some(Score::Centipawns(cp)) => cp.abs() <= MAX_SCORE,
            Some(Score::Mate(_)) | None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_parses_in_openbench_format() {
        let request = Request::parse("genfens 5 seed 42 book Books/x.epd extra words").expect("a request");
        assert_eq!((request.count, request.seed), (5, 42));
        assert_eq!(request.book, Some(PathBuf::from("Books/x.epd")));
        assert_eq!(Request::parse("5 seed 42 book None").map(|r| r.book).ok(), Some(None));
        for bad in ["", "genfens", "genfens x seed 1 book None", "genfens 5 seed 1", "genfens 5 book None"] {
            assert!(Request::parse(bad).is_err(), "{bad}");
        }
    }
}
