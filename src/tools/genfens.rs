//! Random but playable openings for data generation, in OpenBench's `genfens` form.
//!
//! A few random legal moves from the initial position or from a line of a book, and a small search that
//! throws away what is already decided. The same seed gives the same openings.

use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};

use crate::board::openings::{Book, random_walk};
use crate::board::{CastlingMode, Position};
use crate::nnue::Network;
use crate::search::limits::Limits;
use crate::search::report::{Score, Silent};
use crate::search::{SearchOptions, ThreadPool};
use crate::util::rng::SplitMix64;

/// Random plies from the initial position: this many or one more, so that both sides get to move.
const PLIES_FROM_START: usize = 8;
/// Random plies after a line of a book: this many or one more.
const PLIES_FROM_BOOK: usize = 4;
/// Openings that are further from even than this, in centipawns, are thrown away.
const MAX_SCORE: i32 = 300;
/// Nodes of the search that judges an opening; a fraction of a second even on a slow machine.
const NODES: u64 = 2000;
/// Failures in a row after which the book is given up: far more than chance explains.
const MAX_FAILURES: usize = 2000;

/// What `genfens` is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Number of openings.
    pub count: usize,
    /// Seed of the random numbers.
    pub seed: u64,
    /// A file of FEN or EPD lines to start from.
    pub book: Option<PathBuf>,
}

impl Request {
    /// Understands `N seed S book FILE|None [...]`, with or without `genfens` in front; what follows the book
    /// is for other engines.
    ///
    /// # Errors
    /// When a word is missing or no number.
    pub fn parse(text: &str) -> Result<Self> {
        let mut words = text.split_whitespace().peekable();
        words.next_if_eq(&"genfens");
        let form = "genfens N seed S book FILE|None";
        let mut value = |name: &str| -> Result<&str> {
            if !name.is_empty() && words.next() != Some(name) {
                bail!("'{name}' is missing, the form is: {form}");
            }
            words
                .next()
                .with_context(|| format!("a value is missing, the form is: {form}"))
        };
        let number = |word: &str| {
            word.parse::<u64>()
                .with_context(|| format!("'{word}' is no number"))
        };
        let count = number(value("")?)? as usize;
        let seed = number(value("seed")?)?;
        let book = Some(value("book")?).filter(|book| !book.eq_ignore_ascii_case("none"));
        Ok(Self {
            count,
            seed,
            book: book.map(PathBuf::from),
        })
    }
}

/// Prints `info string genfens <FEN>` for each opening.
///
/// # Errors
/// When the book is unusable, no opening passes, or the sink fails.
pub fn run(request: &Request, network: Arc<Network>, out: &mut dyn Write) -> Result<()> {
    let book = request.book.as_deref();
    let book = book
        .map(|path| Book::read(path, CastlingMode::Standard))
        .transpose()?;
    let plies = if book.is_some() {
        PLIES_FROM_BOOK
    } else {
        PLIES_FROM_START
    };
    let mut rng = SplitMix64::new(request.seed);
    let mut judge = Judge(ThreadPool::new(network, 1, 1));
    let mut seen = HashSet::new();
    let mut failures = 0;
    while seen.len() < request.count {
        let start = match &book {
            Some(book) => book.pick(&mut rng),
            None => Position::startpos(),
        };
        let plies = plies + rng.below(2);
        match random_walk(&start, plies, &mut rng).filter(|position| judge.is_playable(position)) {
            Some(position) if seen.insert(position.key()) => {
                failures = 0;
                writeln!(out, "info string genfens {}", position.fen())?;
                out.flush()?;
            }
            _ => failures += 1,
        }
        if failures > MAX_FAILURES {
            bail!(
                "no playable opening in {MAX_FAILURES} tries after {} good ones",
                seen.len()
            );
        }
    }
    Ok(())
}

/// Decides by a small search whether an opening is still a game.
struct Judge(ThreadPool);

impl Judge {
    fn is_playable(&mut self, position: &Position) -> bool {
        // Nothing remembered: the verdict must not depend on the openings before.
        self.0.clear();
        let limits = Limits {
            nodes: Some(NODES),
            ..Limits::default()
        };
        let outcome = self.0.search(
            position.clone(),
            limits,
            SearchOptions::default(),
            Arc::new(Silent),
        );
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
    fn requests_in_the_form_of_openbench() {
        let request =
            Request::parse("genfens 5 seed 42 book Books/x.epd extra words").expect("a request");
        assert_eq!((request.count, request.seed), (5, 42));
        assert_eq!(request.book, Some(PathBuf::from("Books/x.epd")));
        assert_eq!(
            Request::parse("5 seed 42 book None").map(|r| r.book).ok(),
            Some(None)
        );
        for bad in [
            "",
            "genfens",
            "genfens x seed 1 book None",
            "genfens 5 seed 1",
            "genfens 5 book None",
        ] {
            assert!(Request::parse(bad).is_err(), "{bad}");
        }
    }
}
