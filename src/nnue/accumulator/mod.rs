//! The accumulator stack: `reset`, `push`, `pop`, `evaluate`. Updates are lazy.
//!
//! A push only records the changes ([`plies`]). Nets with threat or attack inputs require moves to be made through the
//! stack. An evaluation has four steps:
//!
//! 1. find: for each perspective, search backwards for the nearest ply with computed sums ([`Plies::base`])
//! 2. refresh: if the perspective's own king moved in between, every feature changed; compute the ply of that move from
//!    the refresh cache ([`cache`]), so that later evaluations start from it
//! 3. forward: apply the recorded changes of each ply up to the top
//! 4. evaluate: run the dense layers
//!
//! [`pieces`] has steps 1 to 3 for nets with pieces on squares only, [`attacks`] for nets that also have attack inputs,
//! [`threats`] for nets with threat inputs. All store their results in [`sums`] and call the kernels.
// CITE: lazy accumulators over the plies of a line: Stockfish (2020).

mod attacks;
mod cache;
mod pieces;
mod plies;
mod sums;
mod threats;

use std::marker::PhantomData;
use std::sync::Arc;

use attacks::AttackAccumulators;
use pieces::PieceAccumulators;
use plies::Plies;
use threats::ThreatAccumulators;

use super::architecture::{CompiledNet, KindVisitor};
use super::board::Board;
use super::features::attack_inputs::AttackInputs;
use super::features::statics::StaticFeatures;
use super::features::threat_inputs::{SomeThreatInputs, StaticThreatInputs, types};
use super::network::Network;
use super::output::NetOutput;
use super::rows::Accumulator;
use super::simd::{Kernel, Kernels};
use crate::board::{DirtyPieces, Move, Position};

/// Stack of one accumulator pair per ply, updated only on evaluation.
pub struct AccumulatorStack {
    network: Arc<Network>,
    kernels: Kernels,
    plies: Plies,
    evaluator: Box<dyn Evaluate>,
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
        let architecture = network.architecture();
        Self {
            kernels,
            plies: Plies::new(architecture.attack_kinds()),
            evaluator: architecture.kind().visit(NewEvaluator(&network)),
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
        self.evaluator.evaluate(&mut self.plies, &self.network, self.kernels, &board.into())
    }
}

/// Evaluation for one kind of net.
trait Evaluate: Send + Sync {
    /// Updates the accumulators at the top of the line and runs the dense layers.
    fn evaluate(&mut self, plies: &mut Plies, network: &Network, kernels: Kernels, board: &Board) -> NetOutput;
}

/// The accumulators of every ply, for one set of features and one size.
pub trait Accumulators<const L1: usize, const P: usize>: Send + Sync {
    /// Accumulators for `network`; none is computed.
    fn new(network: &Network) -> Self;

    /// Updates the accumulators at the top and returns them: the side to move's, then the other side's.
    fn update(
        &mut self,
        plies: &mut Plies,
        network: &Network,
        kernels: Kernels,
        board: &Board,
    ) -> [&Accumulator<L1, P>; 2];
}

/// Threat inputs with the type of the accumulators.
pub trait Accumulated: StaticThreatInputs {
    /// The accumulators of nets with these threat inputs.
    type Accumulators<F: StaticFeatures, const L1: usize, const P: usize>: Accumulators<L1, P> + 'static;

    /// The accumulators of nets that also have attack inputs.
    type WithAttacks<F: StaticFeatures, const L1: usize, const P: usize>: Accumulators<L1, P> + 'static;
}

impl Accumulated for types::None {
    type Accumulators<F: StaticFeatures, const L1: usize, const P: usize> = PieceAccumulators<F, L1, P>;
    type WithAttacks<F: StaticFeatures, const L1: usize, const P: usize> = AttackAccumulators<F, L1, P>;
}

impl<T: SomeThreatInputs> Accumulated for T {
    type Accumulators<F: StaticFeatures, const L1: usize, const P: usize> = ThreatAccumulators<F, T, L1, P>;
    // No architecture has both threat and attack inputs.
    type WithAttacks<F: StaticFeatures, const L1: usize, const P: usize> = Self::Accumulators<F, L1, P>;
}

/// Creates the evaluator for the kind of a network.
struct NewEvaluator<'a>(&'a Network);

impl KindVisitor for NewEvaluator<'_> {
    type Output = Box<dyn Evaluate>;

    fn visit<N: CompiledNet<L1, P>, const L1: usize, const P: usize>(self) -> Box<dyn Evaluate> {
        type Features<N, const L1: usize, const P: usize> = <N as CompiledNet<L1, P>>::Features;
        type Inputs<N, const L1: usize, const P: usize> = <N as CompiledNet<L1, P>>::ThreatInputs;
        type Plain<N, const L1: usize, const P: usize> =
            <Inputs<N, L1, P> as Accumulated>::Accumulators<Features<N, L1, P>, L1, P>;
        type WithAttacks<N, const L1: usize, const P: usize> =
            <Inputs<N, L1, P> as Accumulated>::WithAttacks<Features<N, L1, P>, L1, P>;
        match self.0.architecture().attacks {
            AttackInputs::None => evaluator::<N, Plain<N, L1, P>, L1, P>(self.0),
            AttackInputs::ToEnemy => evaluator::<N, WithAttacks<N, L1, P>, L1, P>(self.0),
        }
    }
}

fn evaluator<N, A, const L1: usize, const P: usize>(network: &Network) -> Box<dyn Evaluate>
where
    N: CompiledNet<L1, P>,
    A: Accumulators<L1, P> + 'static,
{
    Box::new(Evaluator::<N, A, L1, P> { accumulators: A::new(network), net: PhantomData })
}

/// The accumulators `A` and the layers of the net `N`.
struct Evaluator<N, A, const L1: usize, const P: usize> {
    accumulators: A,
    net: PhantomData<fn() -> N>,
}

impl<N, A, const L1: usize, const P: usize> Evaluate for Evaluator<N, A, L1, P>
where
    N: CompiledNet<L1, P>,
    A: Accumulators<L1, P>,
{
    // One function that inlines everything except the kernels. Not inlined into the search, where it would increase
    // register pressure.
    fn evaluate(&mut self, plies: &mut Plies, network: &Network, kernels: Kernels, board: &Board) -> NetOutput {
        let [own, other] = self.accumulators.update(plies, network, kernels, board);
        let shape = network.architecture();
        let bucket = shape.bucket(board.count());
        let head = &network.heads()[bucket];
        let psqt = match (own.psqt.get(bucket), other.psqt.get(bucket)) {
            (Some(own), Some(other)) => own.wrapping_sub(*other) / 2,
            _ => 0,
        };
        let positional = kernels.forward::<N::Layers, L1>(shape, head, &own.neurons, &other.neurons);
        NetOutput { psqt, positional, bucket }
    }
}
