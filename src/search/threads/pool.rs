//! The thread pool: starts and controls the search threads, and owns their shared state.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use anyhow::Result;
use crossbeam::channel::unbounded;

use super::actor::{Hub, Task, Thread, spawn};
use super::job::Job;
use crate::board::{Color, Move, Position};
use crate::level::Level;
use crate::nnue::Network;
use crate::search::limits::Limits;
use crate::search::options::SearchOptions;
use crate::search::report::{Line, Outcome, Reporter};
use crate::search::root::handicap;
use crate::search::root::time;
use crate::search::tables::syzygy::{LoadedTables, Syzygy};
use crate::search::tables::tt::{NoMemory, TranspositionTable};
use crate::search::tables::tt_file::{self, SavedTable};
use crate::util::polling;
use crate::util::sync::Mutex;

/// Size in MiB of the levels' transposition table, which is cleared before each move.
const LEVEL_TABLE_MB: usize = 1;

/// The search threads and their shared state. Methods do not block unless stated otherwise. On a system without
/// threads the search runs on the caller's thread.
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
    /// Starts `threads` threads and allocates a transposition table of `hash_mb` MiB, or the largest that fits.
    ///
    /// # Panics
    /// If the system cannot start the first thread or allocate a table of 1 MiB.
    pub fn new(network: Arc<Network>, threads: usize, hash_mb: usize) -> Self {
        let (hub, threads) = spawn(threads.max(1), &network);
        Self {
            hub,
            threads,
            table: Arc::new(TranspositionTable::new(hash_mb).unwrap_or_else(|error| panic!("{error}"))),
            network,
            syzygy: None,
            level_table: None,
        }
    }

    /// Starts a search, after waiting for a running one to end. Calls `reporter.done` exactly once.
    pub fn go(&mut self, position: Position, limits: Limits, options: SearchOptions, reporter: Arc<dyn Reporter>) {
        self.wait();
        let limits = if polling::can_stop() { limits } else { limits.without_stop() };
        let mut job = Job::new(position, limits, options, self.table.clone(), reporter);
        job.previous_value = *self.hub.state.last_value.lock();
        job.budget = time::budget(&job.limits, &job.options, job.position.turn(), game_ply(&job.position));
        let level = job.options.level;
        if let Some(tables) = self.syzygy.as_ref().filter(|_| level.is_none()) {
            job.use_tablebases(tables.clone());
        }
        self.table.age();
        self.hub.signals.begin(job.limits.ponder);
        *self.hub.state.searching.lock() = true;
        if let Some(level) = level {
            self.limit_to(level, &mut job);
        }
        let job = Arc::new(job);
        let searching = if level.is_some() { 1 } else { self.threads.len() };
        for thread in &mut self.threads[..searching] {
            thread.send(Task::Search(job.clone()));
        }
    }

    /// Restricts `job` to `level`. If there is no memory for a table, the level searches with a minimal one.
    fn limit_to(&mut self, level: Level, job: &mut Job) {
        let table = self.level_table.get_or_insert_with(|| {
            Arc::new(TranspositionTable::new(LEVEL_TABLE_MB).unwrap_or_else(|_| TranspositionTable::placeholder()))
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
        let recorder = Arc::new(OutcomeRecorder { inner: reporter, outcome: Mutex::new(None) });
        self.go(position, limits, options, recorder.clone());
        self.wait();
        let outcome = recorder.outcome.lock().take();
        outcome.expect("every search reports an outcome before the pool is idle")
    }

    /// A handle that another thread may use at any time. Its methods do not block.
    pub fn controller(&self) -> Controller {
        Controller { hub: self.hub.clone() }
    }

    /// Waits until no search is running.
    pub fn wait(&self) {
        let mut searching = self.hub.state.searching.lock();
        while *searching {
            searching = self.hub.state.changed.wait(searching);
        }
    }

    /// Ends all threads and starts `threads` new ones, after waiting for the search to end.
    pub fn set_threads(&mut self, threads: usize) {
        self.wait();
        self.stop_threads();
        (self.hub, self.threads) = spawn(threads.max(1), &self.network);
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Replaces the transposition table by an empty one, after waiting for the search to end. Returns its size in MiB,
    /// which is smaller than `mb` if memory is short.
    ///
    /// # Errors
    /// Fails if the system cannot allocate even 1 MiB; the search continues with a minimal table.
    pub fn set_hash(&mut self, mb: usize) -> Result<usize, NoMemory> {
        self.wait();
        // The old table is freed first: both together may not fit into memory.
        self.table = Arc::new(TranspositionTable::placeholder());
        self.table = Arc::new(TranspositionTable::new(mb)?);
        Ok(self.table.megabytes())
    }

    /// Size of the transposition table in MiB.
    pub fn hash(&self) -> usize {
        self.table.megabytes()
    }

    /// Writes the transposition table to a file, whole or not at all, after waiting for the search to end.
    ///
    /// # Errors
    /// Fails on an I/O error, or if `path` is not a regular file; the error names the file.
    pub fn save_hash(&self, path: &Path) -> Result<SavedTable> {
        self.wait();
        tt_file::save(&self.table, &self.network.info().sha256, path)
    }

    /// Fills the transposition table from a file of [`Self::save_hash`], after waiting for the search to end. The file
    /// must belong to the network in use; the sizes of the tables may differ.
    ///
    /// # Errors
    /// Fails if the file belongs to another network or version, or is damaged; the table stays unchanged. The error
    /// names the reason.
    pub fn load_hash(&mut self, path: &Path) -> Result<SavedTable> {
        self.wait();
        tt_file::load(&self.table, &self.network.info().sha256, path)
    }

    /// Clears the transposition table and all histories in parallel (`ucinewgame`, `Clear Hash`), after waiting for
    /// the search to end.
    pub fn clear(&mut self) {
        self.wait();
        let (done, cleared) = unbounded();
        let parts = self.threads.len();
        for thread in &mut self.threads {
            thread.send(Task::Clear { table: self.table.clone(), parts, done: done.clone() });
        }
        drop(done);
        while cleared.recv().is_ok() {}
        *self.hub.state.last_value.lock() = None;
    }

    /// Uses another network from the next search on, after waiting for a running one to end. Clears the table,
    /// because the old network computed its evaluations.
    pub fn set_network(&mut self, network: Arc<Network>) {
        self.wait();
        self.network = network.clone();
        for thread in &mut self.threads {
            thread.send(Task::UseNetwork(network.clone()));
        }
        self.clear();
    }

    /// The network in use.
    pub fn network(&self) -> Arc<Network> {
        self.network.clone()
    }

    /// Opens tablebases in a list of directories, separated by the platform's path separator; an empty list closes
    /// them. Returns a summary. After an error the tables in use stay open.
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

/// Plies since the start of the game, by the move number.
fn game_ply(position: &Position) -> u32 {
    2 * (position.fullmoves().max(1) - 1) + u32::from(position.turn() == Color::Black)
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.stop_threads();
    }
}

/// Handle that controls a running search from any thread. Cheap to clone; its methods return almost at once.
#[derive(Clone)]
pub struct Controller {
    hub: Arc<Hub>,
}

impl Controller {
    /// Ends the search as soon as possible; `done` is then called. Ignored while no search is running.
    pub fn stop(&self) {
        self.hub.signals.stop.store(true, SeqCst);
        self.hub.notify();
    }

    /// Turns a ponder search into an ordinary one, after the opponent played the expected move. Ignored unless
    /// pondering.
    pub fn ponderhit(&self) {
        self.hub.signals.pondering.store(false, SeqCst);
        self.hub.notify();
    }

    /// Whether a search is running (until `done` has returned).
    pub fn is_searching(&self) -> bool {
        *self.hub.state.searching.lock()
    }

    /// Nodes of the running search, or of the last one.
    pub fn nodes(&self) -> u64 {
        self.hub.signals.nodes()
    }
}

/// Reporter that forwards all reports and stores the outcome.
struct OutcomeRecorder {
    inner: Arc<dyn Reporter>,
    outcome: Mutex<Option<Outcome>>,
}

impl Reporter for OutcomeRecorder {
    fn wants_lines(&self) -> bool {
        self.inner.wants_lines()
    }

    fn line(&self, line: &Line, progress: &crate::search::report::Progress) {
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
