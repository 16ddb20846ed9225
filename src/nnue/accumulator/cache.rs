//! Refresh cache: for every own king square, the last accumulator and the board that it was computed from.
//!
//! When a king returns to a square, most pieces are usually on the same squares as before. A refresh applies only the
//! differences instead of summing up to thirty rows.
// CITE: the idea is Luecx's, from the engine Koivisto, where it is known as "Finny tables".

use shakmaty::{Color, Piece, Role};

use super::attacks::{AttackRows, ChangedRows};
use super::pieces::ChangedFeatures;
use crate::nnue::Board;
use crate::nnue::features::MAX_ACTIVE;
use crate::nnue::features::attack_inputs::MAX_ATTACKS;
use crate::nnue::features::statics::StaticFeatures;
use crate::nnue::rows::{Accumulator, Rows};
use crate::nnue::simd::Kernels;
use crate::nnue::transformer::Transformer;

/// The accumulator of one perspective and king square, with the board that it was computed from.
#[derive(Clone)]
struct Slot<const L1: usize, const P: usize> {
    sums: Accumulator<L1, P>,
    board: Board,
    /// The rows of attack inputs in the sums. Empty for other nets, and in a slot of [`RefreshCache::pieces`].
    attacks: Vec<u16>,
}

impl<const L1: usize, const P: usize> Slot<L1, P> {
    /// Lists the features that were added and removed since the last use of the slot, and stores the board.
    #[inline(always)]
    fn changes<F: StaticFeatures, const N: usize>(
        &mut self,
        features: F,
        board: &Board,
        perspective: Color,
        ChangedFeatures { added, removed }: &mut ChangedFeatures<N>,
    ) {
        let set = features.set();
        let view = set.view(perspective, board.king(perspective));
        for color in Color::ALL {
            for role in Role::ALL {
                if role == Role::King && !set.has_kings() {
                    continue;
                }
                let (now, before) = (board.pieces(color, role), self.board.pieces(color, role));
                let piece = Piece { color, role };
                for square in now & !before {
                    added.push(set.index(view, perspective, piece, square));
                }
                for square in before & !now {
                    removed.push(set.index(view, perspective, piece, square));
                }
            }
        }
        self.board.clone_from(board);
    }

    /// Lists the differences between the rows of attack inputs in the slot and the `active` ones, and stores these.
    fn attack_changes<const N: usize>(&mut self, active: &[u16], changed: &mut ChangedFeatures<N>) {
        let ChangedFeatures { added, removed } = changed;
        for &row in active {
            match self.attacks.iter().position(|&before| before == row) {
                Some(at) => drop(self.attacks.swap_remove(at)),
                None => added.push(row),
            }
        }
        self.attacks.iter().for_each(|&row| removed.push(row));
        self.attacks.clear();
        self.attacks.extend_from_slice(active);
    }
}

/// One slot per perspective and king square, or per view where several squares share one. The slots contain pieces on
/// squares and attack inputs, but no threat inputs.
pub struct RefreshCache<F, const L1: usize, const P: usize> {
    slots: Box<[Slot<L1, P>]>,
    /// The result of [`Self::move_king`].
    moved: Box<Accumulator<L1, P>>,
    features: F,
}

impl<F: StaticFeatures, const L1: usize, const P: usize> RefreshCache<F, L1, P> {
    /// A cache with every slot set to the empty board, whose accumulator is the biases.
    pub fn new(features: F, transformer: &Transformer) -> Self {
        let slot = Slot { sums: transformer.empty(), board: Board::empty(Color::White), attacks: Vec::new() };
        Self { slots: vec![slot; 2 * 64].into_boxed_slice(), moved: Box::new(Accumulator::zeroed()), features }
    }

    /// Index of the slot for a perspective's king on a board.
    #[inline(always)]
    fn slot(&self, board: &Board, perspective: Color) -> usize {
        64 * perspective as usize + self.features.slot(perspective, board.king(perspective))
    }

    /// Computes the accumulator of `board` for one perspective, and stores it in the cache.
    pub fn refresh(
        &mut self,
        rows: &Rows<'_, i16, L1, P>,
        kernels: Kernels,
        board: &Board,
        perspective: Color,
        sums: &mut Accumulator<L1, P>,
    ) {
        let at = self.slot(board, perspective);
        let slot = &mut self.slots[at];
        let mut lists = ChangedFeatures::<MAX_ACTIVE>::none();
        slot.changes(self.features, board, perspective, &mut lists);
        let ChangedFeatures { added, removed } = &lists;
        kernels.update(rows, &slot.sums, sums, added, removed);
        slot.sums.clone_from(sums);
    }

    /// As [`Self::refresh`], with the rows of the `active` attack inputs.
    pub fn refresh_with_attacks(
        &mut self,
        rows: &AttackRows<'_, L1, P>,
        kernels: Kernels,
        board: &Board,
        perspective: Color,
        active: &[u16],
        sums: &mut Accumulator<L1, P>,
    ) {
        let at = self.slot(board, perspective);
        let slot = &mut self.slots[at];
        let mut changed = ChangedRows::<MAX_ACTIVE, MAX_ATTACKS>::none();
        slot.changes(self.features, board, perspective, &mut changed.pieces);
        slot.attack_changes(active, &mut changed.attacks);
        rows.update(kernels, &slot.sums, sums, &changed);
        slot.sums.clone_from(sums);
    }

    /// The accumulator of `board` for one perspective, in the cache.
    pub fn pieces(
        &mut self,
        rows: &Rows<'_, i16, L1, P>,
        kernels: Kernels,
        board: &Board,
        perspective: Color,
    ) -> &Accumulator<L1, P> {
        let at = self.update_slot(rows, kernels, board, perspective);
        &self.slots[at].sums
    }

    /// Returns `from` with the pieces on squares of the first board replaced by those of the second one. Threat inputs
    /// are not changed.
    #[inline(never)]
    pub fn move_king(
        &mut self,
        rows: &Rows<'_, i16, L1, P>,
        kernels: Kernels,
        from: &Accumulator<L1, P>,
        boards: &[Board; 2],
        perspective: Color,
    ) -> &Accumulator<L1, P> {
        let slots = [0, 1].map(|n| self.update_slot(rows, kernels, &boards[n], perspective));
        let [removed, added] = slots.map(|slot| &self.slots[slot].sums);
        self.moved.exchange(from, removed, added);
        &self.moved
    }

    /// Updates the slot of a perspective's king to the given board, and returns its index.
    fn update_slot(
        &mut self,
        rows: &Rows<'_, i16, L1, P>,
        kernels: Kernels,
        board: &Board,
        perspective: Color,
    ) -> usize {
        let at = self.slot(board, perspective);
        let slot = &mut self.slots[at];
        let mut lists = ChangedFeatures::<MAX_ACTIVE>::none();
        slot.changes(self.features, board, perspective, &mut lists);
        let ChangedFeatures { added, removed } = &lists;
        if !added.is_empty() || !removed.is_empty() {
            let before = slot.sums.clone();
            kernels.update(rows, &before, &mut slot.sums, added, removed);
        }
        at
    }
}
