//! A node of the full search: its type, its state that no other ply reads, and its moves. State that children and
//! grandchildren read (check, static evaluation, excluded move) is in its [`Frame`](super::stack::Frame).
// CITE: PV, cut and all nodes: Knuth and Moore (1975), Marsland and Popowich (1985); their use for pruning: Stockfish.

use std::marker::PhantomData;

use arrayvec::ArrayVec;

use super::step::{Step, cut_if};
use crate::board::{Move, Piece, Role};
use crate::search::ordering::history::PieceSquare;
use crate::search::score::{self, INFINITE, MAX_PLY, NONE, Value};
use crate::search::tables::tt::{Bound, TableEntry};

/// Type of a node, known at compile time.
pub trait NodeType {
    /// Whether the moves are the root moves.
    const ROOT: bool;
    /// Whether the window is open: at the root, or on the principal variation.
    const PV: bool;
}

/// The root: a node with an open window whose moves are the root moves.
pub struct Root;
/// A node with an open window.
pub struct Pv;
/// A node with a null window.
pub struct NullWindow;

impl NodeType for Root {
    const ROOT: bool = true;
    const PV: bool = true;
}

impl NodeType for Pv {
    const ROOT: bool = false;
    const PV: bool = true;
}

impl NodeType for NullWindow {
    const ROOT: bool = false;
    const PV: bool = false;
}

/// State of a node before its moves are searched.
pub struct Node<N: NodeType> {
    node_type: PhantomData<N>,
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

impl<N: NodeType> Node<N> {
    /// A new node with its window and depth. `cut_node` is whether it is expected to fail high.
    #[inline]
    pub fn new(alpha: Value, beta: Value, depth: i32, cut_node: bool) -> Self {
        debug_assert!(-INFINITE <= alpha && alpha < beta && beta <= INFINITE);
        debug_assert!(N::PV || alpha + 1 == beta);
        Self {
            node_type: PhantomData,
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
        !N::PV && !self.cut_node
    }
}

/// The current move of a node.
#[derive(Clone, Copy)]
pub struct Candidate {
    pub m: Move,
    pub piece: Piece,
    pub captured: Option<Role>,
    /// Capture or queen promotion.
    pub noisy: bool,
    pub gives_check: bool,
    /// Ordinal of the move, from 1.
    pub count: i32,
    /// Remaining depth after the move, without extension and reduction.
    pub depth: i32,
    /// Reduction by depth and ordinal, in 1024ths of a ply.
    pub reduction: i32,
}

impl Candidate {
    /// The piece on its destination square.
    pub fn square(&self) -> PieceSquare {
        PieceSquare::new(self.piece, self.m)
    }
}

/// Moves that were searched and are not the best, at most 32 noisy and 32 quiet ones.
#[derive(Default)]
pub struct SearchedMoves {
    pub quiets: ArrayVec<Candidate, 32>,
    pub noisy: ArrayVec<Candidate, 32>,
}

impl SearchedMoves {
    pub fn push(&mut self, c: &Candidate) {
        let list = if c.noisy { &mut self.noisy } else { &mut self.quiets };
        // Moves beyond a full list are dropped: later moves matter less.
        let _ = list.try_push(*c);
    }

    pub fn len(&self) -> i32 {
        (self.quiets.len() + self.noisy.len()) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::score::{TB_WIN, mate_in};
    use crate::search::tree::step::Exit;

    /// A node with an open window whose table entry has this score and bound.
    fn node(score: Value, bound: Bound) -> Node<Pv> {
        let entry = TableEntry { best: None, score, eval: NONE, depth: 1, bound, pv: false };
        Node { entry: Some(entry), tt_score: score, ..Node::new(100, score::MATE, 4, false) }
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
