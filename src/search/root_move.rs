//! A root move and its results in the iterations so far.

use super::params;
use super::report::ScoreBound;
use super::score::{INFINITE, NONE, Value};
use crate::board::Move;

/// The last exact result of a root move: depth, value and moves of the same search.
#[derive(Clone, Debug)]
pub struct Exact {
    /// The iteration that gave it.
    pub depth: i32,
    /// Its value.
    pub value: Value,
    /// Deepest ply under the move.
    pub seldepth: usize,
    /// The principal variation, the move first.
    pub pv: Vec<Move>,
}

/// A root move and its state.
#[derive(Clone, Debug)]
pub struct RootMove {
    /// The move.
    pub m: Move,
    /// Value in this iteration; minus infinity when it did not beat the best.
    pub value: Value,
    /// Value to show: inside the window that was searched.
    pub shown: Value,
    /// Whether `shown` is exact.
    pub bound: ScoreBound,
    /// The iteration that gave `shown`.
    pub depth: i32,
    /// The last exact result.
    pub exact: Option<Exact>,
    /// Value in the previous iteration.
    pub previous: Value,
    /// Decaying average of the values, or `NONE`.
    pub average: Value,
    /// Decaying average of the squared values: how much they vary.
    pub mean_squared: i64,
    /// Deepest ply under this move.
    pub seldepth: usize,
    /// Nodes spent on it.
    pub nodes: u64,
    /// The principal variation, this move first.
    pub pv: Vec<Move>,
    /// Result of the tablebases for the root, when they decided.
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
            previous: -INFINITE,
            average: NONE,
            mean_squared: 0,
            seldepth: 0,
            nodes: 0,
            pv: vec![m],
            tb_value: None,
        }
    }

    /// The average updated by a new value whose search took the last `nodes`. Values that took more nodes weigh more.
    // CITE: Stockfish (July 2026); form and figures: SF-2026-08.
    pub(super) fn averaged(&self, value: Value, nodes: u64) -> Value {
        let before = (self.nodes - nodes).max(1);
        let weight = 32 * 2 * nodes / (2 * nodes + 3 * before);
        let weight = (weight as Value).clamp(params::root_newest_min(), params::root_newest_max());
        (value * weight + self.average * (32 - weight)) / 32
    }

    /// The last value that a completed search gave it.
    pub fn known_value(&self) -> Value {
        if self.value > -INFINITE {
            self.value
        } else {
            self.previous
        }
    }
}
