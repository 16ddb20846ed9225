//! The search threads: the pool that starts and controls them, the threads, and their vote on the best move.

use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::thread::JoinHandle;
use std::time::Instant;

use anyhow::Result;
use crossbeam::channel::{Receiver, Sender, unbounded};

use super::history::SharedHistories;
use super::limits::{Limits, SearchOptions};
use super::request::{self, RootMove, SearchRequest, Signals};
use super::score::{self, INFINITE, Line, LoadedTables, Outcome, Progress, Reporter, Score, ScoreBound, Value};
use super::syzygy::Syzygy;
use super::tt::{self, NoMemory, TranspositionTable};
use super::tt_file::{self, SavedTable};
use super::worker::{STACK_BYTES, WORKER_BYTES, Worker};
use super::{params, root};
use crate::board::{Move, Position};
use crate::level::Level;
use crate::nnue::Network;
use crate::util::memory;
use crate::util::sync::{self, Condvar, Mutex};

/// Size in MiB of the levels' transposition table, which is cleared before each move.
const LEVEL_TABLE_MB: usize = 1;

/// The search threads and their shared state. Methods do not block unless stated otherwise. On a system without
/// threads the search runs on the caller's thread.
pub struct ThreadPool {
    shared: Arc<SharedState>,
    threads: Vec<ThreadHandle>,
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
        let (shared, threads) = spawn(threads.max(1), &network);
        Self {
            shared,
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
        let limits = if sync::can_stop() { limits } else { limits.without_stop() };
        let mut request = SearchRequest::new(position, limits, options, self.table.clone(), reporter);
        request.previous_value = *self.shared.activity.last_value.lock();
        request.set_budget();
        let level = request.options.level;
        if let Some(tables) = self.syzygy.as_ref().filter(|_| level.is_none()) {
            request.use_tablebases(tables.clone());
        }
        self.table.age();
        self.shared.signals.begin(request.limits.ponder);
        *self.shared.activity.searching.lock() = true;
        if let Some(level) = level {
            self.limit_to(level, &mut request);
        }
        let request = Arc::new(request);
        let searching = if level.is_some() { 1 } else { self.threads.len() };
        for thread in &mut self.threads[..searching] {
            thread.send(Task::Search(request.clone()));
        }
    }

    /// Restricts `request` to `level`. If there is no memory for a table, the level searches with a minimal one.
    fn limit_to(&mut self, level: Level, request: &mut SearchRequest) {
        let table = self.level_table.get_or_insert_with(|| {
            Arc::new(TranspositionTable::new(LEVEL_TABLE_MB).unwrap_or_else(|_| TranspositionTable::placeholder()))
        });
        table.clear_part(0, 1);
        request::limit_to_level(request, level, table.clone());
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
        Controller { shared: self.shared.clone() }
    }

    /// Waits until no search is running.
    pub fn wait(&self) {
        let mut searching = self.shared.activity.searching.lock();
        while *searching {
            searching = self.shared.activity.changed.wait(searching);
        }
    }

    /// Ends all threads and starts `threads` new ones, after waiting for the search to end.
    pub fn set_threads(&mut self, threads: usize) {
        self.wait();
        self.stop_threads();
        (self.shared, self.threads) = spawn(threads.max(1), &self.network);
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
        *self.shared.activity.last_value.lock() = None;
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
        self.shared.signals.stop.store(true, SeqCst);
        self.shared.notify();
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

/// Handle that controls a running search from any thread. Cheap to clone; its methods return almost at once.
#[derive(Clone)]
pub struct Controller {
    shared: Arc<SharedState>,
}

impl Controller {
    /// Ends the search as soon as possible; `done` is then called. Ignored while no search is running.
    pub fn stop(&self) {
        self.shared.signals.stop.store(true, SeqCst);
        self.shared.notify();
    }

    /// Turns a ponder search into an ordinary one, after the opponent played the expected move. Ignored unless
    /// pondering.
    pub fn ponderhit(&self) {
        self.shared.signals.pondering.store(false, SeqCst);
        self.shared.notify();
    }

    /// Whether a search is running (until `done` has returned).
    pub fn is_searching(&self) -> bool {
        *self.shared.activity.searching.lock()
    }

    /// Nodes of the running search, or of the last one.
    pub fn nodes(&self) -> u64 {
        self.shared.signals.nodes()
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

    fn line(&self, line: &Line, progress: &Progress) {
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

// Search threads.
//
// The search threads. Each owns its [`Worker`] and waits on a channel for tasks.
//
// All threads receive a search at once. Worker 0 also ends it. Where the limits require it, worker 0 waits for
// `stop`, `ponderhit` or the delay of a level. It then stops the other threads, counts their votes, and reports the
// outcome exactly once.

/// A message to a thread.
pub(super) enum Task {
    Search(Arc<SearchRequest>),
    Clear { table: Arc<TranspositionTable>, parts: usize, done: Sender<()> },
    UseNetwork(Arc<Network>),
}

/// Whether a search is running, and a condition variable for its changes.
pub(super) struct Activity {
    pub searching: Mutex<bool>,
    pub changed: Condvar,
    /// Root value of the last search, for the clock.
    pub last_value: Mutex<Option<Value>>,
}

/// State that the pool, its threads and its controllers share.
pub(super) struct SharedState {
    pub signals: Arc<Signals>,
    pub activity: Activity,
}

impl SharedState {
    pub fn notify(&self) {
        let _guard = self.activity.searching.lock();
        self.activity.changed.notify_all();
    }

    /// Blocks until the search may end: at `stop`, or once neither the limits nor `not_before` delay the move. Does
    /// nothing if `stop` cannot be received.
    fn hold(&self, infinite: bool, not_before: Option<Instant>) {
        if !sync::THREADS_EXIST {
            return self.hold_alone(infinite, not_before);
        }
        let mut guard = self.activity.searching.lock();
        let held = || infinite || self.signals.pondering.load(SeqCst);
        while !self.signals.stop.load(SeqCst) && held() {
            guard = self.activity.changed.wait(guard);
        }
        if let Some(deadline) = not_before {
            while !self.signals.stop.load(SeqCst) && Instant::now() < deadline {
                guard = self.activity.changed.wait_until(guard, deadline);
            }
        }
    }
}

impl SharedState {
    /// [`Self::hold`] on a system without threads, where this thread must read the input.
    fn hold_alone(&self, infinite: bool, not_before: Option<Instant>) {
        let waits = || not_before.is_some_and(|deadline| Instant::now() < deadline);
        let held = || infinite || self.signals.pondering.load(SeqCst) || waits();
        while sync::reaches_search() && !self.signals.stop.load(SeqCst) && held() {
            std::thread::sleep(sync::POLL_PERIOD);
            sync::poll();
        }
    }
}

pub(super) struct ThreadHandle {
    pub tasks: Sender<Task>,
    pub handle: Option<JoinHandle<()>>,
    /// SearchThread that runs on the caller's thread, on a system without threads.
    caller: Option<(Box<SearchThread>, Receiver<Task>)>,
}

impl ThreadHandle {
    /// Sends a task to the thread. The thread runs as long as the pool exists, so its receiver exists.
    pub fn send(&mut self, task: Task) {
        let _ = self.tasks.send(task);
        if let Some((thread, inbox)) = &mut self.caller {
            inbox.try_iter().for_each(|task| thread.perform(task));
        }
    }
}

/// `count`, or the number of threads that fit into memory if that is smaller; at least one.
fn affordable(count: usize) -> usize {
    // An eighth stays free for the rest of the program.
    let fits = |left: Option<usize>, each: usize| left.map_or(count, |left| left / 8 * 7 / each);
    if memory::address_space_left().is_some() {
        memory::share_one_arena();
    }
    let by_memory = fits(memory::available_bytes(), WORKER_BYTES);
    let by_space = fits(memory::address_space_left(), STACK_BYTES + WORKER_BYTES);
    count.min(by_memory).min(by_space).max(1)
}

/// Starts the threads of a pool. Their number is `count`, or less if memory or the system allows fewer, but at least
/// one. On a system without threads, the only thread runs on the caller's thread.
///
/// # Panics
/// If the system cannot start the first thread.
pub(super) fn spawn(count: usize, network: &Arc<Network>) -> (Arc<SharedState>, Vec<ThreadHandle>) {
    let count = if sync::THREADS_EXIST { affordable(count) } else { 1 };
    let shared = Arc::new(SharedState {
        signals: Arc::new(Signals::new(count)),
        activity: Activity { searching: Mutex::new(false), changed: Condvar::new(), last_value: Mutex::new(None) },
    });
    let histories = SharedHistories::new(count);
    let mut threads = Vec::with_capacity(count);
    let (results, received) = unbounded();
    let (ready, made) = unbounded();
    for id in 0..count {
        let (tasks, inbox) = unbounded();
        let thread = SearchThread {
            id,
            shared: shared.clone(),
            network: network.clone(),
            histories: histories.clone(),
            worker: None,
            results: results.clone(),
            received: received.clone(),
        };
        if !sync::THREADS_EXIST {
            threads.push(ThreadHandle { tasks, handle: None, caller: Some((Box::new(thread), inbox)) });
            break;
        }
        let started = std::thread::Builder::new().name(format!("search {id}")).stack_size(STACK_BYTES).spawn({
            let ready = ready.clone();
            move || thread.run(&inbox, ready)
        });
        match started {
            Ok(handle) => threads.push(ThreadHandle { tasks, handle: Some(handle), caller: None }),
            Err(error) if id == 0 => panic!("cannot start a search thread: {error}"),
            // Too many threads: end those that were started, and try with fewer.
            Err(_) => {
                drop(threads);
                return spawn(id.div_ceil(2), network);
            }
        }
    }
    // Later allocations, such as the table, must not take the memory that the threads need to start.
    drop(ready);
    let _ = made.recv();
    (shared, threads)
}

/// State of a search thread.
struct SearchThread {
    id: usize,
    shared: Arc<SharedState>,
    network: Arc<Network>,
    histories: SharedHistories,
    /// `None` after a panic; the next search creates a new worker.
    worker: Option<Box<Worker>>,
    results: Sender<Option<ThreadResult>>,
    received: Receiver<Option<ThreadResult>>,
}

impl SearchThread {
    /// Performs tasks until the channel closes. Drops `ready` once the worker exists.
    fn run(mut self, inbox: &Receiver<Task>, ready: Sender<Infallible>) {
        // Done before the first task, so that no search waits for it.
        self.worker = Some(self.new_worker());
        drop(ready);
        for task in inbox {
            self.perform(task);
        }
    }

    fn perform(&mut self, task: Task) {
        match task {
            Task::Search(request) => self.search(request),
            Task::Clear { table, parts, done } => {
                table.clear_part(self.id, parts);
                if let Some(worker) = &mut self.worker {
                    worker.clear();
                }
                drop(done);
            }
            Task::UseNetwork(network) => {
                if let Some(worker) = &mut self.worker {
                    worker.set_network(network.clone());
                }
                self.network = network;
            }
        }
    }

    fn search(&mut self, request: Arc<SearchRequest>) {
        let found = catch_unwind(AssertUnwindSafe(|| self.find(&request)));
        let found = found.unwrap_or_else(|_| {
            // The worker's state is unreliable after a panic: the next search creates a new one, and the game
            // continues.
            self.worker = None;
            self.shared.signals.stop.store(true, SeqCst);
            request.reporter.message("ERROR: a search thread failed; this is a bug, please report it");
            None
        });
        if self.id == 0 {
            self.finish(&request, found);
        } else {
            drop(request);
            let _ = self.results.send(found);
        }
    }

    fn find(&mut self, request: &Arc<SearchRequest>) -> Option<ThreadResult> {
        let mut worker = self.worker.take().unwrap_or_else(|| self.new_worker());
        if request.handicap.is_some() {
            // A level's move must not depend on earlier searches.
            worker.clear();
        }
        worker.begin(request.clone());
        if !worker.root_moves.is_empty() {
            worker.iterate();
        }
        let found = ThreadResult { depth: worker.completed_depth, roots: std::mem::take(&mut worker.root_moves) };
        worker.release_request();
        self.worker = Some(worker);
        Some(found)
    }

    fn new_worker(&self) -> Box<Worker> {
        let signals = self.shared.signals.clone();
        Box::new(Worker::new(self.id, signals, self.network.clone(), self.histories.clone()))
    }

    /// Ends the search for all threads. Only worker 0 calls it.
    fn finish(&mut self, request: &Arc<SearchRequest>, own: Option<ThreadResult>) {
        let limits = &request.limits;
        self.shared.hold(limits.infinite, request.not_before);
        self.shared.signals.stop.store(true, SeqCst);
        let others = match request.handicap {
            Some(_) => 0,
            None => self.shared.signals.counters.len() - 1,
        };
        let mut all: Vec<ThreadResult> = own.into_iter().collect();
        for _ in 0..others {
            if let Ok(Some(found)) = self.received.recv() {
                all.push(found);
            }
        }
        all.retain(|found| !found.roots.is_empty());
        let outcome = catch_unwind(AssertUnwindSafe(|| outcome(request, &self.shared.signals, &all)))
            .unwrap_or_else(|_| fallback(request));
        if let Some(best) = all.first().and_then(|found| found.roots.first()) {
            let value = best.known_value();
            *self.shared.activity.last_value.lock() = (value > -INFINITE).then_some(value);
        }
        drop(all);
        request.report_damaged_tables();
        let reported = catch_unwind(AssertUnwindSafe(|| request.reporter.done(&outcome)));
        let mut searching = self.shared.activity.searching.lock();
        *searching = false;
        self.shared.activity.changed.notify_all();
        drop(searching);
        if reported.is_err() {
            eprintln!("a reporter panicked while it reported the best move; this is a bug, please report it");
        }
    }
}

// The vote and the outcome.
//
// The end of a search: the thread vote, and the outcome.

/// Result of one thread.
pub struct ThreadResult {
    /// The last completed depth.
    pub depth: i32,
    /// The root moves, best first.
    pub roots: Vec<RootMove>,
}

/// The best thread's best move, with its final line.
pub fn outcome(request: &SearchRequest, signals: &Signals, all: &[ThreadResult]) -> Outcome {
    let progress = request.progress(signals);
    let Some(winner) = vote(all) else {
        return Outcome { line: no_move(request), progress, ..Outcome::without_search(None) };
    };
    let best = &winner.roots[0];
    let mut lines = root::final_lines(request, &winner.roots, winner.depth).into_iter();
    let line = lines.next();
    let expected = line.as_ref().and_then(|line| line.pv.get(1).copied());
    Outcome {
        best: Some(best.m),
        ponder: expected.or_else(|| expected_reply(request, best.m)),
        line,
        others: lines.collect(),
        progress,
    }
}

/// A legal move, if there is one, for the case that every thread failed.
pub(super) fn fallback(request: &SearchRequest) -> Outcome {
    Outcome::without_search(request.root_moves.first().map(|root| root.m))
}

/// The line of a position without legal moves: mated or stalemated. `None` if moves were only excluded.
fn no_move(request: &SearchRequest) -> Option<Line> {
    if !request.position.legal_moves().is_empty() {
        return None;
    }
    let mated = request.position.in_check();
    let score = if mated { Score::Mate(0) } else { Score::Centipawns(0) };
    let wdl = if mated { [0, 0, 1000] } else { [0, 1000, 0] };
    let line = Line { depth: 0, seldepth: 0, multipv: 1, score, bound: ScoreBound::Exact, wdl, pv: Vec::new() };
    Some(line)
}

/// The table's reply to `best`, for a principal variation that ends there.
fn expected_reply(request: &SearchRequest, best: Move) -> Option<Move> {
    let mut position = request.position.clone();
    position.do_move(best);
    let answer = request.table.probe(tt::key_of(&position))?.best?;
    (position.pseudo_legal(answer) && position.legal(answer)).then_some(answer)
}

/// The winner of the thread vote. Every thread votes for its best move, weighted by depth and value. Among proven
/// wins, the shortest is chosen.
// CITE: the vote of Stockfish's thread pool; weight and offset as in Stockfish 17.1.
fn vote(all: &[ThreadResult]) -> Option<&ThreadResult> {
    // A thread that reached a limit in its first iteration has almost no result to compare.
    let all: Vec<&ThreadResult> = match all.iter().filter(|found| found.depth > 0).collect::<Vec<_>>() {
        nobody if nobody.is_empty() => return all.first(),
        some => some,
    };
    let value = |found: &ThreadResult| found.roots[0].known_value();
    let min_value = all.iter().map(|found| value(found)).min()?;
    let weight = |found: &ThreadResult| {
        i64::from(value(found) - min_value + params::vote_offset()) * i64::from(found.depth.max(1))
    };
    let votes = |found: &ThreadResult| -> i64 {
        let m = found.roots[0].m;
        all.iter().filter(|other| other.roots[0].m == m).map(|other| weight(other)).sum()
    };
    let mut best = all[0];
    for &found in &all[1..] {
        let better = if score::is_win(value(best)) {
            value(found) > value(best)
        } else {
            score::is_win(value(found)) || (votes(found), weight(found)) > (votes(best), weight(best))
        };
        if better {
            best = found;
        }
    }
    Some(best)
}

#[cfg(test)]
mod tests;
