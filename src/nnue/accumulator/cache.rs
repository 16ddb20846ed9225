//! The refresh cache: for every own king square, the last sums and the pieces they stand for.
//!
//! A king that comes back to a square usually finds most pieces where they were; only the
//! differences are applied, instead of summing up to thirty rows.
// CITE: the idea is Luecx's, from the engine Koivisto, where it is known as "Finny tables".

use std::marker::PhantomData;

use shakmaty::{Bitboard, Color, Piece, Role};

use crate::nnue::BoardView;
use crate::nnue::features::{IndexList, MAX_ACTIVE, StaticFeatures};
use crate::nnue::rows::{Accumulator, Rows};
use crate::nnue::simd::Kernels;
use crate::nnue::transformer::Transformer;

/// The accumulator of one perspective and king square, and the board that it is of.
#[derive(Clone)]
struct Slot<const L1: usize, const P: usize> {
    sums: Accumulator<L1, P>,
    pieces: [[Bitboard; 6]; 2],
}

/// One slot per perspective and king square.
pub(super) struct RefreshCache<F, const L1: usize, const P: usize> {
    slots: Box<[Slot<L1, P>]>,
    features: PhantomData<F>,
}

impl<F: StaticFeatures, const L1: usize, const P: usize> RefreshCache<F, L1, P> {
    /// Every slot starts as the empty board: the biases alone.
    pub fn new(transformer: &Transformer) -> Self {
        let slot = Slot {
            sums: transformer.empty(),
            pieces: [[Bitboard::EMPTY; 6]; 2],
        };
        Self {
            slots: vec![slot; 2 * 64].into_boxed_slice(),
            features: PhantomData,
        }
    }

    /// Writes the sums of `board` for one perspective, and remembers them.
    pub fn refresh(
        &mut self,
        rows: Rows<'_, L1, P>,
        kernels: Kernels,
        board: &impl BoardView,
        perspective: Color,
        sums: &mut Accumulator<L1, P>,
    ) {
        let king = board.king(perspective);
        let view = F::SET.view(perspective, king);
        let slot = &mut self.slots[64 * perspective as usize + king as usize];
        let (mut added, mut removed) = (
            IndexList::<MAX_ACTIVE>::new(),
            IndexList::<MAX_ACTIVE>::new(),
        );
        for color in Color::ALL {
            for role in Role::ALL {
                if role == Role::King && !F::SET.has_kings() {
                    continue;
                }
                let now = board.pieces(color, role);
                let before =
                    std::mem::replace(&mut slot.pieces[color as usize][role as usize - 1], now);
                let piece = Piece { color, role };
                for square in now & !before {
                    added.push(F::SET.index(view, perspective, piece, square));
                }
                for square in before & !now {
                    removed.push(F::SET.index(view, perspective, piece, square));
                }
            }
        }
        kernels.update(rows, &slot.sums, sums, &added, &removed);
        slot.sums.clone_from(sums);
    }
}
