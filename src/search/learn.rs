//! 16. Learning: what a finished node teaches the histories and the corrections.

use arrayvec::ArrayVec;

use super::history::{Context, piece_square};
use super::moves::Candidate;
use super::negamax::Node;
use super::params;
use super::score::{self, NONE, Value};
use super::worker::Worker;
use crate::board::{Color, Move, Role};

/// Moves that were searched and did not become the best, at most 32 of each sort.
#[derive(Default)]
pub(super) struct Tried {
    quiets: ArrayVec<Candidate, 32>,
    noisy: ArrayVec<Candidate, 32>,
}

impl Tried {
    pub fn push(&mut self, c: &Candidate) {
        let list = if c.noisy {
            &mut self.noisy
        } else {
            &mut self.quiets
        };
        // A full list stays as it is: later moves matter less.
        let _ = list.try_push(*c);
    }
}

fn bonus(depth: i32) -> i32 {
    (params::bonus_depth() * depth - params::bonus_offset()).min(params::bonus_max())
}

fn malus(depth: i32) -> i32 {
    (params::malus_depth() * depth - params::malus_offset()).min(params::malus_max())
}

/// Weights in 1024ths of a bonus for the contexts 1 to 6 plies ago.
const CONTEXT_WEIGHTS: [(usize, i32); 6] =
    [(1, 1024), (2, 650), (3, 300), (4, 530), (5, 130), (6, 440)];

impl Worker {
    /// Rewards the moves `back` plies ago that led to a good answer on `square`.
    fn update_contexts(&mut self, square: usize, bonus: i32) {
        let in_check = self.frame(0).in_check;
        for (back, weight) in CONTEXT_WEIGHTS {
            // In check, only the last two moves have to do with the answer.
            if in_check && back > 2 {
                break;
            }
            let context = self.frame(back).context;
            self.histories
                .update_continuation(context, square, bonus * weight / 1024);
        }
    }

    fn update_quiet(&mut self, m: Move, square: usize, bonus: i32) {
        let turn = self.position.turn();
        self.histories.update_butterfly(turn, m, bonus);
        self.histories.update_low_ply(self.ply, m, bonus * 3 / 4);
        self.update_contexts(square, bonus * 1000 / 1024);
        self.histories
            .update_pawn(self.position.pawn_key(), square, bonus * 3 / 5);
    }

    /// A move was best (it cut, or raised alpha): it is rewarded, what was tried before it is punished.
    pub(super) fn learn_from_best(&mut self, node: &Node, best: Move, tried: &Tried) {
        let extra = i32::from(node.best > node.beta + 200);
        let depth = node.depth + extra;
        let (bonus, malus) = (bonus(depth), malus(depth));
        let piece = self.position.moved_piece(best);
        if self.position.is_noisy(best) {
            let captured = self.position.captured(best);
            self.histories
                .update_capture(piece, best, captured, bonus * 5 / 4);
        } else {
            self.update_quiet(best, piece_square(piece, best), bonus);
            for c in &tried.quiets {
                self.update_quiet(c.m, c.square(), -malus);
            }
        }
        for c in &tried.noisy {
            self.histories
                .update_capture(c.piece, c.m, c.captured, -malus * 5 / 4);
        }
        self.punish_early_quiet(bonus);
    }

    /// The table's move cuts again, without a search.
    pub(super) fn learn_from_table(&mut self, m: Move, depth: i32) {
        if !self.position.is_noisy(m) {
            let piece = self.position.moved_piece(m);
            self.update_quiet(m, piece_square(piece, m), bonus(depth) * 3 / 4);
        }
        self.punish_early_quiet(bonus(depth));
    }

    /// The opponent's quiet move that led here was refuted although it came early in its ordering.
    fn punish_early_quiet(&mut self, amount: i32) {
        let before = *self.frame(1);
        let Some(m) = before.current else { return };
        if before.noisy || before.move_count > 1 + i32::from(before.tt_hit) || self.ply == 0 {
            return;
        }
        let square = piece_square(before.piece, m);
        for (back, weight) in CONTEXT_WEIGHTS.into_iter().take(4) {
            if before.in_check && back > 2 {
                break;
            }
            let context = self.frame(back + 1).context;
            self.histories
                .update_continuation(context, square, -amount * weight / 1024);
        }
    }

    /// Every move failed low: the opponent's quiet move was good.
    pub(super) fn learn_from_fail_low(&mut self, node: &Node) {
        let before = *self.frame(1);
        let Some(m) = before.current else { return };
        if before.noisy || self.ply == 0 {
            return;
        }
        let mut scale = 110 * i32::from(node.depth > 5)
            + 90 * i32::from(before.move_count > 8)
            + 120 * i32::from(!node.in_check && node.best <= node.static_eval - 105)
            + 150
                * i32::from(
                    !before.in_check
                        && before.static_eval != NONE
                        && node.best <= -before.static_eval - 80,
                );
        scale += (-before.stat_score / 100).clamp(-200, 320);
        let amount = bonus(node.depth) * scale.max(0);
        let square = piece_square(before.piece, m);
        let context = self.frame(2).context;
        self.histories
            .update_continuation(context, square, amount / 82);
        self.histories
            .update_butterfly(!self.position.turn(), m, amount / 149);
        if before.piece.role != Role::Pawn && m.promotion().is_none() {
            self.histories
                .update_pawn(self.position.pawn_key(), square, amount / 28);
        }
    }

    /// The evaluation after the opponent's quiet move says how good it was.
    // CITE: "static evaluation difference to improve quiet move ordering", Stockfish.
    pub(super) fn learn_from_evaluation(&mut self, static_eval: Value) {
        let before = *self.frame(1);
        let Some(m) = before.current else { return };
        if before.in_check || before.noisy || before.static_eval == NONE || self.ply == 0 {
            return;
        }
        let change = -params::hist_eval_mult() * (before.static_eval + static_eval);
        let amount = change.clamp(-1950, 1416) + params::hist_eval_offset();
        let mover: Color = !self.position.turn();
        self.histories
            .update_butterfly(mover, m, amount * 1100 / 1024);
        if !self.frame(0).tt_hit && before.piece.role != Role::Pawn && m.promotion().is_none() {
            let square = piece_square(before.piece, m);
            self.histories
                .update_pawn(self.position.pawn_key(), square, amount * 1100 / 1024);
        }
    }

    /// A reduced move had to be searched again: it was better than its history said. Called at the child.
    pub(super) fn learn_from_research(&mut self, c: &Candidate) {
        if c.noisy {
            return;
        }
        let square = c.square();
        for (back, weight) in CONTEXT_WEIGHTS {
            let context: Context = self.frame(back + 1).context;
            self.histories
                .update_continuation(context, square, 1400 * weight / 1024);
        }
    }

    /// The result of the search corrects later evaluations, where it bounds the true value on the right side and
    /// was not brought about by a capture (which the evaluation is not to foresee).
    pub(super) fn learn_correction(&mut self, node: &Node, best: Option<Move>) {
        if node.in_check || node.excluded.is_some() || node.static_eval == NONE {
            return;
        }
        if best.is_some_and(|m| self.position.is_noisy(m)) || score::is_decisive(node.best) {
            return;
        }
        // A value above the evaluation must be a lower bound to tell anything, one below it an upper bound.
        let telling = if node.best > node.static_eval {
            best.is_some()
        } else {
            node.best < node.beta
        };
        if !telling {
            return;
        }
        let difference = node.best - node.static_eval;
        self.corrections.learn(&node.keys, difference, node.depth);
    }
}
