//! Filter of training positions.

use super::entry::{Entry, NO_SCORE};

/// Conditions for keeping a position.
///
/// A static evaluation is used only in quiet positions. In check, or where the best move captures or promotes, the
/// score comes from a search and a static evaluation cannot reproduce it.
// CITE: the same conditions as in nnue-pytorch ("smart FEN skipping").
#[derive(Clone, Copy, Debug)]
pub struct Filter {
    /// Largest |score| in engine units.
    pub max_score: i16,
    /// Smallest ply; earlier positions are opening noise.
    pub min_ply: u16,
    /// Keep only positions whose best move neither captures nor promotes, and that are not in check.
    pub quiet: bool,
    /// Keep only positions whose best move neither captures nor promotes.
    pub no_captures: bool,
    /// Keep only positions that are not in check.
    pub no_checks: bool,
    /// Smallest number of pieces on the board, kings included.
    pub min_pieces: u32,
    /// Largest number of pieces on the board, kings included.
    pub max_pieces: u32,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            max_score: 3000,
            min_ply: 0,
            quiet: true,
            no_captures: false,
            no_checks: false,
            min_pieces: 0,
            max_pieces: 32,
        }
    }
}

/// Filter options of a command. A rejected position is dropped. In a .binpack it is kept without a score, because
/// dropping it would break the chain of its game and make the file larger.
#[derive(clap::Args, Clone, Debug)]
pub struct FilterArgs {
    /// Keep only positions that are not in check and whose move neither captures nor promotes
    #[arg(long)]
    pub quiet: bool,
    /// Keep only positions whose move neither captures nor promotes
    #[arg(long)]
    pub no_captures: bool,
    /// Keep only positions that are not in check
    #[arg(long)]
    pub no_checks: bool,
    /// Keep only positions with at most this |score|, in engine units
    #[arg(long, value_name = "UNITS", default_value_t = 32_000, value_parser = clap::value_parser!(i16).range(0..))]
    pub max_score: i16,
    /// Keep only positions from this ply of the game on
    #[arg(long, value_name = "PLY", default_value_t = 0)]
    pub min_ply: u16,
    /// Keep only positions with at least N pieces, kings included
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub min_pieces: u32,
    /// Keep only positions with at most N pieces, kings included
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub max_pieces: u32,
}

impl FilterArgs {
    /// The filter that the arguments describe.
    pub fn filter(&self) -> Filter {
        Filter {
            max_score: self.max_score,
            min_ply: self.min_ply,
            quiet: self.quiet,
            no_captures: self.no_captures,
            no_checks: self.no_checks,
            min_pieces: self.min_pieces,
            max_pieces: self.max_pieces,
        }
    }
}

impl Filter {
    /// Whether the filter keeps the entry.
    #[inline]
    pub fn keeps(&self, entry: &Entry) -> bool {
        entry.score.unsigned_abs() <= self.max_score.unsigned_abs()
            && entry.score != NO_SCORE
            && entry.ply >= self.min_ply
            && (self.min_pieces..=self.max_pieces).contains(&entry.board.count())
            && (!(self.quiet || self.no_captures) || !entry.captures_or_promotes())
            && (!(self.quiet || self.no_checks) || !entry.is_check())
    }
}

/// The entry to write: unchanged if `kept`. Otherwise `None`, or with `chains` the entry without its score.
pub fn remainder(entry: &Entry, kept: bool, chains: bool) -> Option<Entry> {
    match (kept, chains) {
        (true, _) => Some(*entry),
        (false, false) => None,
        (false, true) => Some(Entry { score: NO_SCORE, ..*entry }),
    }
}
