//! Reports of the search to its caller. The search does not print.

use std::time::Duration;

use super::score::{MAX_PLY, TB_WIN_CENTIPAWNS};
use crate::board::{Color, Move};

/// A score in UCI's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// Hundredths of a pawn, normalised by the win model.
    Centipawns(i32),
    /// Moves (not plies) to mate: positive for the side to move, negative against it; 0 if it is mated.
    Mate(i32),
}

impl Score {
    /// The smallest number of centipawns that reports a win by tablebases.
    const TABLEBASE_WIN: i32 = TB_WIN_CENTIPAWNS - MAX_PLY as i32;

    /// The same score from White's view, if `turn` is the side that it was given for.
    pub fn white_view(self, turn: Color) -> Self {
        match self {
            Self::Centipawns(cp) => Self::Centipawns(turn.fold_wb(cp, -cp)),
            Self::Mate(moves) => Self::Mate(turn.fold_wb(moves, -moves)),
        }
    }

    /// Whether the score is a tablebase win (`Some(true)`) or loss; `None` if it is neither.
    pub fn tablebase(self) -> Option<bool> {
        match self {
            Self::Centipawns(cp) if cp.abs() >= Self::TABLEBASE_WIN => Some(cp > 0),
            _ => None,
        }
    }
}

/// Relation of a reported score to the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreBound {
    /// The score is exact.
    Exact,
    /// The true score is at least the reported one (the iteration failed high).
    Lower,
    /// The true score is at most the reported one (the iteration failed low).
    Upper,
}

impl ScoreBound {
    /// The relation from White's view, if `turn` is the side that the score was given for.
    pub fn white_view(self, turn: Color) -> Self {
        match (self, turn) {
            (Self::Lower, Color::Black) => Self::Upper,
            (Self::Upper, Color::Black) => Self::Lower,
            (bound, _) => bound,
        }
    }
}

/// One `info` line: a principal variation with its numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Depth in plies of the iteration that gave score, bound and moves.
    pub depth: i32,
    /// Deepest ply reached.
    pub seldepth: i32,
    /// Rank of the line, from 1.
    pub multipv: usize,
    /// Score for the side to move at the root.
    pub score: Score,
    /// Whether `score` is exact or a bound.
    pub bound: ScoreBound,
    /// Permill of wins, draws and losses for the side to move.
    pub wdl: [u16; 3],
    /// The moves from the root; the line stops at mate, stalemate and repetition.
    pub pv: Vec<Move>,
}

/// Counters of a report.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Nodes of all threads.
    pub nodes: u64,
    /// Wall time since the start of the search.
    pub time: Duration,
    /// Permill of the transposition table in use; `None` if it was not sampled.
    pub hashfull: Option<u16>,
    /// Tablebase hits of all threads.
    pub tb_hits: u64,
}

/// The outcome of a search.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The best move; `None` if there is no legal one (or none of `searchmoves`).
    pub best: Option<Move>,
    /// The expected reply.
    pub ponder: Option<Move>,
    /// The final line of the best move, `None` if there is no legal move. Its score is a bound only if an unfinished
    /// iteration found the move.
    pub line: Option<Line>,
    /// The final lines of ranks 2 to MultiPV, or to the number of root moves if that is smaller. Their first moves are
    /// distinct and differ from the best move.
    pub others: Vec<Line>,
    /// Final counters.
    pub progress: Progress,
}

impl Outcome {
    /// An outcome with only a move, when no search has returned a result.
    pub fn without_search(best: Option<Move>) -> Self {
        Self { best, ponder: None, line: None, others: Vec::new(), progress: Progress::default() }
    }

    /// The final lines by rank, starting with the best move's.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.line.iter().chain(&self.others)
    }
}

/// Receives the results of the search. Its methods are called from search threads.
pub trait Reporter: Send + Sync {
    /// Whether lines and current moves are of interest. If not, the search saves the time to prepare them, which is a
    /// large part of a search of fifty nodes.
    fn wants_lines(&self) -> bool {
        true
    }
    /// Called when a line was completed, or failed high or low.
    fn line(&self, _line: &Line, _progress: &Progress) {}
    /// Called when the search begins a root move, after the first 3 seconds of the search.
    fn current_move(&self, _depth: i32, _m: Move, _number: usize) {}
    /// A message for the user; printed on standard error by default.
    fn message(&self, text: &str) {
        eprintln!("{text}");
    }
    /// Called exactly once for each `go`, as the last call, when the search is over.
    fn done(&self, outcome: &Outcome);
}

/// Reporter that ignores everything, for callers that need only the outcome.
pub struct Silent;

impl Reporter for Silent {
    fn wants_lines(&self) -> bool {
        false
    }
    fn message(&self, _text: &str) {}
    fn done(&self, _outcome: &Outcome) {}
}
