//! The accumulators of every ply, for one feature set and size.

use shakmaty::{ByColor, Color, Role, Square};

use super::cache::RefreshCache;
use super::plies::{Base, INITIAL_PLIES, Plies};
use super::update::Update;
use crate::board::{DirtyPiece, DirtyPieces};
use crate::nnue::Board;
use crate::nnue::features::chosen::ChosenFeatures;
use crate::nnue::features::threat_inputs::ThreatInputChanges;
use crate::nnue::features::{IndexList, MAX_CHANGED};
use crate::nnue::network::Network;
use crate::nnue::rows::{Accumulator, AllRows};
use crate::nnue::simd::Kernels;

/// Both perspectives' accumulators of every ply.
pub(super) struct Stack<F, R, const L1: usize, const P: usize> {
    /// By ply and colour.
    accumulators: Vec<[Accumulator<L1, P>; 2]>,
    features: F,
    cache: RefreshCache<F, R, L1, P>,
    /// Buffers for the threat inputs that a ply changes, by perspective.
    changes: [ThreatInputChanges; 2],
}

impl<F: ChosenFeatures, R: Update, const L1: usize, const P: usize> Stack<F, R, L1, P> {
    /// A stack for `network` without computed accumulators.
    pub fn new(network: &Network) -> Self {
        let features = F::of(network.architecture().features);
        Self {
            features,
            accumulators: vec![[Accumulator::zeroed(), Accumulator::zeroed()]; INITIAL_PLIES],
            cache: RefreshCache::new(features, network.transformer()),
            changes: [ThreatInputChanges::none(), ThreatInputChanges::none()],
        }
    }

    /// Updates the accumulators at the top and returns them: the side to move's, then the other side's.
    // Inlined into its caller, with its callees, and with separate arguments: in registers they cost half as much as
    // through a pointer, and this runs at every second node.
    #[inline(always)]
    pub fn sums_at_top(
        &mut self,
        plies: &mut Plies,
        network: &Network,
        kernels: Kernels,
        board: &Board,
    ) -> [&Accumulator<L1, P>; 2] {
        let top = plies.top;
        if top >= self.accumulators.len() {
            self.grow(plies.stack.len());
        }
        let rows = &network.transformer().all_rows();
        if R::SET.is_any() {
            self.update_with_threat_inputs(plies, rows, kernels, board);
        } else {
            self.update_pieces(plies, rows, kernels, board);
        }
        let turn = board.turn();
        let sums = &self.accumulators[top];
        [&sums[turn as usize], &sums[turn.other() as usize]]
    }

    #[cold]
    fn grow(&mut self, plies: usize) {
        self.accumulators.resize(plies, [Accumulator::zeroed(), Accumulator::zeroed()]);
    }

    /// For each perspective, the ply from which the recorded changes are applied up to the top (see [`Plies::base`]).
    /// If no usable ply is computed, computes the lowest stale ply rather than the top, so that later evaluations start
    /// from it.
    // CITE: sums below the top for later evaluations: Stockfish (2025), which computes them backwards from the top.
    #[inline(always)]
    fn bases(
        &mut self,
        plies: &mut Plies,
        rows: &AllRows<'_, L1, P>,
        kernels: Kernels,
        board: &Board,
        is_incremental: impl Fn(Color, &DirtyPiece) -> bool,
    ) -> [usize; 2] {
        Color::ALL.map(|perspective| match plies.base(perspective, |king| is_incremental(perspective, king)) {
            Base::Computed(ply) => ply,
            Base::Lowest(ply) => {
                let board = plies.board_at(ply, board);
                let to = &mut self.accumulators[ply][perspective as usize];
                self.cache.refresh(rows, kernels, &board, perspective, to);
                plies.stack[ply].computed[perspective as usize] = true;
                ply
            }
        })
    }

    /// Updates both perspectives up to the top, for a net without threat inputs.
    #[inline(always)]
    fn update_pieces(&mut self, plies: &mut Plies, rows: &AllRows<'_, L1, P>, kernels: Kernels, board: &Board) {
        let features = self.features;
        let bases = self.bases(plies, rows, kernels, board, |perspective, king| {
            F::SHARES_VIEWS && keeps_view(features, perspective, king)
        });
        // Prefetches the rows of both perspectives before the first one is needed.
        let mut at_top = [const { ChangedFeatures::none() }; 2];
        for ((lists, perspective), base) in at_top.iter_mut().zip(Color::ALL).zip(bases) {
            if base < plies.top {
                let dirty = &plies.stack[plies.top].dirty;
                lists.write(features, dirty, board.king(perspective), perspective);
                lists.prefetch(rows);
            }
        }
        for ((lists, perspective), base) in at_top.iter().zip(Color::ALL).zip(bases) {
            let p = perspective as usize;
            // Stores every intermediate ply, because evaluations of its other children start from it.
            for ply in base + 1..=plies.top {
                let mut below = ChangedFeatures::none();
                let lists = if ply == plies.top {
                    lists
                } else {
                    let king = board.king(perspective);
                    below.write(features, &plies.stack[ply].dirty, king, perspective);
                    &below
                };
                let (before, after) = self.accumulators.split_at_mut(ply);
                let (from, to) = (&before[ply - 1][p], &mut after[0][p]);
                kernels.update(&rows.pieces, from, to, &lists.added, &lists.removed);
                plies.stack[ply].computed[p] = true;
            }
        }
    }

    /// Updates both perspectives up to the top, for a net with threat inputs.
    // Not inlined, so that other nets do not pay for it.
    #[inline(never)]
    fn update_with_threat_inputs(
        &mut self,
        plies: &mut Plies,
        rows: &AllRows<'_, L1, P>,
        kernels: Kernels,
        board: &Board,
    ) {
        let bases = self.bases(plies, rows, kernels, board, |_, king| stays_in_half(king));
        if bases[0] == bases[1] {
            self.apply_changes(plies, rows, kernels, board, (Color::ALL, bases[0]));
            return;
        }
        for (perspective, base) in Color::ALL.into_iter().zip(bases) {
            self.apply_changes(plies, rows, kernels, board, ([perspective], base));
        }
    }

    /// Applies the changes from `base` to the top, for a net with threat inputs. The own king may move within its half
    /// of the board: then all features of pieces on squares change, but threat inputs depend only on the half.
    ///
    /// Stores every intermediate ply, because evaluations of its other children start from it.
    #[inline(always)]
    fn apply_changes<const N: usize>(
        &mut self,
        plies: &mut Plies,
        rows: &AllRows<'_, L1, P>,
        kernels: Kernels,
        board: &Board,
        (perspectives, base): ([Color; N], usize),
    ) {
        let mut kings = perspectives.map(|color| plies.king_at(base, color, board.king(color)));
        let mut pawns = if R::SET.pawn_pairs { plies.pawns_at(base, board.pawns()) } else { ByColor::default() };
        for ply in base + 1..=plies.top {
            plies.list_attacks(ply);
            let dirty = &plies.stack[ply].dirty;
            let deltas = (dirty, &*plies.deltas[ply].attacks);
            let views: [_; N] = std::array::from_fn(|n| (perspectives[n], kings[n]));
            // Prefetches the rows of both perspectives before the first one is needed: memory latency dominates.
            R::SET.changes(deltas, &mut pawns, views, &mut self.changes);
            let threat_inputs = &self.changes;
            threat_inputs.iter().take(N).for_each(|changes| changes.prefetch(&rows.threat_inputs));
            let mut on_squares = [const { ChangedFeatures::none() }; N];
            for (lists, (color, king)) in on_squares.iter_mut().zip(views) {
                lists.write(self.features, dirty, king, color);
                lists.prefetch(rows);
            }
            for (n, &perspective) in perspectives.iter().enumerate() {
                let p = perspective as usize;
                let (before, after) = self.accumulators.split_at_mut(ply);
                let (from, to) = (&before[ply - 1][p], &mut after[0][p]);
                if dirty.king_moved() == Some(perspective) {
                    let boards = [plies.board_at(ply - 1, board), plies.board_at(ply, board)];
                    let squares = [kings[n], dirty[0].to.unwrap_or(kings[n])];
                    kings[n] = squares[1];
                    let cache = &mut self.cache;
                    let moved = cache.move_king(rows, kernels, from, boards, (perspective, squares));
                    R::update(kernels, rows, moved, to, &threat_inputs[n].with_pieces(&[], &[]));
                } else {
                    let ChangedFeatures { added, removed } = &on_squares[n];
                    R::update(kernels, rows, from, to, &threat_inputs[n].with_pieces(added, removed));
                }
            }
            for perspective in perspectives {
                plies.stack[ply].computed[perspective as usize] = true;
            }
        }
    }
}

/// Whether a king move stays within the files a to d or within e to h.
#[inline]
fn stays_in_half(king: &DirtyPiece) -> bool {
    let half = |square: Option<Square>| square.map(|square| square as u32 & 4);
    half(king.from) == half(king.to)
}

/// Whether a move of the perspective's own king stays within its bucket and its half of the board.
#[inline]
fn keeps_view<F: ChosenFeatures>(features: F, perspective: Color, king: &DirtyPiece) -> bool {
    match (king.from, king.to) {
        (Some(from), Some(to)) => features.have_same_view(perspective, from, to),
        _ => false,
    }
}

/// The features that a move added and removed for one perspective.
struct ChangedFeatures {
    added: IndexList<MAX_CHANGED>,
    removed: IndexList<MAX_CHANGED>,
}

impl ChangedFeatures {
    const fn none() -> Self {
        Self { added: IndexList::new(), removed: IndexList::new() }
    }

    /// Prefetches the first cache line of each feature's row.
    #[inline(always)]
    fn prefetch<const L1: usize, const P: usize>(&self, rows: &AllRows<'_, L1, P>) {
        for list in [&self.added, &self.removed] {
            list.iter().for_each(|&feature| rows.pieces.prefetch(feature.into()));
        }
    }

    /// Appends the changed features of a perspective whose king stands on `king`.
    // Writes in place, because a copy would read eight bytes at a time. Such a load stalls until the two-byte stores of
    // the indices have left the processor's store buffer.
    #[inline(always)]
    fn write<F: ChosenFeatures>(&mut self, features: F, dirty: &DirtyPieces, king: Square, perspective: Color) {
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
