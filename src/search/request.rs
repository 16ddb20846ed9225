//! One search: what the caller asks for (limits, settings), the time budget of its move, and the request as the threads
//! receive it, with its root moves and the signals (stop, counters).

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64};
use std::time::{Duration, Instant};

use crossbeam::utils::CachePadded;

use super::score::{self, INFINITE, NONE, Progress, Reporter, ScoreBound, Silent, Value};
use super::syzygy::Syzygy;
use super::tt::TranspositionTable;
use super::{mate_tables, params};
use crate::board::{Color, Move, Position};
use crate::level::{Level, TurnHandicap, habits, technique, theory, turn};
use crate::util::sync::{self, Mutex};

/// One side's clock as given by `go`, in milliseconds; may be negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SideClock {
    /// Time left, if given.
    pub time: Option<i64>,
    /// Increment per move.
    pub increment: i64,
}

/// Limits of a search. Without any limit, the search runs until it is stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// White's clock.
    pub white: SideClock,
    /// Black's clock.
    pub black: SideClock,
    /// Moves to the next time control; `None` means sudden death.
    pub moves_to_go: Option<i64>,
    /// Exact time for this move.
    pub move_time: Option<Duration>,
    /// Depth in plies.
    pub depth: Option<i32>,
    /// Hard limit on nodes, exact with one thread.
    pub nodes: Option<u64>,
    /// Soft limit on nodes: tested between iterations (data generation).
    pub soft_nodes: Option<u64>,
    /// Stop at a mate in at most this many moves.
    pub mate: Option<i32>,
    /// Delay `bestmove` until `stop`.
    pub infinite: bool,
    /// Delay `bestmove` until `stop` or `ponderhit`. The time spent pondering counts: after `ponderhit` the search ends
    /// at once if its limit has passed.
    pub ponder: bool,
    /// Search only these root moves. `Some` of an empty list means that none of the named moves was legal.
    pub search_moves: Option<Vec<Move>>,
    /// Root moves to exclude.
    pub exclude_moves: Vec<Move>,
}

/// Time limit of an otherwise unlimited search on a system that cannot receive `stop` during a search.
const UNSTOPPABLE: Duration = Duration::from_secs(10);

impl Limits {
    /// These limits on a system without threads, where `stop` is read only after the search. Nothing delays the move,
    /// and a search without a limit ends after 10 seconds.
    pub fn without_stop(mut self) -> Self {
        (self.infinite, self.ponder) = (false, false);
        let clocked = self.white.time.is_some() || self.black.time.is_some();
        let counted = self.depth.is_some() || self.nodes.is_some() || self.soft_nodes.is_some();
        if !clocked && !counted && self.move_time.is_none() {
            self.move_time = Some(UNSTOPPABLE);
        }
        self
    }
}

/// Settings of a search. Each `go` copies them, so a change during a search applies from the next one.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// Number of lines.
    pub multi_pv: usize,
    /// Milliseconds kept in reserve for the interface.
    pub move_overhead: i64,
    /// Nodes per millisecond when the clock counts nodes; 0 means real time.
    pub nodes_time: u64,
    /// Whether the GUI may let the engine ponder. The time budget is then slightly larger.
    pub ponder: bool,
    /// Level below full strength. One thread then searches one line; further lines of `multi_pv`
    /// have static evaluations.
    pub level: Option<Level>,
    /// Whether a person analyses: draws are then worth exactly 0.
    pub analyse_mode: bool,
    /// Whether positions with three pieces end the search by their distance to mate (`mate_tables`).
    pub mate_tables: bool,
    /// Minimum depth of a probe of positions with the largest number of pieces.
    pub syzygy_probe_depth: i32,
    /// Maximum number of pieces of a position that is probed.
    pub syzygy_probe_limit: usize,
    /// Whether tablebases respect the 50-move rule.
    pub syzygy_50_move_rule: bool,
}

impl SearchOptions {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        multi_pv: 1,
        move_overhead: 10,
        nodes_time: 0,
        ponder: false,
        level: None,
        analyse_mode: false,
        mate_tables: true,
        syzygy_probe_depth: 1,
        syzygy_probe_limit: 7,
        syzygy_50_move_rule: true,
    };
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self::DEFAULT
    }
}

// Time management.
//
// A soft and a hard limit from the clock. The search's progress scales the soft limit.
//
// The soft limit is the share of the clock for an average move. It shrinks if a stable best move uses most nodes. It
// grows if the score falls or the best move changes. The hard limit is never exceeded. The clock is an argument:
// this module does not read the time, so every rule is testable.
// CITE: both limits: Stockfish's timeman, figures of Stockfish 17 and rounded from 17.1 (the table of parameters names
// each). Factors of the soft limit: see `stretch`.

/// The limits of one move, in milliseconds (or in nodes divided by `nodes_time` if the clock counts nodes).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Time after which the search stops between iterations; [`stretch`] scales it.
    pub soft: f64,
    /// Time after which the search stops anywhere.
    pub hard: f64,
    /// Whether `soft` may be scaled (false for a fixed time).
    pub adjustable: bool,
}

/// Number of moves among which the clock is divided: in sudden death, or at most before a control. The overhead of all
/// of them is reserved. If the increment does not cover the overhead, the number falls with the clock, so that at least
/// half of the clock remains for thinking.
// CITE: fewer moves below a second: Stockfish 17. The cap by the overhead is ours.
fn horizon(time: f64, increment: f64, overhead: f64) -> f64 {
    let full = f64::from(params::time_horizon());
    let net_overhead = overhead - increment;
    if net_overhead <= 0.0 {
        return full;
    }
    let by_clock = full * time / 1000.0;
    let by_overhead = time / (2.0 * net_overhead) - 2.0;
    full.min(by_clock).min(by_overhead).max(1.0)
}

fn thousandths(parameter: i32) -> f64 {
    f64::from(parameter) / 1000.0
}

fn hundredths(parameter: i32) -> f64 {
    f64::from(parameter) / 100.0
}

/// The budget of `color` at game ply `game_ply`, or `None` if nothing limits the time.
///
/// A clock of zero or less gives a budget of about a millisecond. A side without a clock uses the other side's, so a
/// search with any clock always ends.
pub fn budget(limits: &Limits, options: &SearchOptions, color: Color, game_ply: u32) -> Option<Budget> {
    if let Some(time) = limits.move_time {
        let time = time.as_secs_f64() * 1000.0;
        let time =
            (time - options.move_overhead.min(i64::from(params::time_overhead_max())) as f64).max(time / 2.0).max(1.0);
        return Some(Budget { soft: time, hard: time, adjustable: false });
    }
    let (own, other) = match color {
        Color::White => (&limits.white, &limits.black),
        Color::Black => (&limits.black, &limits.white),
    };
    let time = own.time.or(other.time)?.max(1) as f64;
    let increment = own.increment.max(0) as f64;
    let overhead = options.move_overhead as f64;
    let mut budget = match limits.moves_to_go {
        Some(moves) if moves > 0 => control(time, increment, overhead, moves as f64, game_ply),
        _ => sudden_death(time, increment, overhead, game_ply),
    };
    if options.ponder {
        // About a quarter of the engine's moves cost no time, because the opponent plays the expected move.
        budget.soft = (budget.soft * thousandths(params::time_ponder())).min(budget.hard);
    }
    Some(budget)
}

/// Time available for `moves` moves, minus the overhead of each.
// CITE: Stockfish.
fn usable(time: f64, increment: f64, overhead: f64, moves: f64) -> f64 {
    (time + increment * (moves - 1.0) - overhead * (2.0 + moves)).max(1.0)
}

/// Upper bound for one move: a share of the clock less the overhead, and at least a small share of it.
fn ceiling(time: f64, overhead: f64) -> f64 {
    (thousandths(params::time_ceiling()) * time - overhead)
        .max(time * thousandths(params::time_ceiling_min()))
        .clamp(1.0, time.max(1.0))
}

/// The budget without a control: a share of the usable time that grows with the clock and with the length of the game.
// CITE: form: Stockfish's timeman (a share that grows with the length of the game, a hard limit by the logarithm of the
// clock); figures: Stockfish 17, the others rounded from 17.1. The cap on the growth of the hard limit by the length of
// the game: origin not recorded.
fn sudden_death(time: f64, increment: f64, overhead: f64, game_ply: u32) -> Budget {
    let left = usable(time, increment, overhead, horizon(time, increment, overhead));
    let size = (time / 1000.0).max(0.001).log10();
    let by_size = |parameter: i32| f64::from(parameter) / 100_000.0;
    let share = (by_size(params::time_size_base()) + by_size(params::time_size_slope()) * size)
        .min(by_size(params::time_size_max()));
    let ply = f64::from(game_ply);
    // The same factor for every clock. Stockfish's is smaller on short clocks, but here that left time unused.
    let scale = f64::from(params::time_share()) / 1024.0;
    let base = f64::from(params::time_share_base()) / 10_000.0;
    let grown = (ply + hundredths(params::time_ply_offset())).powf(hundredths(params::time_ply_power()));
    let share = scale * (base + grown * share);
    let soft = share.min(thousandths(params::time_share_max()) * time / left) * left;
    let max_stretch = hundredths(params::time_hard_max());
    let min_stretch = hundredths(params::time_hard_min()).min(max_stretch);
    let stretch = hundredths(params::time_hard_base()) + hundredths(params::time_hard_slope()) * size;
    let by_length = (ply / f64::from(params::time_hard_ply_div())).min(hundredths(params::time_hard_ply_max()));
    let stretch = stretch.clamp(min_stretch, max_stretch) + by_length;
    let hard = (soft * stretch.min(max_stretch)).min(ceiling(time, overhead));
    Budget { soft: soft.min(hard).max(0.5), hard: hard.max(1.0), adjustable: true }
}

/// The budget with `moves` moves left before a control.
fn control(time: f64, increment: f64, overhead: f64, moves: f64, game_ply: u32) -> Budget {
    let moves = moves.min(horizon(time, increment, overhead));
    let left = usable(time, increment, overhead, moves);
    let ply = f64::from(game_ply);
    let share = thousandths(params::time_control_base()) + ply / f64::from(params::time_control_ply_div());
    let max_share = thousandths(params::time_control_max()) * time / left;
    let soft = (share / moves).min(max_share) * left;
    let stretch = thousandths(params::time_control_hard()) + thousandths(params::time_control_hard_move()) * moves;
    let hard = (soft * stretch.min(thousandths(params::time_control_hard_max()))).min(ceiling(time, overhead));
    Budget { soft: soft.min(hard).max(0.5), hard: hard.max(1.0), adjustable: true }
}

/// State of the search between two iterations.
#[derive(Clone, Copy, Debug)]
pub struct IterationSummary {
    /// Fall of the score since the previous move's search and since earlier iterations, in internal units (positive:
    /// it got worse).
    pub score_fall: f64,
    /// Iterations since the best move last changed.
    pub stable_iterations: i32,
    /// Decaying number of recent changes of the best move, averaged over the threads.
    pub best_move_changes: f64,
    /// Share of the nodes spent on the best move, 0 to 1.
    pub effort: f64,
    /// Whether there is only one legal move.
    pub forced: bool,
}

/// Factor of the soft limit.
// CITE: product of factors, those of falling scores and of changing best moves: Stockfish (2018); share of nodes on the
// best move: Stockfish 18; a factor that falls by a step for each stable iteration: as in Berserk. Bounds of the first
// factor rounded from Stockfish 17.1; the origin of the other figures is not recorded.
pub fn stretch(summary: &IterationSummary) -> f64 {
    let of = |parameter: fn() -> i32| thousandths(parameter());
    let falling = of(params::time_falling_base) + of(params::time_falling_score) * summary.score_fall;
    let falling = falling.clamp(of(params::time_falling_min), of(params::time_falling_max));
    let max_stability = of(params::time_stability_max);
    let stability = max_stability - of(params::time_stability) * f64::from(summary.stable_iterations);
    let stability = stability.clamp(of(params::time_stability_min), max_stability);
    let instability = 1.0 + of(params::time_changes) * summary.best_move_changes;
    let effort = if summary.effort > of(params::time_effort_min) { of(params::time_effort) } else { 1.0 };
    let forced = if summary.forced { of(params::time_forced) } else { 1.0 };
    falling * stability * instability * effort * forced
}

// The search as all threads share it.

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
    /// Whether the search uses the computed distances to mate with three pieces.
    pub with_mate_tables: bool,
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
        let with_mate_tables = options.mate_tables && mate_tables::are_used_with(position.occupied().count());
        Self {
            position,
            limits,
            options,
            budget: None,
            start,
            root_moves,
            root_in_tb: false,
            with_mate_tables,
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
    request.with_mate_tables = false;
    request.table = table;
    restrict_root(request, level, &handicap);
    request.handicap = Some(handicap);
}

/// Ranks first the move of the mating technique or of opening theory, or else the moves that the level considers and
/// does not miss. Only these are searched; with several lines the others are reported after them.
fn restrict_root(request: &mut SearchRequest, level: Level, handicap: &TurnHandicap) {
    let position = &request.position;
    let fixed_move = technique::best_move(position).or_else(|| theory::move_of(level, position));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_without_stop_gets_a_limit() {
        let endless = Limits { infinite: true, mate: Some(3), ..Limits::default() };
        let bounded = endless.without_stop();
        assert!(!bounded.infinite && bounded.move_time == Some(UNSTOPPABLE));
        let deep = Limits { depth: Some(9), ponder: true, ..Limits::default() };
        let expected = Limits { ponder: false, ..deep.clone() };
        assert_eq!(deep.without_stop(), expected);
    }
}

#[cfg(test)]
mod time_tests {
    use std::time::Duration;

    use super::*;

    fn clock(time: i64, increment: i64) -> Limits {
        Limits { white: SideClock { time: Some(time), increment }, ..Limits::default() }
    }

    fn of(limits: &Limits) -> Budget {
        budget(limits, &SearchOptions::default(), Color::White, 20).expect("a clock was given")
    }

    #[test]
    fn no_clock_gives_no_budget() {
        assert_eq!(budget(&Limits::default(), &SearchOptions::default(), Color::White, 0), None);
    }

    #[test]
    fn budget_is_positive_and_within_the_clock() {
        for time in [-500, 0, 1, 5, 10, 50, 100, 1000, 60_000, 7_200_000] {
            for increment in [-3, 0, 1, 100, 10_000] {
                for moves_to_go in [None, Some(-1), Some(0), Some(1), Some(40), Some(1000)] {
                    for overhead in [0, 10, 1000, 5000] {
                        let limits = Limits { moves_to_go, ..clock(time, increment) };
                        let options = SearchOptions { move_overhead: overhead, ..SearchOptions::default() };
                        let b = budget(&limits, &options, Color::White, 40).expect("clock");
                        let available = time.max(1) as f64;
                        assert!(b.hard <= available && b.soft <= b.hard, "{limits:?} {b:?}");
                        assert!(b.soft > 0.0 && b.hard >= 1.0, "{limits:?} {b:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn short_clock_without_increment_is_used() {
        for (time, overhead) in [(100, 10), (300, 10), (500, 10), (1000, 10), (5000, 100), (2000, 200), (5000, 0)] {
            for moves_to_go in [None, Some(10), Some(40)] {
                let limits = Limits { moves_to_go, ..clock(time, 0) };
                let options = SearchOptions { move_overhead: overhead, ..SearchOptions::default() };
                let b = budget(&limits, &options, Color::White, 40).expect("a clock");
                let share = b.soft / time as f64;
                assert!((0.008..0.3).contains(&share), "{time} ms, {overhead}, {moves_to_go:?}: {b:?}");
                assert!(b.hard >= 2.0 * b.soft || moves_to_go.is_some(), "{b:?}");
            }
        }
    }

    #[test]
    fn longer_clock_gives_more_time() {
        for overhead in [0, 10, 100] {
            let options = SearchOptions { move_overhead: overhead, ..SearchOptions::default() };
            let soft = |time| budget(&clock(time, 0), &options, Color::White, 40).expect("a clock").soft;
            assert!((50..20_000).step_by(50).all(|time| soft(time) <= soft(time + 50)), "{overhead}");
        }
    }

    #[test]
    fn missing_clock_is_replaced_by_the_other_sides() {
        let b = budget(&clock(1000, 0), &SearchOptions::default(), Color::Black, 0);
        assert!(b.is_some_and(|b| b.hard < 1000.0));
    }

    #[test]
    fn one_minute_allows_half_to_three_seconds() {
        let b = of(&clock(60_000, 0));
        assert!((500.0..3000.0).contains(&b.soft), "{b:?}");
        let rich = of(&clock(60_000, 1000));
        assert!(rich.soft > b.soft);
    }

    #[test]
    fn last_move_before_control_may_use_most_of_the_clock() {
        let b = of(&Limits { moves_to_go: Some(1), ..clock(10_000, 0) });
        assert!(b.hard > 5000.0 && b.hard < 10_000.0, "{b:?}");
    }

    #[test]
    fn move_time_is_exact() {
        let limits = Limits { move_time: Some(Duration::from_millis(1000)), ..Limits::default() };
        let b = of(&limits);
        assert!(b.hard <= 1000.0 && b.hard > 900.0 && !b.adjustable);
    }

    #[test]
    fn falling_score_takes_more_time_than_stable_one() {
        let calm = IterationSummary {
            score_fall: -20.0,
            stable_iterations: 8,
            best_move_changes: 0.0,
            effort: 0.97,
            forced: false,
        };
        let trouble = IterationSummary {
            score_fall: 60.0,
            stable_iterations: 0,
            best_move_changes: 1.0,
            effort: 0.3,
            forced: false,
        };
        assert!(stretch(&trouble) > 4.0 * stretch(&calm));
        assert!(stretch(&IterationSummary { forced: true, ..calm }) < 0.1);
    }
}
