//! Where games begin: a book or the initial position, some random moves, and a small search that throws away what is
//! already decided.

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::board::openings::{Book, chess960_start, random_walk};
use crate::board::{CastlingMode, Position};
use crate::search::{Limits, Solo};
use crate::util::rng::SplitMix64;

/// Random plies from the initial position, or one more: so that both sides get to move.
const PLIES_FROM_START: usize = 8;
/// Random plies after a position of a book, or one more.
const PLIES_FROM_BOOK: usize = 4;
/// Nodes of the search that judges an opening.
const JUDGE_NODES: u64 = 500;
/// Failures in a row after which the openings are given up: far more than chance explains.
const MAX_FAILURES: usize = 1000;

/// Arguments of the openings.
#[derive(clap::Args, Clone, Debug)]
pub struct OpeningArgs {
    /// Book of positions (FEN or EPD) to start from; the initial position if absent
    #[arg(long, value_name = "FILE")]
    pub book: Option<PathBuf>,
    /// Play Chess960: from random arrays, or from the book's positions
    #[arg(long)]
    pub chess960: bool,
    /// Random plies, or one more; 8 if absent, with a book 4
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(..=200))]
    pub random_plies: Option<u16>,
    /// Throw openings away whose |score| in a small search is larger, in engine units
    #[arg(long, value_name = "UNITS", default_value_t = 600)]
    pub max_opening: i32,
}

/// A source of openings.
pub struct Openings {
    book: Option<Book>,
    chess960: bool,
    plies: usize,
    max_score: i32,
}

impl Openings {
    /// Reads the book, if there is one.
    ///
    /// # Errors
    /// When the book is unusable.
    pub fn new(args: &OpeningArgs) -> Result<Self> {
        let mode = if args.chess960 {
            CastlingMode::Chess960
        } else {
            CastlingMode::Standard
        };
        let book = args.book.as_deref().map(|path| Book::read(path, mode));
        let book = book.transpose()?;
        let plies = if book.is_some() {
            PLIES_FROM_BOOK
        } else {
            PLIES_FROM_START
        };
        Ok(Self {
            book,
            chess960: args.chess960,
            plies: args.random_plies.map_or(plies, usize::from),
            max_score: args.max_opening,
        })
    }

    /// The next opening: nobody is in check, the game is not over, and neither side is far ahead.
    ///
    /// # Errors
    /// When none is found, which only an odd book or odd arguments can cause.
    pub fn next(&self, rng: &mut SplitMix64, solo: &mut Solo) -> Result<Position> {
        for _ in 0..MAX_FAILURES {
            let start = match &self.book {
                Some(book) => book.pick(rng),
                None if self.chess960 => chess960_start(rng),
                None => Position::startpos(),
            };
            let plies = self.plies + rng.below(2);
            let position = random_walk(&start, plies, rng);
            if let Some(position) = position.filter(|p| self.is_even(p, solo)) {
                return Ok(position);
            }
        }
        bail!(
            "no playable opening in {MAX_FAILURES} tries: the book is too lopsided for --max-opening {}",
            self.max_score
        )
    }

    fn is_even(&self, position: &Position, solo: &mut Solo) -> bool {
        let limits = Limits {
            nodes: Some(JUDGE_NODES),
            ..Limits::default()
        };
        let found = solo.search(position, &limits);
        found.is_some_and(|found| found.value.abs() <= self.max_score)
    }
}
