//! The accumulator stack: `reset`, `push`, `pop`, `evaluate`; laziness stays inside.
//!
//! A push only records what changed. An evaluation walks back to the nearest ply whose accumulator
//! is known and applies the recorded changes from there; if the perspective's own king moved on
//! the way, every feature changed, and the [refresh cache](super::cache) rebuilds it instead.

use std::sync::Arc;

use shakmaty::{Color, Role, Square};

use super::cache::RefreshCache;
use super::features::{FeatureSet, HalfKp, IndexList, MAX_CHANGED};
use super::simd::{Kernel, Kernels};
use super::{Architecture, BoardView, Network};
use crate::board::DirtyPieces;

/// Plies that a new stack has room for; a longer line only costs an allocation.
const INITIAL_PLIES: usize = 272;

/// Both perspectives' sums, white first.
#[derive(Clone)]
#[repr(C, align(64))]
pub(super) struct Accumulator<const L1: usize>(pub [[i16; L1]; 2]);

impl<const L1: usize> Accumulator<L1> {
    fn zeroed() -> Self {
        Self([[0; L1]; 2])
    }
}

/// What is known about a ply: how it differs from the one before, and whose sums are up to date.
#[derive(Clone)]
struct Ply {
    dirty: DirtyPieces,
    computed: [bool; 2],
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

/// One accumulator pair per ply, brought up to date only when evaluated.
pub struct AccumulatorStack {
    network: Arc<Network>,
    kernels: Kernels,
    stack: Stack<HalfKp, 256>,
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
        let stack = match network.architecture() {
            Architecture::HalfKp => Stack::new(&network),
        };
        Self {
            network,
            kernels,
            stack,
        }
    }

    /// The network that this stack evaluates.
    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// Forgets everything: the next evaluation is of `position`, at the bottom of the stack.
    pub fn reset(&mut self) {
        self.stack.reset();
    }

    /// A move was made. A null move changes no piece: push (and pop) nothing for it.
    #[inline]
    pub fn push(&mut self, dirty: &DirtyPieces) {
        self.stack.push(dirty);
    }

    /// The last move was undone.
    #[inline]
    pub fn pop(&mut self) {
        self.stack.pop();
    }

    /// The raw output of the network for the side to move (the oracle tables' `raw_output`).
    ///
    /// `board` must be the position that the pushes since the last [`Self::reset`] led to.
    #[inline]
    pub fn evaluate(&mut self, board: &impl BoardView) -> i32 {
        let [own, other] = self.stack.up_to_date(&self.network, self.kernels, board);
        self.kernels
            .forward::<256, 32, 32>(self.network.head(), own, other)
    }
}

/// The stack of one feature set and width.
struct Stack<F: FeatureSet, const L1: usize> {
    /// Apart from the sums, so that a push touches a few bytes only.
    plies: Vec<Ply>,
    sums: Vec<Accumulator<L1>>,
    top: usize,
    cache: RefreshCache<F, L1>,
}

impl<F: FeatureSet, const L1: usize> Stack<F, L1> {
    fn new(network: &Network) -> Self {
        Self {
            plies: vec![Ply::new(DirtyPieces::none()); INITIAL_PLIES],
            sums: vec![Accumulator::zeroed(); INITIAL_PLIES],
            top: 0,
            cache: RefreshCache::new(network.transformer()),
        }
    }

    fn reset(&mut self) {
        // The cache stays: it is true for any position of this network.
        self.top = 0;
        self.plies[0] = Ply::new(DirtyPieces::none());
    }

    #[inline]
    fn push(&mut self, dirty: &DirtyPieces) {
        self.top += 1;
        if self.top == self.plies.len() {
            self.grow();
        }
        self.plies[self.top] = Ply::new(*dirty);
    }

    #[cold]
    fn grow(&mut self) {
        let plies = 2 * self.plies.len();
        self.plies.resize(plies, Ply::new(DirtyPieces::none()));
        self.sums.resize(plies, Accumulator::zeroed());
    }

    #[inline]
    fn pop(&mut self) {
        debug_assert!(self.top > 0, "a pop without a push");
        self.top = self.top.saturating_sub(1);
    }

    /// The sums of the side to move and of the other side, at the top of the stack.
    #[inline]
    fn up_to_date(
        &mut self,
        network: &Network,
        kernels: Kernels,
        board: &impl BoardView,
    ) -> [&[i16; L1]; 2] {
        for perspective in [Color::White, Color::Black] {
            if !self.plies[self.top].computed[perspective as usize] {
                self.bring_up(network, kernels, board, perspective);
            }
        }
        let turn = board.turn();
        let sums = &self.sums[self.top].0;
        [&sums[turn as usize], &sums[turn.other() as usize]]
    }

    /// Computes one perspective at the top of the stack.
    fn bring_up(
        &mut self,
        network: &Network,
        kernels: Kernels,
        board: &impl BoardView,
        perspective: Color,
    ) {
        let rows = network.transformer().rows::<L1>();
        let p = perspective as usize;
        let king = board.king(perspective);
        match self.nearest_computed(perspective) {
            Some(base) => {
                // Every ply on the way is stored: its other children will start from it.
                for ply in base + 1..=self.top {
                    let (added, removed) = changes::<F>(&self.plies[ply].dirty, king, perspective);
                    let (before, after) = self.sums.split_at_mut(ply);
                    let (from, to) = (&before[ply - 1].0[p], &mut after[0].0[p]);
                    kernels.update(rows, from, to, &added, &removed);
                    self.plies[ply].computed[p] = true;
                }
            }
            None => {
                let to = &mut self.sums[self.top].0[p];
                self.cache.refresh(rows, kernels, board, perspective, to);
                self.plies[self.top].computed[p] = true;
            }
        }
    }

    /// The nearest ply from which the recorded changes lead to the top.
    #[inline]
    fn nearest_computed(&self, perspective: Color) -> Option<usize> {
        let mut ply = self.top;
        loop {
            let here = &self.plies[ply];
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

/// The features that a move added and removed, seen by a perspective whose king stands on `king`.
#[inline]
fn changes<F: FeatureSet>(
    dirty: &DirtyPieces,
    king: Square,
    perspective: Color,
) -> (IndexList<MAX_CHANGED>, IndexList<MAX_CHANGED>) {
    let (mut added, mut removed) = (IndexList::new(), IndexList::new());
    for change in dirty.iter() {
        if change.piece.role == Role::King && !F::KINGS {
            continue;
        }
        if let Some(square) = change.to {
            added.push(F::index(perspective, king, change.piece, square));
        }
        if let Some(square) = change.from {
            removed.push(F::index(perspective, king, change.piece, square));
        }
    }
    (added, removed)
}
