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

use shakmaty_syzygy::Wdl;

use super::node::{NULL_WINDOW, Node, ROOT};
use super::params;
use super::score::{self, DRAW, INFINITE, MAX_PLY, NONE, TB_WIN, Value};
use super::tt::{Bound, Entry, score_at};
use super::worker::Worker;
use crate::board::Move;

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
        self.probe_tablebases(node, pv)
    }

    /// The tables' word on this node: an exact draw, or a win or loss that bounds the value.
    fn probe_tablebases(&mut self, node: &mut Node, pv: bool) -> Option<Value> {
        let job = self.job.clone();
        let syzygy = job.syzygy.as_ref()?;
        let options = &job.options;
        let men = self.position.occupied().count();
        let most = syzygy.max_pieces().min(options.syzygy_probe_limit);
        if men > most
            || (men == most && node.depth < options.syzygy_probe_depth)
            || self.position.halfmoves() != 0
            || self.position.has_castling_rights()
        {
            return None;
        }
        let wdl = syzygy.wdl(&self.position)?;
        self.tb_hits += 1;
        let won = TB_WIN - self.ply as Value;
        let rule = options.syzygy_50_move_rule;
        let (value, bound) = match wdl {
            Wdl::Win => (won, Bound::Lower),
            Wdl::CursedWin if !rule => (won, Bound::Lower),
            Wdl::Loss => (-won, Bound::Upper),
            Wdl::BlessedLoss if !rule => (-won, Bound::Upper),
            Wdl::CursedWin => (DRAW + 1, Bound::Exact),
            Wdl::BlessedLoss => (DRAW - 1, Bound::Exact),
            Wdl::Draw => (DRAW, Bound::Exact),
        };
        let settled = match bound {
            Bound::Lower => value >= node.beta,
            Bound::Upper => value <= node.alpha,
            _ => true,
        };
        if settled {
            let depth = (node.depth + 6).min(MAX_PLY as i32 - 1);
            self.store(node, value, None, bound, depth);
            return Some(value);
        }
        if pv {
            // Not the last word: there may be a mate above, or worse below. Search on within the bound.
            if bound == Bound::Lower {
                node.best = value;
                node.alpha = node.alpha.max(value);
            } else {
                node.most = value;
            }
        }
        debug_assert!(score::is_decisive(value));
        None
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
