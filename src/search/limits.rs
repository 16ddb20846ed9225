//! Limits of a search as given by the caller. Pure data, without a clock.

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

/// How long a search may take that nothing limits where nobody can stop it.
const UNSTOPPABLE: Duration = Duration::from_secs(10);

impl Limits {
    /// The same for a system without threads, where no `stop` is heard before the search has ended: nothing holds the
    /// move back, and what has no limit gets one.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_that_nobody_can_stop_has_a_limit() {
        let endless = Limits {
            infinite: true,
            mate: Some(3),
            ..Limits::default()
        };
        let bounded = endless.without_stop();
        assert!(!bounded.infinite && bounded.move_time == Some(UNSTOPPABLE));
        let deep = Limits {
            depth: Some(9),
            ponder: true,
            ..Limits::default()
        };
        let expected = Limits {
            ponder: false,
            ..deep.clone()
        };
        assert_eq!(deep.without_stop(), expected);
    }
}
