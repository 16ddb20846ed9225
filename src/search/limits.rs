//! Limits and settings of a search, as the caller gives them, and the time budget of its move.

use std::time::Duration;

use super::params;
use crate::board::{Color, Move};
use crate::level::Level;

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
        if !self.is_timed() && !self.is_counted() {
            self.move_time = Some(UNSTOPPABLE);
        }
        self
    }

    /// Whether a clock or a time for the move limits the search.
    pub fn is_timed(&self) -> bool {
        self.white.time.is_some() || self.black.time.is_some() || self.move_time.is_some()
    }

    /// Whether depth or nodes limit the search.
    pub fn is_counted(&self) -> bool {
        self.depth.is_some() || self.nodes.is_some() || self.soft_nodes.is_some()
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
    /// Whether positions of `mate_tables` end the search by their distance to mate.
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
    // MEASURED: 0.88 and a smaller share early in the game: docs/experiments.md, "Time management".
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

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(time: i64, increment: i64) -> Limits {
        Limits { white: SideClock { time: Some(time), increment }, ..Limits::default() }
    }

    fn of(limits: &Limits) -> Budget {
        budget(limits, &SearchOptions::default(), Color::White, 20).expect("a clock was given")
    }

    #[test]
    fn search_without_stop_gets_a_limit() {
        let endless = Limits { infinite: true, mate: Some(3), ..Limits::default() };
        let bounded = endless.without_stop();
        assert!(!bounded.infinite && bounded.move_time == Some(UNSTOPPABLE));
        let deep = Limits { depth: Some(9), ponder: true, ..Limits::default() };
        let expected = Limits { ponder: false, ..deep.clone() };
        assert_eq!(deep.without_stop(), expected);
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
