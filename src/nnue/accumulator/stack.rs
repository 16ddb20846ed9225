//! The sums of every ply, for one feature set and size.

use shakmaty::{ByColor, Color, Role, Square};

use super::cache::RefreshCache;
use super::plies::{INITIAL_PLIES, Plies};
use super::update::Update;
use crate::board::DirtyPieces;
use crate::nnue::BoardView;
use crate::nnue::features::relations::{RelationChanges, pawns};
use crate::nnue::features::{IndexList, MAX_CHANGED, StaticFeatures};
use crate::nnue::network::Network;
use crate::nnue::rows::{Accumulator, AllRows, Changes};
use crate::nnue::simd::Kernels;

/// Both perspectives' sums of every ply, by colour.
pub(super) struct Stack<F, R, const L1: usize, const P: usize> {
    accumulators: Vec<[Accumulator<L1, P>; 2]>,
    cache: RefreshCache<F, R, L1, P>,
}

impl<F: StaticFeatures, R: Update, const L1: usize, const P: usize> Stack<F, R, L1, P> {
    pub fn new(network: &Network) -> Self {
        Self {
            accumulators: vec![[Accumulator::zeroed(), Accumulator::zeroed()]; INITIAL_PLIES],
            cache: RefreshCache::new(network.transformer()),
        }
    }

    /// The sums of the side to move and of the other side, at the top.
    // Part of its caller, as what it calls is, and with its arguments apart: in registers they cost half as much as
    // behind a pointer, and this runs at every other node.
    #[inline(always)]
    pub fn up_to_date(
        &mut self,
        plies: &mut Plies,
        network: &Network,
        kernels: Kernels,
        board: &impl BoardView,
    ) -> [&Accumulator<L1, P>; 2] {
        let top = plies.top;
        if top >= self.accumulators.len() {
            self.grow(plies.stack.len());
        }
        let rows = network.transformer().all_rows();
        for perspective in [Color::White, Color::Black] {
            if !plies.stack[top].computed[perspective as usize] {
                self.bring_up(plies, rows, kernels, board, perspective);
            }
        }
        let turn = board.turn();
        let sums = &self.accumulators[top];
        [&sums[turn as usize], &sums[turn.other() as usize]]
    }

    #[cold]
    fn grow(&mut self, plies: usize) {
        self.accumulators
            .resize(plies, [Accumulator::zeroed(), Accumulator::zeroed()]);
    }

    /// Computes one perspective at the top.
    #[inline(always)]
    fn bring_up(
        &mut self,
        plies: &mut Plies,
        rows: AllRows<'_, L1, P>,
        kernels: Kernels,
        board: &impl BoardView,
        perspective: Color,
    ) {
        let p = perspective as usize;
        match plies.nearest_computed(perspective) {
            Some(base) => {
                let king = board.king(perspective);
                let mut pawns = if R::SET.pawn_pairs {
                    plies.pawns_at(base, pawns(board))
                } else {
                    ByColor::default()
                };
                // Every ply on the way is stored: its other children will start from it.
                for ply in base + 1..=plies.top {
                    let dirty = &plies.stack[ply].dirty;
                    let (added, removed) = changes::<F>(dirty, king, perspective);
                    let (before, after) = self.accumulators.split_at_mut(ply);
                    let (from, to) = (&before[ply - 1][p], &mut after[0][p]);
                    let mut relations = RelationChanges::default();
                    if R::SET.is_any() {
                        let told = (dirty, &*plies.told[ply].attacks);
                        R::SET.changes(told, &mut pawns, perspective, king, &mut relations);
                    }
                    let changes = Changes {
                        added: &added,
                        removed: &removed,
                        relations_added: &relations.added,
                        relations_removed: &relations.removed,
                    };
                    R::update(kernels, rows, from, to, &changes);
                    plies.stack[ply].computed[p] = true;
                }
            }
            None => {
                let to = &mut self.accumulators[plies.top][p];
                self.cache.refresh(rows, kernels, board, perspective, to);
                plies.stack[plies.top].computed[p] = true;
            }
        }
    }
}

/// The features that a move added and removed, seen by a perspective whose king stands on `king`.
#[inline(always)]
fn changes<F: StaticFeatures>(
    dirty: &DirtyPieces,
    king: Square,
    perspective: Color,
) -> (IndexList<MAX_CHANGED>, IndexList<MAX_CHANGED>) {
    let (mut added, mut removed) = (IndexList::new(), IndexList::new());
    let view = F::SET.view(perspective, king);
    for change in dirty.iter() {
        if change.piece.role == Role::King && !F::SET.has_kings() {
            continue;
        }
        if let Some(square) = change.to {
            added.push(F::SET.index(view, perspective, change.piece, square));
        }
        if let Some(square) = change.from {
            removed.push(F::SET.index(view, perspective, change.piece, square));
        }
    }
    (added, removed)
}
