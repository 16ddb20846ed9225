//! One search as its threads share it: root, limits, settings and reporter.

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
    /// Root position, with the history of the game.
    pub position: Position,
    /// Limits of the search.
    pub limits: Limits,
    /// Settings.
    pub options: SearchOptions,
    /// Clock budget, when the clock limits the search.
    pub budget: Option<Budget>,
    /// When `go` arrived.
    pub start: Instant,
    /// Root moves that may be searched, best guess first.
    pub root_moves: Vec<RootMove>,
    /// Whether the root is in the tablebases. The search then does not probe them below it.
    pub root_in_tb: bool,
    /// The shared table.
    pub table: Arc<TranspositionTable>,
    /// Tablebases, if any are open.
    pub syzygy: Option<Arc<Syzygy>>,
    /// Receiver of the reports.
    pub reporter: Arc<dyn Reporter>,
    /// The best root value of the previous search of this game, if any.
    pub previous_value: Option<Value>,
    /// Handicap of a level; `None` at full strength.
    pub mind: Option<Mind>,
    /// Earliest time of the answer of a level that plays with a clock.
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

    /// Reports tables that turned out to be damaged.
    pub fn report_damaged_tables(&self) {
        let news = self.syzygy.as_ref().map(|tables| tables.take_news());
        for text in news.into_iter().flatten() {
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
