//! The thread pool: starts and controls the search threads, and owns their shared state.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::Instant;

use anyhow::Result;
use crossbeam::channel::unbounded;
use parking_lot::Mutex;

use super::actor::{Hub, Task, Thread, spawn};
use super::handicap;
use super::job::Job;
use super::limits::Limits;
use super::options::SearchOptions;
use super::report::{Line, Outcome, Reporter};
use super::root_filter::{filter_root_moves, root_moves};
use super::syzygy::{LoadedTables, Syzygy};
use super::time;
use super::tt::{NoMemory, TranspositionTable};
use super::tt_file::{self, SavedTable};
use crate::board::{Move, Position};
use crate::level::Level;
use crate::nnue::Network;
use crate::util::threads;

/// Size in MiB of the transposition table of levels, which is cleared before each of their moves.
const LEVEL_TABLE_MB: usize = 1;

/// The search threads and their shared state. Methods return at once unless stated otherwise. On a system without
/// threads the caller's thread does the work.
pub struct ThreadPool {
    hub: Arc<Hub>,
    threads: Vec<Thread>,
    table: Arc<TranspositionTable>,
    network: Arc<Network>,
    syzygy: Option<Arc<Syzygy>>,
    /// Transposition table of levels, created on first use.
    level_table: Option<Arc<TranspositionTable>>,
}

impl ThreadPool {
    /// `threads` threads, a transposition table of `hash_mb` MiB (or the largest that fits).
    ///
    /// # Panics
    /// When the system refuses the first thread, or a table of 1 MiB.
    pub fn new(network: Arc<Network>, threads: usize, hash_mb: usize) -> Self {
        let (hub, threads) = spawn(threads.max(1), &network);
        Self {
            hub,
            threads,
            table: Arc::new(
                TranspositionTable::new(hash_mb).unwrap_or_else(|error| panic!("{error}")),
            ),
            network,
            syzygy: None,
            level_table: None,
        }
    }

    /// Starts a search; waits for one in progress first. `reporter.done` is called exactly once.
    pub fn go(
        &mut self,
        position: Position,
        limits: Limits,
        options: SearchOptions,
        reporter: Arc<dyn Reporter>,
    ) {
        self.wait();
        let limits = if threads::EXIST {
            limits
        } else {
            limits.without_stop()
        };
        let start = Instant::now();
        let mut root_moves = root_moves(&position, &limits);
        let root_in_tb = self
            .syzygy
            .as_ref()
            .filter(|_| options.level.is_none())
            .is_some_and(|tables| filter_root_moves(tables, &position, &options, &mut root_moves));
        let game_ply = 2 * (position.fullmoves().max(1) - 1)
            + u32::from(position.turn() == crate::board::Color::Black);
        let budget = time::budget(&limits, &options, position.turn(), game_ply);
        self.table.age();
        let signals = &self.hub.signals;
        for counters in &signals.counters {
            counters.nodes.store(0, Relaxed);
            counters.tb_hits.store(0, Relaxed);
            counters.best_move_changes.store(0, Relaxed);
        }
        signals.pondering.store(limits.ponder, SeqCst);
        signals.stop.store(false, SeqCst);
        *self.hub.state.searching.lock() = true;
        let mut job = Job {
            position,
            limits,
            options,
            budget,
            start,
            root_moves,
            root_in_tb,
            table: self.table.clone(),
            syzygy: self.syzygy.clone(),
            reporter,
            previous_value: *self.hub.state.last_value.lock(),
            mind: None,
            not_before: None,
        };
        let level = job.options.level;
        if let Some(level) = level {
            self.limit_to(level, &mut job);
        }
        let job = Arc::new(job);
        let searching = if level.is_some() {
            1
        } else {
            self.threads.len()
        };
        for thread in &mut self.threads[..searching] {
            thread.tell(Task::Search(job.clone()));
        }
    }

    /// Restricts `job` to `level`. If memory for a table is missing, the level searches with a minimal one.
    fn limit_to(&mut self, level: Level, job: &mut Job) {
        let table = self.level_table.get_or_insert_with(|| {
            Arc::new(
                TranspositionTable::new(LEVEL_TABLE_MB)
                    .unwrap_or_else(|_| TranspositionTable::placeholder()),
            )
        });
        table.clear_part(0, 1);
        handicap::apply(job, level, table.clone());
    }

    /// Starts a search and waits for its outcome.
    pub fn search(
        &mut self,
        position: Position,
        limits: Limits,
        options: SearchOptions,
        reporter: Arc<dyn Reporter>,
    ) -> Outcome {
        let keeper = Arc::new(Keeper {
            inner: reporter,
            outcome: Mutex::new(None),
        });
        self.go(position, limits, options, keeper.clone());
        self.wait();
        let outcome = keeper.outcome.lock().take();
        outcome.expect("every search reports an outcome before the pool is idle")
    }

    /// A handle that another thread may use at any time: it never blocks.
    pub fn controller(&self) -> Controller {
        Controller {
            hub: self.hub.clone(),
        }
    }

    /// Waits until no search runs.
    pub fn wait(&self) {
        let mut searching = self.hub.state.searching.lock();
        while *searching {
            self.hub.state.changed.wait(&mut searching);
        }
    }

    /// Ends all threads and starts as many new ones; waits for the search to end first.
    pub fn set_threads(&mut self, threads: usize) {
        self.wait();
        self.stop_threads();
        (self.hub, self.threads) = spawn(threads.max(1), &self.network);
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Replaces the transposition table by an empty one; waits for the search to end first. Returns the size in
    /// MiB that was obtained, which is smaller than asked when memory is short.
    ///
    /// # Errors
    /// When the system refuses even 1 MiB; the search goes on with next to no table.
    pub fn set_hash(&mut self, mb: usize) -> Result<usize, NoMemory> {
        self.wait();
        // The old table goes first: both together may not fit.
        self.table = Arc::new(TranspositionTable::placeholder());
        self.table = Arc::new(TranspositionTable::new(mb)?);
        Ok(self.table.megabytes())
    }

    /// Size of the transposition table in MiB.
    pub fn hash(&self) -> usize {
        self.table.megabytes()
    }

    /// Writes the transposition table to a file, whole or not at all; waits for the search to end first.
    ///
    /// # Errors
    /// When the disk refuses, or `path` is no regular file; the error names it.
    pub fn save_hash(&self, path: &Path) -> Result<SavedTable> {
        self.wait();
        tt_file::save(&self.table, &self.network.info().sha256, path)
    }

    /// Fills the transposition table, of whatever size it is, from a file of [`Self::save_hash`] that was written with
    /// the network in use; waits for the search to end first.
    ///
    /// # Errors
    /// When the file is of another network or version, or damaged: the table is as it was. The error says which.
    pub fn load_hash(&mut self, path: &Path) -> Result<SavedTable> {
        self.wait();
        tt_file::load(&self.table, &self.network.info().sha256, path)
    }

    /// Clears the transposition table and all histories (`ucinewgame`, `Clear Hash`) in parallel; waits for the search
    /// to end first.
    pub fn clear(&mut self) {
        self.wait();
        let (done, cleared) = unbounded();
        let parts = self.threads.len();
        for thread in &mut self.threads {
            thread.tell(Task::Clear {
                table: self.table.clone(),
                parts,
                done: done.clone(),
            });
        }
        drop(done);
        while cleared.recv().is_ok() {}
        *self.hub.state.last_value.lock() = None;
    }

    /// Uses another network from the next search on; waits for the search to end first. The table is cleared,
    /// because its evaluations are the old network's.
    pub fn set_network(&mut self, network: Arc<Network>) {
        self.wait();
        self.network = network.clone();
        for thread in &mut self.threads {
            thread.tell(Task::UseNetwork(network.clone()));
        }
        self.clear();
    }

    /// The network in use.
    pub fn network(&self) -> Arc<Network> {
        self.network.clone()
    }

    /// Opens tablebases in a list of directories, with the platform's path separator; an empty list closes them.
    /// Returns a summary. After an error the tables in use stay open.
    pub fn set_syzygy_path(&mut self, path: &str) -> Result<LoadedTables> {
        self.wait();
        if path.is_empty() {
            self.syzygy = None;
            return Ok(LoadedTables::default());
        }
        let (tables, loaded) = Syzygy::open(path)?;
        self.syzygy = Some(Arc::new(tables));
        Ok(loaded)
    }

    fn stop_threads(&mut self) {
        self.hub.signals.stop.store(true, SeqCst);
        self.hub.notify();
        for thread in &mut self.threads {
            let (closed, _) = unbounded();
            thread.tasks = closed;
        }
        for thread in &mut self.threads {
            if let Some(handle) = thread.handle.take() {
                let _ = handle.join();
            }
        }
        self.threads.clear();
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.stop_threads();
    }
}

/// Controls a running search from any thread; cheap to clone; never blocks for long.
#[derive(Clone)]
pub struct Controller {
    hub: Arc<Hub>,
}

impl Controller {
    /// Ends the search as soon as possible; `done` follows. Ignored while idle.
    pub fn stop(&self) {
        self.hub.signals.stop.store(true, SeqCst);
        self.hub.notify();
    }

    /// The opponent played the expected move: the search becomes an ordinary one. Ignored unless pondering.
    pub fn ponderhit(&self) {
        self.hub.signals.pondering.store(false, SeqCst);
        self.hub.notify();
    }

    /// Whether a search runs (until `done` has returned).
    pub fn is_searching(&self) -> bool {
        *self.hub.state.searching.lock()
    }

    /// Nodes of the search in progress, or of the last one.
    pub fn nodes(&self) -> u64 {
        self.hub.signals.nodes()
    }
}

/// Forwards all reports and keeps the outcome.
struct Keeper {
    inner: Arc<dyn Reporter>,
    outcome: Mutex<Option<Outcome>>,
}

impl Reporter for Keeper {
    fn line(&self, line: &Line, progress: &super::report::Progress) {
        self.inner.line(line, progress);
    }
    fn current_move(&self, depth: i32, m: Move, number: usize) {
        self.inner.current_move(depth, m, number);
    }
    fn message(&self, text: &str) {
        self.inner.message(text);
    }
    fn done(&self, outcome: &Outcome) {
        self.inner.done(outcome);
        *self.outcome.lock() = Some(outcome.clone());
    }
}
