//! Refresh cache: for every view of a perspective, the last accumulator and the board that it was computed from.
//!
//! When a king returns to a square, most pieces are usually on the same squares as before. A refresh applies only the
//! differences instead of summing up to thirty rows.
// CITE: the idea is Luecx's, from the engine Koivisto, where it is known as "Finny tables".

use shakmaty::{Color, Piece, Role};

use crate::nnue::Board;
use crate::nnue::features::{FeatureSet, IndexList, MAX_ACTIVE};
use crate::nnue::rows::{Accumulator, Accumulators, Rows};
use crate::nnue::simd::Kernels;
use crate::nnue::transformer::Transformer;

type Indices = IndexList<MAX_ACTIVE>;

/// A slot for each view of both perspectives. The sums contain only pieces on squares.
pub struct RefreshCache {
    set: &'static FeatureSet,
    /// The accumulator of each slot.
    sums: Accumulators,
    /// The board from which each slot was computed.
    boards: Vec<Board>,
    /// Sums before a change; then the result of [`Self::move_king`].
    buffer: Accumulators,
}

impl RefreshCache {
    /// A cache with every slot set to the empty board, whose accumulator is the biases.
    pub fn new(set: &'static FeatureSet, transformer: &Transformer) -> Self {
        let (slots, width) = (2 * set.views(), transformer.biases().len());
        let mut sums = Accumulators::zeroed(width, slots);
        (0..slots).for_each(|slot| transformer.set_to_empty(sums.at_mut(slot)));
        let boards = vec![Board::empty(Color::White); slots];
        Self { set, sums, boards, buffer: Accumulators::zeroed(width, 1) }
    }

    /// Lists the features that were added and removed in the slot of a perspective's view since its last use, stores
    /// the board, and returns the slot.
    #[inline(always)]
    fn changes(&mut self, board: &Board, perspective: Color, [added, removed]: &mut [Indices; 2]) -> usize {
        let set = self.set;
        let view = set.view(perspective, board.king(perspective));
        let slot = perspective as usize * set.views() + set.view_number(view);
        let last = &mut self.boards[slot];
        for color in Color::ALL {
            for role in Role::ALL {
                if role == Role::King && !set.has_kings() {
                    continue;
                }
                let (now, before) = (board.pieces(color, role), last.pieces(color, role));
                let piece = Piece { color, role };
                for square in now & !before {
                    added.push(set.index(view, perspective, piece, square));
                }
                for square in before & !now {
                    removed.push(set.index(view, perspective, piece, square));
                }
            }
        }
        last.clone_from(board);
        slot
    }

    /// Computes the accumulator of `board` for one perspective, and stores it in the cache.
    pub fn refresh(
        &mut self,
        rows: &Rows<'_, i16>,
        kernels: Kernels,
        board: &Board,
        perspective: Color,
        sums: &mut Accumulator,
    ) {
        let mut lists = [const { Indices::new() }; 2];
        let slot = self.changes(board, perspective, &mut lists);
        let [added, removed] = &lists;
        let cached = self.sums.at_mut(slot);
        kernels.update(rows, cached, sums, added, removed);
        cached.copy_from(sums);
    }

    /// The accumulator of `board` for one perspective, in the cache.
    pub fn pieces(
        &mut self,
        rows: &Rows<'_, i16>,
        kernels: Kernels,
        board: &Board,
        perspective: Color,
    ) -> &Accumulator {
        let slot = self.update_slot(rows, kernels, board, perspective);
        self.sums.at(slot)
    }

    /// Returns `from` with the pieces on squares of the first board replaced by those of the second one, which must
    /// have another view. Threat and attack inputs are not changed.
    #[inline(never)]
    pub fn move_king(
        &mut self,
        rows: &Rows<'_, i16>,
        kernels: Kernels,
        from: &Accumulator,
        boards: &[Board; 2],
        perspective: Color,
    ) -> &Accumulator {
        let slots = [0, 1].map(|n| self.update_slot(rows, kernels, &boards[n], perspective));
        let [removed, added] = slots.map(|slot| self.sums.at(slot));
        let moved = self.buffer.at_mut(0);
        moved.exchange(from, removed, added);
        moved
    }

    /// Updates the slot of a perspective's king to the given board, and returns its index.
    fn update_slot(&mut self, rows: &Rows<'_, i16>, kernels: Kernels, board: &Board, perspective: Color) -> usize {
        let mut lists = [const { Indices::new() }; 2];
        let slot = self.changes(board, perspective, &mut lists);
        let [added, removed] = &lists;
        if !added.is_empty() || !removed.is_empty() {
            let before = self.buffer.at_mut(0);
            before.copy_from(self.sums.at(slot));
            kernels.update(rows, before, self.sums.at_mut(slot), added, removed);
        }
        slot
    }
}
