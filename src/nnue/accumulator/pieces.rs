//! The accumulators of nets without threat inputs.

use shakmaty::{Color, Role, Square};

use super::Accumulators;
use super::cache::RefreshCache;
use super::plies::Plies;
use super::sums::Sums;
use crate::board::DirtyPieces;
use crate::nnue::Board;
use crate::nnue::features::statics::StaticFeatures;
use crate::nnue::features::{IndexList, MAX_CHANGED};
use crate::nnue::network::Network;
use crate::nnue::rows::{Accumulator, Rows};
use crate::nnue::simd::Kernels;

/// The accumulators of every ply, for nets whose features are pieces on squares.
pub struct PieceAccumulators<F, const L1: usize, const P: usize> {
    sums: Sums<L1, P>,
    features: F,
    cache: RefreshCache<F, L1, P>,
}

impl<F: StaticFeatures, const L1: usize, const P: usize> Accumulators<L1, P> for PieceAccumulators<F, L1, P> {
    fn new(network: &Network) -> Self {
        let features = F::of(network.architecture().features);
        Self { sums: Sums::new(), features, cache: RefreshCache::new(features, network.transformer()) }
    }

    // Inlined into its caller, with its callees, and with separate arguments: in registers they cost half as much as
    // through a pointer, and this runs at every second node.
    #[inline(always)]
    fn update(
        &mut self,
        plies: &mut Plies,
        network: &Network,
        kernels: Kernels,
        board: &Board,
    ) -> [&Accumulator<L1, P>; 2] {
        self.sums.extend_to(plies);
        let rows = &network.transformer().rows();
        let bases = Color::ALL.map(|perspective| {
            let base = plies.base(perspective, |_, ply| is_incremental(self.features, perspective, &ply.dirty));
            if !base.is_computed {
                self.refresh(plies, rows, kernels, board, perspective, base.ply);
            }
            base.ply
        });
        self.apply_changes(plies, rows, kernels, board, bases);
        self.sums.both(plies.top, board.turn())
    }
}

impl<F: StaticFeatures, const L1: usize, const P: usize> PieceAccumulators<F, L1, P> {
    /// Computes one perspective of a ply from the cache.
    #[inline(always)]
    fn refresh(
        &mut self,
        plies: &mut Plies,
        rows: &Rows<'_, i16, L1, P>,
        kernels: Kernels,
        board: &Board,
        perspective: Color,
        ply: usize,
    ) {
        let board = plies.board_at(ply, board);
        self.cache.refresh(rows, kernels, &board, perspective, self.sums.at(ply, perspective));
        plies.stack[ply].computed[perspective as usize] = true;
    }

    /// Applies the changes of each ply from the perspectives' `bases` to the top.
    ///
    /// Stores every intermediate ply, because evaluations of its other children start from it.
    #[inline(always)]
    fn apply_changes(
        &mut self,
        plies: &mut Plies,
        rows: &Rows<'_, i16, L1, P>,
        kernels: Kernels,
        board: &Board,
        bases: [usize; 2],
    ) {
        let features = self.features;
        // Prefetches the rows of both perspectives before the first one is needed.
        let mut at_top = [const { ChangedFeatures::<MAX_CHANGED>::none() }; 2];
        for ((lists, perspective), base) in at_top.iter_mut().zip(Color::ALL).zip(bases) {
            if base < plies.top {
                lists.write(features, &plies.stack[plies.top].dirty, board.king(perspective), perspective);
                lists.prefetch(rows);
            }
        }
        for ((lists, perspective), base) in at_top.iter().zip(Color::ALL).zip(bases) {
            for ply in base + 1..=plies.top {
                let mut below = ChangedFeatures::none();
                let lists = if ply == plies.top {
                    lists
                } else {
                    below.write(features, &plies.stack[ply].dirty, board.king(perspective), perspective);
                    &below
                };
                let (from, to) = self.sums.step(ply, perspective);
                kernels.update(rows, from, to, &lists.added, &lists.removed);
                plies.stack[ply].computed[perspective as usize] = true;
            }
        }
    }
}

/// Whether the changes of a move's `dirty` pieces can be applied: the perspective's own king did not move, or it stayed
/// within its bucket and its half of the board.
#[inline(always)]
pub fn is_incremental<F: StaticFeatures>(features: F, perspective: Color, dirty: &DirtyPieces) -> bool {
    if dirty.king_moved() != Some(perspective) {
        return true;
    }
    match (dirty[0].from, dirty[0].to) {
        (Some(from), Some(to)) if F::SHARES_VIEWS => features.have_same_view(perspective, from, to),
        _ => false,
    }
}

/// The features that a move added and removed for one perspective, at most `N` each.
pub struct ChangedFeatures<const N: usize> {
    /// Features that were added.
    pub added: IndexList<N>,
    /// Features that were removed.
    pub removed: IndexList<N>,
}

impl<const N: usize> ChangedFeatures<N> {
    /// No change.
    pub const fn none() -> Self {
        Self { added: IndexList::new(), removed: IndexList::new() }
    }

    /// Removes all features.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.added.clear();
        self.removed.clear();
    }

    /// Prefetches the first cache line of each feature's row.
    #[inline(always)]
    pub fn prefetch<const L1: usize, const P: usize>(&self, rows: &Rows<'_, i16, L1, P>) {
        for list in [&self.added, &self.removed] {
            list.iter().for_each(|&feature| rows.prefetch(feature.into()));
        }
    }

    /// Appends the changed pieces on squares of a perspective whose king stands on `king`.
    // Writes in place, because a copy would read eight bytes at a time. Such a load stalls until the two-byte stores of
    // the indices have left the processor's store buffer.
    #[inline(always)]
    pub fn write<F: StaticFeatures>(&mut self, features: F, dirty: &DirtyPieces, king: Square, perspective: Color) {
        let set = features.set();
        let view = set.view(perspective, king);
        for change in dirty.iter() {
            if change.piece.role == Role::King && !set.has_kings() {
                continue;
            }
            if let Some(square) = change.to {
                self.added.push(set.index(view, perspective, change.piece, square));
            }
            if let Some(square) = change.from {
                self.removed.push(set.index(view, perspective, change.piece, square));
            }
        }
    }
}
