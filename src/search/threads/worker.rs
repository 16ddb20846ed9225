//! A worker: one thread's position, accumulators, statistics and path, and the only functions that make and undo
//! moves.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::job::{Job, Signals};
use super::solo::Sampler;
use crate::board::{CheckInfo, Move, Position};
use crate::nnue::{AccumulatorStack, Network};
use crate::search::ordering::correction::{Corrections, Keys, LastMoves};
use crate::search::ordering::history::{Histories, MoveContext, PieceSquare};
use crate::search::ordering::movepick::{Guide, Scratch};
use crate::search::root::root_move::RootMove;
use crate::search::score::{MAX_PLY, Value};
use crate::search::tables::tt;
use crate::search::tree::stack::Stack;
use crate::search::tree::step::{Abort, Searched};
use crate::util::{polling, prefetch};

/// Stack of a search thread, in bytes. The recursion is at most a few hundred nodes deep.
pub const STACK_BYTES: usize = 16 << 20;

/// Upper bound on the memory of a search thread without its stack, in bytes, with the largest published net.
// MEASURED: 8 MiB with the default net.
pub const WORKER_BYTES: usize = 16 << 20;

/// The poll interval: maximum number of nodes between two checks of the limits.
const POLL_INTERVAL: u64 = 256;

/// The state of one search thread.
pub struct Worker {
    /// Index of the thread. Worker 0 checks the clock and reports.
    pub id: usize,
    pub signals: Arc<Signals>,
    pub job: Arc<Job>,
    /// Value of `job` between searches; it refers to no shared table.
    idle: Arc<Job>,
    pub position: Position,
    pub accumulators: AccumulatorStack,
    pub histories: Histories,
    pub corrections: Corrections,
    /// State of the path; its length is the ply of the current node.
    pub stack: Stack,
    pub scratch: Vec<Scratch>,
    pub pv: Vec<Vec<Move>>,
    pub nodes: u64,
    poll_at: u64,
    pub tb_hits: u64,
    pub seldepth: usize,
    pub root_moves: Vec<RootMove>,
    /// Index of the MultiPV line that is being searched.
    pub line: usize,
    pub root_depth: i32,
    pub root_delta: Value,
    pub completed_depth: i32,
    /// Whether lines of this iteration reach the 50-move limit.
    pub limit_in_reach: bool,
    /// Whether a root move has a value of this search. From then on, the limits end the search anywhere.
    pub has_value: bool,
    /// First ply at which null moves are tried: above 0 while a null move is being verified.
    pub null_from_ply: usize,
    /// Whether `ponderhit` ends the search: set when the soft limit has passed while pondering.
    pub stop_on_ponderhit: bool,
    /// Observer of the evaluated positions, for training data.
    pub sampler: Option<Box<dyn Sampler>>,
}

impl Worker {
    /// An idle worker with fresh statistics.
    pub fn new(id: usize, signals: Arc<Signals>, network: Arc<Network>) -> Self {
        let idle = Arc::new(Job::idle());
        Self {
            id,
            signals,
            position: idle.position.clone(),
            job: idle.clone(),
            idle,
            accumulators: AccumulatorStack::new(network),
            histories: Histories::new(),
            corrections: Corrections::new(),
            stack: Stack::new(),
            scratch: (0..MAX_PLY + 4).map(|_| Scratch::new()).collect(),
            pv: (0..MAX_PLY + 4).map(|_| Vec::with_capacity(MAX_PLY)).collect(),
            nodes: 0,
            poll_at: 0,
            tb_hits: 0,
            seldepth: 0,
            root_moves: Vec::new(),
            line: 0,
            root_depth: 0,
            root_delta: 0,
            completed_depth: 0,
            limit_in_reach: false,
            has_value: false,
            null_from_ply: 0,
            stop_on_ponderhit: false,
            sampler: None,
        }
    }

    /// Uses another network from the next search on.
    pub fn set_network(&mut self, network: Arc<Network>) {
        self.accumulators = AccumulatorStack::new(network);
    }

    /// Clears all statistics.
    pub fn clear(&mut self) {
        self.histories.clear();
        self.corrections.clear();
    }

    /// Prepares for `job`.
    pub fn begin(&mut self, job: Arc<Job>) {
        self.position = job.position.clone();
        self.root_moves.clone_from(&job.root_moves);
        self.job = job;
        self.accumulators.reset();
        self.histories.new_root();
        self.stack.clear();
        self.nodes = 0;
        self.poll_at = 0;
        self.tb_hits = 0;
        self.seldepth = 0;
        self.line = 0;
        self.completed_depth = 0;
        self.has_value = false;
        self.limit_in_reach = false;
        self.null_from_ply = 0;
        self.stop_on_ponderhit = false;
        self.compute_keys();
        self.publish();
    }

    /// Releases the job after a search, so that its table can be freed.
    pub fn rest(&mut self) {
        self.job = self.idle.clone();
    }

    // -- the path --------------------------------------------------------------------------------------------

    #[inline]
    pub fn contexts(&self) -> [MoveContext; 5] {
        [-1, -2, -3, -4, -6].map(|plies| self.stack[plies].context)
    }

    /// Computes the keys of this node's correction histories and prefetches their entries. They are read right after
    /// the table's entry and are as likely to miss the cache.
    #[inline]
    fn compute_keys(&mut self) {
        let [last, second, fourth] = [-1, -2, -4].map(|plies| {
            let frame = &self.stack[plies];
            frame.current.map(|m| PieceSquare::new(frame.piece, m))
        });
        let keys = Keys::new(&self.position, LastMoves { last, second, fourth });
        self.corrections.prefetch(&keys);
        self.stack[0].keys = keys;
    }

    /// Makes `m`, runs `search` on the child, and undoes `m`. The search makes moves only through this function, so an
    /// abort cannot skip the undoing.
    #[inline]
    pub fn child<T>(&mut self, m: Move, search: impl FnOnce(&mut Self) -> T) -> T {
        self.make(m);
        let result = search(self);
        self.undo();
        result
    }

    /// Prefetches the table's cluster for the position after `m`. Called as soon as `m` is likely to be made.
    #[inline]
    pub fn prefetch(&self, m: Move) {
        if prefetch::EXISTS {
            self.job.table.prefetch(tt::key_after(&self.position, m));
        }
    }

    #[inline]
    fn make(&mut self, m: Move) {
        let piece = self.position.moved_piece(m);
        let noisy = self.position.is_noisy(m);
        let frame = &mut self.stack[0];
        frame.current = Some(m);
        frame.piece = piece;
        frame.noisy = noisy;
        frame.context = MoveContext::new(frame.in_check, noisy, piece, m);
        self.nodes += 1;
        self.accumulators.make(&mut self.position, m);
        self.stack.push();
        self.compute_keys();
    }

    #[inline]
    fn undo(&mut self) {
        self.stack.pop();
        self.accumulators.pop();
        self.position.undo_move();
    }

    /// Passes the move, runs `search`, and undoes the pass.
    pub fn null_child<T>(&mut self, search: impl FnOnce(&mut Self) -> T) -> T {
        let frame = &mut self.stack[0];
        frame.current = None;
        frame.noisy = false;
        frame.context = MoveContext::NONE;
        self.nodes += 1;
        self.position.do_null_move();
        self.job.table.prefetch(self.table_key());
        self.stack.push();
        self.compute_keys();
        let result = search(self);
        self.stack.pop();
        self.position.undo_null_move();
        result
    }

    /// Sets the principal variation of this node to `m` and the child's.
    pub fn extend_pv(&mut self, m: Move) {
        let (own, child) = self.pv.split_at_mut(self.stack.ply() + 1);
        let own = &mut own[self.stack.ply()];
        own.clear();
        own.push(m);
        own.extend_from_slice(&child[0]);
    }

    /// Inputs of the move picker, and its buffers.
    #[inline]
    pub fn guide<'a>(&'a mut self, checks: &'a CheckInfo, contexts: [MoveContext; 5]) -> (Guide<'a>, &'a mut Scratch) {
        let guide =
            Guide { position: &self.position, checks, histories: &self.histories, contexts, ply: self.stack.ply() };
        (guide, &mut self.scratch[self.stack.ply()])
    }

    /// Whether a level misses the legal move `m`; never at full strength.
    #[inline]
    pub fn misses(&self, m: Move) -> bool {
        let handicap = self.job.handicap.as_ref();
        handicap.is_some_and(|handicap| handicap.misses(&self.position, m))
    }

    // -- limits ----------------------------------------------------------------------------------------------

    /// Returns an abort if the search must end.
    #[inline]
    pub fn tick(&mut self) -> Searched<()> {
        if self.nodes >= self.poll_at {
            self.poll()?;
        }
        let stop = self.signals.stop.load(Relaxed) && self.may_end();
        if stop { Err(Abort) } else { Ok(()) }
    }

    /// Whether a limit may end the search here: a root move has a value, or none was found within a poll interval.
    #[inline]
    fn may_end(&self) -> bool {
        self.has_value || self.nodes >= POLL_INTERVAL
    }

    /// Publishes the counters and checks the hard limits. Every thread does so, because with more threads than
    /// processors worker 0 may be waiting for a processor. Returns an abort if a level has spent its nodes: its search
    /// has then ended, although its move may be delayed.
    #[cold]
    fn poll(&mut self) -> Searched<()> {
        self.publish();
        polling::poll();
        self.poll_at = self.nodes + POLL_INTERVAL;
        let pondering = self.signals.pondering.load(Relaxed);
        // Like the clock, the node limit does not end a search whose move must be delayed.
        let delayed = pondering || self.job.limits.infinite;
        if let Some(limit) = self.job.limits.nodes.filter(|_| !delayed) {
            let left = limit.saturating_sub(self.signals.nodes());
            // Each thread gets its share of the remaining nodes, so that together they stop at the limit.
            let share = left / self.signals.counters.len() as u64;
            self.poll_at = self.nodes + share.clamp(1, POLL_INTERVAL);
            if left == 0 {
                self.signals.stop.store(true, Relaxed);
            }
        }
        if self.id == 0 {
            self.job.report_damaged_tables();
        }
        if !pondering && (self.stop_on_ponderhit || self.out_of_time()) {
            self.signals.stop.store(true, Relaxed);
        }
        match &self.job.handicap {
            Some(handicap) => self.poll_level(handicap.nodes()),
            None => Ok(()),
        }
    }

    /// Applies the node limit of a level. It is exact, except that a level always completes depth 1.
    fn poll_level(&mut self, nodes: u64) -> Searched<()> {
        self.poll_at = self.poll_at.min(nodes.max(self.nodes + 1));
        if self.nodes >= nodes && self.completed_depth > 0 {
            return Err(Abort);
        }
        Ok(())
    }

    fn out_of_time(&self) -> bool {
        let Some(budget) = self.job.budget else {
            return false;
        };
        !self.job.limits.infinite && self.elapsed() >= budget.hard
    }

    /// Milliseconds since `go`, or nodes divided by `nodestime` if the clock counts nodes.
    pub fn elapsed(&self) -> f64 {
        match self.job.options.nodes_time {
            0 => self.job.start.elapsed().as_secs_f64() * 1000.0,
            per_ms => self.signals.nodes() as f64 / per_ms as f64,
        }
    }

    /// Publishes this thread's counters to the other threads.
    pub fn publish(&self) {
        let counters = &self.signals.counters[self.id];
        counters.nodes.store(self.nodes, Relaxed);
        counters.tb_hits.store(self.tb_hits, Relaxed);
    }

    /// Counts a change of the best move, for the time management.
    pub fn count_best_move_change(&self) {
        self.signals.counters[self.id].best_move_changes.fetch_add(1024, Relaxed);
    }
}
