//! The marks of moves, by the winning chances that they lose.
//!
//! | mark | name | when |
//! |---|---|---|
//! | `?!` | inaccuracy | the move loses 5 points of winning chance or more (of 100) |
//! | `?` | mistake | 10 points or more |
//! | `??` | blunder | 15 points or more |
//! | `!` | only move | it was found, and every other one would have been a mistake or worse |
//!
//! A mate counts like +10.00 or -10.00. So a missed mate has no mark if +7.00 is left, nor has a move that allows mate
//! at -7.00: the game was decided. A move that the engine would have played itself has no mark either, even where a
//! deeper search finds it worse.
// CITE: the thresholds are those of lichess (lila, modules/tree Advice), as facts. Its rules for mates are stricter.
// The mark `!` is our own.

use serde::Serialize;

use super::chance::winning;
use crate::search::report::Score;

/// Points of winning chance that a mistake loses; what makes an only move.
pub(crate) const MISTAKE: f64 = 10.0;
/// Points that an inaccuracy loses.
pub(crate) const INACCURACY: f64 = 5.0;
/// Points that a blunder loses.
const BLUNDER: f64 = 15.0;

/// What a move deserves, from good to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) enum Mark {
    /// The only move, found.
    #[serde(rename = "!")]
    Only,
    /// An inaccuracy.
    #[serde(rename = "?!")]
    Inaccuracy,
    /// A mistake.
    #[serde(rename = "?")]
    Mistake,
    /// A blunder.
    #[serde(rename = "??")]
    Blunder,
}

impl Mark {
    /// All marks.
    pub(crate) const ALL: [Self; 4] = [Self::Only, Self::Inaccuracy, Self::Mistake, Self::Blunder];

    /// The mark as it stands behind a move.
    pub(crate) fn glyph(self) -> &'static str {
        match self {
            Self::Only => "!",
            Self::Inaccuracy => "?!",
            Self::Mistake => "?",
            Self::Blunder => "??",
        }
    }

    /// The number of the glyph in PGN.
    pub(crate) fn nag(self) -> u8 {
        match self {
            Self::Only => 1,
            Self::Mistake => 2,
            Self::Blunder => 4,
            Self::Inaccuracy => 6,
        }
    }

    /// What people call such a move.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Only => "only move",
            Self::Inaccuracy => "inaccuracy",
            Self::Mistake => "mistake",
            Self::Blunder => "blunder",
        }
    }
}

/// The bad mark of a move, by the score before it and after it, both from the view of the side that moved. A mate
/// counts like +10.00: a won game that stays won gets no mark.
pub(crate) fn bad_mark(before: Score, after: Score) -> Option<Mark> {
    by_loss(winning(before) - winning(after))
}

fn by_loss(points: f64) -> Option<Mark> {
    match points {
        points if points >= BLUNDER => Some(Mark::Blunder),
        points if points >= MISTAKE => Some(Mark::Mistake),
        points if points >= INACCURACY => Some(Mark::Inaccuracy),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Score::{Centipawns as Cp, Mate};

    #[test]
    fn marks_go_by_the_chances_lost() {
        for (before, after, mark) in [
            (Cp(0), Cp(-40), None),
            (Cp(0), Cp(-60), Some(Mark::Inaccuracy)),
            (Cp(0), Cp(-120), Some(Mark::Mistake)),
            (Cp(0), Cp(-200), Some(Mark::Blunder)),
            // The same pawns count less in a game that is won.
            (Cp(900), Cp(700), None),
            (Cp(-30), Cp(80), None),
        ] {
            assert_eq!(bad_mark(before, after), mark, "{before:?} {after:?}");
        }
    }

    #[test]
    fn mate_counts_like_ten_pawns() {
        for (before, after, mark) in [
            (Cp(0), Mate(-3), Some(Mark::Blunder)),
            (Cp(-600), Mate(-3), Some(Mark::Inaccuracy)),
            (Cp(-700), Mate(-3), None),
            (Cp(-1200), Mate(-3), None),
            (Mate(2), Cp(300), Some(Mark::Blunder)),
            (Mate(2), Cp(500), Some(Mark::Mistake)),
            (Mate(2), Cp(700), None),
            (Mate(2), Cp(1500), None),
            (Mate(2), Mate(-1), Some(Mark::Blunder)),
            (Mate(2), Mate(7), None),
            (Mate(-7), Mate(-2), None),
            (Mate(-7), Cp(-300), None),
            (Cp(500), Mate(3), None),
        ] {
            assert_eq!(bad_mark(before, after), mark, "{before:?} {after:?}");
        }
    }
}
