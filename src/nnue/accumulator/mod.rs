//! The accumulator stack: `reset`, `push`, `pop`, `evaluate`. Updates are lazy.
//!
//! A push only records the changes ([`plies`]); nets with threat inputs require moves to be made through the stack. An
//! evaluation searches backwards for the nearest ply with computed sums and applies the recorded changes from there
//! ([`stack`]). If the perspective's own king moved in between, every feature changed: the refresh cache ([`cache`])
//! then rebuilds the ply of that move, and later evaluations start from this ply. [`sized`] selects the stack type for
//! the size of a net, and [`update`] the update kernel.
// CITE: lazy accumulators over the plies of a line: Stockfish (2020).

mod cache;
mod plies;
mod sized;
mod stack;
mod update;

use std::sync::Arc;

use plies::Plies;
use sized::SizedStack;

use super::board::Board;
use super::network::Network;
use super::output::NetOutput;
use super::simd::{Kernel, Kernels};
use crate::board::{DirtyPieces, Move, Position};

/// Stack of one accumulator pair per ply, updated only on evaluation.
pub struct AccumulatorStack {
    network: Arc<Network>,
    kernels: Kernels,
    plies: Plies,
    sums: SizedStack,
}

impl AccumulatorStack {
    /// A stack for `network` with the process's kernel, [`Kernel::active`].
    pub fn new(network: Arc<Network>) -> Self {
        Self::with_kernels(network, Kernels::active())
    }

    /// A stack with a given kernel, for tests and measurements.
    ///
    /// # Panics
    /// If this processor does not support the kernel; see [`Kernel::is_available`].
    pub fn with_kernel(network: Arc<Network>, kernel: Kernel) -> Self {
        let kernels = Kernels::new(kernel);
        Self::with_kernels(network, kernels.expect("the processor supports the kernel"))
    }

    fn with_kernels(network: Arc<Network>, kernels: Kernels) -> Self {
        Self {
            kernels,
            plies: Plies::new(network.architecture().threat_inputs.set().kinds()),
            sums: SizedStack::new(&network),
            network,
        }
    }

    /// Clears the stack: the next evaluation computes its board without reference to earlier ones.
    pub fn reset(&mut self) {
        // The refresh cache stays valid, because it depends only on the network.
        self.plies.reset();
    }

    /// Records a move that was made. Null moves change no piece, so they are neither pushed nor popped.
    #[inline]
    pub fn push(&mut self, dirty: &DirtyPieces) {
        self.plies.push(dirty);
    }

    /// Makes a legal move on `position` and pushes it. For nets with threat inputs, only this method records the
    /// changed attacks; after a [`Self::push`] the next evaluation recomputes the whole board.
    #[inline]
    pub fn make(&mut self, position: &mut Position, m: Move) {
        self.plies.make(position, m);
    }

    /// Removes the last move.
    #[inline]
    pub fn pop(&mut self) {
        self.plies.pop();
    }

    /// Evaluates `board` from the side to move's point of view. A search uses [`NetOutput::value`].
    ///
    /// `board` must be the position that results from the pushes since the last [`Self::reset`].
    #[inline]
    pub fn evaluate(&mut self, board: impl Into<Board>) -> NetOutput {
        let (plies, network) = (&mut self.plies, &*self.network);
        self.sums.evaluate(plies, network, self.kernels, &board.into())
    }
}
