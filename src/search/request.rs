//! One search as all threads share it: the request with its root moves, and the signals (stop, counters).

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64};
use std::time::Instant;

use crossbeam::utils::CachePadded;

use super::limits::{Budget, Limits, SearchOptions, budget};
use super::mate_tables::MateTables;
use super::params;
use super::score::{self, INFINITE, NONE, Progress, Reporter, ScoreBound, Silent, Value};
use super::syzygy::Syzygy;
use super::tt::TranspositionTable;
use crate::board::{Color, Move, Position};
use crate::level::{Level, TurnHandicap, habits, technique, theory, turn};
use crate::util::sync::{self, Mutex};

/// One search, shared by all threads.
pub struct SearchRequest {
    /// Root position, with the history of the game.
    pub position: Position,
    /// Limits of the search.
    pub limits: Limits,
    /// Settings.
    pub options: SearchOptions,
    /// Time budget, if the clock limits the search.
    pub budget: Option<Budget>,
    /// Time at which the pool accepted `go`, after an earlier search had ended. The clock of the search starts here.
    pub start: Instant,
    /// Root moves that may be searched, the most promising first.
    pub root_moves: Vec<RootMove>,
    /// Whether the tablebases decide the root. The search then does not probe them below it.
    pub root_in_tb: bool,
    /// The computed distances to mate that the search uses.
    pub mate_tables: MateTables,
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

impl SearchRequest {
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
        let is_timed = limits.is_timed() && options.nodes_time == 0;
        // Without threads, only the search itself can compute the tables.
        let may_wait = !is_timed && (limits.is_counted() || cfg!(target_family = "wasm"));
        let with_mate_tables = options.mate_tables && options.level.is_none();
        let mate_tables = if with_mate_tables { MateTables::for_root(&position, may_wait) } else { MateTables::NONE };
        Self {
            position,
            limits,
            options,
            budget: None,
            start,
            root_moves,
            root_in_tb: false,
            mate_tables,
            table,
            syzygy: None,
            reporter,
            previous_value: None,
            handicap: None,
            not_before: None,
        }
    }

    /// A request for an idle worker.
    pub fn idle() -> Self {
        let table = Arc::new(TranspositionTable::placeholder());
        Self::new(Position::startpos(), Limits::default(), SearchOptions::default(), table, Arc::new(Silent))
    }

    /// Sets the time budget by the limits, the side to move and the move number.
    pub(super) fn set_budget(&mut self) {
        let turn = self.position.turn();
        let game_ply = 2 * (self.position.fullmoves().max(1) - 1) + u32::from(turn == Color::Black);
        self.budget = budget(&self.limits, &self.options, turn, game_ply);
    }

    /// Sorts the root moves by rank. A search of one line keeps only those of the highest rank.
    pub(super) fn sort_by_rank(&mut self) {
        self.root_moves.sort_by_key(|root| Reverse(root.rank));
        let highest = self.root_moves.first().map(|root| root.rank);
        if self.options.multi_pv == 1 {
            self.root_moves.retain(|root| Some(root.rank) == highest);
        }
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
    /// The shortest mate that a thread has found in this search: the root move and its exact result.
    mate: Mutex<Option<(Move, Exact)>>,
    /// Value of `mate`, read without its lock; 0 without a mate.
    mate_value: AtomicI32,
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
            mate: Mutex::new(None),
            mate_value: AtomicI32::new(0),
        }
    }

    /// Resets the counters and `stop`, for a new search.
    pub fn begin(&self, pondering: bool) {
        for counters in &self.counters {
            counters.nodes.store(0, Relaxed);
            counters.tb_hits.store(0, Relaxed);
            counters.best_move_changes.store(0, Relaxed);
        }
        *self.mate.lock() = None;
        self.mate_value.store(0, Relaxed);
        self.pondering.store(pondering, SeqCst);
        self.stop.store(false, SeqCst);
    }

    /// Shares a mate by `m` with the other threads, unless they know a shorter one.
    pub fn share_mate(&self, m: Move, mate: &Exact) {
        let mut shared = self.mate.lock();
        if mate.value > self.mate_value.load(Relaxed) {
            *shared = Some((m, mate.clone()));
            self.mate_value.store(mate.value, Relaxed);
        }
    }

    /// The shortest mate of all threads.
    pub fn shared_mate(&self) -> Option<(Move, Exact)> {
        if self.mate_value.load(Relaxed) == 0 {
            return None;
        }
        self.mate.lock().clone()
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

// Root moves.
//
// A root move and its results in the iterations so far.

/// The last exact result of a root move: depth, value and moves of the same search.
#[derive(Clone, Debug)]
pub struct Exact {
    /// Iteration of the result.
    pub depth: i32,
    /// Value of the move.
    pub value: Value,
    /// Deepest ply below the move.
    pub seldepth: usize,
    /// The principal variation, starting with the move.
    pub pv: Vec<Move>,
}

/// A root move and its state.
#[derive(Clone, Debug)]
pub struct RootMove {
    /// The move.
    pub m: Move,
    /// Value in this iteration; minus infinity if the move did not become the best.
    pub value: Value,
    /// Value to report: clamped to the window that was searched.
    pub shown: Value,
    /// Whether `shown` is exact.
    pub bound: ScoreBound,
    /// Iteration of `shown`.
    pub depth: i32,
    /// The last exact result.
    pub exact: Option<Exact>,
    /// The shortest mate by this move that an exact result has shown.
    pub mate: Option<Exact>,
    /// Value in the previous iteration.
    pub previous: Value,
    /// Decaying average of the values, or `NONE`.
    pub average: Value,
    /// Decaying average of the squared values, a measure of their variation.
    pub mean_squared: i64,
    /// Deepest ply below this move.
    pub seldepth: usize,
    /// Nodes spent on this move.
    pub nodes: u64,
    /// The principal variation, starting with this move.
    pub pv: Vec<Move>,
    /// Rank by tablebases or by a level. Moves of a lower rank are reported after those of a higher one, and at one
    /// line they are not searched.
    pub rank: i32,
    /// Tablebase value of the move; `None` if the tablebases do not contain it.
    pub tb_value: Option<Value>,
}

impl RootMove {
    /// A move that has not been searched.
    pub fn new(m: Move) -> Self {
        Self {
            m,
            value: -INFINITE,
            shown: -INFINITE,
            bound: ScoreBound::Exact,
            depth: 0,
            exact: None,
            mate: None,
            previous: -INFINITE,
            average: NONE,
            mean_squared: 0,
            seldepth: 0,
            nodes: 0,
            pv: vec![m],
            rank: 0,
            tb_value: None,
        }
    }

    /// The legal moves that the limits allow, not yet searched.
    pub fn allowed(position: &Position, limits: &Limits) -> Vec<Self> {
        let is_allowed = |m: &Move| {
            limits.search_moves.as_ref().is_none_or(|list| list.contains(m)) && !limits.exclude_moves.contains(m)
        };
        position.legal_moves().iter().copied().filter(is_allowed).map(Self::new).collect()
    }

    /// The average updated by a new value whose search took `nodes` nodes. Values with more nodes have a larger
    /// weight. A win or loss by force replaces the average and is replaced by the next value: between a mate and an
    /// evaluation lie values that no search returns.
    // CITE: Stockfish (July 2026); form and figures: SF-2026-08; the exception is ours.
    pub(super) fn averaged(&self, value: Value, nodes: u64) -> Value {
        if score::is_decisive(value) || score::is_decisive(self.average) {
            return value;
        }
        let before = (self.nodes - nodes).max(1);
        let weight = 32 * 2 * nodes / (2 * nodes + 3 * before);
        let weight = (weight as Value).clamp(params::root_newest_min(), params::root_newest_max());
        (value * weight + self.average * (32 - weight)) / 32
    }

    /// Remembers a mate by this move, unless a shorter one is known.
    pub(super) fn learn_mate(&mut self, mate: &Exact) {
        if self.mate.as_ref().is_none_or(|known| mate.value > known.value) {
            self.mate = Some(mate.clone());
        }
    }

    /// Replaces a lower value by that of the known mate, as the result of the iteration `depth`.
    pub(super) fn recall_mate(&mut self, depth: i32) {
        let Some(mate) = self.mate.as_ref().filter(|mate| mate.value > self.value) else {
            return;
        };
        (self.value, self.shown, self.bound) = (mate.value, mate.value, ScoreBound::Exact);
        (self.depth, self.seldepth) = (depth, mate.seldepth);
        self.pv.clone_from(&mate.pv);
        self.exact = Some(Exact { depth, ..mate.clone() });
    }

    /// Value from the last completed search of the move.
    pub fn known_value(&self) -> Value {
        if self.value > -INFINITE { self.value } else { self.previous }
    }
}

// Levels.
//
// Restrictions of a search at a level below full strength.
//
// The search applies the level's handicap in two places: noise on evaluations (`Worker::evaluate`) and missed moves
// (`Worker::misses`). The functions below set up the rest.

/// Turns a search at full strength into a search at `level`, with an empty table of its own.
///
/// The result depends only on the position with its history, the level and the seed. There is one thread, which
/// searches one line, and no tablebases or results of earlier searches. The clock can still end the search, but levels
/// search few nodes.
pub fn limit_to_level(request: &mut SearchRequest, level: Level, table: Arc<TranspositionTable>) {
    let handicap = TurnHandicap::new(level, &request.position);
    request.not_before = not_before(request, level);
    request.budget = request.budget.map(|budget| Budget { soft: budget.hard, adjustable: false, ..budget });
    (request.syzygy, request.root_in_tb, request.previous_value) = (None, false, None);
    request.mate_tables = MateTables::NONE;
    request.table = table;
    restrict_root(request, level, &handicap);
    request.handicap = Some(handicap);
}

/// Ranks first the move of the mating technique or of opening theory, or else the moves that the level considers and
/// does not miss. Only these are searched; with several lines the others are reported after them.
// The technique alone does not mate the longest defence with bishop and knight within 50 moves: from 3 of 20 positions
// it did not, when the defence began to follow the table.
fn restrict_root(request: &mut SearchRequest, level: Level, handicap: &TurnHandicap) {
    let position = &request.position;
    let mating = MateTables::mate_with_bishop_and_knight(position).or_else(|| technique::best_move(position));
    let fixed_move = mating.or_else(|| theory::move_of(level, position));
    for root in &mut request.root_moves {
        let allowed = match fixed_move {
            Some(best) => root.m == best,
            None => {
                !handicap.misses(position, root.m)
                    && theory::considers(level, position, root.m)
                    && habits::considers(level, position, root.m)
            }
        };
        root.rank = i32::from(allowed);
    }
    request.sort_by_rank();
}

/// Earliest time of the answer. A level delays its move where a clock runs and `stop` can end the wait.
fn not_before(request: &SearchRequest, level: Level) -> Option<Instant> {
    let is_clocked = request.limits.move_time.is_none() && sync::reaches_search();
    let share = request.budget.filter(|_| is_clocked)?.soft;
    Some(request.start + turn::thinking_time(level, &request.position, share))
}
