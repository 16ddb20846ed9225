//! The threads as actors: each owns its [`Worker`] and waits on a channel for tasks.
//!
//! All threads receive a search at once. Worker 0 also ends it. Where the limits require it, worker 0 waits for
//! `stop`, `ponderhit` or the delay of a level. It then stops the other threads, counts their votes, and reports the
//! outcome exactly once.

use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::thread::JoinHandle;
use std::time::Instant;

use crossbeam::channel::{Receiver, Sender, unbounded};

use super::job::{Job, Signals};
use super::vote::{Findings, fallback, outcome};
use super::worker::{STACK_BYTES, WORKER_BYTES, Worker};
use crate::nnue::Network;
use crate::search::score::{INFINITE, Value};
use crate::search::tables::tt::TranspositionTable;
use crate::util::sync::{Condvar, Mutex};
use crate::util::{memory, polling, threads};

/// A message to a thread.
pub(super) enum Task {
    Search(Arc<Job>),
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
pub(super) struct Hub {
    pub signals: Arc<Signals>,
    pub state: Activity,
}

impl Hub {
    pub fn notify(&self) {
        let _guard = self.state.searching.lock();
        self.state.changed.notify_all();
    }

    /// Blocks until the search may end: at `stop`, or once neither the limits nor `not_before` delay the move. Does
    /// nothing if `stop` cannot be received.
    fn hold(&self, infinite: bool, not_before: Option<Instant>) {
        if !threads::EXIST {
            return self.hold_alone(infinite, not_before);
        }
        let mut guard = self.state.searching.lock();
        let held = || infinite || self.signals.pondering.load(SeqCst);
        while !self.signals.stop.load(SeqCst) && held() {
            guard = self.state.changed.wait(guard);
        }
        if let Some(deadline) = not_before {
            while !self.signals.stop.load(SeqCst) && Instant::now() < deadline {
                guard = self.state.changed.wait_until(guard, deadline);
            }
        }
    }
}

impl Hub {
    /// [`Self::hold`] on a system without threads, where this thread must read the input.
    fn hold_alone(&self, infinite: bool, not_before: Option<Instant>) {
        let waits = || not_before.is_some_and(|deadline| Instant::now() < deadline);
        let held = || infinite || self.signals.pondering.load(SeqCst) || waits();
        while polling::reaches_search() && !self.signals.stop.load(SeqCst) && held() {
            std::thread::sleep(polling::PERIOD);
            polling::poll();
        }
    }
}

pub(super) struct Thread {
    pub tasks: Sender<Task>,
    pub handle: Option<JoinHandle<()>>,
    /// Actor that runs on the caller's thread, on a system without threads.
    caller: Option<(Box<Actor>, Receiver<Task>)>,
}

impl Thread {
    /// Sends a task to the thread. The thread runs as long as the pool exists, so its receiver exists.
    pub fn send(&mut self, task: Task) {
        let _ = self.tasks.send(task);
        if let Some((actor, inbox)) = &mut self.caller {
            inbox.try_iter().for_each(|task| actor.perform(task));
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
/// one. On a system without threads, the only actor runs on the caller's thread.
///
/// # Panics
/// If the system cannot start the first thread.
pub(super) fn spawn(count: usize, network: &Arc<Network>) -> (Arc<Hub>, Vec<Thread>) {
    let count = if threads::EXIST { affordable(count) } else { 1 };
    let hub = Arc::new(Hub {
        signals: Arc::new(Signals::new(count)),
        state: Activity { searching: Mutex::new(false), changed: Condvar::new(), last_value: Mutex::new(None) },
    });
    let mut threads = Vec::with_capacity(count);
    let (findings, received) = unbounded();
    let (ready, made) = unbounded();
    for id in 0..count {
        let (tasks, inbox) = unbounded();
        let actor = Actor {
            id,
            hub: hub.clone(),
            network: network.clone(),
            worker: None,
            findings: findings.clone(),
            received: received.clone(),
        };
        if !threads::EXIST {
            threads.push(Thread { tasks, handle: None, caller: Some((Box::new(actor), inbox)) });
            break;
        }
        let started = std::thread::Builder::new().name(format!("search {id}")).stack_size(STACK_BYTES).spawn({
            let ready = ready.clone();
            move || actor.run(&inbox, ready)
        });
        match started {
            Ok(handle) => threads.push(Thread { tasks, handle: Some(handle), caller: None }),
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
    (hub, threads)
}

/// State of a search thread.
struct Actor {
    id: usize,
    hub: Arc<Hub>,
    network: Arc<Network>,
    /// `None` after a panic; the next search creates a new worker.
    worker: Option<Box<Worker>>,
    findings: Sender<Option<Findings>>,
    received: Receiver<Option<Findings>>,
}

impl Actor {
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
            // The worker's state is unreliable after a panic: the next search creates a new one, and the game
            // continues.
            self.worker = None;
            self.hub.signals.stop.store(true, SeqCst);
            job.reporter.message("ERROR: a search thread failed; this is a bug, please report it");
            None
        });
        if self.id == 0 {
            self.finish(&job, found);
        } else {
            drop(job);
            let _ = self.findings.send(found);
        }
    }

    fn find(&mut self, job: &Arc<Job>) -> Option<Findings> {
        let mut worker = self.worker.take().unwrap_or_else(|| self.new_worker());
        if job.handicap.is_some() {
            // A level's move must not depend on earlier searches.
            worker.clear();
        }
        worker.begin(job.clone());
        if !worker.root_moves.is_empty() {
            worker.iterate();
        }
        let found = Findings { depth: worker.completed_depth, roots: std::mem::take(&mut worker.root_moves) };
        worker.rest();
        self.worker = Some(worker);
        Some(found)
    }

    fn new_worker(&self) -> Box<Worker> {
        Box::new(Worker::new(self.id, self.hub.signals.clone(), self.network.clone()))
    }

    /// Ends the search for all threads. Only worker 0 calls it.
    fn finish(&mut self, job: &Arc<Job>, own: Option<Findings>) {
        let limits = &job.limits;
        self.hub.hold(limits.infinite, job.not_before);
        self.hub.signals.stop.store(true, SeqCst);
        let others = match job.handicap {
            Some(_) => 0,
            None => self.hub.signals.counters.len() - 1,
        };
        let mut all: Vec<Findings> = own.into_iter().collect();
        for _ in 0..others {
            if let Ok(Some(found)) = self.received.recv() {
                all.push(found);
            }
        }
        all.retain(|found| !found.roots.is_empty());
        let outcome =
            catch_unwind(AssertUnwindSafe(|| outcome(job, &self.hub.signals, &all))).unwrap_or_else(|_| fallback(job));
        if let Some(best) = all.first().and_then(|found| found.roots.first()) {
            let value = best.known_value();
            *self.hub.state.last_value.lock() = (value > -INFINITE).then_some(value);
        }
        drop(all);
        job.report_damaged_tables();
        let reported = catch_unwind(AssertUnwindSafe(|| job.reporter.done(&outcome)));
        let mut searching = self.hub.state.searching.lock();
        *searching = false;
        self.hub.state.changed.notify_all();
        drop(searching);
        if reported.is_err() {
            eprintln!("a reporter panicked while it reported the best move; this is a bug, please report it");
        }
    }
}
