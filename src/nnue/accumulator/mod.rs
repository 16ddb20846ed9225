//! The accumulator stack: `reset`, `push`, `pop`, `evaluate`; laziness stays inside.
//!
//! A push only records the changes ([`plies`]); nets with threat inputs require moves to be made through the stack. An
//! evaluation walks back to the nearest ply with computed sums and applies the recorded changes from there ([`stack`]).
//! If the perspective's own king moved in between, every feature changed: the refresh cache ([`cache`]) then rebuilds
//! the ply of that move, and later evaluations start from it. [`sized`] chooses the stack for the size of a net.
// CITE: lazy accumulators over the plies of a line: Stockfish (2020).

mod cache;
mod forward;
mod plies;
mod sized;
mod stack;
mod update;

use std::sync::Arc;

use plies::Plies;
use sized::SizedStack;

use super::BoardView;
use super::network::Network;
use super::output::NetOutput;
use super::simd::{Kernel, Kernels};
use crate::board::{DirtyPieces, Move, Position};

/// One accumulator pair per ply, brought up to date only when evaluated.
pub struct AccumulatorStack {
    network: Arc<Network>,
    kernels: Kernels,
    plies: Plies,
    sums: SizedStack,
}

impl AccumulatorStack {
    /// A stack for `network`, with the kernel that was chosen at start-up.
    pub fn new(network: Arc<Network>) -> Self {
        Self::with_kernels(network, Kernels::active())
    }

    /// A stack that uses a certain kernel, for tests and measurements.
    ///
    /// # Panics
    /// When this processor lacks the kernel; [`Kernel::is_available`] tells.
    pub fn with_kernel(network: Arc<Network>, kernel: Kernel) -> Self {
        let kernels = Kernels::new(kernel);
        Self::with_kernels(network, kernels.expect("this processor has the kernel"))
    }

    fn with_kernels(network: Arc<Network>, kernels: Kernels) -> Self {
        Self {
            kernels,
            plies: Plies::new(network.architecture().threat_inputs.set().kinds()),
            sums: SizedStack::new(&network),
            network,
        }
    }

    /// Forgets everything: the next evaluation is of `position`, at the bottom of the stack.
    pub fn reset(&mut self) {
        // The refresh cache stays: it is true for any position of this network.
        self.plies.reset();
    }

    /// A move was made. A null move changes no piece: push (and pop) nothing for it.
    #[inline]
    pub fn push(&mut self, dirty: &DirtyPieces) {
        self.plies.push(dirty);
    }

    /// Makes a legal move on `position` and pushes it. A net that sees attacks is told here, and only here, which of
    /// them the move changed: after a mere [`Self::push`] it looks at the whole board again.
    #[inline]
    pub fn make(&mut self, position: &mut Position, m: Move) {
        self.plies.make(position, m);
    }

    /// The last move was undone.
    #[inline]
    pub fn pop(&mut self) {
        self.plies.pop();
    }

    /// What the network says to the side to move: [`NetOutput::value`] is what a search wants.
    ///
    /// `board` must be the position that the pushes since the last [`Self::reset`] led to.
    #[inline]
    pub fn evaluate(&mut self, board: &impl BoardView) -> NetOutput {
        let (plies, network) = (&mut self.plies, &*self.network);
        self.sums.evaluate(plies, network, self.kernels, board)
    }
}
