//! The accumulators of every ply, and their update from the changes of the plies.

use shakmaty::{ByColor, Color, Role, Square};

use super::cache::RefreshCache;
use super::plies::{INITIAL_PLIES, Plies, Ply};
use crate::board::DirtyPieces;
use crate::nnue::Board;
use crate::nnue::features::threat_inputs::{self, ThreatInputChanges, ThreatInputList, ThreatInputSet};
use crate::nnue::features::{FeatureSet, IndexList, MAX_CHANGED};
use crate::nnue::network::Network;
use crate::nnue::rows::{Accumulator, Accumulators, AllRows, Changes, Rows};
use crate::nnue::simd::Kernels;

/// Both perspectives' accumulators of every ply.
pub struct PlyAccumulators {
    set: &'static FeatureSet,
    threat_inputs: ThreatInputSet,
    /// By ply and colour.
    sums: Accumulators,
    /// Contains only pieces on squares; threat inputs are added to copies.
    cache: RefreshCache,
    /// Buffers for the threat inputs that a ply changes, by perspective.
    changes: Box<[ThreatInputChanges; 2]>,
}

/// Index of an accumulator.
#[inline(always)]
fn index(ply: usize, perspective: Color) -> usize {
    2 * ply + perspective as usize
}

impl PlyAccumulators {
    /// Accumulators for `network`; none is computed.
    pub fn new(network: &Network) -> Self {
        let shape = network.architecture();
        let set = shape.features.set();
        Self {
            set,
            threat_inputs: shape.threat_inputs.set(),
            sums: Accumulators::zeroed(shape.l1, 2 * INITIAL_PLIES),
            cache: RefreshCache::new(set, network.transformer()),
            changes: Box::new([ThreatInputChanges::none(), ThreatInputChanges::none()]),
        }
    }

    /// Updates the accumulators at the top and returns them: the side to move's, then the other side's.
    #[inline(always)]
    pub fn update(
        &mut self,
        plies: &mut Plies,
        network: &Network,
        kernels: Kernels,
        board: &Board,
    ) -> [&Accumulator; 2] {
        if index(plies.top, Color::White) >= self.sums.len() {
            self.grow(plies);
        }
        if plies.records_attacks() {
            self.update_with_threat_inputs(plies, &network.transformer().all_rows(), kernels, board);
        } else {
            self.update_pieces(plies, &network.transformer().rows(), kernels, board);
        }
        let (own, other) = (index(plies.top, board.turn()), index(plies.top, !board.turn()));
        [self.sums.at(own), self.sums.at(other)]
    }

    #[cold]
    fn grow(&mut self, plies: &Plies) {
        self.sums.grow(2 * plies.stack.len());
    }

    /// Updates the top of a net without threat inputs.
    // Inlined into its caller, with its callees, and with separate arguments: in registers they cost half as much as
    // through a pointer, and this runs at every second node.
    #[inline(always)]
    fn update_pieces(&mut self, plies: &mut Plies, rows: &Rows<'_, i16>, kernels: Kernels, board: &Board) {
        let [first, second] = Color::ALL;
        let bases =
            [self.piece_base(plies, rows, kernels, board, first), self.piece_base(plies, rows, kernels, board, second)];
        self.apply_piece_changes(plies, rows, kernels, board, bases);
    }

    /// The ply from which a perspective's changes are applied; computes its sums if necessary.
    #[inline(always)]
    fn piece_base(
        &mut self,
        plies: &mut Plies,
        rows: &Rows<'_, i16>,
        kernels: Kernels,
        board: &Board,
        perspective: Color,
    ) -> usize {
        let base = plies.base(perspective, |_, ply| self.is_incremental(perspective, ply));
        if !base.is_computed {
            self.refresh_pieces(plies, rows, kernels, board, perspective, base.ply);
        }
        base.ply
    }

    /// Computes one perspective of a ply from the cache.
    fn refresh_pieces(
        &mut self,
        plies: &mut Plies,
        rows: &Rows<'_, i16>,
        kernels: Kernels,
        board: &Board,
        perspective: Color,
        ply: usize,
    ) {
        let board = plies.board_at(ply, board);
        let sums = self.sums.at_mut(index(ply, perspective));
        self.cache.refresh(rows, kernels, &board, perspective, sums);
        plies.stack[ply].computed[perspective as usize] = true;
    }

    /// Whether the changes of a ply can be applied in a net without threat inputs: the perspective's own king did not
    /// move, or it stayed within its bucket and its half of the board.
    #[inline(always)]
    fn is_incremental(&self, perspective: Color, ply: &Ply) -> bool {
        if ply.dirty.king_moved() != Some(perspective) {
            return true;
        }
        match (ply.dirty[0].from, ply.dirty[0].to) {
            (Some(from), Some(to)) => self.set.view(perspective, from) == self.set.view(perspective, to),
            _ => false,
        }
    }

    /// Applies the changes of each ply from the perspectives' `bases` to the top.
    ///
    /// Stores every intermediate ply, because evaluations of its other children start from it.
    #[inline(always)]
    fn apply_piece_changes(
        &mut self,
        plies: &mut Plies,
        rows: &Rows<'_, i16>,
        kernels: Kernels,
        board: &Board,
        bases: [usize; 2],
    ) {
        // Prefetches the rows of both perspectives before the first one is needed.
        let mut at_top = [const { ChangedFeatures::none() }; 2];
        for ((lists, perspective), base) in at_top.iter_mut().zip(Color::ALL).zip(bases) {
            if base < plies.top {
                lists.write(self.set, &plies.stack[plies.top].dirty, board.king(perspective), perspective);
                lists.prefetch(rows);
            }
        }
        for ((lists, perspective), base) in at_top.iter().zip(Color::ALL).zip(bases) {
            for ply in base + 1..=plies.top {
                let mut below = ChangedFeatures::none();
                let lists = if ply == plies.top {
                    lists
                } else {
                    below.write(self.set, &plies.stack[ply].dirty, board.king(perspective), perspective);
                    &below
                };
                let (from, to) = self.sums.step(index(ply - 1, perspective), index(ply, perspective));
                kernels.update(rows, from, to, &lists.added, &lists.removed);
                plies.stack[ply].computed[perspective as usize] = true;
            }
        }
    }

    /// Updates the top of a net with threat inputs. Not inlined, so that other nets do not pay for its registers.
    #[inline(never)]
    fn update_with_threat_inputs(&mut self, plies: &mut Plies, rows: &AllRows<'_>, kernels: Kernels, board: &Board) {
        let bases = Color::ALL.map(|perspective| {
            let base = plies
                .base(perspective, |number, ply| plies.is_recorded(number) && stays_in_half(perspective, &ply.dirty));
            if !base.is_computed {
                self.refresh_with_threat_inputs(plies, rows, kernels, board, perspective, base.ply);
            }
            base.ply
        });
        if bases[0] == bases[1] {
            self.apply_all_changes(plies, rows, kernels, board, Color::ALL, bases[0]);
        } else {
            for (perspective, base) in Color::ALL.into_iter().zip(bases) {
                self.apply_all_changes(plies, rows, kernels, board, [perspective], base);
            }
        }
    }

    /// Computes one perspective of a ply from the cache and the active threat inputs.
    fn refresh_with_threat_inputs(
        &mut self,
        plies: &mut Plies,
        rows: &AllRows<'_>,
        kernels: Kernels,
        board: &Board,
        perspective: Color,
        ply: usize,
    ) {
        let board = plies.board_at(ply, board);
        let pieces = self.cache.pieces(&rows.pieces, kernels, &board, perspective);
        let mut active = ThreatInputList::new();
        self.threat_inputs.active(&board, perspective, |threat_input| active.push(threat_input));
        let changes = Changes { added: &[], removed: &[], threat_inputs_added: &active, threat_inputs_removed: &[] };
        kernels.update_all(rows, pieces, self.sums.at_mut(index(ply, perspective)), &changes);
        plies.stack[ply].computed[perspective as usize] = true;
    }

    /// Applies the changes of each ply from `base` to the top. The own king may move within its half of the board: then
    /// all features of pieces on squares change, but threat inputs depend only on the half.
    ///
    /// Stores every intermediate ply, because evaluations of its other children start from it.
    #[inline(always)]
    fn apply_all_changes<const N: usize>(
        &mut self,
        plies: &mut Plies,
        rows: &AllRows<'_>,
        kernels: Kernels,
        board: &Board,
        perspectives: [Color; N],
        base: usize,
    ) {
        let (set, threat_inputs) = (self.set, self.threat_inputs);
        let mut kings = perspectives.map(|color| plies.king_at(base, color, board.king(color)));
        let mut pawns = if threat_inputs.pawn_pairs { plies.pawns_at(base, board.pawns()) } else { ByColor::default() };
        for ply in base + 1..=plies.top {
            plies.list_attacks(ply);
            let dirty = &plies.stack[ply].dirty;
            let attacks = &*plies.deltas[ply].attacks;
            let views: [_; N] =
                std::array::from_fn(|n| threat_inputs::View { perspective: perspectives[n], king: kings[n] });
            // Prefetches the rows of both perspectives before the first one is needed: memory latency dominates.
            threat_inputs.changes(dirty, attacks, &mut pawns, views, &mut self.changes);
            for changes in self.changes.iter().take(N) {
                changes.added.iter().chain(&*changes.removed).for_each(|&input| rows.threat_inputs.prefetch(input));
            }
            let mut on_squares = [const { ChangedFeatures::none() }; N];
            for (n, lists) in on_squares.iter_mut().enumerate() {
                lists.write(set, dirty, kings[n], perspectives[n]);
                lists.prefetch(&rows.pieces);
            }
            for (n, &perspective) in perspectives.iter().enumerate() {
                let (from, to) = self.sums.step(index(ply - 1, perspective), index(ply, perspective));
                let ThreatInputChanges { added, removed } = &self.changes[n];
                let lists = &on_squares[n];
                let changes = Changes {
                    added: &lists.added,
                    removed: &lists.removed,
                    threat_inputs_added: added,
                    threat_inputs_removed: removed,
                };
                if dirty.king_moved() == Some(perspective) {
                    let boards = [plies.board_at(ply - 1, board), plies.board_at(ply, board)];
                    kings[n] = dirty[0].to.unwrap_or(kings[n]);
                    let moved = self.cache.move_king(&rows.pieces, kernels, from, &boards, perspective);
                    kernels.update_all(rows, moved, to, &Changes { added: &[], removed: &[], ..changes });
                } else {
                    kernels.update_all(rows, from, to, &changes);
                }
            }
            for perspective in perspectives {
                plies.stack[ply].computed[perspective as usize] = true;
            }
        }
    }
}

/// The features of pieces on squares that a move added and removed for one perspective.
struct ChangedFeatures {
    /// Features that were added.
    added: IndexList<MAX_CHANGED>,
    /// Features that were removed.
    removed: IndexList<MAX_CHANGED>,
}

impl ChangedFeatures {
    /// No change.
    const fn none() -> Self {
        Self { added: IndexList::new(), removed: IndexList::new() }
    }

    /// Prefetches the first cache line of each feature's row.
    #[inline(always)]
    fn prefetch(&self, rows: &Rows<'_, i16>) {
        for list in [&self.added, &self.removed] {
            list.iter().for_each(|&feature| rows.prefetch(feature.into()));
        }
    }

    /// Appends the changed features of a perspective whose king stands on `king`.
    // Writes in place, because a copy would read eight bytes at a time. Such a load stalls until the two-byte stores of
    // the indices have left the processor's store buffer.
    #[inline(always)]
    fn write(&mut self, set: &FeatureSet, dirty: &DirtyPieces, king: Square, perspective: Color) {
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

/// Whether the perspective's own king did not move, or stayed within the files a to d or within e to h.
#[inline]
fn stays_in_half(perspective: Color, dirty: &DirtyPieces) -> bool {
    let half = |square: Option<Square>| square.map(|square| square as u32 & 4);
    dirty.king_moved() != Some(perspective) || half(dirty[0].from) == half(dirty[0].to)
}
