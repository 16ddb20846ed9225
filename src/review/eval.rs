//! A score in the forms that a review shows: JSON and text.

use serde::Serialize;

use super::chance::winning;
use super::summary::tenth;
use crate::search::report::{Score, ScoreBound};
use crate::tools::variation::score;

/// A score from White's view: `{"cp": 31}` or `{"mate": -3}`. A mated side has no moves left, so its mate is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Eval {
    /// Hundredths of a pawn.
    Cp(i32),
    /// Moves to mate, negative when White is mated.
    Mate(i32),
}

impl Eval {
    /// White's winning chance in percent.
    pub(crate) fn chance(self) -> f64 {
        tenth(winning(self.into()))
    }
}

impl From<Eval> for Score {
    fn from(eval: Eval) -> Self {
        match eval {
            Eval::Cp(cp) => Self::Centipawns(cp),
            Eval::Mate(moves) => Self::Mate(moves),
        }
    }
}

impl From<Score> for Eval {
    fn from(score: Score) -> Self {
        match score {
            Score::Centipawns(cp) => Self::Cp(cp),
            Score::Mate(moves) => Self::Mate(moves),
        }
    }
}

impl std::fmt::Display for Eval {
    /// Text form: `+0.31`, `#-3`, `TB win`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&score((*self).into(), ScoreBound::Exact))
    }
}
