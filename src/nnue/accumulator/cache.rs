//! The refresh cache: for every own king square, the last sums and the pieces they stand for.
//!
//! A king that comes back to a square usually finds most pieces where they were; only the
//! differences are applied, instead of summing up to thirty rows.
// CITE: the idea is Luecx's, from the engine Koivisto, where it is known as "Finny tables".

use std::marker::PhantomData;

use shakmaty::{Bitboard, Color, Piece, Role};

use super::update::Update;
use crate::nnue::BoardView;
use crate::nnue::features::relations::RelationList;
use crate::nnue::features::{IndexList, MAX_ACTIVE, StaticFeatures};
use crate::nnue::rows::{Accumulator, AllRows, Changes};
use crate::nnue::simd::Kernels;
use crate::nnue::transformer::Transformer;

/// The accumulator of one perspective and king square, and the board that it is of.
#[derive(Clone)]
struct Slot<const L1: usize, const P: usize> {
    sums: Accumulator<L1, P>,
    pieces: [[Bitboard; 6]; 2],
    relations: Vec<u32>,
}

/// One slot per perspective and king square.
pub(super) struct RefreshCache<F, R, const L1: usize, const P: usize> {
    slots: Box<[Slot<L1, P>]>,
    marks: Marks,
    features: PhantomData<(F, R)>,
}

impl<F: StaticFeatures, R: Update, const L1: usize, const P: usize> RefreshCache<F, R, L1, P> {
    /// Every slot starts as the empty board: the biases alone.
    pub fn new(transformer: &Transformer) -> Self {
        let slot = Slot {
            sums: transformer.empty(),
            pieces: [[Bitboard::EMPTY; 6]; 2],
            relations: Vec::new(),
        };
        Self {
            slots: vec![slot; 2 * 64].into_boxed_slice(),
            marks: Marks::new(R::SET.count()),
            features: PhantomData,
        }
    }

    /// Writes the sums of `board` for one perspective, and remembers them.
    pub fn refresh(
        &mut self,
        rows: AllRows<'_, L1, P>,
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
        let (mut came, mut went) = (RelationList::new(), RelationList::new());
        if R::SET.is_any() {
            let mut now = RelationList::new();
            R::SET.active(board, perspective, |relation| now.push(relation));
            let differences = [&mut came, &mut went];
            self.marks.differences(&slot.relations, &now, differences);
            slot.relations.clear();
            slot.relations.extend_from_slice(&now);
        }
        let changes = Changes {
            added: &added,
            removed: &removed,
            relations_added: &came,
            relations_removed: &went,
        };
        R::update(kernels, rows, &slot.sums, sums, &changes);
        slot.sums.clone_from(sums);
    }
}

/// One bit for every relation, all clear between uses.
struct Marks(Vec<u64>);

impl Marks {
    fn new(relations: usize) -> Self {
        Self(vec![0; relations.div_ceil(64)])
    }

    fn set(&mut self, relation: u32) {
        self.0[relation as usize / 64] |= 1 << (relation % 64);
    }

    /// Clears a bit, and says whether it was set.
    fn clear(&mut self, relation: u32) -> bool {
        let (word, bit) = (&mut self.0[relation as usize / 64], 1 << (relation % 64));
        let was_set = *word & bit != 0;
        *word &= !bit;
        was_set
    }

    /// Adds what only `now` has to one list, and what only `before` has to the other. Neither has anything twice.
    fn differences(&mut self, before: &[u32], now: &[u32], [came, went]: [&mut RelationList; 2]) {
        before.iter().for_each(|&relation| self.set(relation));
        for &relation in now {
            if !self.clear(relation) {
                came.push(relation);
            }
        }
        for &relation in before {
            if self.clear(relation) {
                went.push(relation);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_those_of_sets_and_leave_no_marks() {
        let mut marks = Marks::new(200);
        for _ in 0..2 {
            let (mut came, mut went) = (RelationList::new(), RelationList::new());
            marks.differences(&[3, 64, 199], &[199, 0, 3, 65], [&mut came, &mut went]);
            assert_eq!((&came[..], &went[..]), (&[0, 65][..], &[64][..]));
        }
    }
}
