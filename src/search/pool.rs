//! The threads: actors that own their [`Worker`], and the pool that drives them.
//!
//! Every thread waits on a channel for tasks. A search goes to all of them at once; worker 0 also concludes it: it
//! waits for `stop` or `ponderhit` where the limits say so, stops the others, lets them vote, and reports the
//! outcome exactly once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::thread::JoinHandle;
use std::time::Instant;

use anyhow::Result;
use crossbeam::channel::{Receiver, Sender, unbounded};
use parking_lot::{Condvar, Mutex};

use super::conclude::{Findings, fallback, outcome};
use super::job::Job;
use super::limits::Limits;
use super::options::SearchOptions;
use super::report::{Line, Outcome, Reporter};
use super::root_filter::{filter_root_moves, root_moves};
use super::score::{INFINITE, Value};
use super::signals::Signals;
use super::syzygy::{LoadedTables, Syzygy};
use super::time;
use super::tt::{NoMemory, Table};
use super::worker::{STACK_BYTES, Worker};
use crate::board::{Move, Position};
use crate::nnue::Network;
use crate::util::threads;

/// What a thread is told.
enum Task {
    Search(Arc<Job>),
    Clear {
        table: Arc<Table>,
        parts: usize,
        done: Sender<()>,
    },
    UseNetwork(Arc<Network>),
}

/// Whether a search runs, and a way to wait for changes.
struct Activity {
    searching: Mutex<bool>,
    changed: Condvar,
    /// Root value of the last search, for the clock.
    last_value: Mutex<Option<Value>>,
}

/// What the pool, its threads and its controllers share.
struct Hub {
    signals: Arc<Signals>,
    state: Activity,
}

impl Hub {
    fn notify(&self) {
        let _guard = self.state.searching.lock();
        self.state.changed.notify_all();
    }

    /// Blocks until the search may end: `stop`, or no reason to hold the move back.
    fn hold(&self, infinite: bool) {
        let mut guard = self.state.searching.lock();
        let held = || infinite || self.signals.pondering.load(SeqCst);
        while !self.signals.stop.load(SeqCst) && held() {
            self.state.changed.wait(&mut guard);
        }
    }
}

struct Thread {
    tasks: Sender<Task>,
    handle: Option<JoinHandle<()>>,
    /// Where there are no threads, the caller is one.
    caller: Option<(Box<Actor>, Receiver<Task>)>,
}

impl Thread {
    /// Gives the thread a task. It lives as long as the pool: its receiver is there.
    fn tell(&mut self, task: Task) {
        let _ = self.tasks.send(task);
        if let Some((actor, inbox)) = &mut self.caller {
            inbox.try_iter().for_each(|task| actor.perform(task));
        }
    }
}

/// The search threads and what they share. Methods return at once unless they say otherwise, or the system has no
/// threads: then the caller does the work.
pub struct ThreadPool {
    hub: Arc<Hub>,
    threads: Vec<Thread>,
    table: Arc<Table>,
    network: Arc<Network>,
    syzygy: Option<Arc<Syzygy>>,
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
            table: Arc::new(Table::new(hash_mb).unwrap_or_else(|error| panic!("{error}"))),
            network,
            syzygy: None,
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
        let job = Arc::new(Job {
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
        });
        for thread in &mut self.threads {
            thread.tell(Task::Search(job.clone()));
        }
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
        self.table = Arc::new(Table::placeholder());
        self.table = Arc::new(Table::new(mb)?);
        Ok(self.table.megabytes())
    }

    /// Size of the transposition table in MiB.
    pub fn hash(&self) -> usize {
        self.table.megabytes()
    }

    /// Forgets the transposition table and all histories (`ucinewgame`, `Clear Hash`), in parallel; waits for the
    /// search to end first.
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

    /// Opens tablebases under a list of directories, separated as the platform separates paths; an empty list
    /// closes them. Says what was found; on an error the tables in use stay.
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

/// Passes everything on, and keeps the outcome.
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

/// Starts the threads of a pool: `count`, or as many as the system grants, at least one. Where there are none, the
/// caller is the only one.
///
/// # Panics
/// When the system refuses even the first thread.
fn spawn(count: usize, network: &Arc<Network>) -> (Arc<Hub>, Vec<Thread>) {
    let count = if threads::EXIST { count } else { 1 };
    let hub = Arc::new(Hub {
        signals: Arc::new(Signals::new(count)),
        state: Activity {
            searching: Mutex::new(false),
            changed: Condvar::new(),
            last_value: Mutex::new(None),
        },
    });
    let mut threads = Vec::with_capacity(count);
    let (findings, heard) = unbounded();
    for id in 0..count {
        let (tasks, inbox) = unbounded();
        let actor = Actor {
            id,
            hub: hub.clone(),
            network: network.clone(),
            worker: None,
            findings: findings.clone(),
            heard: heard.clone(),
        };
        if !threads::EXIST {
            threads.push(Thread {
                tasks,
                handle: None,
                caller: Some((Box::new(actor), inbox)),
            });
            break;
        }
        let started = std::thread::Builder::new()
            .name(format!("search {id}"))
            .stack_size(STACK_BYTES)
            .spawn(move || actor.run(&inbox));
        match started {
            Ok(handle) => threads.push(Thread {
                tasks,
                handle: Some(handle),
                caller: None,
            }),
            Err(error) if id == 0 => panic!("the system refuses a thread: {error}"),
            // Too many: what there is ends with its channel, and fewer are started.
            Err(_) => {
                drop(threads);
                return spawn(id.div_ceil(2), network);
            }
        }
    }
    (hub, threads)
}

/// What a search thread owns.
struct Actor {
    id: usize,
    hub: Arc<Hub>,
    network: Arc<Network>,
    /// `None` after a failure: the next search makes a new one.
    worker: Option<Box<Worker>>,
    findings: Sender<Option<Findings>>,
    heard: Receiver<Option<Findings>>,
}

impl Actor {
    fn run(mut self, inbox: &Receiver<Task>) {
        // Before the first task, so that no search has to wait for it.
        self.worker = Some(self.new_worker());
        for task in inbox {
            self.perform(task);
        }
    }

    fn perform(&mut self, task: Task) {
        match task {
            Task::Search(job) => self.search(job),
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

    fn search(&mut self, job: Arc<Job>) {
        let found = catch_unwind(AssertUnwindSafe(|| self.find(&job)));
        let found = found.unwrap_or_else(|_| {
            // The worker's state is in doubt: a new one is made next time. The game goes on.
            self.worker = None;
            self.hub.signals.stop.store(true, SeqCst);
            job.reporter
                .message("ERROR: a search thread failed; this is a bug, please report it");
            None
        });
        if self.id == 0 {
            self.conclude(&job, found);
        } else {
            drop(job);
            let _ = self.findings.send(found);
        }
    }

    fn find(&mut self, job: &Arc<Job>) -> Option<Findings> {
        let mut worker = self.worker.take().unwrap_or_else(|| self.new_worker());
        worker.begin(job.clone());
        if !worker.root_moves.is_empty() {
            worker.iterate();
        }
        let found = Findings {
            depth: worker.completed_depth,
            roots: std::mem::take(&mut worker.root_moves),
        };
        worker.rest();
        self.worker = Some(worker);
        Some(found)
    }

    fn new_worker(&self) -> Box<Worker> {
        Box::new(Worker::new(
            self.id,
            self.hub.signals.clone(),
            self.network.clone(),
        ))
    }

    /// Worker 0 ends the search for all.
    fn conclude(&mut self, job: &Arc<Job>, own: Option<Findings>) {
        let limits = &job.limits;
        self.hub.hold(limits.infinite);
        self.hub.signals.stop.store(true, SeqCst);
        let others = self.hub.signals.counters.len() - 1;
        let mut all: Vec<Findings> = own.into_iter().collect();
        for _ in 0..others {
            if let Ok(Some(found)) = self.heard.recv() {
                all.push(found);
            }
        }
        all.retain(|found| !found.roots.is_empty());
        let outcome = catch_unwind(AssertUnwindSafe(|| outcome(job, &self.hub.signals, &all)))
            .unwrap_or_else(|_| fallback(job));
        if let Some(best) = all.first().and_then(|found| found.roots.first()) {
            let value = best.known_value();
            *self.hub.state.last_value.lock() = (value > -INFINITE).then_some(value);
        }
        drop(all);
        let told = catch_unwind(AssertUnwindSafe(|| job.reporter.done(&outcome)));
        let mut searching = self.hub.state.searching.lock();
        *searching = false;
        self.hub.state.changed.notify_all();
        drop(searching);
        if told.is_err() {
            eprintln!("a reporter failed while it was told the best move");
        }
    }
}
