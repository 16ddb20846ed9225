//! A node of the full search: of which kind it is, and what it knows of itself alone. What its children and
//! grandchildren ask of it too (check, static evaluation, the excluded move) is in its [`Frame`](super::frame::Frame).

use super::score::{INFINITE, MAX_PLY, NONE, Value};
use super::tt::{Bound, TableEntry};
use crate::board::Move;

/// The root: a principal-variation node whose moves are the root moves.
pub(super) const ROOT: u8 = 0;
/// A node with an open window.
pub(super) const PV: u8 = 1;
/// A node with a null window.
pub(super) const NULL_WINDOW: u8 = 2;

/// What a node knows of itself before its moves are searched.
pub(super) struct Node {
    /// Whether its window is open: the root, or a node of the principal variation.
    pub pv: bool,
    pub alpha: Value,
    pub beta: Value,
    pub depth: i32,
    /// Whether this node is expected to fail high.
    pub cut_node: bool,
    pub entry: Option<TableEntry>,
    /// The table's score in terms of the root, or `NONE`.
    pub tt_score: Value,
    /// The table's move, pseudo-legal here.
    pub tt_move: Option<Move>,
    pub tt_noisy: bool,
    /// The network's value, or `NONE` in check.
    pub raw_eval: Value,
    /// The best estimate: the static evaluation, or the table's score where it says more.
    pub eval: Value,
    /// Correction of the static evaluation.
    pub correction: Value,
    /// Whether the evaluation is better than two plies ago.
    pub improving: bool,
    /// Whether the opponent's evaluation is worse than a ply ago.
    pub worsening: bool,
    /// Best value so far and the most that tablebases allow.
    pub best: Value,
    pub most: Value,
}

impl Node {
    /// A node of which nothing but its task is known.
    #[inline]
    pub fn new<const KIND: u8>(alpha: Value, beta: Value, depth: i32, cut_node: bool) -> Self {
        let pv = KIND != NULL_WINDOW;
        debug_assert!(-INFINITE <= alpha && alpha < beta && beta <= INFINITE);
        debug_assert!(pv || alpha + 1 == beta);
        Self {
            pv,
            alpha,
            beta,
            depth: depth.min(MAX_PLY as i32 - 1),
            cut_node,
            entry: None,
            tt_score: NONE,
            tt_move: None,
            tt_noisy: false,
            raw_eval: NONE,
            eval: NONE,
            correction: 0,
            improving: false,
            worsening: false,
            best: -INFINITE,
            most: INFINITE,
        }
    }

    /// The depth of the table's entry, very small without one.
    pub fn tt_depth(&self) -> i32 {
        self.entry.map_or(-10, |e| e.depth)
    }

    /// The meaning of the table's score.
    pub fn tt_bound(&self) -> Bound {
        self.entry.map_or(Bound::None, |e| e.bound)
    }

    /// Whether the node is expected to fail low, as far as we know.
    pub fn all_node(&self) -> bool {
        !self.pv && !self.cut_node
    }
}
