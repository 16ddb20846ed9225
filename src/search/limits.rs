//! What a search may spend, as the caller said it. Pure data: it knows no clock.

use std::time::Duration;

use crate::board::Move;

/// One side's clock as `go` gives it, in milliseconds; may be negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SideClock {
    /// Time left, if it was given.
    pub time: Option<i64>,
    /// Increment per move.
    pub increment: i64,
}

/// The limits of a search. Everything absent: search until stopped.
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
    /// Hold `bestmove` until `stop`.
    pub infinite: bool,
    /// Hold `bestmove` until `stop` or `ponderhit`; the clock starts at `ponderhit`.
    pub ponder: bool,
    /// Only these root moves; `Some` of an empty list means that no legal one was named.
    pub search_moves: Option<Vec<Move>>,
    /// Never these root moves.
    pub exclude_moves: Vec<Move>,
}
