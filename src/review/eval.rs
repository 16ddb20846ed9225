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
    /// Form of `[%eval]`: a number of pawns without a plus sign, or moves to mate after `#`.
    pub(crate) fn number(self) -> String {
        match self {
            Self::Cp(cp) => format!("{:.2}", f64::from(cp) / 100.0),
            Self::Mate(moves) => format!("#{moves}"),
        }
    }

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
    /// Text form: `+0.31`, `#-3`, `a tablebase win for White`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match Score::from(*self).tablebase() {
            Some(true) => f.write_str("a tablebase win for White"),
            Some(false) => f.write_str("a tablebase win for Black"),
            None => f.write_str(&score((*self).into(), ScoreBound::Exact)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tablebase_results_are_words_in_text_and_numbers_in_pgn() {
        for (eval, text, pgn) in [
            (Eval::Cp(31), "+0.31", "0.31"),
            (Eval::Cp(-5), "-0.05", "-0.05"),
            (Eval::Cp(0), "+0.00", "0.00"),
            (Eval::Mate(-3), "#-3", "#-3"),
            (Eval::Cp(19_995), "a tablebase win for White", "199.95"),
            (Eval::Cp(-19_800), "a tablebase win for Black", "-198.00"),
        ] {
            assert_eq!((eval.to_string().as_str(), eval.number().as_str()), (text, pgn));
        }
    }
}
