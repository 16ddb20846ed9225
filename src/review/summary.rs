//! Accuracy, losses and marks of each side, in the whole game and in its phases.

use super::chance::{self, MoveAccuracy};
use super::mark::Mark;
use super::phase::Phase;
use super::report::{Evaluation, PlaySummary, PlayedMove, Side};

/// Summaries of both sides, White first.
pub(crate) fn sides(start: Option<&Evaluation>, moves: &[PlayedMove]) -> [Side; 2] {
    let chances = chances(start, moves);
    ["white", "black"].map(|side| {
        let of = |phase: Option<Phase>| {
            let wanted = |played: &&PlayedMove| played.side == side && phase.is_none_or(|phase| played.phase == phase);
            let moves: Vec<&PlayedMove> = moves.iter().filter(wanted).collect();
            summary(&moves, &chances)
        };
        Side {
            whole: of(None),
            opening: of(Some(Phase::Opening)),
            middlegame: of(Some(Phase::Middlegame)),
            endgame: of(Some(Phase::Endgame)),
        }
    })
}

/// White's chances before each ply and after the last. An unknown chance is replaced by the next known one, or by 50.
fn chances(start: Option<&Evaluation>, moves: &[PlayedMove]) -> Vec<f64> {
    let known = std::iter::once(start).chain(moves.iter().map(|m| m.evaluation.as_ref()));
    let mut chances: Vec<Option<f64>> = known.map(|e| e.map(|e| e.chance)).collect();
    let mut next = 50.0;
    for chance in chances.iter_mut().rev() {
        next = chance.unwrap_or(next);
        *chance = Some(next);
    }
    chances.into_iter().flatten().collect()
}

fn summary(moves: &[&PlayedMove], chances: &[f64]) -> PlaySummary {
    let marked = |mark| moves.iter().filter(|m| m.mark == Some(mark)).count();
    let accuracy = |m: &&PlayedMove| Some(MoveAccuracy { ply: m.ply - 1, accuracy: m.accuracy? });
    let accuracies: Vec<MoveAccuracy> = moves.iter().filter_map(accuracy).collect();
    let mean = |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    PlaySummary {
        judged: accuracies.len(),
        accuracy: chance::game_accuracy(&accuracies, chances).map(tenth),
        average_loss: mean(moves.iter().filter_map(|m| m.loss).collect()).map(tenth),
        average_loss_cp: mean(moves.iter().filter_map(|m| m.loss_cp).map(f64::from).collect()).map(f64::round),
        inaccuracies: marked(Mark::Inaccuracy),
        mistakes: marked(Mark::Mistake),
        blunders: marked(Mark::Blunder),
        only_moves: marked(Mark::Only),
        sacrifices: marked(Mark::Sacrifice),
    }
}

/// Rounded to a tenth.
pub(crate) fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
