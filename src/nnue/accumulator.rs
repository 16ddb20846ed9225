//! The accumulator stack: `reset`, `push`, `pop`, `evaluate`; laziness stays inside.

use std::sync::Arc;

use super::Network;
use crate::board::{DirtyPieces, Position};

/// One accumulator pair per ply, brought up to date only when evaluated.
pub struct AccumulatorStack {}

#[allow(unused_variables, missing_docs)]
impl AccumulatorStack {
    /// A stack for `network`, with the kernel that was chosen at start-up.
    pub fn new(network: Arc<Network>) -> Self {
        todo!()
    }
    /// Forgets everything: the next evaluation is of `position`, at the bottom of the stack.
    pub fn reset(&mut self) {
        todo!()
    }
    /// A move was made.
    #[inline]
    pub fn push(&mut self, dirty: &DirtyPieces) {
        todo!()
    }
    /// The last move was undone.
    #[inline]
    pub fn pop(&mut self) {
        todo!()
    }
    /// The raw output of the network for the side to move (the oracle tables' `raw_output`).
    pub fn evaluate(&mut self, position: &Position) -> i32 {
        todo!()
    }
}
