//! State shared by the threads of a search: the job (root, limits, settings, reporter), and the signals (stop,
//! counters).

use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};
use std::time::Instant;

use crossbeam::utils::CachePadded;

use crate::board::Position;
use crate::level::TurnHandicap;
use crate::search::limits::Limits;
use crate::search::options::SearchOptions;
use crate::search::report::{Progress, Reporter, Silent};
use crate::search::root::root_filter::filter_root_moves;
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
    pub handicap: Option<TurnHandicap>,
    /// Earliest time of a level's answer in a game with a clock.
    pub not_before: Option<Instant>,
}

impl Job {
    /// A search of `position` at full strength that starts now: all root moves that the limits allow, without a clock,
    /// tablebases and earlier searches.
    pub fn new(
        position: Position,
        limits: Limits,
        options: SearchOptions,
        table: Arc<TranspositionTable>,
        reporter: Arc<dyn Reporter>,
    ) -> Self {
        let start = Instant::now();
        let root_moves = RootMove::allowed(&position, &limits);
        Self {
            position,
            limits,
            options,
            budget: None,
            start,
            root_moves,
            root_in_tb: false,
            table,
            syzygy: None,
            reporter,
            previous_value: None,
            handicap: None,
            not_before: None,
        }
    }

    /// A job for an idle worker.
    pub fn idle() -> Self {
        let table = Arc::new(TranspositionTable::placeholder());
        Self::new(Position::startpos(), Limits::default(), SearchOptions::default(), table, Arc::new(Silent))
    }

    /// Uses the tables in this search and keeps only the root moves that preserve their result.
    pub fn use_tablebases(&mut self, tables: Arc<Syzygy>) {
        self.root_in_tb = filter_root_moves(&tables, &self.position, &self.options, &mut self.root_moves);
        self.syzygy = Some(tables);
    }

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
}

/// Atomics that all threads of a pool share for its lifetime.
pub struct Signals {
    /// End the search.
    pub stop: AtomicBool,
    /// The engine is pondering.
    pub pondering: AtomicBool,
    /// Nodes and tablebase hits, one cache line per thread.
    pub counters: Vec<CachePadded<Counters>>,
}

/// Counters of one thread in this search.
#[derive(Default)]
pub struct Counters {
    /// Moves made.
    pub nodes: AtomicU64,
    /// Successful tablebase probes.
    pub tb_hits: AtomicU64,
    /// Changes of the best move, in 1/1024; worker 0 resets them when it reads them.
    pub best_move_changes: AtomicU64,
}

impl Signals {
    /// Idle signals for `threads` threads.
    pub fn new(threads: usize) -> Self {
        Self {
            stop: AtomicBool::new(true),
            pondering: AtomicBool::new(false),
            counters: (0..threads).map(|_| CachePadded::default()).collect(),
        }
    }

    /// Resets the counters and `stop`, for a new search.
    pub fn begin(&self, pondering: bool) {
        for counters in &self.counters {
            counters.nodes.store(0, Relaxed);
            counters.tb_hits.store(0, Relaxed);
            counters.best_move_changes.store(0, Relaxed);
        }
        self.pondering.store(pondering, SeqCst);
        self.stop.store(false, SeqCst);
    }

    /// Nodes of all threads.
    pub fn nodes(&self) -> u64 {
        self.counters.iter().map(|c| c.nodes.load(Relaxed)).sum()
    }

    /// Tablebase hits of all threads.
    pub fn tb_hits(&self) -> u64 {
        self.counters.iter().map(|c| c.tb_hits.load(Relaxed)).sum()
    }
}
