//! A worker: one thread's position, accumulators, statistics and path, and the only functions that make and undo moves.

use std::ops::{Index, IndexMut, Range};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::history::{ContHistIndex, Corrections, Histories, Keys, LastMoves, PieceSquare, SharedHistories};
use super::movepick::{MoveBuffers, OrderingContext};
use super::request::{RootMove, SearchRequest, Signals};
use super::score::{self, MAX_PLY, Value};
use super::tt;
use crate::board::{CheckInfo, Color, Move, Piece, Position, Role};
use crate::nnue::{AccumulatorStack, Network};
use crate::util::{memory, sync};

/// Stack of a search thread, in bytes. The recursion is at most a few hundred nodes deep.
pub const STACK_BYTES: usize = 16 << 20;

/// Upper bound on the memory of a search thread without its stack, in bytes, with the largest published net.
// MEASURED: 8 MiB with the default net.
pub const WORKER_BYTES: usize = 16 << 20;

/// The poll interval: maximum number of nodes between two checks of the limits.
const POLL_INTERVAL: u64 = 256;

/// Receives every position that the network evaluates. The positions are never in check.
///
/// Called from inside the search, so it must be quick.
pub trait Sampler: Send {
    /// `value` is the network's output in engine units, for the side to move. It excludes the scaling by material, the
    /// 50-move counter and the corrections, which are part of the search.
    fn evaluated(&mut self, position: &Position, value: Value);
}

/// The state of one search thread.
pub struct Worker {
    /// Index of the thread. Worker 0 checks the clock and reports.
    pub id: usize,
    pub signals: Arc<Signals>,
    pub request: Arc<SearchRequest>,
    /// Value of `request` between searches; it refers to no shared table.
    idle: Arc<SearchRequest>,
    pub position: Position,
    pub accumulators: AccumulatorStack,
    pub histories: Histories,
    pub corrections: Corrections,
    /// The parts of both that all threads share.
    shared: SharedHistories,
    /// State of the path; its length is the ply of the current node.
    pub stack: Stack,
    pub buffers: Vec<MoveBuffers>,
    pub pv: Vec<Vec<Move>>,
    pub nodes: u64,
    poll_at: u64,
    pub tb_hits: u64,
    pub seldepth: usize,
    pub root_moves: Vec<RootMove>,
    /// Index of the MultiPV line that is being searched.
    pub line: usize,
    /// Root moves of the same rank as this line, which the line chooses from.
    pub group: Range<usize>,
    pub root_depth: i32,
    pub root_delta: Value,
    pub completed_depth: i32,
    /// Whether lines of this iteration reach the 50-move limit.
    pub limit_in_reach: bool,
    /// Whether a root move has a value of this search. From then on, the limits end the search anywhere.
    pub has_value: bool,
    /// Whether this search probes tablebases below the root, so that stored results of tablebases are valid.
    pub with_tb: bool,
    /// First ply at which null moves are tried: above 0 while a null move is being verified.
    pub null_from_ply: usize,
    /// Whether `ponderhit` ends the search: set when the soft limit has passed while pondering.
    pub stop_on_ponderhit: bool,
    /// Observer of the evaluated positions, for training data.
    pub sampler: Option<Box<dyn Sampler>>,
}

impl Worker {
    /// An idle worker with fresh statistics of its own, and those of all threads as they are.
    pub fn new(id: usize, signals: Arc<Signals>, network: Arc<Network>, shared: SharedHistories) -> Self {
        let idle = Arc::new(SearchRequest::idle());
        Self {
            id,
            signals,
            position: idle.position.clone(),
            request: idle.clone(),
            idle,
            accumulators: AccumulatorStack::new(network),
            histories: Histories::new(&shared),
            corrections: Corrections::new(&shared),
            shared,
            stack: Stack::new(),
            buffers: (0..MAX_PLY + 4).map(|_| MoveBuffers::new()).collect(),
            pv: (0..MAX_PLY + 4).map(|_| Vec::with_capacity(MAX_PLY)).collect(),
            nodes: 0,
            poll_at: 0,
            tb_hits: 0,
            seldepth: 0,
            root_moves: Vec::new(),
            line: 0,
            group: 0..0,
            root_depth: 0,
            root_delta: 0,
            completed_depth: 0,
            limit_in_reach: false,
            has_value: false,
            with_tb: false,
            null_from_ply: 0,
            stop_on_ponderhit: false,
            sampler: None,
        }
    }

    /// Uses another network from the next search on.
    pub fn set_network(&mut self, network: Arc<Network>) {
        self.accumulators = AccumulatorStack::new(network);
    }

    /// Clears all statistics. Worker 0 clears those that the threads share.
    pub fn clear(&mut self) {
        if self.id == 0 {
            self.shared.clear();
        }
        self.histories.clear();
        self.corrections.clear();
    }

    /// Prepares for `request`.
    pub fn begin(&mut self, request: Arc<SearchRequest>) {
        self.position = request.position.clone();
        self.root_moves.clone_from(&request.root_moves);
        self.with_tb = request.syzygy.is_some() && !request.root_in_tb;
        self.request = request;
        self.accumulators.reset();
        self.histories.new_root();
        self.stack.clear();
        self.nodes = 0;
        self.poll_at = 0;
        self.tb_hits = 0;
        self.seldepth = 0;
        self.line = 0;
        self.group = 0..self.root_moves.len();
        self.completed_depth = 0;
        self.has_value = false;
        self.limit_in_reach = false;
        self.null_from_ply = 0;
        self.stop_on_ponderhit = false;
        self.compute_keys();
        self.publish();
    }

    /// Releases the request after a search, so that its table can be freed.
    pub fn release_request(&mut self) {
        self.request = self.idle.clone();
    }

    // -- the path --------------------------------------------------------------------------------------------

    #[inline]
    pub fn contexts(&self) -> [ContHistIndex; 5] {
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
        let keys = self.corrections.keys(&self.position, LastMoves { last, second, fourth });
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
        if memory::CAN_PREFETCH {
            self.request.table.prefetch(tt::key_after(&self.position, m));
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
        frame.context = ContHistIndex::new(frame.in_check, noisy, piece, m);
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
        frame.context = ContHistIndex::NONE;
        self.nodes += 1;
        self.position.do_null_move();
        self.request.table.prefetch(self.table_key());
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
    pub fn ordering<'a>(
        &'a mut self,
        checks: &'a CheckInfo,
        contexts: [ContHistIndex; 5],
    ) -> (OrderingContext<'a>, &'a mut MoveBuffers) {
        let ordering = OrderingContext {
            position: &self.position,
            checks,
            histories: &self.histories,
            contexts,
            ply: self.stack.ply(),
        };
        (ordering, &mut self.buffers[self.stack.ply()])
    }

    /// Whether a level misses the legal move `m`; never at full strength.
    #[inline]
    pub fn misses(&self, m: Move) -> bool {
        let handicap = self.request.handicap.as_ref();
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
        sync::poll();
        self.poll_at = self.nodes + POLL_INTERVAL;
        let pondering = self.signals.pondering.load(Relaxed);
        // Like the clock, the node limit does not end a search whose move must be delayed.
        let delayed = pondering || self.request.limits.infinite;
        if let Some(limit) = self.request.limits.nodes.filter(|_| !delayed) {
            let left = limit.saturating_sub(self.signals.nodes());
            // Each thread gets its share of the remaining nodes, so that together they stop at the limit.
            let share = left / self.signals.counters.len() as u64;
            self.poll_at = self.nodes + share.clamp(1, POLL_INTERVAL);
            if left == 0 {
                self.signals.stop.store(true, Relaxed);
            }
        }
        if self.id == 0 {
            self.request.report_damaged_tables();
        }
        if !pondering && (self.stop_on_ponderhit || self.out_of_time()) {
            self.signals.stop.store(true, Relaxed);
        }
        match &self.request.handicap {
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
        let Some(budget) = self.request.budget else {
            return false;
        };
        !self.request.limits.infinite && self.elapsed() >= budget.hard
    }

    /// Milliseconds since `go`, or nodes divided by `nodestime` if the clock counts nodes.
    pub fn elapsed(&self) -> f64 {
        match self.request.options.nodes_time {
            0 => self.request.start.elapsed().as_secs_f64() * 1000.0,
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

// The search stack.
//
// The search stack: the state of each ply of the current path.

/// Frames before the root, so that "six plies ago" always exists.
const BEFORE_ROOT: usize = 8;
/// Frames of a path, including the grandchildren of its deepest nodes.
const FRAMES: usize = BEFORE_ROOT + MAX_PLY + 4;

/// The frames of the path, indexed by plies from the current node: `stack[0]` is the node's own, `stack[-1]` that of
/// its parent, and `stack[1]` that of its children.
pub struct Stack {
    frames: Box<[Frame; FRAMES]>,
    ply: usize,
}

impl Stack {
    /// A stack at the root, with unused frames.
    pub fn new() -> Self {
        Self { frames: Box::new([Frame::EMPTY; FRAMES]), ply: 0 }
    }

    /// Returns to the root and clears all frames.
    pub fn clear(&mut self) {
        self.frames.fill(Frame::EMPTY);
        self.ply = 0;
    }

    /// Plies from the root to the current node.
    #[inline]
    pub fn ply(&self) -> usize {
        self.ply
    }

    /// Moves to a child of the current node.
    #[inline]
    pub fn push(&mut self) {
        self.ply += 1;
    }

    /// Returns to the parent.
    #[inline]
    pub fn pop(&mut self) {
        self.ply -= 1;
    }
}

impl Index<isize> for Stack {
    type Output = Frame;
    #[inline(always)]
    fn index(&self, plies: isize) -> &Frame {
        &self.frames[(self.ply + BEFORE_ROOT).wrapping_add_signed(plies)]
    }
}

impl IndexMut<isize> for Stack {
    #[inline(always)]
    fn index_mut(&mut self, plies: isize) -> &mut Frame {
        &mut self.frames[(self.ply + BEFORE_ROOT).wrapping_add_signed(plies)]
    }
}

/// One ply of the path from the root.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// The move made here; `None` for a null move and before the first move.
    pub current: Option<Move>,
    /// The piece that made `current`.
    pub piece: Piece,
    /// Whether `current` is noisy (capture or queen promotion).
    pub noisy: bool,
    /// Context of the continuation history for replies to `current`.
    pub context: ContHistIndex,
    /// Keys of the correction histories.
    pub keys: Keys,
    /// The move that this node must not search (singular extension).
    pub excluded: Option<Move>,
    /// Corrected static evaluation; in check, the one from two plies earlier.
    pub static_eval: Value,
    /// Whether the side to move is in check.
    pub in_check: bool,
    /// Whether the node is or was on a principal variation.
    pub tt_pv: bool,
    /// Whether the position was in the transposition table.
    pub tt_hit: bool,
    /// Ordinal of the current move.
    pub move_count: i32,
    /// Plies by which the current move is reduced; 0 if it is not.
    pub reduction: i32,
    /// History score of the current move.
    pub stat_score: i32,
    /// Number of cutoffs among the children of this node.
    pub cutoffs: i32,
}

impl Frame {
    /// An unused frame.
    pub const EMPTY: Self = Self {
        current: None,
        piece: Piece { color: Color::White, role: Role::Pawn },
        noisy: false,
        context: ContHistIndex::NONE,
        keys: Keys::NONE,
        excluded: None,
        static_eval: score::NONE,
        in_check: false,
        tt_pv: false,
        tt_hit: false,
        move_count: 0,
        reduction: 0,
        stat_score: 0,
        cutoffs: 0,
    };
}

// Results of steps.
//
// Results of a step of the search: continue the node, cut it off with a value, or abort the search.
//
// A step returns [`Step`], so a node is a list of steps, each with a `?`. A whole node returns [`Searched`], which
// has no cutoff: a cutoff in a child is the child's value and does not end the parent. The types guarantee this.
// [`into_value`] converts a [`Step`] into a [`Searched`].

/// The search is aborted; there is no value.
#[derive(Clone, Copy, Debug)]
pub struct Abort;

/// Reason why a node ends before its next step.
#[derive(Clone, Copy, Debug)]
pub enum Exit {
    /// The node has this value.
    Cut(Value),
    /// The search is aborted.
    Abort,
}

impl From<Abort> for Exit {
    #[inline]
    fn from(Abort: Abort) -> Self {
        Self::Abort
    }
}

/// Result of a step of a node: continue with a `T`, or end the node.
pub type Step<T = ()> = Result<T, Exit>;

/// Result of the search of a whole node.
pub type Searched<T = Value> = Result<T, Abort>;

/// Ends the node with `value` if `settled`; otherwise the node continues.
#[inline]
pub(super) fn cut_if(settled: bool, value: Value) -> Step {
    if settled { Err(Exit::Cut(value)) } else { Ok(()) }
}

/// Value of a node whose steps are done.
#[inline]
pub(super) fn into_value(steps: Step<Value>) -> Searched {
    match steps {
        Ok(value) | Err(Exit::Cut(value)) => Ok(value),
        Err(Exit::Abort) => Err(Abort),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stack_is_indexed_by_plies_from_the_current_node() {
        let mut stack = Stack::new();
        stack[0].move_count = 10;
        stack.push();
        stack[0].move_count = 11;
        stack[1].move_count = 12;
        assert_eq!([stack[-1].move_count, stack[0].move_count, stack[1].move_count], [10, 11, 12]);
        assert_eq!(stack.ply(), 1);
        stack.pop();
        assert_eq!([stack[0].move_count, stack[1].move_count, stack[2].move_count], [10, 11, 12]);
        stack.clear();
        assert!((-8..=3).all(|plies| stack[plies].move_count == 0));
    }

    #[test]
    fn deepest_node_has_frames_before_the_root_and_after_its_children() {
        let mut stack = Stack::new();
        assert_eq!(stack[-(BEFORE_ROOT as isize)].current, None);
        (0..=MAX_PLY).for_each(|_| stack.push());
        stack[2].cutoffs = 1;
        assert_eq!(stack[2].cutoffs, 1);
    }
}
