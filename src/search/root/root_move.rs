//! A root move and its results in the iterations so far.

use crate::board::{Move, Position};
use crate::search::limits::Limits;
use crate::search::params;
use crate::search::report::ScoreBound;
use crate::search::score::{INFINITE, NONE, Value};

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
    /// Tablebase value of the root; `None` if the tablebases did not filter the root moves.
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

    /// The legal moves that the limits allow, not yet searched.
    pub fn allowed(position: &Position, limits: &Limits) -> Vec<Self> {
        let is_allowed = |m: &Move| {
            limits.search_moves.as_ref().is_none_or(|list| list.contains(m)) && !limits.exclude_moves.contains(m)
        };
        position.legal_moves().iter().copied().filter(is_allowed).map(Self::new).collect()
    }

    /// The average updated by a new value whose search took `nodes` nodes. Values with more nodes have a larger
    /// weight.
    // CITE: Stockfish (July 2026); form and figures: SF-2026-08.
    pub(super) fn averaged(&self, value: Value, nodes: u64) -> Value {
        let before = (self.nodes - nodes).max(1);
        let weight = 32 * 2 * nodes / (2 * nodes + 3 * before);
        let weight = (weight as Value).clamp(params::root_newest_min(), params::root_newest_max());
        (value * weight + self.average * (32 - weight)) / 32
    }

    /// Value from the last completed search of the move.
    pub fn known_value(&self) -> Value {
        if self.value > -INFINITE { self.value } else { self.previous }
    }
}
