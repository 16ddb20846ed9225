//! Steps 11 to 15: which moves of a node are searched, and how deep.
// CITE: conditions and figures of steps 11 to 15: SF-2026-08 where a step names no other source.

use std::sync::LazyLock;

use super::movepick::MovePicker;
use super::negamax::{MoveInfo, Node, NodeType, NullWindow, Pv, SearchedMoves};
use super::score::{self, INFINITE, NONE, Value, exchange_units};
use super::tt::Bound;
use super::worker::{Exit, Searched, Step, Worker};
use super::{params, rules};
use crate::board::{CheckInfo, Move};

impl Worker {
    /// Step 11. The moves, one by one. The value of the best one is the node's value.
    pub fn search_moves<N: NodeType>(&mut self, node: &mut Node<N>) -> Step<Value> {
        let excluded = self.stack[0].excluded;
        let checks = self.position.check_info();
        let contexts = self.contexts();
        let mut picker = MovePicker::main(&self.position, node.tt_move);
        let mut searched = SearchedMoves::default();
        let mut best_move = None;
        let mut count = 0;
        let mut share = self.window_share(node);
        loop {
            // 12. Late moves: checked before quiet moves are generated and scored, the most expensive part of the loop.
            if !N::ROOT && Self::is_late(node, count) && self.may_prune_moves(node) {
                picker.skip_quiets();
            }
            let (ordering, buffers) = self.ordering(&checks, contexts);
            let Some(m) = picker.next(&ordering, buffers) else {
                break;
            };
            if Some(m) == excluded || !self.is_candidate::<N>(m) {
                continue;
            }
            count += 1;
            self.prefetch(m);
            let info = self.move_info(node, m, &checks, count, share);
            self.stack[0].move_count = count;
            if N::ROOT {
                self.report_current_move(m, count);
            } else if self.misses(m) || self.shallow_prune(node, &info) {
                // 12. Shallow pruning.
                continue;
            }
            let mut extension = 0;
            if !N::ROOT && Some(m) == node.tt_move {
                // 13. Singular extension.
                extension = self.singular_extension(node)?;
                self.stack[0].move_count = count;
            }
            // 14. and 15. Reduced and full searches.
            let nodes_before = self.nodes;
            let value = self.search_move(node, &info, extension)?;
            if N::ROOT {
                self.record_root_move(m, value, count, self.nodes - nodes_before, node);
            }
            let promoted = value + i32::from(self.tie_break(node, value));
            if promoted > node.best {
                node.best = value;
                if promoted > node.alpha {
                    best_move = Some(m);
                    if self.raise_alpha(node, m, extension) {
                        break;
                    }
                    share = self.window_share(node);
                }
            }
            if best_move != Some(m) {
                searched.push(&info);
            }
        }
        // 16. History and correction updates.
        Ok(self.finish(node, best_move, count, &searched))
    }

    /// Whether a move as good as the best so far replaces it. This happens pseudo-randomly near the leaves, so that
    /// the first of several equal lines is not always chosen.
    // CITE: Stockfish (June 2024); form and mask: SF-2026-08.
    #[inline]
    fn tie_break<N: NodeType>(&self, node: &Node<N>, value: Value) -> bool {
        value == node.best
            && self.stack.ply() as i32 + 2 >= self.root_depth
            && self.nodes & 14 == 0
            && !score::is_win(value.abs() + 1)
    }

    /// Records `m`, whose value exceeds alpha, as the new best move. Returns whether it ends the node.
    // CITE: less depth after a move that raised alpha: Stockfish (2022), figures SF-2026-08; the count of cutoffs:
    // Stockfish (2022), form SF-2026-08.
    #[inline]
    fn raise_alpha<N: NodeType>(&mut self, node: &mut Node<N>, m: Move, extension: i32) -> bool {
        if N::PV && !N::ROOT {
            self.extend_pv(m);
        }
        if node.best >= node.beta {
            self.stack[0].cutoffs += i32::from(extension < 2 || N::PV);
            return true;
        }
        node.alpha = node.best;
        // The remaining moves are less likely to be better, so they are searched less deep.
        if rules::raise_reduction()
            && node.depth > params::raise_depth_min()
            && node.depth < params::raise_depth_max()
            && !score::is_decisive(node.best)
        {
            node.depth -= params::raise_plies();
        }
        false
    }

    #[inline]
    fn is_candidate<N: NodeType>(&self, m: Move) -> bool {
        if N::ROOT {
            self.root_moves[self.line..self.group.end].iter().any(|root| root.m == m)
        } else {
            self.position.legal(m)
        }
    }

    #[inline]
    fn move_info<N: NodeType>(&self, node: &Node<N>, m: Move, checks: &CheckInfo, count: i32, share: i32) -> MoveInfo {
        MoveInfo {
            m,
            piece: self.position.moved_piece(m),
            captured: self.position.captured(m),
            noisy: self.position.is_noisy(m),
            gives_check: self.position.gives_check(checks, m),
            count,
            depth: node.depth - 1,
            reduction: base(node.improving, node.depth, count, share),
        }
    }

    /// Step 12. Shallow pruning: returns whether a move is skipped, because it is futile by its history, exchange or
    /// the static evaluation. Requires a move that does not lose. The bound of a futile quiet move may raise the
    /// node's best value.
    // CITE: conditions and figures: SF-2026-08; those of history pruning are rounded from SF-17.1.
    fn shallow_prune<N: NodeType>(&self, node: &mut Node<N>, c: &MoveInfo) -> bool {
        if !self.may_prune_moves(node) {
            return false;
        }
        let depth = c.depth - c.reduction / 1024;
        if c.noisy || c.gives_check {
            return self.prune_noisy(node, c, depth);
        }
        self.prune_quiet(node, c, depth)
    }

    /// Whether moves of the node may be skipped: a move that does not lose is known, and zugzwang is unlikely.
    #[inline]
    fn may_prune_moves<N: NodeType>(&self, node: &Node<N>) -> bool {
        !score::is_loss(node.best) && self.position.has_non_pawn_material(self.position.turn())
    }

    /// Late move pruning: late moves of a shallow node almost never matter, because the good ones are ordered first.
    // CITE: origin of the idea not recorded; limit and figures: SF-2026-08. There quiet evasions of check are never
    // skipped.
    // MEASURED: the limit that skips one move more -8 +- 7 Elo; evasions never skipped +2 +- 8 (docs/experiments.md).
    #[inline]
    fn is_late<N: NodeType>(node: &Node<N>, count: i32) -> bool {
        let limit = params::lmp_base() + node.depth * node.depth;
        count >= limit / (2 - i32::from(node.improving))
    }

    fn prune_noisy<N: NodeType>(&self, node: &Node<N>, c: &MoveInfo, depth: i32) -> bool {
        let history = self.histories.capture.score(c.square(), c.captured);
        // Futility: even with the captured piece added, the evaluation stays below alpha.
        // CITE: idea as for quiet moves below; form and figures: SF-2026-08.
        if rules::capture_futility() && !c.gives_check && depth < params::cap_fut_depth_max() {
            let bound = self.stack[0].static_eval
                + params::cap_fut_base()
                + params::cap_fut_depth() * depth
                + Self::victim_value(c.captured)
                + params::cap_fut_history() * history / 1024;
            if bound <= node.alpha {
                return true;
            }
        }
        // Exchange: the move loses too much material.
        // CITE: form and figures: SF-2026-08, less its exception for sacrifices that lead to stalemate.
        let margin = params::see_cap_depth() * node.depth + history * params::see_cap_history() / 1024;
        rules::capture_exchange() && !self.position.see_ge(c.m, exchange_units(-margin))
    }

    fn prune_quiet<N: NodeType>(&self, node: &mut Node<N>, c: &MoveInfo, mut depth: i32) -> bool {
        let square = c.square();
        let mut history = self.histories.continuation.score(self.stack[-1].context, square)
            + self.histories.continuation.score(self.stack[-2].context, square)
            + self.histories.pawn.score(self.position.pawn_key(), square);
        // History: the move has failed too often.
        // CITE: history pruning: F. Letouzey's Fruit (2005); form: Stockfish, figures rounded from SF-17.1.
        if rules::history_pruning() && history < -params::hist_prune_depth() * node.depth {
            return true;
        }
        history += params::hist_lmr_butterfly() * self.histories.butterfly.score(self.position.turn(), c.m);
        depth += history / params::hist_lmr_div();
        // Futility: a quiet move changes the evaluation little.
        // CITE: J. Schaeffer (1986); Heinz, "Extended futility pruning" (1998); form and figures: SF-2026-08.
        let (static_eval, in_check) = (self.stack[0].static_eval, self.stack[0].in_check);
        let bound = static_eval
            + params::fut_base()
            + params::fut_above_alpha() * i32::from(static_eval > node.alpha)
            + params::fut_depth() * depth;
        if !in_check && depth < params::fut_depth_max() && bound <= node.alpha {
            if node.best <= bound && !score::is_decisive(node.best) && !score::is_win(bound) {
                node.best = bound;
            }
            return true;
        }
        // Exchange: the move loses material.
        // CITE: form and figures: SF-2026-08.
        let d = depth.max(0);
        let threshold = exchange_units(-params::see_quiet_depth() * d * d);
        rules::quiet_exchange() && !self.position.see_ge(c.m, threshold)
    }

    /// Step 13. Singular extension. If every other move fails low against a window just below the table's score, the
    /// table's move is the only good one and is searched deeper. If the others do not fail low even against beta,
    /// several moves are good enough and the node is cut off (multi-cut).
    // CITE: Anantharaman, Campbell, Hsu, "Singular extensions" (1988); multi-cut: Björnsson, Marsland (1998), in
    // Stockfish since 2019. Form and depths: SF-2026-08; margins: SF-17.1 and Stockfish of April to July 2025.
    fn singular_extension<N: NodeType>(&mut self, node: &mut Node<N>) -> Step<i32> {
        let tt_pv = self.stack[0].tt_pv;
        let eligible = rules::singular_extension()
            && self.stack[0].excluded.is_none()
            && node.depth >= params::sing_depth() + i32::from(tt_pv)
            && node.tt_score != NONE
            && !score::is_decisive(node.tt_score)
            && node.tt_bound().is_lower()
            && node.tt_depth() >= node.depth - params::sing_tt_plies()
            && !node.tt_move.is_some_and(|m| self.is_shuffling(m));
        if !eligible {
            return Ok(0);
        }
        let slack = params::sing_beta_base() + params::sing_beta_pv() * i32::from(tt_pv && !N::PV);
        let beta = node.tt_score - slack * node.depth / params::sing_beta_div();
        let depth = (node.depth - 1) * params::sing_depth_scale() / 1024;
        let (excluded, cut_node) = (node.tt_move, node.cut_node);
        self.stack[0].excluded = excluded;
        let result = self.negamax::<NullWindow>(beta - 1, beta, depth, cut_node);
        self.stack[0].excluded = None;
        self.stack[0].tt_pv = tt_pv;
        let value = result?;
        if value < beta {
            let quiet = i32::from(!node.tt_noisy);
            let open = i32::from(N::PV);
            let is_deep = self.stack.ply() as i32 > self.root_depth;
            let uncertainty = node.correction.abs() / 2 + params::sing_beyond() * i32::from(is_deep);
            let double = params::sing_double() + params::sing_double_pv() * open
                - params::sing_double_quiet() * quiet
                - uncertainty;
            let triple = params::sing_triple() + params::sing_triple_pv() * open - params::sing_triple_quiet() * quiet
                + params::sing_triple_ttpv() * i32::from(tt_pv)
                - uncertainty;
            let mut plies = 1 + i32::from(rules::double_extension() && value < beta - double);
            plies += i32::from(plies == 2 && value < beta - triple);
            // The other moves are also searched a ply deeper. The depth of the table's move is already fixed; its
            // extension is returned.
            node.depth += 1;
            return Ok(plies);
        }
        if rules::multi_cut() && value >= node.beta && !score::is_decisive(value) {
            self.learn_from_multi_cut(value, depth);
            return Err(Exit::Cut(value));
        }
        // Other moves may be as good, so the table's move is searched less deep (negative extension).
        let others_do = rules::negative_extension() && (node.tt_score >= node.beta || node.cut_node);
        Ok(-params::sing_negative() * i32::from(others_do))
    }

    /// Whether the move only shuffles a piece back and forth. Such lines are endless, so they are not extended.
    // CITE: Stockfish (2025); figures: SF-2026-08, less its condition that the last null move is six plies ago.
    fn is_shuffling(&self, m: Move) -> bool {
        if self.position.is_noisy(m)
            || self.position.halfmoves() < params::sing_shuffle_halfmoves() as u32
            || self.stack.ply() < params::sing_shuffle_ply() as usize
        {
            return false;
        }
        match (self.stack[-2].current, self.stack[-4].current) {
            (Some(last), Some(before)) => m.from() == last.to() && last.from() == before.to(),
            _ => false,
        }
    }

    /// Width of the window relative to the root's, in 1024ths. Wide windows cause smaller reductions.
    fn window_share<N: NodeType>(&self, node: &Node<N>) -> i32 {
        (node.beta - node.alpha) * 1024 / self.root_delta.max(1)
    }

    /// Steps 14 and 15. Makes the move and searches it, first reduced with a null window, then deeper and with the
    /// full window, depending on the result.
    fn search_move<N: NodeType>(&mut self, node: &Node<N>, c: &MoveInfo, extension: i32) -> Searched {
        let stat_score = self.stat_score(c);
        self.stack[0].stat_score = stat_score;
        let facts = ReductionFacts {
            node,
            info: c,
            tt_pv: self.stack[0].tt_pv,
            child_cutoffs: self.stack[1].cutoffs,
            stat_score,
        };
        let reduction = reduction(&facts);
        let mut depth = c.depth + extension;
        self.child(c.m, |w| {
            if N::PV {
                // Clears the PV of the previous move: this move may become the best without a PV of its own.
                w.pv[w.stack.ply()].clear();
            }
            let alpha = node.alpha;
            let mut value = NONE;
            let late = node.depth >= 2 && c.count > 1;
            if late {
                // 14. Late moves fail low most of the time; a reduced search shows this at a lower cost.
                // CITE: late move reductions: F. Letouzey's Fruit (2005), T. Romstad's Glaurung (2006); deeper and
                // shallower re-searches: Stockfish (2021 and 2022); figures: SF-2026-08.
                let reduced = (depth - reduction / 1024).min(depth + 2).max(1) + i32::from(N::PV);
                w.stack[-1].reduction = depth - reduced;
                let result = w.negamax::<NullWindow>(-alpha - 1, -alpha, reduced, true);
                w.stack[-1].reduction = 0;
                value = -result?;
                if value > alpha {
                    let deeper = reduced < depth && value > node.best + params::deeper();
                    depth += i32::from(deeper);
                    depth -= i32::from(value < node.best + params::shallower());
                    if depth > reduced {
                        value = -w.negamax::<NullWindow>(-alpha - 1, -alpha, depth, !node.cut_node)?;
                    }
                    w.learn_from_research(c);
                }
            } else if !N::PV || c.count > 1 {
                let r = reduction + params::red_full_no_tt() * i32::from(node.tt_move.is_none());
                let less = i32::from(r > params::red_full_one()) + i32::from(r > params::red_full_two() && depth > 2);
                value = -w.negamax::<NullWindow>(-alpha - 1, -alpha, depth - less, !node.cut_node)?;
            }
            // 15. The first move of a PV node, and every move that beats alpha, are searched with the full window.
            // CITE: principal-variation search: Marsland, Campbell (1982). The table's move is never searched in
            // quiescence search directly: SF-17.1.
            if N::PV && (c.count == 1 || value > alpha) {
                let keep = Some(c.m) == node.tt_move && w.root_depth > params::full_keep_depth() && node.tt_depth() > 1;
                let depth = if keep { depth.max(1) } else { depth };
                value = -w.negamax::<Pv>(-node.beta, -alpha, depth, false)?;
            }
            Ok(value)
        })
    }

    /// History score of the move.
    // CITE: Stockfish (2017); weights: SF-2026-08.
    fn stat_score(&self, c: &MoveInfo) -> i32 {
        if c.noisy {
            let victim = Self::victim_value(c.captured);
            return params::stat_victim() * victim / 128 + self.histories.capture.score(c.square(), c.captured);
        }
        let square = c.square();
        let answer = |back: isize| self.histories.continuation.score(self.stack[-back].context, square);
        let butterfly = self.histories.butterfly.score(self.position.turn(), c.m);
        (params::stat_butterfly() * butterfly + params::stat_answer() * answer(1) + params::stat_second() * answer(2))
            / 1024
    }

    /// Value of the node after its moves: mate and stalemate, history updates, and the table entry.
    // CITE: form: SF-2026-08, which also stores mates and stalemates, six plies deeper.
    fn finish<N: NodeType>(
        &mut self,
        node: &mut Node<N>,
        best_move: Option<Move>,
        count: i32,
        searched: &SearchedMoves,
    ) -> Value {
        let excluded = self.stack[0].excluded.is_some();
        if count == 0 {
            return if excluded {
                node.alpha
            } else if self.stack[0].in_check {
                score::mated_in(self.stack.ply())
            } else {
                score::DRAW
            };
        }
        if node.best <= -INFINITE {
            // Every move was pruned or missed by the level.
            let is_level = self.request.handicap.is_some();
            node.best = if is_level { self.stack[0].static_eval } else { node.alpha };
        }
        // The amount by which a fail-high exceeds beta is partly an artefact of the null window.
        if node.best >= node.beta && !score::is_decisive(node.best) && !score::is_decisive(node.alpha) {
            node.best = (node.best * node.depth + node.beta) / (node.depth + 1);
        }
        match best_move {
            Some(m) => self.update_histories(node, m, searched),
            None => self.learn_from_fail_low(node),
        }
        node.best = node.best.min(node.max_value);
        if node.best <= node.alpha && best_move.is_none() {
            // The opponent's move was good, so the node inherits the parent's PV flag.
            let parent_pv = self.stack[-1].tt_pv && self.stack.ply() > 0;
            self.stack[0].tt_pv |= parent_pv;
        }
        let later_line = N::ROOT && self.line > 0;
        if !excluded && !later_line {
            let bound = if node.best >= node.beta {
                Bound::Lower
            } else if N::PV && best_move.is_some() {
                Bound::Exact
            } else {
                Bound::Upper
            };
            self.store(node, node.best, best_move, bound, node.depth);
        }
        self.learn_correction(node, best_move);
        node.best
    }
}

// Reductions.
//
// Step 14. Amounts of late move reductions, as pure functions of node and move.
// CITE: terms and figures: SF-2026-08 where no other source is named.

/// Logarithm of a depth or a move count, scaled so that the product of two gives the base in 1024ths of a ply.
fn log(i: i32) -> i32 {
    static LOGS: LazyLock<[i32; 256]> = LazyLock::new(|| std::array::from_fn(scaled_log));
    let i = i.clamp(0, 255) as usize;
    // The factor can change in a tuning build, so there is no lookup table.
    if cfg!(feature = "tune") { scaled_log(i) } else { LOGS[i] }
}

fn scaled_log(i: usize) -> i32 {
    let factor = f64::from(params::red_factor()) / 128.0;
    (factor * (i.max(1) as f64).ln()) as i32
}

/// Reduction by depth and move count, in 1024ths of a ply. `window_share` is in 1024ths.
// CITE: the product of two logarithms: Stockfish; less near the width of the root's window: Stockfish (2021). Figures:
// SF-2026-08, except `red_factor`, from our screenings. The cap on the window's term: origin not recorded.
pub fn base(improving: bool, depth: i32, count: i32, window_share: i32) -> i32 {
    let product = log(depth) * log(count);
    product - window_share.min(params::red_delta_max()) * params::red_delta() / 1024
        + i32::from(!improving) * product * params::red_not_improving() / 1024
        + params::red_base()
}

/// Inputs of the reduction.
pub(super) struct ReductionFacts<'a, N: NodeType> {
    pub node: &'a Node<N>,
    pub info: &'a MoveInfo,
    pub tt_pv: bool,
    /// Cutoffs in the children searched so far.
    pub child_cutoffs: i32,
    pub stat_score: i32,
}

/// The total reduction in 1024ths of a ply; a negative one extends.
pub(super) fn reduction<N: NodeType>(f: &ReductionFacts<N>) -> i32 {
    let (node, c) = (f.node, f.info);
    let flag = i32::from;
    let mut r = c.reduction;
    // A node that is or was on a principal variation needs the full depth more often.
    // CITE: Stockfish (2019). There, part of this term (929) applies before shallow pruning; here no part does. A
    // missing score of the table counts as above alpha there, but not here.
    if f.tt_pv {
        r -= params::red_ttpv()
            + flag(N::PV) * params::red_ttpv_pv()
            + flag(node.tt_score != NONE && node.tt_score > node.alpha) * params::red_ttpv_score()
            + flag(node.tt_depth() >= node.depth)
                * (params::red_ttpv_depth() + flag(node.cut_node) * params::red_ttpv_cut());
    }
    r += params::red_offset() - c.count * params::red_count();
    // Where the static evaluation was wrong before, reductions are less safe.
    r -= node.correction.abs() * params::red_corr() / 1024;
    // A node that is expected to fail high usually does so with its first moves.
    if rules::reduce_cut_node() && node.cut_node {
        r += params::red_cut() + params::red_cut_no_tt() * flag(node.tt_move.is_none());
    }
    // If the table's move is noisy, other moves are rarely better.
    if rules::reduce_noisy() && node.tt_noisy {
        r += params::red_tt_noisy();
    }
    // Many cutoffs among the children: the opponent refutes moves easily.
    // CITE: Stockfish (2022).
    let min_cutoffs = params::red_cutoffs_min();
    if rules::reduce_child_cutoffs() && f.child_cutoffs > min_cutoffs {
        r += params::red_cutoffs()
            + flag(f.child_cutoffs > min_cutoffs + 1) * params::red_cutoffs_more()
            + flag(node.all_node()) * params::red_cutoffs_all();
    } else if Some(c.m) == node.tt_move {
        r -= params::red_tt_move();
    }
    // Moves with a good history are reduced less, moves with a bad one more.
    if rules::reduce_history() {
        r -= f.stat_score * params::red_history() / 16_384;
    }
    r + all_node_reduction(node, r)
}

/// Extra reduction in nodes where every move is expected to fail low, largest at shallow depth.
// CITE: SF-2026-08. Its gain is within the error of our matches: see `docs/experiments.md`.
fn all_node_reduction<N: NodeType>(node: &Node<N>, r: i32) -> i32 {
    if !rules::reduce_all_node() || !node.all_node() {
        return 0;
    }
    r * params::red_all() / (params::red_all_depth() * node.depth + params::red_all_offset())
}

#[cfg(test)]
mod tests;
