//! 16. Learning: what a finished node teaches the histories and the corrections.

use super::candidate::{Candidate, Tried};
use super::frame::Frame;
use super::history::{Context, piece_square};
use super::node::Node;
use super::params;
use super::score::{self, NONE, Value};
use super::worker::Worker;
use crate::board::{Color, Move, Role};

/// What a move that cut, or raised alpha, is rewarded with.
fn bonus(depth: i32) -> i32 {
    (params::bonus_depth() * depth - params::bonus_offset()).min(params::bonus_max())
}

/// What the moves before it are punished with.
fn malus(depth: i32) -> i32 {
    (params::malus_depth() * depth - params::malus_offset()).min(params::malus_max())
}

/// Weights in 1024ths of a bonus for the contexts 1 to 6 plies ago.
const CONTEXT_WEIGHTS: [(usize, i32); 6] =
    [(1, 1040), (2, 780), (3, 290), (4, 502), (5, 132), (6, 418)];

/// By how many of the contexts so far speak for the move: the more do, the faster they learn. In 128ths.
const CONSISTENCY: [i32; 7] = [94, 103, 110, 106, 119, 126, 121];

impl Worker {
    /// Rewards, in the contexts of the moves before, the move to `square` made `ago` plies ago (0: made here). What
    /// led to a good answer once will again.
    // CITE: weights, consistency and the constant for the last move: Stockfish (August 2026).
    fn update_contexts(&mut self, ago: usize, square: usize, bonus: i32) {
        // So large that the product below still fits an i32; entries saturate long before.
        let bonus = bonus.clamp(-16_000, 16_000);
        let in_check = self.frame(ago).in_check;
        let mut speak_for_it = 0;
        for (back, weight) in CONTEXT_WEIGHTS {
            // In check, only the last two moves have to do with the answer.
            if in_check && back > 2 {
                break;
            }
            let context = self.frame(ago + back).context;
            if context == Context::NONE {
                continue;
            }
            speak_for_it += usize::from(self.histories.continuation(context, square) > 0);
            let amount = bonus * weight * CONSISTENCY[speak_for_it] / (1024 * 128);
            let constant = params::bonus_answer() * i32::from(back == 1);
            self.histories
                .update_continuation(context, square, amount + constant);
        }
    }

    fn update_quiet(&mut self, m: Move, square: usize, bonus: i32) {
        let turn = self.position.turn();
        self.histories.update_butterfly(turn, m, bonus);
        self.histories
            .update_low_ply(self.ply, m, bonus * 712 / 1024);
        self.update_contexts(0, square, bonus * 750 / 1024);
        // Few moves fit a structure, and most of the rest fail for other reasons: failures count for less.
        let share = if bonus >= 0 { 1104 } else { 459 };
        self.histories
            .update_pawn(self.position.pawn_key(), square, bonus * share / 1024);
    }

    /// A move was best (it cut, or raised alpha): it is rewarded, what was tried before it is punished, and so is the
    /// opponent's early quiet move that it refutes.
    // CITE: the amounts: Stockfish (August 2026).
    pub(super) fn learn_from_best(&mut self, node: &Node, best: Move, tried: &Tried) {
        let before = *self.frame(1);
        let mut bonus = bonus(node.depth)
            + params::bonus_tt_move() * i32::from(Some(best) == node.tt_move)
            + before.stat_score / 28;
        if !node.pv {
            // The more moves failed before it, the more it says.
            bonus += bonus * tried.len() / 256;
        }
        let malus = malus(node.depth);
        let piece = self.position.moved_piece(best);
        if self.position.is_noisy(best) {
            let captured = self.position.captured(best);
            self.histories
                .update_capture(piece, best, captured, bonus * 1427 / 1024);
        } else {
            self.update_quiet(best, piece_square(piece, best), bonus * 899 / 1024);
            // Later moves were not believed in anyway.
            let mut fading = malus * 1159 / 1024;
            for c in &tried.quiets {
                fading = fading * 921 / 1024;
                self.update_quiet(c.m, c.square(), -fading);
            }
        }
        if before.move_count == 1 + i32::from(before.tt_hit) {
            self.punish_early_quiet(malus * 713 / 1024);
        }
        for c in &tried.noisy {
            self.histories
                .update_capture(c.piece, c.m, c.captured, -malus * 1489 / 1024);
        }
    }

    /// The table's move cuts again, without a search.
    pub(super) fn learn_from_table(&mut self, m: Move, depth: i32) {
        if !self.position.is_noisy(m) {
            let piece = self.position.moved_piece(m);
            self.update_quiet(m, piece_square(piece, m), (112 * depth).min(695));
        }
        if self.frame(1).move_count < 5 {
            self.punish_early_quiet(2210);
        }
    }

    /// The opponent's quiet move that led here was refuted although it came early in its ordering.
    // MEASURED: +22 +- 31
    fn punish_early_quiet(&mut self, amount: i32) {
        let before = *self.frame(1);
        let Some(m) = before.current else { return };
        if before.noisy || self.ply == 0 {
            return;
        }
        self.update_contexts(1, piece_square(before.piece, m), -amount);
    }

    /// Every move failed low: the opponent's move was good, and the more so the less that was to be expected.
    pub(super) fn learn_from_fail_low(&mut self, node: &Node) {
        let before = *self.frame(1);
        let Some(m) = before.current else { return };
        if self.ply == 0 {
            return;
        }
        if before.noisy {
            let captured = self.position.last_captured();
            self.histories
                .update_capture(before.piece, m, captured, 892);
            return;
        }
        let (in_check, static_eval) = (self.frame(0).in_check, self.frame(0).static_eval);
        let surprise = -241 - before.stat_score / 98
            + (59 * node.depth).min(420)
            + 186 * i32::from(before.move_count > 9)
            + 142 * i32::from(!in_check && node.best <= static_eval - 106)
            + 159
                * i32::from(
                    !before.in_check
                        && before.static_eval != NONE
                        && node.best <= -before.static_eval - 68,
                );
        let amount = (150 * node.depth - 85).min(1337) * surprise.max(0);
        let square = piece_square(before.piece, m);
        self.update_contexts(1, square, amount / 1024 * 263 / 16);
        self.histories
            .update_butterfly(!self.position.turn(), m, amount / 1024 * 215 / 32);
        if before.piece.role != Role::Pawn && m.promotion().is_none() {
            let pawn_key = self.position.pawn_key();
            self.histories
                .update_pawn(pawn_key, square, amount / 1024 * 324 / 8);
        }
    }

    /// The evaluation after the opponent's quiet move says how good it was.
    // CITE: "static evaluation difference to improve quiet move ordering", Stockfish.
    // MEASURED: +40 +- 35
    pub(super) fn learn_from_evaluation(&mut self) {
        let (static_eval, before) = (self.frame(0).static_eval, *self.frame(1));
        let Some(m) = before.current else { return };
        if before.in_check || before.noisy || before.static_eval == NONE || self.ply == 0 {
            return;
        }
        let change = -(before.static_eval + static_eval);
        let amount = change.clamp(-189, 194) + params::hist_eval_offset();
        let mover: Color = !self.position.turn();
        self.histories
            .update_butterfly(mover, m, amount * params::hist_eval_mult());
        if !self.frame(0).tt_hit && before.piece.role != Role::Pawn && m.promotion().is_none() {
            let square = piece_square(before.piece, m);
            self.histories
                .update_pawn(self.position.pawn_key(), square, amount * 13);
        }
    }

    /// A reduced move had to be searched again: it was better than its history said. Called at the child.
    pub(super) fn learn_from_research(&mut self, c: &Candidate) {
        self.update_contexts(1, c.square(), 1334);
    }

    /// Several moves exceed beta: the static evaluation was too low.
    pub(super) fn learn_from_multi_cut(&mut self, value: Value, depth: i32) {
        let Frame {
            in_check,
            static_eval,
            keys,
            ..
        } = *self.frame(0);
        if !in_check && value > static_eval {
            let amount = (value - static_eval) * depth * 177 / 1024;
            self.corrections.learn(&keys, amount);
        }
    }

    /// The result of the search corrects later evaluations, where it bounds the true value on the right side and
    /// was not brought about by a capture (which the evaluation is not to foresee).
    // MEASURED: +41 +- 31
    pub(super) fn learn_correction(&mut self, node: &Node, best: Option<Move>) {
        let Frame {
            in_check,
            excluded,
            static_eval,
            keys,
            ..
        } = *self.frame(0);
        if in_check || excluded.is_some() || static_eval == NONE {
            return;
        }
        if best.is_some_and(|m| self.position.is_noisy(m)) || score::is_decisive(node.best) {
            return;
        }
        // A value above the evaluation must be a lower bound to tell anything, one below it an upper bound.
        let telling = if node.best > static_eval {
            best.is_some()
        } else {
            node.best < node.beta
        };
        if !telling {
            return;
        }
        // A node that failed low has seen every move, one that failed high perhaps a single one: the former says more.
        let rate = if best.is_some() { 12 } else { 18 };
        let difference = node.best - static_eval;
        self.corrections
            .learn(&keys, difference * node.depth * rate / 128);
    }
}
