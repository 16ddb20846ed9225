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
mod tests {
    use super::*;
    use crate::board::Position;
    use crate::search::negamax::{NullWindow, Pv};
    use crate::search::score::{INFINITE, MATE};
    use crate::search::tests::{at_line, position, uci, worker};

    /// A searched move of the worker's position.
    fn move_info(w: &Worker, text: &str) -> MoveInfo {
        let m = uci(w, text);
        MoveInfo {
            m,
            piece: w.position.moved_piece(m),
            captured: w.position.captured(m),
            noisy: w.position.is_noisy(m),
            gives_check: false,
            count: 2,
            depth: 5,
            reduction: 0,
        }
    }

    fn searched(w: &Worker, moves: &[&str]) -> SearchedMoves {
        let mut searched = SearchedMoves::default();
        moves.iter().for_each(|text| searched.push(&move_info(w, text)));
        searched
    }

    /// Scores of a move at the worker's position: butterfly, first plies, pawn structure, last move, move before that.
    fn scores(w: &Worker, text: &str) -> [i32; 5] {
        let c = move_info(w, text);
        let h = &w.histories;
        [
            h.butterfly.score(w.position.turn(), c.m),
            h.low_ply.score(w.stack.ply(), c.m),
            h.pawn.score(w.position.pawn_key(), c.square()),
            h.continuation.score(w.stack[-1].context, c.square()),
            h.continuation.score(w.stack[-2].context, c.square()),
        ]
    }

    fn capture_score(w: &Worker, text: &str) -> i32 {
        let c = move_info(w, text);
        w.histories.capture.score(c.square(), c.captured)
    }

    #[test]
    fn best_quiet_move_gains_in_every_table_and_earlier_ones_lose() {
        let mut worker = worker(&Position::startpos());
        at_line(&mut worker, &["e2e4", "e7e5"], &mut |w| {
            let moves = ["g1f3", "d2d4", "b1c3", "a2a3"];
            let before = moves.map(|text| scores(w, text));
            let node = Node::<NullWindow>::new(10, 11, 6, true);
            let earlier = searched(w, &moves[1..]);
            w.update_histories(&node, uci(w, moves[0]), &earlier);
            let after = moves.map(|text| scores(w, text));
            let change = |of: usize, table: usize| after[of][table] - before[of][table];
            for table in 0..5 {
                assert!(change(0, table) > 0, "table {table}: {}", change(0, table));
                for (of, text) in moves.iter().enumerate().skip(1) {
                    assert!(change(of, table) < 0, "{text} in table {table}: {}", change(of, table));
                }
                // The malus fades from move to move.
                assert!(change(1, table) < change(2, table) && change(2, table) < change(3, table), "table {table}");
            }
        });
    }

    #[test]
    fn bonus_rises_with_depth_and_with_moves_that_failed_before() {
        let bonus_at = |depth, earlier: &[&str]| {
            let mut worker = worker(&Position::startpos());
            let searched = searched(&worker, earlier);
            let node = Node::<NullWindow>::new(10, 11, depth, true);
            let best = uci(&worker, "g1f3");
            worker.update_histories(&node, best, &searched);
            scores(&worker, "g1f3")[0]
        };
        assert!(bonus_at(2, &[]) > 0);
        assert!((2..8).all(|depth| bonus_at(depth, &[]) < bonus_at(depth + 1, &[])));
        assert_eq!(bonus_at(40, &[]), bonus_at(60, &[]));
        let many = ["a2a3", "a2a4", "b2b3", "b2b4", "c2c3", "c2c4", "d2d3", "d2d4", "e2e3", "e2e4", "f2f3", "f2f4"];
        assert!(bonus_at(6, &many) > bonus_at(6, &many[..1]));
    }

    #[test]
    fn best_capture_gains_and_quiet_moves_keep_their_scores() {
        let mut worker = worker(&Position::startpos());
        at_line(&mut worker, &["e2e4", "d7d5", "b1c3", "g8f6"], &mut |w| {
            let quiet = scores(w, "d2d4");
            let node = Node::<Pv>::new(10, 90, 6, false);
            let earlier = searched(w, &["c3d5", "d2d4"]);
            let before = ["e4d5", "c3d5"].map(|text| capture_score(w, text));
            w.update_histories(&node, uci(w, "e4d5"), &earlier);
            assert!(capture_score(w, "e4d5") > before[0]);
            assert!(capture_score(w, "c3d5") < before[1]);
            assert_eq!(scores(w, "d2d4"), quiet);
        });
    }

    /// Score of the last quiet move in the context of the move before it, in the position after both.
    fn last_move_after_its_predecessor(w: &Worker) -> i32 {
        let last = w.stack[-1];
        let m = last.current.expect("a move");
        w.histories.continuation.score(w.stack[-2].context, PieceSquare::new(last.piece, m))
    }

    #[test]
    fn refuted_move_loses_only_if_it_was_the_first() {
        let change = |move_count| {
            let mut worker = worker(&Position::startpos());
            let mut change = 0;
            at_line(&mut worker, &["e2e4", "e7e5"], &mut |w| {
                w.stack[-1].move_count = move_count;
                let before = last_move_after_its_predecessor(w);
                let node = Node::<NullWindow>::new(10, 11, 6, true);
                w.update_histories(&node, uci(w, "g1f3"), &SearchedMoves::default());
                change = last_move_after_its_predecessor(w) - before;
            });
            change
        };
        assert!(change(1) < 0);
        assert_eq!(change(2), 0);
    }

    #[test]
    fn move_that_made_the_node_fail_low_gains() {
        let mut worker = worker(&Position::startpos());
        at_line(&mut worker, &["e2e4", "g8f6"], &mut |w| {
            let (turn, m) = (w.position.turn(), w.stack[-1].current.expect("a move"));
            w.stack[-1].move_count = 20;
            w.stack[0].static_eval = 0;
            let before = (w.histories.butterfly.score(!turn, m), last_move_after_its_predecessor(w));
            let mut node = Node::<NullWindow>::new(10, 11, 8, false);
            node.best = -400;
            w.learn_from_fail_low(&node);
            assert!(w.histories.butterfly.score(!turn, m) > before.0);
            assert!(last_move_after_its_predecessor(w) > before.1);
            assert_eq!(w.histories.butterfly.score(turn, m), 0);
        });
    }

    #[test]
    fn quiet_move_is_judged_by_the_change_of_the_evaluation() {
        let change = |before: Value, after: Value| {
            let mut worker = worker(&Position::startpos());
            worker.stack[0].static_eval = before;
            let mut change = 0;
            at_line(&mut worker, &["e2e4"], &mut |w| {
                w.stack[0].static_eval = after;
                w.learn_from_evaluation();
                change = w.histories.butterfly.score(Color::White, w.stack[-1].current.expect("a move"));
            });
            change
        };
        // From the opponent's view, the evaluation has the other sign.
        assert!(change(50, -250) > 0);
        assert!(change(50, 150) < 0);
        assert_eq!(change(NONE, -250), 0);
        assert_eq!(change(50, -5000), change(50, -50_000), "the change is capped");
    }

    #[test]
    fn table_cutoff_and_repeated_search_give_a_bonus() {
        let mut worker = worker(&Position::startpos());
        at_line(&mut worker, &["e2e4", "e7e5"], &mut |w| {
            let before = scores(w, "g1f3");
            w.learn_from_table(uci(w, "g1f3"), 5);
            let after = scores(w, "g1f3");
            assert!((0..5).all(|table| after[table] > before[table]), "{before:?} {after:?}");
            let c = move_info(w, "b1c3");
            let m = c.m;
            w.child(m, |w| {
                let before = last_move_after_its_predecessor(w);
                w.learn_from_research(&c);
                assert!(last_move_after_its_predecessor(w) > before);
            });
        });
    }

    /// Change of the position's correction by a node with this window, best value and static evaluation.
    fn correction_after(fen: &str, best: Value, static_eval: Value, best_move: Option<&str>) -> i32 {
        let mut worker = worker(&position(fen));
        worker.stack[0].static_eval = static_eval;
        worker.stack[0].in_check = worker.position.in_check();
        let mut node = Node::<NullWindow>::new(99, 100, 8, true);
        node.best = best;
        let m = best_move.map(|text| uci(&worker, text));
        worker.learn_correction(&node, m);
        let keys = worker.stack[0].keys;
        worker.corrections.value(&keys)
    }

    #[test]
    fn correction_moves_towards_conclusive_results_only() {
        const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        const CAPTURE: &str = "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 1";
        // A fail-high above the evaluation, and a fail-low below it.
        assert!(correction_after(START, 150, 20, Some("e2e4")) > 0);
        assert!(correction_after(START, 40, 90, None) < 0);
        // Bounds on the wrong side of the evaluation prove nothing.
        assert_eq!(correction_after(START, 40, 20, None), 0);
        assert_eq!(correction_after(START, 150, 400, Some("e2e4")), 0);
        // A capture, a proven result, or no evaluation.
        assert!(correction_after(CAPTURE, 150, 20, Some("d2d4")) > 0);
        assert_eq!(correction_after(CAPTURE, 150, 20, Some("e4d5")), 0);
        assert_eq!(correction_after(START, MATE - 9, 20, Some("e2e4")), 0);
        assert_eq!(correction_after(START, 40, NONE, None), 0);
        let in_check = "4k3/8/8/8/8/8/4r3/4K3 w - - 0 1";
        assert_eq!(correction_after(in_check, 40, 90, None), 0);
    }

    #[test]
    fn search_without_a_move_does_not_correct() {
        let mut worker = worker(&Position::startpos());
        worker.stack[0].static_eval = 20;
        worker.stack[0].excluded = Some(uci(&worker, "e2e4"));
        let mut node = Node::<NullWindow>::new(99, 100, 8, true);
        node.best = 150;
        worker.learn_correction(&node, Some(uci(&worker, "d2d4")));
        let keys = worker.stack[0].keys;
        assert_eq!(worker.corrections.value(&keys), 0);
        worker.stack[0].excluded = None;
        worker.learn_from_multi_cut(INFINITE / 100, 6);
        assert!(worker.corrections.value(&keys) > 0);
    }
}
