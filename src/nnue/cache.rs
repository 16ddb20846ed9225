//! The refresh cache: for every own king square, the last sums and the pieces they stand for.
//!
//! A king that comes back to a square usually finds most pieces where they were; only the
//! differences are applied, instead of summing up to thirty rows.
// CITE: the idea is Luecx's, from the engine Koivisto, where it is known as "Finny tables".

use std::marker::PhantomData;

use shakmaty::{Bitboard, Color, Piece, Role};

use super::BoardView;
use super::features::{FeatureSet, IndexList, MAX_ACTIVE};
use super::layers::Transformer;
use super::simd::Kernels;

/// Sums of one perspective and king square, and the board that they are the sums of.
#[derive(Clone)]
#[repr(C, align(64))]
struct Slot<const L1: usize> {
    sums: [i16; L1],
    pieces: [[Bitboard; 6]; 2],
}

/// One slot per perspective and king square.
pub(super) struct RefreshCache<F, const L1: usize> {
    slots: Box<[Slot<L1>]>,
    features: PhantomData<F>,
}

impl<F: FeatureSet, const L1: usize> RefreshCache<F, L1> {
    /// Every slot starts as the empty board: the biases alone.
    pub fn new(transformer: &Transformer) -> Self {
        let mut slot = Slot {
            sums: [0; L1],
            pieces: [[Bitboard::EMPTY; 6]; 2],
        };
        slot.sums.copy_from_slice(transformer.biases());
        Self {
            slots: vec![slot; 2 * 64].into_boxed_slice(),
            features: PhantomData,
        }
    }

    /// Writes the sums of `board` for one perspective, and remembers them.
    pub fn refresh(
        &mut self,
        rows: &[[i16; L1]],
        kernels: Kernels,
        board: &impl BoardView,
        perspective: Color,
        sums: &mut [i16; L1],
    ) {
        let king = board.king(perspective);
        let slot = &mut self.slots[64 * perspective as usize + king as usize];
        let (mut added, mut removed) = (
            IndexList::<MAX_ACTIVE>::new(),
            IndexList::<MAX_ACTIVE>::new(),
        );
        for color in Color::ALL {
            for role in Role::ALL {
                if role == Role::King && !F::KINGS {
                    continue;
                }
                let now = board.pieces(color, role);
                let before =
                    std::mem::replace(&mut slot.pieces[color as usize][role as usize - 1], now);
                let piece = Piece { color, role };
                for square in now & !before {
                    added.push(F::index(perspective, king, piece, square));
                }
                for square in before & !now {
                    removed.push(F::index(perspective, king, piece, square));
                }
            }
        }
        kernels.update(rows, &slot.sums, sums, &added, &removed);
        slot.sums = *sums;
    }
}
