//! Winning chances, the marks of moves by the chance that they lose, accuracy, and scores as a review shows them.
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

use serde::Serialize;

use crate::search::score::{Score, ScoreBound};
use crate::tools::variation::score;
// CITE: the thresholds in winning chance and the blunder at a mate are those of lichess' analysis board (lila,
// modules/tree Advice), as facts. Lichess marks mates in decided games too, and its published database judges by 50,
// 100 and 300 centipawns. The marks `!` and `!!` are our own.

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

// Winning chances in games of people, and the accuracy of moves based on them.
//
// The chance is a curve over centipawns that was fitted to games of people. It is not the engine's own model of
// wins, draws and losses: between engines a pawn decides half of all games, between people it does not. The
// thresholds and the accuracy were calibrated for this curve. Centipawns have the same meaning in both models: +1.00
// is where the engine's model wins every second game, as in Stockfish.

// CITE: lichess.org/page/accuracy, as facts: the curve, the formula of accuracy, and (lila#15164) the mean of a game.

/// Centipawns at which the chances are capped; a mate counts as much.
const CEILING: i32 = 1000;

/// Centipawns from which the chances are computed: a mate counts as a big advantage.
pub(crate) fn centipawns(score: Score) -> i32 {
    match score {
        Score::Centipawns(cp) => cp.clamp(-CEILING, CEILING),
        Score::Mate(moves) if moves > 0 => CEILING,
        Score::Mate(_) => -CEILING,
    }
}

/// A number that orders scores: mates outrank all centipawns.
pub(crate) fn rank(score: Score) -> i32 {
    const MATE: i32 = 1_000_000;
    match score {
        Score::Centipawns(cp) => cp,
        Score::Mate(moves) if moves > 0 => MATE - moves,
        Score::Mate(moves) => -MATE - moves,
    }
}

/// Winning chance in percent, from the same view as the score.
pub(crate) fn winning(score: Score) -> f64 {
    100.0 / (1.0 + (-0.003_682_08 * f64::from(centipawns(score))).exp())
}

/// The same score from the other side's view. `Mate(0)` is unchanged, because zero has no sign.
pub(crate) fn opposite(score: Score) -> Score {
    match score {
        Score::Centipawns(cp) => Score::Centipawns(-cp),
        Score::Mate(moves) => Score::Mate(-moves),
    }
}

/// The score of the position after a move, from the view of the side that moved. Checkmate becomes mate in one.
pub(crate) fn for_mover(after: Score) -> Score {
    match after {
        Score::Mate(0) => Score::Mate(1),
        score => opposite(score),
    }
}

/// Accuracy, in percent, of a move that changed the chances of its side from `before` to `after`.
pub(crate) fn accuracy(before: f64, after: f64) -> f64 {
    if after >= before {
        return 100.0;
    }
    // One percent is added because the engine may be wrong.
    let raw = 103.1668 * (-0.04354 * (before - after)).exp() - 3.1669 + 1.0;
    raw.clamp(0.0, 100.0)
}

/// The accuracy of a move in a game.
pub(crate) struct MoveAccuracy {
    /// Plies before the move.
    pub ply: usize,
    /// Accuracy in percent.
    pub accuracy: f64,
}

/// The accuracy of a side in a game: the mean of two means of its moves' accuracy. One mean weights moves by the
/// volatility of the chances. The other is the harmonic mean, in which bad moves weigh more. `chances` are White's
/// before each ply and after the last.
pub(crate) fn game_accuracy(moves: &[MoveAccuracy], chances: &[f64]) -> Option<f64> {
    if moves.is_empty() {
        return None;
    }
    let weight = |ply: usize| volatility(chances, ply);
    let weights: f64 = moves.iter().map(|m| weight(m.ply)).sum();
    let weighted: f64 = moves.iter().map(|m| weight(m.ply) * m.accuracy).sum();
    let inverse: f64 = moves.iter().map(|m| 1.0 / m.accuracy.max(1e-3)).sum();
    let harmonic = moves.len() as f64 / inverse;
    Some(f64::midpoint(weighted / weights, harmonic))
}

/// Volatility of the chances near a ply: their standard deviation in its window, limited to 0.5 to 12.
fn volatility(chances: &[f64], ply: usize) -> f64 {
    let size = ((chances.len().saturating_sub(1)) / 10).clamp(2, 8).min(chances.len());
    let start = (ply + 2).saturating_sub(size).min(chances.len().saturating_sub(size));
    let window = &chances[start..start + size];
    let mean = window.iter().sum::<f64>() / size as f64;
    let squares: f64 = window.iter().map(|c| (c - mean).powi(2)).sum();
    (squares / size as f64).sqrt().clamp(0.5, 12.0)
}

// A score in the forms that a review shows: JSON and text.

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

/// Rounded to a tenth.
pub(crate) fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
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

#[cfg(test)]
mod chance_tests {
    use super::*;

    #[test]
    fn chances_are_those_of_the_published_curve() {
        let chance = |cp| winning(Score::Centipawns(cp));
        assert!((chance(0) - 50.0).abs() < 1e-9);
        assert!((chance(100) - 59.1).abs() < 0.05, "{}", chance(100));
        assert!((chance(100) + chance(-100) - 100.0).abs() < 1e-9);
        assert!((winning(Score::Mate(3)) - chance(1000)).abs() < 1e-9);
        assert!(winning(Score::Mate(0)) < 3.0, "mated now");
    }

    #[test]
    fn accuracy_falls_with_the_loss_of_winning_chances() {
        assert!((accuracy(50.0, 50.0) - 100.0).abs() < 1e-9);
        assert!((accuracy(20.0, 70.0) - 100.0).abs() < 1e-9);
        assert!((accuracy(60.0, 50.0) - 64.6).abs() < 0.1);
        assert!(accuracy(97.0, 3.0) < 2.0);
    }

    #[test]
    fn accuracy_of_a_game_lies_between_those_of_its_moves() {
        let chances = [50.0, 55.0, 40.0, 45.0, 80.0, 78.0];
        assert_eq!(game_accuracy(&[], &chances), None);
        let moves = |accuracies: [f64; 3]| [0, 2, 4].map(|ply| MoveAccuracy { ply, accuracy: accuracies[ply / 2] });
        let same = moves([90.0; 3]);
        assert!((game_accuracy(&same, &chances).unwrap_or(0.0) - 90.0).abs() < 1e-9);
        let mixed = moves([100.0, 100.0, 10.0]);
        let mean = game_accuracy(&mixed, &chances).unwrap_or(0.0);
        assert!(mean > 10.0 && mean < 70.0, "{mean}");
        // A single move, fewer chances than a window.
        assert!(
            game_accuracy(&[MoveAccuracy { ply: 0, accuracy: 80.0 }], &[50.0, 50.0])
                .is_some_and(|a| (a - 80.0).abs() < 1e-9)
        );
    }
}

#[cfg(test)]
mod eval_tests {
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
