//! The full search of a node, in numbered steps. Each step says why it is sound.
//!
//! * 1 limits and draws, 2 mate distance, 3 transposition table, 4 tablebases: [`Worker::negamax`]
//! * 5 static evaluation, 6 razoring, 7 reverse futility, 8 null move, 9 internal reduction, 10 ProbCut: `prune.rs`
//! * 11 the moves, 12 shallow pruning, 13 singular extension, 14 reductions, 15 full searches: `moves.rs`
//! * 16 learning: `learn.rs`
//!
//! `MEASURED: +70 +- 35` tells what a rule gains: Elo of the engine against itself without that one rule (95 %; 300 games
//! at 5,000 nodes a move, default net, UHO_4060_v3.epd, both colours, at bench 1583043). So few nodes show little of rules
//! for great depth; a rule within the error stays for what others found at longer time controls.
//!
//! Every function here answers `None` when the search is to end; the one wrapper that makes moves
//! (`Worker::child`) undoes them all the same.

use super::params;
use super::score::{self, INFINITE, MAX_PLY, NONE, Value};
use super::tt::{Bound, Entry, score_at};
use super::worker::Worker;
use crate::board::Move;

/// The root: a principal-variation node whose moves are the root moves.
pub(super) const ROOT: u8 = 0;
/// A node with an open window.
pub(super) const PV: u8 = 1;
/// A node with a null window.
pub(super) const NULL_WINDOW: u8 = 2;

/// What a node knows of itself before its moves are searched.
pub(super) struct Node {
    pub alpha: Value,
    pub beta: Value,
    pub depth: i32,
    /// Whether this node is expected to fail high.
    pub cut_node: bool,
    pub in_check: bool,
    pub excluded: Option<Move>,
    pub entry: Option<Entry>,
    /// The table's score in terms of the root, or `NONE`.
    pub tt_score: Value,
    /// The table's move, pseudo-legal here.
    pub tt_move: Option<Move>,
    pub tt_noisy: bool,
    /// The network's value, or `NONE` in check.
    pub raw_eval: Value,
    /// Corrected evaluation.
    pub static_eval: Value,
    /// The best estimate: the static evaluation, or the table's score where it says more.
    pub eval: Value,
    /// Correction of the static evaluation.
    pub correction: Value,
    /// Whether the evaluation is better than two plies ago.
    pub improving: bool,
    /// Whether the opponent's evaluation is worse than a ply ago.
    pub worsening: bool,
    /// Best value so far and the most that tablebases allow.
    pub best: Value,
    pub most: Value,
}

impl Node {
    /// The depth of the table's entry, very small without one.
    pub fn tt_depth(&self) -> i32 {
        self.entry.map_or(-10, |e| e.depth)
    }

    /// The meaning of the table's score.
    pub fn tt_bound(&self) -> Bound {
        self.entry.map_or(Bound::None, |e| e.bound)
    }

    /// In an open window: what the table holds as won or lost by tablebases, stays so at any depth. The null-window
    /// searches of the moves before believe it; a search of the whole window that did not would find less than they
    /// promised, would raise no alpha, and so would have to search move after move at every node of the variation:
    /// minutes, where the window lies between an evaluation and a tablebase win. The value when that ends the node.
    fn keep_proven_win(&mut self) -> Option<Value> {
        let score = self.tt_score;
        if score == NONE || !score::is_decisive(score) || score::is_mate(score) {
            return None;
        }
        if score::is_win(score) && self.tt_bound().is_lower() {
            self.best = score;
            self.alpha = self.alpha.max(score);
        } else if score::is_loss(score) && self.tt_bound().is_upper() {
            self.most = score;
        }
        (self.alpha >= self.beta || self.most <= self.alpha).then_some(score)
    }

    /// Whether the node is expected to fail low, as far as we know.
    pub fn all_node(&self, pv: bool) -> bool {
        !pv && !self.cut_node
    }
}

impl Worker {
    /// The value of the position within `alpha..beta`, searched to `depth`.
    pub(super) fn negamax<const KIND: u8>(
        &mut self,
        alpha: Value,
        beta: Value,
        depth: i32,
        cut_node: bool,
    ) -> Option<Value> {
        if depth <= 0 {
            return if KIND == NULL_WINDOW {
                self.quiesce::<false>(alpha, beta)
            } else {
                self.quiesce::<true>(alpha, beta)
            };
        }
        let pv = KIND != NULL_WINDOW;
        debug_assert!(-INFINITE <= alpha && alpha < beta && beta <= INFINITE);
        debug_assert!(pv || alpha + 1 == beta);
        let (mut alpha, mut beta, depth) = (alpha, beta, depth.min(MAX_PLY as i32 - 1));

        // 1. Limits.
        self.tick()?;
        self.frame_mut().in_check = self.position.in_check();
        if pv {
            self.pv[self.ply].clear();
            self.seldepth = self.seldepth.max(self.ply + 1);
        }
        if KIND != ROOT {
            if let Some(value) = self.ends_here(&mut alpha, beta) {
                return Some(value);
            }
            // 2. Mate distance: nothing here can be worth more than mating with the next move, nor less than
            // being mated now; a window beyond that is settled.
            alpha = alpha.max(score::mated_in(self.ply));
            beta = beta.min(score::mate_in(self.ply + 1));
            if alpha >= beta {
                return Some(alpha);
            }
        }
        let mut node = self.look_up::<KIND>(alpha, beta, depth, cut_node);
        if !pv && let Some(value) = self.table_cutoff(&node) {
            return Some(value);
        }
        if KIND != ROOT
            && let Some(value) = self.tablebase_cutoff(&mut node, pv)
        {
            return Some(value);
        }
        self.judge(&mut node);
        if !node.in_check
            && let Some(value) = self.prune_node(&mut node, pv)?
        {
            return Some(value);
        }
        self.search_moves::<KIND>(node)
    }

    /// Step 1, of quiescence too. Draws by rule, and the end of the path. A repetition is a draw as soon as it occurs
    /// once inside the search, because a side that could do better would not have repeated. A move that repeats is
    /// worth a draw at least, which is known before it is made, and raises alpha.
    // CITE: M. van Kervinck's cycle detection, as upcoming repetition in Stockfish.
    // MEASURED: the cycle detection: +0 +- 34
    #[inline]
    pub(super) fn ends_here(&mut self, alpha: &mut Value, beta: Value) -> Option<Value> {
        if *alpha < score::DRAW && self.position.upcoming_repetition(self.ply) {
            *alpha = self.draw_value();
            if *alpha >= beta {
                return Some(*alpha);
            }
        }
        if self.position.is_draw(self.ply) {
            return Some(self.draw_value());
        }
        if self.ply < MAX_PLY {
            return None;
        }
        Some(if self.position.in_check() {
            score::DRAW
        } else {
            self.evaluate()
        })
    }

    /// Step 3. The transposition table: what an earlier search, or another path, found here.
    #[inline]
    fn look_up<const KIND: u8>(
        &mut self,
        alpha: Value,
        beta: Value,
        depth: i32,
        cut_node: bool,
    ) -> Node {
        let excluded = self.frame(0).excluded;
        let entry = self.job.table.probe(self.position.key());
        let tt_score = entry.map_or(NONE, |e| score_at(&e, self.ply, self.position.halfmoves()));
        let tt_move = if KIND == ROOT {
            self.root_moves[self.line].pv.first().copied()
        } else {
            entry
                .and_then(|e| e.best)
                .filter(|&m| self.position.pseudo_legal(m))
        };
        if let Some(m) = tt_move {
            self.prefetch(m);
        }
        let pv = KIND != NULL_WINDOW;
        let frame = self.frame_mut();
        frame.tt_hit = entry.is_some();
        if excluded.is_none() {
            frame.tt_pv = pv || entry.is_some_and(|e| e.pv);
        }
        frame.move_count = 0;
        frame.stat_score = 0;
        let in_check = frame.in_check;
        self.frames[self.ply + super::frame::BELOW_ROOT + 2].cutoffs = 0;
        Node {
            alpha,
            beta,
            depth,
            cut_node,
            in_check,
            excluded,
            entry,
            tt_score,
            tt_move,
            tt_noisy: tt_move.is_some_and(|m| self.position.is_noisy(m)),
            raw_eval: NONE,
            static_eval: NONE,
            eval: NONE,
            correction: 0,
            improving: false,
            worsening: false,
            best: -INFINITE,
            most: INFINITE,
        }
    }

    /// A deep enough result that settles the window ends the node. Near the 50-move rule the path matters, and
    /// the table does not know it.
    fn table_cutoff(&mut self, node: &Node) -> Option<Value> {
        let e = node.entry?;
        let score = node.tt_score;
        if node.excluded.is_some()
            || score == NONE
            || e.depth <= node.depth - i32::from(score <= node.beta)
            || !e.bound.settles(score, node.beta)
            // A shallow node that is to fail the other way is searched; MEASURED: -16 +- 31.
            || (node.cut_node != (score >= node.beta) && node.depth <= 5)
        {
            return None;
        }
        if score >= node.beta
            && let Some(m) = node.tt_move
        {
            self.learn_from_table(m, node.depth);
        }
        let holds = self.position.halfmoves() < 90
            && (node.depth < params::tt_verify_depth() || self.table_agrees(node));
        holds.then_some(score)
    }

    /// Whether the table's entry after its own move, if there is one, settles the window the same way.
    // CITE: Stockfish (2025).
    // MEASURED: -6 +- 29
    fn table_agrees(&mut self, node: &Node) -> bool {
        let Some(m) = node.tt_move.filter(|&m| self.position.legal(m)) else {
            return true;
        };
        if score::is_decisive(node.tt_score) {
            return true;
        }
        // Nothing is evaluated there, so that the accumulators need not follow, and nothing can end the search between.
        self.position.do_move(m);
        let next = self.job.table.probe(self.position.key());
        let halfmoves = self.position.halfmoves();
        self.position.undo_move();
        let next = next.map_or(NONE, |e| score_at(&e, self.ply + 1, halfmoves));
        next == NONE || (node.tt_score >= node.beta) == (-next >= node.beta)
    }

    /// Step 4. Tablebases, just after a capture or pawn move (elsewhere the 50-move counter matters).
    #[inline]
    fn tablebase_cutoff(&mut self, node: &mut Node, pv: bool) -> Option<Value> {
        if node.excluded.is_some() || self.job.syzygy.is_none() {
            return None;
        }
        if pv && let Some(value) = node.keep_proven_win() {
            return Some(value);
        }
        if self.job.root_in_tb {
            return None;
        }
        self.probe_tablebases(node, pv)
    }

    pub(super) fn store(
        &mut self,
        node: &Node,
        best: Value,
        m: Option<Move>,
        bound: Bound,
        depth: i32,
    ) {
        let entry = Entry {
            best: m,
            score: score::to_tt(best, self.ply),
            eval: node.raw_eval,
            depth,
            bound,
            pv: self.frame(0).tt_pv,
        };
        self.job.table.store(self.position.key(), entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::score::{TB_WIN, mate_in};

    /// A node with an open window, of whose position the table says that it is worth `score`, or more or less.
    fn node(score: Value, bound: Bound) -> Node {
        Node {
            alpha: 100,
            beta: score::MATE,
            depth: 4,
            cut_node: false,
            in_check: false,
            excluded: None,
            entry: Some(Entry {
                best: None,
                score,
                eval: NONE,
                depth: 1,
                bound,
                pv: false,
            }),
            tt_score: score,
            tt_move: None,
            tt_noisy: false,
            raw_eval: NONE,
            static_eval: NONE,
            eval: NONE,
            correction: 0,
            improving: false,
            worsening: false,
            best: -INFINITE,
            most: INFINITE,
        }
    }

    #[test]
    fn what_tablebases_proved_holds_in_an_open_window() {
        let kept = |score, bound| {
            let mut node = node(score, bound);
            let value = node.keep_proven_win();
            (value, node.best, node.alpha, node.most)
        };
        let win = TB_WIN - 7;
        assert_eq!(kept(win, Bound::Lower), (None, win, win, INFINITE));
        assert_eq!(kept(-win, Bound::Upper), (Some(-win), -INFINITE, 100, -win));
        let nothing = (None, -INFINITE, 100, INFINITE);
        assert_eq!(kept(win, Bound::Upper), nothing);
        assert_eq!(kept(400, Bound::Lower), nothing);
        assert_eq!(kept(mate_in(5), Bound::Lower), nothing);
    }
}
