//! The search stack: the state of each ply of the current path.

use std::ops::{Index, IndexMut};

use crate::board::{Color, Move, Piece, Role};
use crate::search::ordering::correction::Keys;
use crate::search::ordering::history::MoveContext;
use crate::search::score::{self, MAX_PLY, Value};

/// Frames before the root, so that "six plies ago" always exists.
const BEFORE_ROOT: usize = 8;
/// Frames of a path, including the grandchildren of its deepest nodes.
const FRAMES: usize = BEFORE_ROOT + MAX_PLY + 4;

/// The frames of the path, indexed by plies from the current node: `stack[0]` is the node's own, `stack[-1]` that of
/// its parent, and `stack[1]` that of its children.
pub struct Stack {
    frames: Box<[Frame; FRAMES]>,
    ply: usize,
}

impl Stack {
    /// A stack at the root, with unused frames.
    pub fn new() -> Self {
        Self { frames: Box::new([Frame::EMPTY; FRAMES]), ply: 0 }
    }

    /// Returns to the root and clears all frames.
    pub fn clear(&mut self) {
        self.frames.fill(Frame::EMPTY);
        self.ply = 0;
    }

    /// Plies from the root to the current node.
    #[inline]
    pub fn ply(&self) -> usize {
        self.ply
    }

    /// Moves to a child of the current node.
    #[inline]
    pub fn push(&mut self) {
        self.ply += 1;
    }

    /// Returns to the parent.
    #[inline]
    pub fn pop(&mut self) {
        self.ply -= 1;
    }
}

impl Index<isize> for Stack {
    type Output = Frame;
    #[inline(always)]
    fn index(&self, plies: isize) -> &Frame {
        &self.frames[(self.ply + BEFORE_ROOT).wrapping_add_signed(plies)]
    }
}

impl IndexMut<isize> for Stack {
    #[inline(always)]
    fn index_mut(&mut self, plies: isize) -> &mut Frame {
        &mut self.frames[(self.ply + BEFORE_ROOT).wrapping_add_signed(plies)]
    }
}

/// One ply of the path from the root.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// The move made here; `None` for a null move and before the first move.
    pub current: Option<Move>,
    /// The piece that made `current`.
    pub piece: Piece,
    /// Whether `current` is noisy (capture or queen promotion).
    pub noisy: bool,
    /// Context of the continuation history for replies to `current`.
    pub context: MoveContext,
    /// Keys of the correction histories.
    pub keys: Keys,
    /// The move that this node must not search (singular extension).
    pub excluded: Option<Move>,
    /// Corrected static evaluation; in check, the one from two plies earlier.
    pub static_eval: Value,
    /// Whether the side to move is in check.
    pub in_check: bool,
    /// Whether the node is or was on a principal variation.
    pub tt_pv: bool,
    /// Whether the position was in the transposition table.
    pub tt_hit: bool,
    /// Ordinal of the current move.
    pub move_count: i32,
    /// Plies by which the current move is reduced; 0 if it is not.
    pub reduction: i32,
    /// History score of the current move.
    pub stat_score: i32,
    /// Number of cutoffs among the children of this node.
    pub cutoffs: i32,
}

impl Frame {
    /// An unused frame.
    pub const EMPTY: Self = Self {
        current: None,
        piece: Piece { color: Color::White, role: Role::Pawn },
        noisy: false,
        context: MoveContext::NONE,
        keys: Keys::NONE,
        excluded: None,
        static_eval: score::NONE,
        in_check: false,
        tt_pv: false,
        tt_hit: false,
        move_count: 0,
        reduction: 0,
        stat_score: 0,
        cutoffs: 0,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stack_is_indexed_by_plies_from_the_current_node() {
        let mut stack = Stack::new();
        stack[0].move_count = 10;
        stack.push();
        stack[0].move_count = 11;
        stack[1].move_count = 12;
        assert_eq!([stack[-1].move_count, stack[0].move_count, stack[1].move_count], [10, 11, 12]);
        assert_eq!(stack.ply(), 1);
        stack.pop();
        assert_eq!([stack[0].move_count, stack[1].move_count, stack[2].move_count], [10, 11, 12]);
        stack.clear();
        assert!((-8..=3).all(|plies| stack[plies].move_count == 0));
    }

    #[test]
    fn deepest_node_has_frames_before_the_root_and_after_its_children() {
        let mut stack = Stack::new();
        assert_eq!(stack[-(BEFORE_ROOT as isize)].current, None);
        (0..=MAX_PLY).for_each(|_| stack.push());
        stack[2].cutoffs = 1;
        assert_eq!(stack[2].cutoffs, 1);
    }
}
