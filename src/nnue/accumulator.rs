//! The accumulator stack: `reset`, `push`, `pop`, `evaluate`; laziness stays inside.
//!
//! A push only records what changed. An evaluation walks back to the nearest ply whose accumulator
//! is known and applies the recorded changes from there; if the perspective's own king moved on
//! the way, every feature changed, and the [refresh cache](super::cache) rebuilds it instead.

use std::sync::Arc;

use shakmaty::{Color, Role, Square};

use super::cache::RefreshCache;
use super::features::{FeatureSet, IndexList, MAX_CHANGED};
use super::network::Network;
use super::simd::{Kernel, Kernels};
use super::sums::{AnySums, Context};
use super::transformer::Sums;
use super::{BoardView, OUTPUT_SCALE};
use crate::board::DirtyPieces;

/// Plies that a new stack has room for; a longer line only costs an allocation.
const INITIAL_PLIES: usize = 272;

/// What a network says about a position, from the view of the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Output {
    /// The piece-square part; 0 for networks without one.
    pub psqt: i32,
    /// The output of the dense layers.
    pub positional: i32,
    /// The stack of dense layers that spoke; 0 for networks with one.
    pub bucket: usize,
}

impl Output {
    /// Both parts together, in sixteenths of engine units.
    #[inline]
    pub fn raw(self) -> i32 {
        self.psqt.wrapping_add(self.positional)
    }

    /// The value in engine units (Stockfish's internal units), as the engine of the network used it.
    #[inline]
    pub fn value(self) -> i32 {
        self.raw() / OUTPUT_SCALE
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

/// The plies of the current line. Apart from the sums, so that a push touches a few bytes only.
pub(super) struct Line {
    plies: Vec<Ply>,
    top: usize,
}

impl Line {
    fn new() -> Self {
        Self {
            plies: vec![Ply::new(DirtyPieces::none()); INITIAL_PLIES],
            top: 0,
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

/// One accumulator pair per ply, brought up to date only when evaluated.
pub struct AccumulatorStack {
    network: Arc<Network>,
    kernels: Kernels,
    line: Line,
    sums: AnySums,
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
            line: Line::new(),
            sums: AnySums::new(&network),
            network,
        }
    }

    /// The network that this stack evaluates.
    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// Forgets everything: the next evaluation is of `position`, at the bottom of the stack.
    pub fn reset(&mut self) {
        // The refresh cache stays: it is true for any position of this network.
        self.line.top = 0;
        self.line.plies[0] = Ply::new(DirtyPieces::none());
    }

    /// A move was made. A null move changes no piece: push (and pop) nothing for it.
    #[inline]
    pub fn push(&mut self, dirty: &DirtyPieces) {
        let line = &mut self.line;
        line.top += 1;
        match line.plies.get_mut(line.top) {
            Some(ply) => *ply = Ply::new(*dirty),
            None => line.plies.push(Ply::new(*dirty)),
        }
    }

    /// The last move was undone.
    #[inline]
    pub fn pop(&mut self) {
        debug_assert!(self.line.top > 0, "a pop without a push");
        self.line.top = self.line.top.saturating_sub(1);
    }

    /// What the network says to the side to move: [`Output::value`] is what a search wants.
    ///
    /// `board` must be the position that the pushes since the last [`Self::reset`] led to.
    #[inline]
    pub fn evaluate(&mut self, board: &impl BoardView) -> Output {
        self.sums.evaluate(Context {
            line: &mut self.line,
            network: &self.network,
            kernels: self.kernels,
            board,
        })
    }
}

/// Both perspectives' sums of every ply, by colour, for one feature set and size.
pub(super) struct Stack<F: FeatureSet, const L1: usize, const P: usize> {
    plies: Vec<[Sums<L1, P>; 2]>,
    cache: RefreshCache<F, L1, P>,
}

impl<F: FeatureSet, const L1: usize, const P: usize> Stack<F, L1, P> {
    pub fn new(network: &Network) -> Self {
        Self {
            plies: vec![[Sums::zeroed(), Sums::zeroed()]; INITIAL_PLIES],
            cache: RefreshCache::new(network.transformer()),
        }
    }

    /// The sums of the side to move and of the other side, at the top of the line.
    #[inline]
    pub fn up_to_date(
        &mut self,
        line: &mut Line,
        network: &Network,
        kernels: Kernels,
        board: &impl BoardView,
    ) -> [&Sums<L1, P>; 2] {
        if line.top >= self.plies.len() {
            self.grow(line.plies.len());
        }
        for perspective in [Color::White, Color::Black] {
            if !line.plies[line.top].computed[perspective as usize] {
                self.bring_up(line, network, kernels, board, perspective);
            }
        }
        let turn = board.turn();
        let sums = &self.plies[line.top];
        [&sums[turn as usize], &sums[turn.other() as usize]]
    }

    #[cold]
    fn grow(&mut self, plies: usize) {
        self.plies.resize(plies, [Sums::zeroed(), Sums::zeroed()]);
    }

    /// Computes one perspective at the top of the line.
    fn bring_up(
        &mut self,
        line: &mut Line,
        network: &Network,
        kernels: Kernels,
        board: &impl BoardView,
        perspective: Color,
    ) {
        let rows = network.transformer().rows::<L1, P>();
        let p = perspective as usize;
        let king = board.king(perspective);
        match line.nearest_computed(perspective) {
            Some(base) => {
                // Every ply on the way is stored: its other children will start from it.
                for ply in base + 1..=line.top {
                    let (added, removed) = changes::<F>(&line.plies[ply].dirty, king, perspective);
                    let (before, after) = self.plies.split_at_mut(ply);
                    let (from, to) = (&before[ply - 1][p], &mut after[0][p]);
                    kernels.update(rows, from, to, &added, &removed);
                    line.plies[ply].computed[p] = true;
                }
            }
            None => {
                let to = &mut self.plies[line.top][p];
                self.cache.refresh(rows, kernels, board, perspective, to);
                line.plies[line.top].computed[p] = true;
            }
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
