//! Openings of generated games: a book or the initial position, followed by random moves. A small search discards
//! openings that are already decided.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::board::openings::Openings;
use crate::board::{CastlingMode, Position};
use crate::search::{Limits, Solo};
use crate::util::rng::SplitMix64;

/// Nodes of the search that evaluates an opening.
const JUDGE_NODES: u64 = 500;

/// Arguments of the openings.
#[derive(clap::Args, Clone, Debug)]
pub struct OpeningArgs {
    /// Book of openings (FEN, EPD or UCI moves), or `builtin`; the initial position if absent
    #[arg(long, value_name = "FILE")]
    pub book: Option<PathBuf>,
    /// Play Chess960 from random start positions, or from the book's positions
    #[arg(long)]
    pub chess960: bool,
    /// Number of random plies: N or N + 1, chosen at random; default 8, with a book 4
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(..=200))]
    pub random_plies: Option<u16>,
    /// Discard openings with a larger |score| in a search of 500 nodes, in engine units
    #[arg(long, value_name = "UNITS", default_value_t = 600)]
    pub max_opening: i32,
}

/// Generator of openings that a small search evaluates as roughly even.
pub struct EvenOpenings {
    openings: Openings,
    max_score: i32,
}

impl EvenOpenings {
    /// Reads the book, if there is one.
    ///
    /// # Errors
    /// Fails if the book cannot be read or has no usable position.
    pub fn new(args: &OpeningArgs) -> Result<Self> {
        let mode = CastlingMode::from_chess960(args.chess960);
        let plies = args.random_plies.map(usize::from);
        Ok(Self { openings: Openings::new(args.book.as_deref(), mode, plies)?, max_score: args.max_opening })
    }

    /// Returns the next opening: not in check, not over, and with neither side far ahead. Clears `solo`, so the choice
    /// depends on nothing that it searched before.
    ///
    /// # Errors
    /// Fails if no opening is found, because the book is too one-sided or the arguments are too strict.
    pub fn next(&self, rng: &mut SplitMix64, solo: &mut Solo) -> Result<Position> {
        solo.clear();
        let opening = self.openings.next(rng, |position| self.is_even(position, solo));
        opening.with_context(|| format!("the book is too one-sided, or --max-opening {} is too strict", self.max_score))
    }

    /// Whether a search of [`JUDGE_NODES`] scores the position within the limit.
    fn is_even(&self, position: &Position, solo: &mut Solo) -> bool {
        let limits = Limits { nodes: Some(JUDGE_NODES), ..Limits::default() };
        let found = solo.search(position, &limits);
        found.is_some_and(|found| found.value.abs() <= self.max_score)
    }
}
