//! One search, shared by its threads: root, limits, settings and reporter.

use std::sync::Arc;
use std::time::Instant;

use super::signals::Signals;
use crate::board::Position;
use crate::level::Mind;
use crate::search::limits::Limits;
use crate::search::options::SearchOptions;
use crate::search::report::{Progress, Reporter, Silent};
use crate::search::root::root_move::RootMove;
use crate::search::root::time::Budget;
use crate::search::score::Value;
use crate::search::tables::syzygy::Syzygy;
use crate::search::tables::tt::TranspositionTable;

/// One search, shared by all threads.
pub struct Job {
    /// Root position, with the history of the game.
    pub position: Position,
    /// Limits of the search.
    pub limits: Limits,
    /// Settings.
    pub options: SearchOptions,
    /// Time budget, if the clock limits the search.
    pub budget: Option<Budget>,
    /// Arrival time of `go`.
    pub start: Instant,
    /// Root moves that may be searched, the most promising first.
    pub root_moves: Vec<RootMove>,
    /// Whether the tablebases contain the root. The search then does not probe them below it.
    pub root_in_tb: bool,
    /// The shared table.
    pub table: Arc<TranspositionTable>,
    /// Open tablebases, if any.
    pub syzygy: Option<Arc<Syzygy>>,
    /// Receiver of the reports.
    pub reporter: Arc<dyn Reporter>,
    /// Best root value of the game's previous search, if any.
    pub previous_value: Option<Value>,
    /// Handicap of a level; `None` at full strength.
    pub mind: Option<Mind>,
    /// Earliest time of a level's answer in a game with a clock.
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

    /// Reports tables that were found to be damaged.
    pub fn report_damaged_tables(&self) {
        let messages = self.syzygy.as_ref().map(|tables| tables.take_messages());
        for text in messages.into_iter().flatten() {
            self.reporter.message(&text);
        }
    }

    /// An empty job, for an idle worker.
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
