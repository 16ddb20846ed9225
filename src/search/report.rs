//! Reports of the search to its caller. The search does not print.

use std::path::PathBuf;
use std::time::Duration;

pub use super::score::Score;
use crate::board::{Color, Move};

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

/// Summary of opening a list of directories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadedTables {
    /// Files found.
    pub files: usize,
    /// Largest number of pieces on the board in any table.
    pub pieces: usize,
    /// Directories that contain tables.
    pub directories: Vec<PathBuf>,
    /// Problems with other directories and files.
    pub problems: Vec<String>,
}

impl LoadedTables {
    /// The first five problems, and the number of the others.
    pub fn problems_in_words(&self) -> String {
        const SHOWN: usize = 5;
        let mut text = self.problems[..self.problems.len().min(SHOWN)].join(", ");
        if let Some(more) = self.problems.len().checked_sub(SHOWN).filter(|&n| n > 0) {
            text.push_str(&format!(", and {more} more"));
        }
        text
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
