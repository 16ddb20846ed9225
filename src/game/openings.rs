//! Where games begin: a book or the initial position, some random moves, and a small search that discards what is
//! already decided.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::board::openings::Openings;
use crate::board::{CastlingMode, Position};
use crate::search::{Limits, Solo};
use crate::util::rng::SplitMix64;

/// Nodes of the search that judges an opening.
const JUDGE_NODES: u64 = 500;

/// Arguments of the openings.
#[derive(clap::Args, Clone, Debug)]
pub struct OpeningArgs {
    /// Book of openings (FEN, EPD or UCI moves), or `builtin`; the initial position if absent
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

/// Openings that are still a game by the verdict of a small search.
pub struct EvenOpenings {
    openings: Openings,
    max_score: i32,
}

impl EvenOpenings {
    /// Reads the book, if there is one.
    ///
    /// # Errors
    /// When the book is unusable.
    pub fn new(args: &OpeningArgs) -> Result<Self> {
        let mode = CastlingMode::from_chess960(args.chess960);
        let plies = args.random_plies.map(usize::from);
        Ok(Self {
            openings: Openings::new(args.book.as_deref(), mode, plies)?,
            max_score: args.max_opening,
        })
    }

    /// The next opening: nobody is in check, the game is not over, and neither side is far ahead.
    ///
    /// # Errors
    /// When none is found, which only an odd book or odd arguments can cause.
    pub fn next(&self, rng: &mut SplitMix64, solo: &mut Solo) -> Result<Position> {
        let opening = self
            .openings
            .next(rng, |position| self.is_even(position, solo));
        opening.with_context(|| {
            format!(
                "the book is too lopsided, or --max-opening {} too strict",
                self.max_score
            )
        })
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
