//! The accumulator stack: `reset`, `push`, `pop`, `evaluate`. Updates are lazy.
//!
//! A push only records the changes ([`plies`]). Nets with threat or attack inputs require moves to be made through the
//! stack. An evaluation has four steps:
//!
//! 1. find: for each perspective, search backwards for the nearest ply with computed sums ([`Plies::base`])
//! 2. refresh: if the perspective's own king moved in between, every feature changed; compute the ply of that move from
//!    the refresh cache, so that later evaluations start from it
//! 3. forward: apply the recorded changes of each ply up to the top
//! 4. evaluate: run the dense layers
//!
//! [`update`] has steps 1 to 3 and calls the kernels.
// CITE: lazy accumulators over the plies of a line: Stockfish (2020).

mod plies;
mod update;

use std::sync::Arc;

use plies::Plies;
use update::PlyAccumulators;

use super::board::Board;
use super::network::Network;
use super::rows::PSQT;
use super::simd::{Kernel, Kernels};
use crate::board::{DirtyPieces, Move, Position};

/// Stack of one accumulator pair per ply, updated only on evaluation.
pub struct AccumulatorStack {
    network: Arc<Network>,
    kernels: Kernels,
    plies: Plies,
    accumulators: PlyAccumulators,
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
            plies: Plies::new(network.architecture().attack_kinds()),
            accumulators: PlyAccumulators::new(&network),
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

    /// Makes a legal move on `position` and pushes it. For nets with threat or attack inputs, only this method records
    /// the changed attacks; after a [`Self::push`] the next evaluation recomputes the whole board.
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
        self.evaluate_board(&board.into())
    }

    // One function that inlines everything except the kernels. Not inlined into the search, where it would increase
    // register pressure.
    #[inline(never)]
    fn evaluate_board(&mut self, board: &Board) -> NetOutput {
        let Self { network, kernels, plies, accumulators } = self;
        let [own, other] = accumulators.update(plies, network, *kernels, board);
        let shape = network.architecture();
        let bucket = shape.bucket(board.count());
        let head = &network.heads()[bucket];
        // Nets with more stacks than this have no piece-square values.
        let column = bucket % PSQT;
        let psqt = own.psqt()[column].wrapping_sub(other.psqt()[column]) / 2;
        let positional = kernels.forward(shape, head, own.neurons(), other.neurons());
        NetOutput { psqt, positional, bucket }
    }
}

/// Divides a raw network output into engine units (Stockfish's internal units).
const OUTPUT_SCALE: i32 = 16;

/// The network's evaluation of a position, from the side to move's point of view.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct NetOutput {
    /// The piece-square part; 0 for networks without one.
    pub psqt: i32,
    /// The output of the dense layers.
    pub positional: i32,
    /// Index of the layer stack that was used; 0 for networks with one stack.
    pub bucket: usize,
}

impl NetOutput {
    /// The sum of both parts, in sixteenths of engine units.
    #[inline]
    pub fn raw(self) -> i32 {
        self.psqt.wrapping_add(self.positional)
    }

    /// The value in engine units (Stockfish's internal units): the sum of the parts divided by 16 and truncated once,
    /// as in the engine that the network was made for. Newer engines (of SFNNv10 and SFNNv16) truncate each part before
    /// the addition. Their value differs by one unit where the remainders add up to a unit or have opposite signs.
    #[inline]
    pub fn value(self) -> i32 {
        self.raw() / OUTPUT_SCALE
    }
}
