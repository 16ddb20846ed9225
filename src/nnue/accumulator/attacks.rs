//! The accumulators of nets with attack inputs.

use arrayvec::ArrayVec;
use shakmaty::Color;

use super::Accumulators;
use super::cache::RefreshCache;
use super::pieces::{ChangedFeatures, is_incremental};
use super::plies::Plies;
use super::sums::Sums;
use crate::board::{AttackChange, DirtyPieces};
use crate::nnue::Board;
use crate::nnue::features::MAX_CHANGED;
use crate::nnue::features::attack_inputs::{AttackInputs, AttackView, MAX_ATTACKS};
use crate::nnue::features::statics::StaticFeatures;
use crate::nnue::network::Network;
use crate::nnue::rows::{Accumulator, ByteChanges, Rows};
use crate::nnue::simd::Kernels;
use crate::util::prefetch::prefetch;

/// Maximum number of attacks that one move adds or removes.
const MAX_CHANGED_ATTACKS: usize = 128;

/// The accumulators of every ply, for nets with the features `F` of pieces on squares and attack inputs, whose rows are
/// in the same table.
pub struct AttackAccumulators<F, const L1: usize, const P: usize> {
    sums: Sums<L1, P>,
    features: F,
    attacks: AttackInputs,
    cache: RefreshCache<F, L1, P>,
    /// Buffers for the rows that a ply changes, in the order of [`Color::ALL`].
    rows: [ChangedRows<MAX_CHANGED, MAX_CHANGED_ATTACKS>; 2],
}

impl<F: StaticFeatures, const L1: usize, const P: usize> Accumulators<L1, P> for AttackAccumulators<F, L1, P> {
    fn new(network: &Network) -> Self {
        let shape = network.architecture();
        let features = F::of(shape.features);
        Self {
            sums: Sums::new(),
            features,
            attacks: shape.attacks,
            cache: RefreshCache::new(features, network.transformer()),
            rows: [const { ChangedRows::none() }; 2],
        }
    }

    fn update(
        &mut self,
        plies: &mut Plies,
        network: &Network,
        kernels: Kernels,
        board: &Board,
    ) -> [&Accumulator<L1, P>; 2] {
        self.sums.extend_to(plies);
        let rows = &AttackRows::of(network);
        let bases = Color::ALL.map(|perspective| {
            let base = plies.base(perspective, |number, ply| {
                plies.is_recorded(number) && is_incremental(self.features, perspective, &ply.dirty)
            });
            if !base.is_computed {
                self.refresh(plies, rows, kernels, board, perspective, base.ply);
            }
            base.ply
        });
        self.apply_changes(plies, rows, kernels, board, bases);
        self.sums.both(plies.top, board.turn())
    }
}

impl<F: StaticFeatures, const L1: usize, const P: usize> AttackAccumulators<F, L1, P> {
    /// The orientation of attacks for a perspective of a board.
    #[inline(always)]
    fn view(&self, board: &Board, perspective: Color) -> AttackView {
        AttackView::new(perspective, self.features.set().view(perspective, board.king(perspective)))
    }

    /// Computes one perspective of a ply from the cache and the attacks of its board.
    fn refresh(
        &mut self,
        plies: &mut Plies,
        rows: &AttackRows<'_, L1, P>,
        kernels: Kernels,
        board: &Board,
        perspective: Color,
        ply: usize,
    ) {
        let board = plies.board_at(ply, board);
        let view = self.view(&board, perspective);
        let mut active = ArrayVec::<u16, MAX_ATTACKS>::new();
        self.attacks.active(&board, [view], |[row]| active.push(rows.first + row));
        self.cache.refresh_with_attacks(rows, kernels, &board, perspective, &active, self.sums.at(ply, perspective));
        plies.stack[ply].computed[perspective as usize] = true;
    }

    /// Applies the changes of each ply from the perspectives' `bases` to the top, where no view changes.
    ///
    /// Stores every intermediate ply, because evaluations of its other children start from it.
    #[inline(always)]
    fn apply_changes(
        &mut self,
        plies: &mut Plies,
        rows: &AttackRows<'_, L1, P>,
        kernels: Kernels,
        board: &Board,
        bases: [usize; 2],
    ) {
        let lowest = bases[0].min(bases[1]);
        for ply in lowest + 1..=plies.top {
            plies.list_attacks(ply);
            self.list_rows(rows.first, &plies.stack[ply].dirty, &plies.deltas[ply].attacks, board);
            // Prefetches the rows of both perspectives before the first one is needed.
            for (changed, _) in self.rows.iter().zip(bases).filter(|&(_, base)| base < ply) {
                changed.prefetch(rows);
            }
            for ((changed, perspective), base) in self.rows.iter().zip(Color::ALL).zip(bases) {
                if base < ply {
                    let (from, to) = self.sums.step(ply, perspective);
                    rows.update(kernels, from, to, changed);
                    plies.stack[ply].computed[perspective as usize] = true;
                }
            }
        }
    }

    /// Lists the rows that a move changes for both perspectives: of its `dirty` pieces, and of the changed `attacks`,
    /// removed ones first.
    ///
    /// An attack that was removed and one that was added can have the same row, because a row does not depend on the
    /// attacker's square. Such rows are left out, for both perspectives alike.
    #[inline(always)]
    fn list_rows(&mut self, first: u16, dirty: &DirtyPieces, attacks: &[AttackChange], board: &Board) {
        let views = Color::ALL.map(|perspective| self.view(board, perspective));
        for (lists, perspective) in self.rows.iter_mut().zip(Color::ALL) {
            lists.attacks.clear();
            lists.pieces.clear();
            lists.pieces.write(self.features, dirty, board.king(perspective), perspective);
        }
        let [own, other] = self.rows.each_mut().map(|lists| &mut lists.attacks);
        for &attack in attacks {
            let [row, other_row] = views.map(|view| first + view.row(attack));
            if !attack.added() {
                own.removed.push(row);
                other.removed.push(other_row);
            } else if let Some(at) = own.removed.iter().position(|&removed| removed == row) {
                own.removed.swap_remove(at);
                other.removed.swap_remove(at);
            } else {
                own.added.push(row);
                other.added.push(other_row);
            }
        }
    }
}

/// The rows that a move changes for a perspective: those of pieces on squares and those of attack inputs, at most `N`
/// and `M` of them added and removed.
pub struct ChangedRows<const N: usize, const M: usize> {
    pub pieces: ChangedFeatures<N>,
    pub attacks: ChangedFeatures<M>,
}

impl<const N: usize, const M: usize> ChangedRows<N, M> {
    /// No change.
    pub const fn none() -> Self {
        Self { pieces: ChangedFeatures::none(), attacks: ChangedFeatures::none() }
    }

    /// Prefetches the beginning of each row.
    #[inline(always)]
    fn prefetch<const L1: usize, const P: usize>(&self, rows: &AttackRows<'_, L1, P>) {
        self.pieces.prefetch(&rows.all);
        let Some(bytes) = rows.bytes else {
            self.attacks.prefetch(&rows.all);
            return;
        };
        for &feature in self.attacks.added.iter().chain(self.attacks.removed.iter()) {
            if let Some(row) = bytes.get(usize::from(feature - rows.first)) {
                prefetch(row);
                rows.all.psqt(feature.into()).first().into_iter().for_each(prefetch);
            }
        }
    }
}

/// The rows of a net with attack inputs.
pub struct AttackRows<'a, const L1: usize, const P: usize> {
    all: Rows<'a, i16, L1, P>,
    /// The first row of attack inputs.
    first: u16,
    /// The rows of attack inputs as bytes, if they fit.
    bytes: Option<&'a [[i8; L1]]>,
}

impl<'a, const L1: usize, const P: usize> AttackRows<'a, L1, P> {
    #[inline(always)]
    fn of(network: &'a Network) -> Self {
        let transformer = network.transformer();
        let first = network.architecture().features.set().count() as u16;
        Self { all: transformer.rows(), first, bytes: transformer.attack_bytes() }
    }

    /// Writes `from` with the changed rows to `to`.
    #[inline(always)]
    pub fn update<const N: usize, const M: usize>(
        &self,
        kernels: Kernels,
        from: &Accumulator<L1, P>,
        to: &mut Accumulator<L1, P>,
        ChangedRows { pieces, attacks }: &ChangedRows<N, M>,
    ) {
        let Self { all, first, bytes } = self;
        let (added, removed) = (&attacks.added[..], &attacks.removed[..]);
        match *bytes {
            _ if added.is_empty() && removed.is_empty() => {
                kernels.update(all, from, to, &pieces.added, &pieces.removed);
            }
            Some(rows) => {
                let attacks = ByteChanges { rows, first: *first, added, removed };
                kernels.update_with_bytes(all, from, to, &pieces.added, &pieces.removed, &attacks);
            }
            None => {
                kernels.update(all, from, to, &pieces.added, &pieces.removed);
                let before = to.clone();
                kernels.update(all, &before, to, added, removed);
            }
        }
    }
}
