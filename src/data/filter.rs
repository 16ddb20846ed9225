//! Which positions are worth learning from.

use super::entry::{Entry, NO_SCORE};

/// What a position must be to be kept.
///
/// A static evaluation is asked only where nothing is hanging: positions in check, and those whose best move captures
/// or promotes, carry a score that a search found and a static look cannot.
#[derive(Clone, Copy, Debug)]
pub struct Filter {
    /// Largest |score| in engine units.
    pub max_score: i16,
    /// Positions before this ply are opening noise.
    pub min_ply: u16,
    /// Keep only positions whose best move neither captures nor promotes, and that are not in check.
    pub quiet: bool,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            max_score: 3000,
            min_ply: 0,
            quiet: true,
        }
    }
}

impl Filter {
    /// Whether the entry is kept.
    #[inline]
    pub fn keeps(&self, entry: &Entry) -> bool {
        entry.score.unsigned_abs() <= self.max_score.unsigned_abs()
            && entry.score != NO_SCORE
            && entry.ply >= self.min_ply
            && (!self.quiet || entry.is_quiet())
    }
}
