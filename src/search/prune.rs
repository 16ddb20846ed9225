//! Steps 5 to 10: the static evaluation, and pruning of whole nodes by it or by a cheap search.
// CITE: conditions and figures of steps 5 to 10: SF-2026-08 where a step names no other source.

use super::movepick::MovePicker;
use super::negamax::{Node, NodeType, NullWindow};
use super::score::{self, NONE, Value, exchange_units};
use super::tt::{Bound, DEPTH_UNSEARCHED};
use super::worker::{Exit, Step, Worker, cut_if};
use super::{params, rules};
use crate::board::Role;

/// Margin by which the evaluation must exceed beta for a cutoff. It grows with the depth, and with the correction of
/// the evaluation, because a large correction means an unreliable evaluation.
// CITE: form and figures: SF-2026-08.
#[inline(always)]
fn reverse_futility_margin<N: NodeType>(node: &Node<N>) -> Value {
    let flag = i32::from;
    let mult = (params::rfp_mult_base() + params::rfp_mult_depth() * node.depth).min(params::rfp_mult_max())
        - params::rfp_no_tt() * flag(node.entry.is_none());
    let discount = flag(node.improving) * params::rfp_improving() + flag(node.worsening) * params::rfp_worsening();
    let uncertainty = node.correction.abs() * 100 / params::rfp_corr_div();
    mult * node.depth - discount * mult / 1024 + uncertainty
}

/// Margin by which the evaluation must exceed beta before a null move is tried. It shrinks with the depth.
// CITE: form and figures: SF-2026-08.
fn null_move_margin<N: NodeType>(node: &Node<N>) -> Value {
    params::nmp_base_margin()
        - params::nmp_depth_margin() * node.depth
        - params::nmp_improving() * i32::from(node.improving)
}

impl Worker {
    /// Step 5. The static evaluation: taken from the table if present, corrected, and compared with earlier plies.
    // CITE: form: Stockfish; the comparison with the ply before ("opponent worsening"): Stockfish (2024).
    #[inline]
    pub(super) fn evaluate_node<N: NodeType>(&mut self, node: &mut Node<N>) {
        node.correction = self.corrections.value(&self.stack[0].keys);
        let (in_check, excluded) = (self.stack[0].in_check, self.stack[0].excluded.is_some());
        if in_check {
            // In check a static evaluation is meaningless; comparisons use the evaluation of the same side's previous
            // turn.
            let before = self.stack[-2].static_eval;
            self.stack[0].static_eval = before;
            node.eval = before;
            return;
        }
        if excluded {
            // The same node, searched without one move: its evaluation already exists.
            node.eval = self.stack[0].static_eval;
            node.raw_eval = node.entry.map_or(NONE, |e| e.eval);
        } else {
            node.raw_eval = match node.entry {
                Some(e) if e.eval != NONE => e.eval,
                _ => self.evaluate(),
            };
            node.eval = self.corrected(node.raw_eval, node.correction);
            self.stack[0].static_eval = node.eval;
            if node.entry.is_none() {
                self.store(node, 0, None, Bound::None, DEPTH_UNSEARCHED);
            } else if node.tt_score != NONE
                && node.tt_bound().allows_cutoff(node.tt_score, node.eval + i32::from(node.tt_score > node.eval))
            {
                node.eval = node.tt_score;
            }
            self.learn_from_evaluation();
        }
        let [here, before, two_before] = [0, -1, -2].map(|plies| self.stack[plies].static_eval);
        node.improving = two_before != NONE && here > two_before;
        node.worsening = before != NONE && here > -before;
        if !excluded && rules::hindsight_depth() {
            self.adjust_depth(node);
        }
    }

    /// Hindsight depth: one ply more if the previous move was reduced by several plies and the opponent's evaluation
    /// did not get worse. One ply less if it was reduced and the sum of both sides' evaluations is large.
    // CITE: Stockfish (January 2025); figures: SF-2026-08, the sum close to it (166). There it applies in check too,
    // with the evaluation of two plies earlier.
    fn adjust_depth<N: NodeType>(&mut self, node: &mut Node<N>) {
        let before = self.stack[-1];
        if before.reduction >= params::hind_deeper_plies() && !node.worsening {
            node.depth += 1;
        }
        if before.reduction >= params::hind_shallower_plies()
            && node.depth >= 2
            && before.static_eval != NONE
            && self.stack[0].static_eval + before.static_eval > params::hind_shallower_sum()
        {
            node.depth -= 1;
        }
    }

    /// Whether steps 6 to 10 apply. They do not apply in check, where a static evaluation is meaningless. They do not
    /// apply in a search for a mate either: it must find quiet key moves and zugzwang, which the evaluation
    /// misses.
    #[inline(always)]
    pub(super) fn may_prune_node(&self) -> bool {
        !self.stack[0].in_check && self.request.limits.mate.is_none()
    }

    /// Step 6. Razoring: the evaluation is so far below alpha that only captures could raise the value to alpha.
    /// Quiescence search shows whether one does.
    // CITE: Birmingham, Kent, "Tree-searching and tree-pruning techniques" (1977); figures: SF-2026-08. There it also
    // applies in singular searches and against a win or loss by force.
    #[inline(always)]
    pub(super) fn razor<N: NodeType>(&mut self, node: &Node<N>) -> Step {
        let margin = params::razor_base() + params::razor_depth2() * node.depth * node.depth;
        if N::PV
            || !rules::razoring()
            || self.stack[0].excluded.is_some()
            || node.eval >= node.alpha - margin
            || score::is_decisive(node.alpha)
        {
            return Ok(());
        }
        Err(Exit::Cut(self.quiesce::<NullWindow>(node.alpha, node.beta)?))
    }

    /// Step 7. Reverse futility pruning: the evaluation is so far above beta that the opponent is unlikely to recover
    /// the difference in the remaining depth.
    // CITE: Heinz, "Extended futility pruning" (1998), seen from the other side, as is common today; figures:
    // SF-2026-08, where it also applies in singular searches; the returned value: Stockfish 18.
    #[inline(always)]
    pub(super) fn reverse_futility<N: NodeType>(&self, node: &Node<N>) -> Step {
        let margin = reverse_futility_margin(node);
        let safe = !N::PV
            && !self.stack[0].tt_pv
            && self.stack[0].excluded.is_none()
            && node.depth < params::rfp_depth_max()
            && node.eval >= node.beta
            && node.eval - margin.max(0) >= node.beta
            && (node.tt_move.is_none() || node.tt_noisy)
            && !score::is_loss(node.beta)
            && !score::is_win(node.eval);
        cut_if(safe, node.beta + (node.eval - node.beta) / params::rfp_return_div())
    }

    /// Step 8. Null move: if the value stays above beta even after a pass, some real move will also exceed it. This is
    /// false in zugzwang. So the step requires a piece other than king and pawns, and its result is verified at high
    /// depth.
    // CITE: Beal, "Experiments with the null move" (1989); Donninger, "Null move and deep search" (1993); verification:
    // Tabibi, Netanyahu (2002), in Stockfish's form (2017); conditions and figures: SF-2026-08.
    pub(super) fn null_move<N: NodeType>(&mut self, node: &Node<N>) -> Step {
        let us = self.position.turn();
        let static_eval = self.stack[0].static_eval;
        let promising = !N::PV
            && rules::null_move()
            && node.cut_node
            && self.stack[-1].current.is_some()
            && self.stack[0].excluded.is_none()
            && static_eval >= node.beta + null_move_margin(node)
            && self.position.has_non_pawn_material(us)
            && self.stack.ply() >= self.null_from_ply
            && node.beta >= -params::nmp_least_beta();
        if !promising {
            return Ok(());
        }
        let eval_reduction = ((static_eval - node.beta) / params::nmp_eval_div()).max(0);
        let depth = node.depth - (eval_reduction + node.depth / params::nmp_depth_div() + params::nmp_base());
        let beta = node.beta;
        let value = -self.null_child(|w| w.negamax::<NullWindow>(-beta, -beta + 1, depth, false))?;
        if value < beta || score::is_win(value) {
            return Ok(());
        }
        if self.null_from_ply > 0 || node.depth < params::nmp_verify_depth() {
            return Err(Exit::Cut(value));
        }
        self.null_from_ply = self.stack.ply() + (depth.max(0) * params::nmp_verify_scale() / 1024) as usize;
        let verified = self.negamax::<NullWindow>(beta - 1, beta, depth, false);
        self.null_from_ply = 0;
        cut_if(verified? >= beta, value)
    }

    /// Step 9. Internal iterative reduction: without a move from the table, move ordering is poor and a deep search is
    /// expensive. A shallower search stores a move for the next visit.
    // CITE: E. Schröder (2020), as replacement of internal iterative deepening; form and depth: SF-2026-08. One ply
    // earlier in PV nodes: origin not recorded.
    #[inline(always)]
    pub(super) fn reduce_without_move<N: NodeType>(&self, node: &mut Node<N>) {
        let frame = &self.stack[0];
        node.improving |= frame.static_eval >= node.beta;
        if !node.all_node()
            && node.depth >= params::iir_depth() - i32::from(N::PV)
            && node.tt_move.is_none()
            && frame.excluded.is_none()
        {
            node.depth -= 1;
        }
    }

    /// Step 10. ProbCut: a capture whose shallow search exceeds beta by a margin would most likely exceed beta in the
    /// full search.
    // CITE: Buro, "ProbCut" (1995); Jiang, Buro (2003) for chess; captures only, after a quiescence search: Stockfish.
    // Depths: SF-2026-08; margins: SF-17.1. The cutoff by the table's score alone: Stockfish (2021), margin SF-17.1.
    // In SF-2026-08 both also apply in PV and singular searches, and the latter in check. A capture that wins by force
    // does not end the node there.
    pub fn probcut<N: NodeType>(&mut self, node: &Node<N>) -> Step {
        if N::PV || !rules::probcut() || self.stack[0].excluded.is_some() || score::is_decisive(node.beta) {
            return Ok(());
        }
        // The table's score may suffice without a search.
        let far = node.beta + params::probcut_tt_margin();
        if node.tt_bound().is_lower()
            && node.tt_depth() >= node.depth - params::probcut_tt_plies()
            && node.tt_score != NONE
            && node.tt_score >= far
            && !score::is_decisive(node.tt_score)
        {
            return Err(Exit::Cut(far));
        }
        let beta = node.beta + params::probcut_margin() - params::probcut_improving() * i32::from(node.improving);
        if node.depth < params::probcut_depth() || (node.tt_score != NONE && node.tt_score < beta) {
            return Ok(());
        }
        self.probcut_moves(node, beta)
    }

    fn probcut_moves<N: NodeType>(&mut self, node: &Node<N>, beta: Value) -> Step {
        let plies = if node.improving { params::probcut_plies_improving() } else { params::probcut_plies() };
        let depth = (node.depth - plies).max(0);
        let threshold = exchange_units(beta - self.stack[0].static_eval);
        let checks = self.position.check_info();
        let contexts = self.contexts();
        let mut picker = MovePicker::probcut(&self.position, node.tt_move, threshold);
        loop {
            let (ordering, buffers) = self.ordering(&checks, contexts);
            let Some(m) = picker.next(&ordering, buffers) else {
                return Ok(());
            };
            if !self.position.legal(m) || self.misses(m) {
                continue;
            }
            self.prefetch(m);
            let cut_node = !node.cut_node;
            let value = self.child(m, |w| {
                let value = -w.quiesce::<NullWindow>(-beta, -beta + 1)?;
                if value < beta || depth == 0 {
                    return Ok(value);
                }
                w.negamax::<NullWindow>(-beta, -beta + 1, depth, cut_node).map(|value| -value)
            })?;
            if value >= beta {
                self.store(node, value, Some(m), Bound::Lower, depth + 1);
                let won = score::is_decisive(value);
                return Err(Exit::Cut(if won { value } else { value - (beta - node.beta) }));
            }
        }
    }

    /// Value of the captured piece, 0 for none.
    pub(super) fn victim_value(role: Option<Role>) -> Value {
        role.map_or(0, score::piece_value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;
    use crate::search::tests::{uci, worker};
    use crate::search::tt::TableEntry;

    /// Depth of a node of depth 6 after a move that was reduced by `reduction`, with the static evaluations of the
    /// parent and of the node, each for its side to move.
    fn depth_after(reduction: i32, parent: Value, here: Value) -> i32 {
        let mut w = worker(&Position::startpos());
        let m = uci(&w, "e2e4");
        w.child(m, |w| {
            (w.stack[-1].reduction, w.stack[-1].static_eval, w.stack[0].static_eval) = (reduction, parent, here);
            let mut node = Node::<NullWindow>::new(0, 1, 6, true);
            node.worsening = here > -parent;
            w.adjust_depth(&mut node);
            node.depth
        })
    }

    /// Result, nodes and value of `null_from_ply` after step 8 at a node of `depth` whose evaluation is far above beta.
    /// Null moves are tried from ply `from` on.
    fn null_move_at(depth: i32, from: usize) -> (bool, u64, usize) {
        let mut w = worker(&Position::startpos());
        w.null_from_ply = from;
        let m = uci(&w, "e2e4");
        w.child(m, |w| {
            let eval = w.evaluate();
            w.stack[0].static_eval = eval;
            // With a quiet move in the table, reverse futility does not end the verification at once.
            let best = Some(uci(w, "e7e5"));
            let entry = TableEntry { best, score: 0, eval, depth: 0, bound: Bound::None, pv: false };
            w.request.table.store(w.table_key(), entry);
            let beta = eval - 600;
            let mut node = Node::<NullWindow>::new(beta - 1, beta, depth, true);
            node.eval = eval;
            let before = w.nodes;
            let cut = matches!(w.null_move(&node), Err(Exit::Cut(value)) if value >= beta);
            (cut, w.nodes - before, w.null_from_ply)
        })
    }

    #[test]
    fn null_move_is_verified_at_high_depth_and_not_during_a_verification() {
        let verified_from = params::nmp_verify_depth();
        for depth in [verified_from - 1, verified_from] {
            // A null move is not tried before the ply from which a verification allows it.
            assert_eq!(null_move_at(depth, 2), (false, 0, 2));
            let (cut, nodes, from) = null_move_at(depth, 0);
            assert!(cut && nodes > 0 && from == 0, "{depth}: {cut} {nodes} {from}");
        }
        // Within a verification the null move alone decides. Outside of one, the node is searched too, at high depth.
        assert_eq!(null_move_at(verified_from - 1, 0).1, null_move_at(verified_from - 1, 1).1);
        assert!(null_move_at(verified_from, 0).1 > null_move_at(verified_from, 1).1);
    }

    #[test]
    fn hindsight_deepens_after_reductions_unless_the_opponent_got_worse() {
        let (deeper, shallower) = (params::hind_deeper_plies(), params::hind_shallower_plies());
        assert_eq!(depth_after(deeper, 30, -40), 7);
        assert_eq!(depth_after(deeper - 1, 30, -40), 6);
        // The sum of both evaluations is large: the move lost much, so a reply is easily good enough.
        let sum = params::hind_shallower_sum();
        assert_eq!(depth_after(shallower, 30, sum), 5);
        assert_eq!(depth_after(shallower, 30, sum - 30), 6);
        assert_eq!(depth_after(shallower, NONE, sum), 6);
        assert_eq!(depth_after(0, 30, sum), 6);
    }
}
