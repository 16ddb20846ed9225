//! The accumulators of nets with threat inputs.

use std::marker::PhantomData;

use shakmaty::{ByColor, Color, Square};

use super::Accumulators;
use super::cache::RefreshCache;
use super::pieces::ChangedFeatures;
use super::plies::Plies;
use super::sums::Sums;
use crate::board::DirtyPieces;
use crate::nnue::Board;
use crate::nnue::features::MAX_CHANGED;
use crate::nnue::features::statics::StaticFeatures;
use crate::nnue::features::threat_inputs::{SomeThreatInputs, ThreatInputChanges, ThreatInputList, View};
use crate::nnue::network::Network;
use crate::nnue::rows::{Accumulator, AllRows, Changes};
use crate::nnue::simd::Kernels;

/// The accumulators of every ply, for nets with the features `F` of pieces on squares and the threat inputs `T`.
pub struct ThreatAccumulators<F, T, const L1: usize, const P: usize> {
    sums: Sums<L1, P>,
    features: F,
    /// Contains only pieces on squares; threat inputs are added to copies.
    cache: RefreshCache<F, L1, P>,
    /// Buffers for the threat inputs that a ply changes, by perspective.
    changes: [ThreatInputChanges; 2],
    threat_inputs: PhantomData<T>,
}

impl<F, T, const L1: usize, const P: usize> Accumulators<L1, P> for ThreatAccumulators<F, T, L1, P>
where
    F: StaticFeatures,
    T: SomeThreatInputs,
{
    fn new(network: &Network) -> Self {
        let features = F::of(network.architecture().features);
        Self {
            sums: Sums::new(),
            features,
            cache: RefreshCache::new(features, network.transformer()),
            changes: [ThreatInputChanges::none(), ThreatInputChanges::none()],
            threat_inputs: PhantomData,
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
        let rows = &network.transformer().all_rows();
        let bases = Color::ALL.map(|perspective| {
            let base = plies
                .base(perspective, |number, ply| plies.is_recorded(number) && stays_in_half(perspective, &ply.dirty));
            if !base.is_computed {
                self.refresh(plies, rows, kernels, board, perspective, base.ply);
            }
            base.ply
        });
        if bases[0] == bases[1] {
            self.apply_changes(plies, rows, kernels, board, Color::ALL, bases[0]);
        } else {
            for (perspective, base) in Color::ALL.into_iter().zip(bases) {
                self.apply_changes(plies, rows, kernels, board, [perspective], base);
            }
        }
        self.sums.both(plies.top, board.turn())
    }
}

impl<F: StaticFeatures, T: SomeThreatInputs, const L1: usize, const P: usize> ThreatAccumulators<F, T, L1, P> {
    /// Computes one perspective of a ply from the cache and the active threat inputs.
    fn refresh(
        &mut self,
        plies: &mut Plies,
        rows: &AllRows<'_, L1, P>,
        kernels: Kernels,
        board: &Board,
        perspective: Color,
        ply: usize,
    ) {
        let board = plies.board_at(ply, board);
        let pieces = self.cache.pieces(&rows.pieces, kernels, &board, perspective);
        let mut active = ThreatInputList::new();
        T::SET.active(&board, perspective, |threat_input| active.push(threat_input));
        let changes = Changes { added: &[], removed: &[], threat_inputs_added: &active, threat_inputs_removed: &[] };
        kernels.update_all(rows, pieces, self.sums.at(ply, perspective), &changes);
        plies.stack[ply].computed[perspective as usize] = true;
    }

    /// Applies the changes of each ply from `base` to the top. The own king may move within its half of the board: then
    /// all features of pieces on squares change, but threat inputs depend only on the half.
    ///
    /// Stores every intermediate ply, because evaluations of its other children start from it.
    #[inline(always)]
    fn apply_changes<const N: usize>(
        &mut self,
        plies: &mut Plies,
        rows: &AllRows<'_, L1, P>,
        kernels: Kernels,
        board: &Board,
        perspectives: [Color; N],
        base: usize,
    ) {
        let mut kings = perspectives.map(|color| plies.king_at(base, color, board.king(color)));
        let mut pawns = if T::SET.pawn_pairs { plies.pawns_at(base, board.pawns()) } else { ByColor::default() };
        for ply in base + 1..=plies.top {
            plies.list_attacks(ply);
            let dirty = &plies.stack[ply].dirty;
            let attacks = &*plies.deltas[ply].attacks;
            let views: [_; N] = std::array::from_fn(|n| View { perspective: perspectives[n], king: kings[n] });
            // Prefetches the rows of both perspectives before the first one is needed: memory latency dominates.
            T::SET.changes(dirty, attacks, &mut pawns, views, &mut self.changes);
            self.changes.iter().take(N).for_each(|changes| changes.prefetch(&rows.threat_inputs));
            let mut on_squares = [const { ChangedFeatures::<MAX_CHANGED>::none() }; N];
            for (lists, View { perspective, king }) in on_squares.iter_mut().zip(views) {
                lists.write(self.features, dirty, king, perspective);
                lists.prefetch(&rows.pieces);
            }
            for (n, &perspective) in perspectives.iter().enumerate() {
                let (from, to) = self.sums.step(ply, perspective);
                let threat_inputs = &self.changes[n];
                if dirty.king_moved() == Some(perspective) {
                    let boards = [plies.board_at(ply - 1, board), plies.board_at(ply, board)];
                    kings[n] = dirty[0].to.unwrap_or(kings[n]);
                    let moved = self.cache.move_king(&rows.pieces, kernels, from, &boards, perspective);
                    kernels.update_all(rows, moved, to, &threat_inputs.with_pieces(&[], &[]));
                } else {
                    let ChangedFeatures { added, removed } = &on_squares[n];
                    kernels.update_all(rows, from, to, &threat_inputs.with_pieces(added, removed));
                }
            }
            for perspective in perspectives {
                plies.stack[ply].computed[perspective as usize] = true;
            }
        }
    }
}

/// Whether the perspective's own king did not move, or stayed within the files a to d or within e to h.
#[inline]
fn stays_in_half(perspective: Color, dirty: &DirtyPieces) -> bool {
    let half = |square: Option<Square>| square.map(|square| square as u32 & 4);
    dirty.king_moved() != Some(perspective) || half(dirty[0].from) == half(dirty[0].to)
}
