//! Reports of the search to its caller. The search does not print.

use std::time::Duration;

use crate::board::Move;

/// A score in the form of UCI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// Hundredths of a pawn, normalised by the win model.
    Centipawns(i32),
    /// Moves (not plies) to mate: positive for the side to move, negative against it; 0 when it is mated now.
    Mate(i32),
}

/// Whether the score is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreBound {
    /// The true score.
    Exact,
    /// At least this (the iteration failed high).
    Lower,
    /// At most this (the iteration failed low).
    Upper,
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
    /// Whether `score` is exact.
    pub bound: ScoreBound,
    /// Win, draw, loss in permill for the side to move.
    pub wdl: [u16; 3],
    /// The moves, from the root; stops at mate, stalemate and repetition.
    pub pv: Vec<Move>,
}

/// The counters that go with every report.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Nodes of all threads.
    pub nodes: u64,
    /// Wall time since the search began.
    pub time: Duration,
    /// Permill of the transposition table in use; `None` where it was not sampled.
    pub hashfull: Option<u16>,
    /// Tablebase hits of all threads.
    pub tb_hits: u64,
}

/// The outcome of a search.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The best move; `None` when there is no legal one (or none of `searchmoves`).
    pub best: Option<Move>,
    /// The expected answer.
    pub ponder: Option<Move>,
    /// The final line of the best move, `None` when there is no legal move. A bound only where the move was found in an
    /// iteration that did not end.
    pub line: Option<Line>,
    /// The final lines of ranks 2 to MultiPV, or to the number of root moves where there are fewer. Their first moves
    /// differ from the best move and from one another.
    pub others: Vec<Line>,
    /// Final counters.
    pub progress: Progress,
}

impl Outcome {
    /// An outcome of a move alone: no search has found anything.
    pub fn without_search(best: Option<Move>) -> Self {
        Self {
            best,
            ponder: None,
            line: None,
            others: Vec::new(),
            progress: Progress::default(),
        }
    }

    /// The final lines by rank, the best move's first.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.line.iter().chain(&self.others)
    }
}

/// Receives the results of the search. Called from search threads.
pub trait Reporter: Send + Sync {
    /// A line was completed (or failed high or low).
    fn line(&self, _line: &Line, _progress: &Progress) {}
    /// The search has begun this root move (only after some seconds).
    fn current_move(&self, _depth: i32, _m: Move, _number: usize) {}
    /// A message for the user: on standard error, where the reporter has no better place for it.
    fn message(&self, text: &str) {
        eprintln!("{text}");
    }
    /// The search is over. Called exactly once for each `go`, last.
    fn done(&self, outcome: &Outcome);
}

/// Ignores all reports: for callers that need the outcome only.
pub struct Silent;

impl Reporter for Silent {
    fn message(&self, _text: &str) {}
    fn done(&self, _outcome: &Outcome) {}
}
