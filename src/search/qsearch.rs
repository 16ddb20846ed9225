//! Quiescence search: noisy moves only (all evasions in check), until the position is quiet enough for a static
//! evaluation.
// CITE: Shannon (1950), Harris (1975), Beal (1990). Form: SF-2026-08, except that quiet evasions are limited and
// pruned by history as in Stockfish 16.1 and 17, and that stalemates are not recognised. Figures: see the group in the
// table of parameters.

use super::history::PieceSquare;
use super::movepick::MovePicker;
use super::negamax::NodeType;
use super::score::{self, INFINITE, NONE, Value, exchange_units, piece_value};
use super::tt::{Bound, DEPTH_QS, DEPTH_UNSEARCHED, TableEntry, score_at};
use super::worker::{Exit, Searched, Step, Worker, into_value};
use super::{params, rules};
use crate::board::{CheckInfo, Move, Role};

/// State of a quiescence node.
struct QNode {
    alpha: Value,
    beta: Value,
    best: Value,
    best_move: Option<Move>,
    /// Static evaluation plus a margin. With the captured piece added, it bounds the value of a capture.
    futility: Value,
    raw_eval: Value,
    tt_pv: bool,
}

/// Moves a value above beta towards beta: its excess is partly an artefact of the null window.
// CITE: Stockfish; the share lies between the two values of SF-2026-08 (441 and 462 in 1024).
fn towards_beta(value: Value, beta: Value) -> Value {
    let share = params::qs_fail_scale();
    (share * value + (1024 - share) * beta) / 1024
}

impl Worker {
    /// Value of this node after its captures are played out, within `alpha..beta`.
    pub(super) fn quiesce<N: NodeType>(&mut self, alpha: Value, beta: Value) -> Searched {
        debug_assert!(alpha < beta && (N::PV || alpha + 1 == beta));
        into_value(self.quiesce_node::<N>(alpha, beta))
    }

    #[inline]
    fn quiesce_node<N: NodeType>(&mut self, mut alpha: Value, beta: Value) -> Step<Value> {
        self.enter::<N>()?;
        self.ends_here(&mut alpha, beta)?;
        let in_check = self.stack[0].in_check;
        let entry = self.request.table.probe(self.table_key());
        self.stack[0].tt_hit = entry.is_some();
        let tt_score = entry.map_or(NONE, |e| score_at(&e, self.stack.ply(), self.position.halfmoves(), self.with_tb));
        if let Some(e) = entry
            && !N::PV
            && tt_score != NONE
            && e.bound.allows_cutoff(tt_score, beta)
        {
            return Err(Exit::Cut(tt_score));
        }
        let mut node = QNode {
            alpha,
            beta,
            best: -INFINITE,
            best_move: None,
            futility: -INFINITE,
            raw_eval: NONE,
            tt_pv: entry.is_some_and(|e| e.pv),
        };
        if !in_check {
            self.stand_pat(&mut node, entry, tt_score)?;
        }
        let tt_move = entry.and_then(|e| e.best).filter(|&m| self.position.pseudo_legal(m));
        self.quiesce_moves::<N>(&mut node, tt_move, in_check)?;
        if in_check && node.best == -INFINITE {
            return Ok(score::mated_in(self.stack.ply()));
        }
        if !score::is_decisive(node.best) && node.best > node.beta {
            node.best = towards_beta(node.best, node.beta);
        }
        let bound = if node.best >= node.beta { Bound::Lower } else { Bound::Upper };
        self.store_quiet(&node, bound, DEPTH_QS);
        Ok(node.best)
    }

    /// Stand pat: the value without any capture is a lower bound. Most nodes end here.
    fn stand_pat(&mut self, node: &mut QNode, entry: Option<TableEntry>, tt_score: Value) -> Step {
        let correction = self.corrections.value(&self.stack[0].keys);
        node.raw_eval = match entry {
            Some(e) if e.eval != NONE => e.eval,
            _ => self.evaluate(),
        };
        let eval = self.corrected(node.raw_eval, correction);
        self.stack[0].static_eval = eval;
        node.best = eval;
        if let Some(e) = entry
            && tt_score != NONE
            && !score::is_decisive(tt_score)
            && e.bound.allows_cutoff(tt_score, eval + i32::from(tt_score > eval))
        {
            node.best = tt_score;
        }
        if node.best >= node.beta {
            if !score::is_decisive(node.best) {
                node.best = towards_beta(node.best, node.beta);
            }
            if entry.is_none() {
                self.store_quiet(node, Bound::Lower, DEPTH_UNSEARCHED);
            }
            return Err(Exit::Cut(node.best));
        }
        node.alpha = node.alpha.max(node.best);
        node.futility = eval + params::qs_futility();
        Ok(())
    }

    fn quiesce_moves<N: NodeType>(&mut self, node: &mut QNode, tt_move: Option<Move>, in_check: bool) -> Searched<()> {
        let checks = self.position.check_info();
        let contexts = self.contexts();
        let mut picker = MovePicker::quiescence(&self.position, tt_move);
        let (mut count, mut quiet_evasions) = (0, 0);
        loop {
            let (ordering, buffers) = self.ordering(&checks, contexts);
            let Some(m) = picker.next(&ordering, buffers) else {
                break;
            };
            if !self.position.legal(m) || self.misses(m) {
                continue;
            }
            count += 1;
            self.prefetch(m);
            if !score::is_loss(node.best) {
                if in_check && !self.position.is_noisy(m) {
                    // One quiet evasion that does not lose is enough to exclude mate.
                    // CITE: Stockfish (2022).
                    quiet_evasions += 1;
                    if quiet_evasions > params::qs_evasions() {
                        break;
                    }
                }
                if self.is_futile(node, m, count, &checks) {
                    continue;
                }
            }
            let (low, high) = (-node.beta, -node.alpha);
            let value = -self.child(m, |w| w.quiesce::<N>(low, high))?;
            if value > node.best {
                node.best = value;
                if value > node.alpha {
                    node.best_move = Some(m);
                    if N::PV {
                        self.extend_pv(m);
                    }
                    if value >= node.beta {
                        break;
                    }
                    node.alpha = value;
                }
            }
        }
        Ok(())
    }

    /// Whether a move is futile: it cannot raise the value to alpha, its history is bad, or it loses material.
    /// Requires another move that does not lose.
    // CITE: SF-2026-08 and SF-17.1; the history rule is SF-17's with a figure whose origin is not recorded.
    #[inline(always)]
    fn is_futile(&self, node: &mut QNode, m: Move, count: i32, checks: &CheckInfo) -> bool {
        let before = &self.stack[-1];
        // Checks and recaptures can gain more than the captured piece.
        if rules::qs_futility()
            && node.futility > -INFINITE
            && !self.position.gives_check(checks, m)
            && Some(m.to()) != before.current.map(Move::to)
            && self.is_futile_capture(node, m, count)
        {
            return true;
        }
        if !self.position.is_noisy(m) {
            let square = PieceSquare::new(self.position.moved_piece(m), m);
            let history = self.histories.continuation.score(before.context, square)
                + self.histories.pawn.score(self.position.pawn_key(), square);
            if history < -params::qs_history() {
                return true;
            }
        }
        !self.position.see_ge(m, exchange_units(-params::qs_see()))
    }

    /// Whether a capture is futile: even with the captured piece, the value stays below alpha. Raises `best` to the
    /// bound on the capture's value.
    // CITE: futility (delta pruning) as in step 12; form: SF-2026-08; the margin `qs_futility`: our screenings.
    #[inline(always)]
    fn is_futile_capture(&self, node: &mut QNode, m: Move, count: i32) -> bool {
        if m.promotion().is_some() {
            return false;
        }
        if count > params::qs_moves() {
            return true;
        }
        let victim = self.position.captured(m).unwrap_or(Role::King);
        let bound = node.futility + piece_value(victim);
        if bound <= node.alpha {
            node.best = node.best.max(score::clamp_eval(bound));
            return true;
        }
        // The exchange must win the difference to alpha.
        if !self.position.see_ge(m, exchange_units(node.alpha - node.futility)) {
            node.best = node.best.max(node.alpha.min(node.futility));
            return true;
        }
        false
    }

    fn store_quiet(&mut self, node: &QNode, bound: Bound, depth: i32) {
        self.request.table.store(
            self.table_key(),
            TableEntry {
                best: node.best_move,
                score: score::to_tt(node.best, self.stack.ply()),
                eval: node.raw_eval,
                depth,
                bound,
                pv: node.tt_pv,
            },
        );
    }
}
