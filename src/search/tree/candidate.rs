//! The moves of a node: the current one, and those searched before it.

use arrayvec::ArrayVec;

use crate::board::{Move, Piece, Role};
use crate::search::ordering::history::piece_square;

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
    /// Depth left after the move, without extension and reduction.
    pub depth: i32,
    /// Reduction by depth and ordinal, in 1024ths of a ply.
    pub reduction: i32,
}

impl Candidate {
    /// Index of the piece on its destination square.
    pub fn square(&self) -> usize {
        piece_square(self.piece, self.m)
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
