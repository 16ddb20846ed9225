//! Limits and settings of a search as given by the caller. Pure data, without a clock.

use std::time::Duration;

use crate::board::Move;
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
