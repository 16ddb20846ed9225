//! The plies of the current line: what each changed, and what is known of it. Apart from the sums, so that a push
//! touches a few bytes only.

use shakmaty::Color;

use crate::board::DirtyPieces;

/// Plies that a new stack has room for; a longer line only costs an allocation.
pub(super) const INITIAL_PLIES: usize = 272;

/// How a ply differs from the one before, and whose sums are up to date.
#[derive(Clone)]
pub(super) struct Ply {
    pub dirty: DirtyPieces,
    pub computed: [bool; 2],
}

impl Ply {
    #[inline]
    fn new(dirty: DirtyPieces) -> Self {
        Self {
            dirty,
            computed: [false; 2],
        }
    }
}

/// The plies from the last reset to the position on the board.
pub(super) struct Plies {
    pub stack: Vec<Ply>,
    pub top: usize,
}

impl Plies {
    pub fn new() -> Self {
        Self {
            stack: vec![Ply::new(DirtyPieces::none()); INITIAL_PLIES],
            top: 0,
        }
    }

    pub fn reset(&mut self) {
        self.top = 0;
        self.stack[0] = Ply::new(DirtyPieces::none());
    }

    #[inline]
    pub fn push(&mut self, dirty: &DirtyPieces) {
        self.top += 1;
        match self.stack.get_mut(self.top) {
            Some(ply) => *ply = Ply::new(*dirty),
            None => self.stack.push(Ply::new(*dirty)),
        }
    }

    #[inline]
    pub fn pop(&mut self) {
        debug_assert!(self.top > 0, "a pop without a push");
        self.top = self.top.saturating_sub(1);
    }

    /// The nearest ply from which the recorded changes lead to the top.
    #[inline]
    pub fn nearest_computed(&self, perspective: Color) -> Option<usize> {
        let mut ply = self.top;
        loop {
            let here = &self.stack[ply];
            if here.computed[perspective as usize] {
                return Some(ply);
            }
            if ply == 0 || here.dirty.king_moved() == Some(perspective) {
                return None;
            }
            ply -= 1;
        }
    }
}
