//! A node of the full search: its kind, and the state that no other ply reads. State that children and grandchildren
//! read (check, static evaluation, excluded move) is in its [`Frame`](super::stack::Frame).
// CITE: PV, cut and all nodes: Knuth and Moore (1975), Marsland and Popowich (1985); their use for pruning: Stockfish.

use super::step::{Step, cut_if};
use crate::board::Move;
use crate::search::score::{self, INFINITE, MAX_PLY, NONE, Value};
use crate::search::tables::tt::{Bound, TableEntry};

/// The root: a principal-variation node whose moves are the root moves.
pub const ROOT: u8 = 0;
/// A node with an open window.
pub const PV: u8 = 1;
/// A node with a null window.
pub const NULL_WINDOW: u8 = 2;

/// State of a node before its moves are searched.
pub struct Node {
    /// Whether the window is open: at the root, or on the principal variation.
    pub pv: bool,
    pub alpha: Value,
    pub beta: Value,
    pub depth: i32,
    /// Whether this node is expected to fail high.
    pub cut_node: bool,
    pub entry: Option<TableEntry>,
    /// The table's score relative to the root, or `NONE`.
    pub tt_score: Value,
    /// The table's move, pseudo-legal in this position.
    pub tt_move: Option<Move>,
    pub tt_noisy: bool,
    /// The network's value, or `NONE` in check.
    pub raw_eval: Value,
    /// Best estimate: the static evaluation, or the table's score where its bound improves on it.
    pub eval: Value,
    /// Correction of the static evaluation.
    pub correction: Value,
    /// Whether the evaluation is better than two plies earlier.
    pub improving: bool,
    /// Whether the opponent's evaluation is worse than a ply earlier.
    pub worsening: bool,
    /// Best value so far, and the upper bound from tablebases.
    pub best: Value,
    pub max_value: Value,
}

impl Node {
    /// A new node with its window, depth and expected type.
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
            max_value: INFINITE,
        }
    }

    /// Depth of the table's entry; very small without an entry.
    pub fn tt_depth(&self) -> i32 {
        self.entry.map_or(-10, |e| e.depth)
    }

    /// Relation of the table's score to the true score.
    pub fn tt_bound(&self) -> Bound {
        self.entry.map_or(Bound::None, |e| e.bound)
    }

    /// In a PV node, applies a tablebase win or loss from the transposition table at any depth. Null-window searches
    /// of earlier moves use such entries. A full-window search that ignored them would find less, would not raise
    /// alpha, and would search move after move at every node of the variation. This took minutes where the window lay
    /// between an evaluation and a tablebase win.
    pub fn keep_proven_win(&mut self) -> Step {
        let score = self.tt_score;
        if score == NONE || !score::is_decisive(score) || score::is_mate(score) {
            return Ok(());
        }
        if score::is_win(score) && self.tt_bound().is_lower() {
            self.best = score;
            self.alpha = self.alpha.max(score);
        } else if score::is_loss(score) && self.tt_bound().is_upper() {
            self.max_value = score;
        }
        cut_if(self.alpha >= self.beta || self.max_value <= self.alpha, score)
    }

    /// Whether the node is expected to fail low.
    pub fn all_node(&self) -> bool {
        !self.pv && !self.cut_node
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::score::{TB_WIN, mate_in};
    use crate::search::tree::step::Exit;

    /// A node with an open window whose table entry has this score and bound.
    fn node(score: Value, bound: Bound) -> Node {
        let entry = TableEntry { best: None, score, eval: NONE, depth: 1, bound, pv: false };
        Node { entry: Some(entry), tt_score: score, ..Node::new::<PV>(100, score::MATE, 4, false) }
    }

    #[test]
    fn tablebase_result_applies_in_open_window() {
        let kept = |score, bound| {
            let mut node = node(score, bound);
            let cut = match node.keep_proven_win() {
                Err(Exit::Cut(value)) => Some(value),
                _ => None,
            };
            (cut, node.best, node.alpha, node.max_value)
        };
        let win = TB_WIN - 7;
        assert_eq!(kept(win, Bound::Lower), (None, win, win, INFINITE));
        assert_eq!(kept(-win, Bound::Upper), (Some(-win), -INFINITE, 100, -win));
        let nothing = (None, -INFINITE, 100, INFINITE);
        assert_eq!(kept(win, Bound::Upper), nothing);
        assert_eq!(kept(400, Bound::Lower), nothing);
        assert_eq!(kept(mate_in(5), Bound::Lower), nothing);
    }
}
