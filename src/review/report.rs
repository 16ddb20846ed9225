//! Result of the review of a game, from which JSON, annotated PGN and HTML are generated, and its summary of each side.
//!
//! The fields are those of the JSON, which `review.schema.json` describes. Scores and chances are from White's view,
//! losses and accuracies from the view of the side that moved.

use crate::review::mark::Eval;
use crate::review::mark::tenth;
use serde::{Serialize, Serializer};

use super::mark;
use super::mark::{Mark, MoveAccuracy};
use super::phase::{Opening, Phase};
use super::why::Reason;
use crate::board::{Color, Move};

/// The version of the schema.
pub(crate) const SCHEMA: &str = "zoothera-review-1";

/// A reviewed game.
#[derive(Serialize)]
pub(crate) struct Review {
    pub schema: &'static str,
    /// The engine and its version.
    pub engine: String,
    /// Number in the file, from 1.
    pub number: usize,
    #[serde(serialize_with = "as_map")]
    pub tags: Vec<(String, String)>,
    pub result: String,
    /// FEN of the first position.
    pub start: String,
    /// The side whose moves are judged; both if absent. The page shows it at the bottom.
    #[serde(skip)]
    pub side: Option<Color>,
    pub chess960: bool,
    pub opening: Option<Opening>,
    /// Whether all positions were searched. After Ctrl-C, the first positions have no evaluation.
    pub complete: bool,
    /// Evaluation of the first position.
    pub evaluation: Option<Evaluation>,
    pub white: Side,
    pub black: Side,
    pub moves: Vec<PlayedMove>,
}

fn as_map<S: Serializer>(tags: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(tags.iter().map(|(name, value)| (name, value)))
}

impl Review {
    /// The value of a tag, unless it is empty or a question mark.
    pub(crate) fn tag(&self, name: &str) -> Option<&str> {
        let found = self.tags.iter().find(|(tag, _)| tag == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty() && !value.starts_with('?'))
    }
}

/// Search result of a position.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Evaluation {
    pub eval: Eval,
    /// White's winning chance in percent, by the curve fitted to games of people.
    pub chance: f64,
    /// Plies searched; 0 when the game is over.
    pub depth: i32,
}

/// A line that the search prefers to the move played.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Better {
    pub eval: Eval,
    /// Moves in SAN, and in UCI.
    pub san: Vec<String>,
    pub uci: Vec<String>,
    #[serde(skip)]
    pub moves: Vec<Move>,
}

impl Better {
    /// The line, cut after this number of plies.
    pub(crate) fn cut(mut self, plies: usize) -> Self {
        self.san.truncate(plies);
        self.uci.truncate(plies);
        self.moves.truncate(plies);
        self
    }
}

/// A move of the game.
#[derive(Serialize)]
pub(crate) struct PlayedMove {
    /// Number of the ply, from 1.
    pub ply: usize,
    pub number: u32,
    /// `white` or `black`.
    pub side: &'static str,
    pub san: String,
    pub uci: String,
    /// The position after the move.
    pub fen: String,
    pub phase: Phase,
    /// The clock after the move, as in the file.
    pub clock: Option<String>,
    /// Evaluation of the position after the move.
    pub evaluation: Option<Evaluation>,
    /// Points of winning chance lost, and centipawns.
    pub loss: Option<f64>,
    pub loss_cp: Option<i32>,
    pub accuracy: Option<f64>,
    pub mark: Option<Mark>,
    /// The lines that the search preferred, best first; empty if it would have played the move itself.
    pub better: Vec<Better>,
    /// The engine's line in place of the move, also if it begins with the move.
    #[serde(skip)]
    pub engine: Option<Better>,
    /// The refutation, from the position after the move: only for moves with a bad mark, and `None` if the game is
    /// over.
    pub refutation: Option<Better>,
    /// Reasons for the mark.
    pub reasons: Vec<Reason>,
    /// At a mistake, all legal moves with their values, if the page needs them.
    #[serde(skip)]
    pub attempts: Vec<Attempt>,
    #[serde(skip)]
    pub m: Move,
}

impl PlayedMove {
    /// `12. e4` or `12... e5`.
    pub(super) fn numbered(&self) -> String {
        format!("{}{} {}", self.number, self.dots(), self.san)
    }

    /// What follows the number of the move.
    pub(super) fn dots(&self) -> &'static str {
        if self.side == "white" { "." } else { "..." }
    }
}

/// A legal move in the position of a mistake, for a reader who retries the move.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub m: Move,
    /// Whether the search prefers this move.
    pub is_best: bool,
    /// The mark of the move.
    pub mark: Option<Mark>,
    pub value: Evaluation,
    /// The best reply, unless the game is over.
    pub reply: Option<Move>,
}

/// Play of a side, in the whole game and in each phase.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Side {
    #[serde(flatten)]
    pub whole: PlaySummary,
    pub opening: PlaySummary,
    pub middlegame: PlaySummary,
    pub endgame: PlaySummary,
}

impl Side {
    /// Play of the side in a phase of the game.
    pub(crate) fn phase(&self, phase: Phase) -> &PlaySummary {
        match phase {
            Phase::Opening => &self.opening,
            Phase::Middlegame => &self.middlegame,
            Phase::Endgame => &self.endgame,
        }
    }
}

/// Play of a side in a part of the game.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct PlaySummary {
    /// Moves that were judged.
    pub judged: usize,
    /// Accuracy in percent; `None` without moves.
    pub accuracy: Option<f64>,
    /// Mean loss of a move, in points of winning chance.
    pub average_loss: Option<f64>,
    /// Mean loss of a move, in centipawns.
    pub average_loss_cp: Option<f64>,
    pub inaccuracies: usize,
    pub mistakes: usize,
    pub blunders: usize,
    pub only_moves: usize,
    pub sacrifices: usize,
}

// Accuracy, losses and marks of each side, in the whole game and in its phases.

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
        accuracy: mark::game_accuracy(&accuracies, chances).map(tenth),
        average_loss: mean(moves.iter().filter_map(|m| m.loss).collect()).map(tenth),
        average_loss_cp: mean(moves.iter().filter_map(|m| m.loss_cp).map(f64::from).collect()).map(f64::round),
        inaccuracies: marked(Mark::Inaccuracy),
        mistakes: marked(Mark::Mistake),
        blunders: marked(Mark::Blunder),
        only_moves: marked(Mark::Only),
        sacrifices: marked(Mark::Sacrifice),
    }
}
