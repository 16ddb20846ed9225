//! One search as all its threads see it: what to search, what it may spend, and who hears of it.

use std::sync::Arc;
use std::time::Instant;

use super::limits::Limits;
use super::options::SearchOptions;
use super::report::{Progress, Reporter, Silent};
use super::root_move::RootMove;
use super::score::Value;
use super::signals::Signals;
use super::syzygy::Syzygy;
use super::time::Budget;
use super::tt::TranspositionTable;
use crate::board::Position;
use crate::level::Mind;

/// One search, as every thread sees it.
pub struct Job {
    /// Where to search from, with the game's history.
    pub position: Position,
    /// What may be spent.
    pub limits: Limits,
    /// Settings.
    pub options: SearchOptions,
    /// Clock budget, when the clock limits the search.
    pub budget: Option<Budget>,
    /// When `go` arrived.
    pub start: Instant,
    /// Root moves that may be searched, best guess first.
    pub root_moves: Vec<RootMove>,
    /// Whether tablebases know the root: the search below it does without them then.
    pub root_in_tb: bool,
    /// The shared table.
    pub table: Arc<TranspositionTable>,
    /// Tablebases, if any are open.
    pub syzygy: Option<Arc<Syzygy>>,
    /// Who hears of it.
    pub reporter: Arc<dyn Reporter>,
    /// The best root value of the previous search of this game, if any.
    pub previous_value: Option<Value>,
    /// How a level sees the position; `None` at full strength.
    pub mind: Option<Mind>,
    /// A level that was told of a clock holds its move back until then.
    pub not_before: Option<Instant>,
}

impl Job {
    /// The counters of all threads, for a report.
    pub fn progress(&self, signals: &Signals) -> Progress {
        Progress {
            nodes: signals.nodes(),
            time: self.start.elapsed(),
            hashfull: Some(self.table.hashfull()),
            tb_hits: signals.tb_hits(),
        }
    }

    /// No search: a job that holds next to nothing.
    pub fn idle() -> Self {
        Self {
            position: Position::startpos(),
            limits: Limits::default(),
            options: SearchOptions::default(),
            budget: None,
            start: Instant::now(),
            root_moves: Vec::new(),
            root_in_tb: false,
            table: Arc::new(TranspositionTable::placeholder()),
            syzygy: None,
            reporter: Arc::new(Silent),
            previous_value: None,
            mind: None,
            not_before: None,
        }
    }
}
