//! Step 16. Updates of histories and corrections by a finished node.
// CITE: amounts and conditions: SF-2026-08 where no other source is named.

use super::history::{ContHistIndex, PieceSquare};
use super::negamax::{MoveInfo, Node, NodeType, SearchedMoves};
use super::score::{self, NONE, Value};
use super::worker::{Frame, Worker};
use super::{params, rules};
use crate::board::{Color, Move, Role};

/// Bonus of a move that caused a cutoff or raised alpha.
fn bonus(depth: i32) -> i32 {
    (params::bonus_depth() * depth - params::bonus_offset()).min(params::bonus_max())
}

/// Malus of the moves searched before it.
fn malus(depth: i32) -> i32 {
    (params::malus_depth() * depth - params::malus_offset()).min(params::malus_max())
}

/// Weights in 1024ths of a bonus for the contexts 1 to 6 plies ago.
#[inline]
fn context_weights() -> [i32; 6] {
    [params::cont_1(), params::cont_2(), params::cont_3(), params::cont_4(), params::cont_5(), params::cont_6()]
}

/// Factor in 128ths by the number of nearer contexts with a positive score for the move.
// CITE: Stockfish (March 2026, "counter-move history continuity"); figures: SF-2026-08.
#[inline]
fn consistency() -> [i32; 7] {
    [
        params::agree_0(),
        params::agree_1(),
        params::agree_2(),
        params::agree_3(),
        params::agree_4(),
        params::agree_5(),
        params::agree_6(),
    ]
}

impl Worker {
    /// Adds `bonus` to the move to `square` in the contexts of the moves before it. The move was made `at` plies from
    /// this node: 0 at the node itself, -1 at its parent.
    // CITE: weights, consistency and the constant for the last move: SF-2026-08.
    fn update_contexts(&mut self, at: isize, square: PieceSquare, bonus: i32) {
        // Entries saturate far below this bound, which keeps the product below within an i64 for every weight.
        let bonus = i64::from(bonus.clamp(-16_000, 16_000));
        let consistency = consistency();
        let in_check = self.stack[at].in_check;
        let mut positive = 0;
        for (back, weight) in (1..).zip(context_weights()) {
            // In check, only the last two moves are relevant to the reply.
            if in_check && back > 2 {
                break;
            }
            let context = self.stack[at - back].context;
            if context == ContHistIndex::NONE {
                continue;
            }
            positive += usize::from(self.histories.continuation.score(context, square) > 0);
            let share = i64::from(weight * consistency[positive]);
            let amount = (bonus * share / (1024 * 128)) as i32;
            let constant = params::bonus_answer() * i32::from(back == 1);
            self.histories.continuation.update(context, square, amount + constant);
        }
    }

    fn update_quiet(&mut self, m: Move, square: PieceSquare, bonus: i32) {
        let turn = self.position.turn();
        self.histories.butterfly.update(turn, m, bonus);
        self.histories.low_ply.update(self.stack.ply(), m, bonus * params::quiet_low() / 1024);
        self.update_contexts(0, square, bonus * params::quiet_cont() / 1024);
        // Few moves suit a pawn structure. Most others fail for other reasons, so failures count less.
        let share = if bonus >= 0 { params::quiet_pawn() } else { params::quiet_pawn_malus() };
        self.histories.pawn.update(self.position.pawn_key(), square, bonus * share / 1024);
    }

    /// Updates after a best move, which caused a cutoff or raised alpha: a bonus for the best move, and a malus for the
    /// moves searched before it and for the opponent's early quiet move that it refutes.
    // CITE: malus for the refuted move: Stockfish (2015); amounts: SF-2026-08.
    pub fn update_histories<N: NodeType>(&mut self, node: &Node<N>, best: Move, searched: &SearchedMoves) {
        let before = self.stack[-1];
        let mut bonus = bonus(node.depth)
            + params::bonus_tt_move() * i32::from(Some(best) == node.tt_move)
            + before.stat_score / params::bonus_stat_div();
        if !N::PV {
            // The bonus grows with the number of moves that failed before it.
            bonus += bonus * searched.len() / params::bonus_tried_div();
        }
        let malus = malus(node.depth);
        let piece = self.position.moved_piece(best);
        if self.position.is_noisy(best) {
            let captured = self.position.captured(best);
            self.histories.capture.update(
                PieceSquare::new(piece, best),
                captured,
                bonus * params::bonus_capture() / 1024,
            );
        } else {
            self.update_quiet(best, PieceSquare::new(piece, best), bonus * params::bonus_quiet() / 1024);
            // The malus decreases from move to move: later moves were expected to fail.
            let mut fading = malus * params::malus_quiet() / 1024;
            for c in &searched.quiets {
                fading = fading * params::malus_quiet_next() / 1024;
                self.update_quiet(c.m, c.square(), -fading);
            }
        }
        if before.move_count == 1 + i32::from(before.tt_hit) {
            self.punish_early_quiet(malus * params::malus_early() / 1024);
        }
        for c in &searched.noisy {
            self.histories.capture.update(c.square(), c.captured, -malus * params::malus_capture() / 1024);
        }
    }

    /// Updates after a cutoff by the transposition table: a bonus for its move, a malus for the refuted one.
    pub fn learn_from_table(&mut self, m: Move, depth: i32) {
        if !self.position.is_noisy(m) {
            let piece = self.position.moved_piece(m);
            let bonus = (params::table_depth() * depth).min(params::table_max());
            self.update_quiet(m, PieceSquare::new(piece, m), bonus);
        }
        if self.stack[-1].move_count < params::table_early_count() {
            self.punish_early_quiet(params::table_early());
        }
    }

    /// Malus for the opponent's last move if it was quiet. The move was early in the move ordering and was refuted.
    fn punish_early_quiet(&mut self, amount: i32) {
        let before = self.stack[-1];
        let Some(m) = before.current else { return };
        if !rules::early_quiet_malus() || before.noisy || self.stack.ply() == 0 {
            return;
        }
        self.update_contexts(-1, PieceSquare::new(before.piece, m), -amount);
    }

    /// Updates after a node that failed low: a bonus for the opponent's move. The bonus is larger if the move was less
    /// expected.
    // CITE: Stockfish (2015); terms and amounts: SF-2026-08.
    pub fn learn_from_fail_low<N: NodeType>(&mut self, node: &Node<N>) {
        let before = self.stack[-1];
        let Some(m) = before.current else { return };
        if self.stack.ply() == 0 {
            return;
        }
        if before.noisy {
            let captured = self.position.last_captured();
            self.histories.capture.update(PieceSquare::new(before.piece, m), captured, params::low_capture());
            return;
        }
        let (in_check, static_eval) = (self.stack[0].in_check, self.stack[0].static_eval);
        let surprise = params::low_base() - before.stat_score / params::low_stat_div()
            + (params::low_depth() * node.depth).min(params::low_depth_max())
            + params::low_late() * i32::from(before.move_count > params::low_late_count())
            + params::low_eval() * i32::from(!in_check && node.best <= static_eval - params::low_eval_margin())
            + params::low_before()
                * i32::from(
                    !before.in_check
                        && before.static_eval != NONE
                        && node.best <= -before.static_eval - params::low_before_margin(),
                );
        let amount = (params::low_amount_depth() * node.depth - params::low_amount_offset())
            .min(params::low_amount_max())
            * surprise.max(0);
        let square = PieceSquare::new(before.piece, m);
        self.update_contexts(-1, square, amount / 1024 * params::low_cont_scale() / 1024);
        self.histories.butterfly.update(!self.position.turn(), m, amount / 1024 * params::low_butterfly_scale() / 1024);
        if before.piece.role != Role::Pawn && m.promotion().is_none() {
            let pawn_key = self.position.pawn_key();
            self.histories.pawn.update(pawn_key, square, amount / 1024 * params::low_pawn_scale() / 1024);
        }
    }

    /// Bonus or malus for the opponent's quiet move, by the change of the static evaluation that it caused.
    // CITE: Stockfish (2020); amounts: SF-2026-08.
    pub fn learn_from_evaluation(&mut self) {
        let (static_eval, before) = (self.stack[0].static_eval, self.stack[-1]);
        let Some(m) = before.current else { return };
        if before.in_check || before.noisy || before.static_eval == NONE || self.stack.ply() == 0 {
            return;
        }
        let change = -(before.static_eval + static_eval);
        let amount = change.clamp(-params::hist_eval_min(), params::hist_eval_max()) + params::hist_eval_offset();
        let mover: Color = !self.position.turn();
        self.histories.butterfly.update(mover, m, amount * params::hist_eval_mult());
        if !self.stack[0].tt_hit && before.piece.role != Role::Pawn && m.promotion().is_none() {
            let square = PieceSquare::new(before.piece, m);
            self.histories.pawn.update(self.position.pawn_key(), square, amount * params::hist_eval_pawn());
        }
    }

    /// Bonus for a reduced move that had to be searched again, because it was better than its history. Called at the
    /// child.
    pub fn learn_from_research(&mut self, c: &MoveInfo) {
        self.update_contexts(-1, c.square(), params::research_bonus());
    }

    /// Correction after a multi-cut: several moves exceed beta, so the static evaluation was too low.
    pub fn learn_from_multi_cut(&mut self, value: Value, depth: i32) {
        let Frame { in_check, static_eval, keys, .. } = self.stack[0];
        if !in_check && value > static_eval {
            let amount = (value - static_eval) * depth * params::corr_multi_cut() / 1024;
            self.corrections.learn(&keys, amount);
        }
    }

    /// Corrects later evaluations by the result of the search. This applies where the result is a bound on the right
    /// side of the evaluation and does not come from a capture, which a static evaluation cannot foresee.
    // CITE: amounts: SF-2026-08. There, a best move counts only if its value is above the evaluation; here, also
    // one below it inside the window.
    pub fn learn_correction<N: NodeType>(&mut self, node: &Node<N>, best: Option<Move>) {
        let Frame { in_check, excluded, static_eval, keys, .. } = self.stack[0];
        if in_check || excluded.is_some() || static_eval == NONE {
            return;
        }
        if best.is_some_and(|m| self.position.is_noisy(m)) || score::is_decisive(node.best) {
            return;
        }
        // A value above the evaluation is evidence only as a lower bound, a value below it only as an upper bound.
        let conclusive = if node.best > static_eval { best.is_some() } else { node.best < node.beta };
        if !conclusive {
            return;
        }
        // A node that failed low searched every move, but a node that failed high may have searched only one. Fail-lows
        // therefore have a larger weight.
        let rate = if best.is_some() { params::corr_fail_high() } else { params::corr_fail_low() };
        let difference = node.best - static_eval;
        self.corrections.learn(&keys, difference * node.depth * rate / 128);
    }
}

#[cfg(test)]
mod tests;
