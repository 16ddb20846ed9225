//! The marks of moves, by the winning chance that they lose.
//!
//! | mark | name | when |
//! |---|---|---|
//! | `?!` | inaccuracy | the move loses 5 points of winning chance or more (of 100) |
//! | `?` | mistake | 10 points or more |
//! | `??` | blunder | 15 points or more |
//! | `!` | only move | it was found, and every other move would have been a mistake or worse |
//! | `!!` | sound sacrifice | two pawns or more, and the next best move is 5 points worse or does not mate |
//!
//! A move that allows or misses a mate is a blunder, whatever the points, unless the game was decided: at 7.00 or
//! more it has no mark. A slower mate has no mark.
// CITE: the thresholds in winning chance and the blunder at a mate are those of lichess' analysis board (lila,
// modules/tree Advice), as facts. Lichess marks mates in decided games too, and its published database judges by 50,
// 100 and 300 centipawns. The marks `!` and `!!` are our own.

use serde::Serialize;

use super::chance::winning;
use crate::search::report::Score;

/// Points of winning chance that a mistake loses at least; also the margin of an only move.
pub(crate) const MISTAKE: f64 = 10.0;
/// Points that an inaccuracy loses at least; also the margin of a sacrifice.
pub(crate) const INACCURACY: f64 = 5.0;
/// Points that a blunder loses at least.
const BLUNDER: f64 = 15.0;

/// Centipawns at which a game counts as decided: a move that allows or misses a mate then has no mark.
const DECIDED: i32 = 700;

/// Mark of a move, from good to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) enum Mark {
    /// A sound sacrifice.
    #[serde(rename = "!!")]
    Sacrifice,
    /// The only good move.
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
    pub(crate) const ALL: [Self; 5] = [Self::Sacrifice, Self::Only, Self::Inaccuracy, Self::Mistake, Self::Blunder];

    /// Whether the mark is for a bad move.
    pub(crate) fn is_bad(self) -> bool {
        self >= Self::Inaccuracy
    }

    /// The mark as printed after a move.
    pub(crate) fn glyph(self) -> &'static str {
        match self {
            Self::Sacrifice => "!!",
            Self::Only => "!",
            Self::Inaccuracy => "?!",
            Self::Mistake => "?",
            Self::Blunder => "??",
        }
    }

    /// The number of the mark's glyph in PGN.
    pub(crate) fn nag(self) -> u8 {
        match self {
            Self::Only => 1,
            Self::Mistake => 2,
            Self::Sacrifice => 3,
            Self::Blunder => 4,
            Self::Inaccuracy => 6,
        }
    }

    /// English name of the mark.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sacrifice => "sound sacrifice",
            Self::Only => "only move",
            Self::Inaccuracy => "inaccuracy",
            Self::Mistake => "mistake",
            Self::Blunder => "blunder",
        }
    }
}

/// The bad mark of a move, by the score before it and after it, both from the view of the side that moved.
pub(crate) fn bad_mark(before: Score, after: Score) -> Option<Mark> {
    let mates = |score| matches!(score, Score::Mate(moves) if moves > 0);
    let mated = |score| matches!(score, Score::Mate(moves) if moves <= 0);
    match (before, after) {
        (Score::Centipawns(cp), after) if mated(after) => by_decision(-cp),
        (before, Score::Centipawns(cp)) if mates(before) => by_decision(cp),
        (before, after) if mates(before) && mated(after) => Some(Mark::Blunder),
        (Score::Mate(_), Score::Mate(_)) => None,
        _ => by_loss(winning(before) - winning(after)),
    }
}

/// The mark for a mate that appears or disappears; `ahead` is the advantage, in centipawns, without the mate.
fn by_decision(ahead: i32) -> Option<Mark> {
    (ahead < DECIDED).then_some(Mark::Blunder)
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
            // The same pawns count less in a won game.
            (Cp(900), Cp(700), None),
            (Cp(-30), Cp(80), None),
        ] {
            assert_eq!(bad_mark(before, after), mark, "{before:?} {after:?}");
        }
    }

    #[test]
    fn missed_or_allowed_mate_is_a_blunder_unless_the_game_is_decided() {
        for (before, after, mark) in [
            (Cp(0), Mate(-3), Some(Mark::Blunder)),
            (Cp(-699), Mate(-3), Some(Mark::Blunder)),
            (Cp(-700), Mate(-3), None),
            (Cp(-1200), Mate(-3), None),
            (Mate(2), Cp(300), Some(Mark::Blunder)),
            (Mate(2), Cp(699), Some(Mark::Blunder)),
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
