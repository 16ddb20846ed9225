//! Winning chances in games of people, and the accuracy of moves based on them.
//!
//! The chance is a curve over centipawns that was fitted to games of people. It is not the engine's own model of
//! wins, draws and losses: between engines a pawn decides half of all games, between people it does not. The
//! thresholds and the accuracy were calibrated for this curve. Centipawns have the same meaning in both models: +1.00
//! is where the engine's model wins every second game, as in Stockfish.
// CITE: lichess.org/page/accuracy, as facts: the curve, the formula of accuracy, and (lila#15164) the mean of a game.

use crate::search::report::Score;

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

#[cfg(test)]
mod tests {
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
