//! The full search of a node, in numbered steps, and quiescence search. The comment of each step states why it is
//! sound.
//!
//! | step | rule | where |
//! |---|---|---|
//! | 1 | limits, draws | `negamax.rs`: `enter`, `ends_here` |
//! | 2 | mate distance | `mate_distance` |
//! | 3 | transposition table | `look_up`, `table_cutoff` |
//! | 4 | tablebases | `tablebase_cutoff` |
//! | 5 | static evaluation, hindsight depth | `prune.rs`: `evaluate_node`, `adjust_depth` |
//! | 6 | razoring | `razor` |
//! | 7 | reverse futility | `reverse_futility` |
//! | 8 | null move | `null_move` |
//! | 9 | internal iterative reduction | `reduce_without_move` |
//! | 10 | ProbCut | `probcut` |
//! | 11 | the moves, one by one | `moves.rs`: `search_moves`; order: `movepick.rs` |
//! | 12 | shallow pruning: futility, exchanges, history | `shallow_prune`; late moves: `is_late` |
//! | 13 | singular extension, multi-cut | `singular_extension` |
//! | 14 | late move reductions | `search_move`; amounts: `reduction` |
//! | 15 | full searches | `search_move` |
//! | 16 | history and correction updates | `finish`; amounts: `history_update.rs` |
//!
//! `docs/experiments.md` has the measured gain of each rule.
//!
//! A step ends its node with `?` (see `Step` in `worker.rs`). `Worker::child`, the only wrapper that makes moves,
//! always undoes them.
// CITE: order and conditions of the steps: Stockfish (SF-2026-08; short names as in the credits of the search's map).
// Cutoffs by the table come before the static evaluation here, after it there.

use std::marker::PhantomData;

use arrayvec::ArrayVec;

use super::history::PieceSquare;
use super::movepick::MovePicker;
use super::score::{self, DRAW, INFINITE, MAX_PLY, NONE, TB_WIN, Value, exchange_units, piece_value};
use super::syzygy::Wdl;
use super::tt::{Bound, DEPTH_QS, DEPTH_UNSEARCHED, TableEntry, score_at};
use super::worker::{Exit, Searched, Step, Worker, cut_if, into_value};
use super::{params, rules};
use crate::board::{CheckInfo, Move, Piece, Role};

impl Worker {
    /// Value of the position within `alpha..beta`, searched to `depth`.
    pub fn negamax<N: NodeType>(&mut self, alpha: Value, beta: Value, depth: i32, cut_node: bool) -> Searched {
        if depth > 0 {
            into_value(self.search_node(Node::<N>::new(alpha, beta, depth, cut_node)))
        } else if N::PV {
            self.quiesce::<Pv>(alpha, beta)
        } else {
            self.quiesce::<NullWindow>(alpha, beta)
        }
    }

    /// Runs the steps of a node.
    #[inline]
    fn search_node<N: NodeType>(&mut self, mut node: Node<N>) -> Step<Value> {
        let node = &mut node;
        self.enter::<N>()?; //                               1. limits
        if !N::ROOT {
            self.ends_here(&mut node.alpha, node.beta)?; //     draws
            self.mate_distance(node)?; //                    2. mate distance
        }
        self.look_up(node); //                               3. transposition table
        self.table_cutoff(node)?;
        if !N::ROOT {
            self.tablebase_cutoff(node)?; //                 4. tablebases
        }
        self.evaluate_node(node); //                         5. static evaluation
        if self.may_prune_node() {
            self.razor(node)?; //                            6. razoring
            self.reverse_futility(node)?; //                 7. reverse futility
            self.null_move(node)?; //                        8. null move
            self.reduce_without_move(node); //               9. internal iterative reduction
            self.probcut(node)?; //                         10. ProbCut
        }
        self.search_moves(node) //                          11. to 16.: the moves
    }

    /// Step 1, also of quiescence: checks the limits and resets the state of earlier visits at this ply.
    #[inline]
    pub(super) fn enter<N: NodeType>(&mut self) -> Searched<()> {
        self.tick()?;
        self.stack[0].in_check = self.position.in_check();
        if N::PV {
            self.pv[self.stack.ply()].clear();
            self.seldepth = self.seldepth.max(self.stack.ply() + 1);
        }
        Ok(())
    }

    /// Step 1, also of quiescence: draws by rule, a known distance to mate, and the end of the path.
    /// One repetition inside the search counts as a draw, because a side with a better move would not have repeated. If
    /// a move can repeat a position, the node is worth at least a draw. So alpha is raised before the move is made.
    // CITE: M. van Kervinck's cycle detection (2017); raising alpha by it: Stockfish (2018).
    #[inline]
    pub(super) fn ends_here(&mut self, alpha: &mut Value, beta: Value) -> Step {
        if rules::cycle_detection() && *alpha < score::DRAW && self.position.upcoming_repetition(self.stack.ply()) {
            *alpha = self.draw_value();
            cut_if(*alpha >= beta, *alpha)?;
        }
        if self.position.is_draw(self.stack.ply()) {
            return Err(Exit::Cut(self.draw_value()));
        }
        if let Some(value) = self.request.mate_tables.value(&self.position, self.stack.ply()) {
            return Err(Exit::Cut(value));
        }
        if self.stack.ply() < MAX_PLY {
            return Ok(());
        }
        Err(Exit::Cut(if self.position.in_check() { score::DRAW } else { self.evaluate() }))
    }

    /// Step 2. Mate distance: no value at this node can exceed that of a mate by the next move, or be below that of a
    /// mate on the board. A window outside these bounds ends the node.
    // CITE: origin of the idea not recorded; form: Stockfish.
    #[inline]
    fn mate_distance<N: NodeType>(&self, node: &mut Node<N>) -> Step {
        node.alpha = node.alpha.max(score::mated_in(self.stack.ply()));
        node.beta = node.beta.min(score::mate_in(self.stack.ply() + 1));
        cut_if(node.alpha >= node.beta, node.alpha)
    }

    /// Step 3. Transposition table lookup: the result of an earlier search of this position, possibly by another
    /// path.
    // CITE: Greenblatt, Eastlake, Crocker (1967); keys: Zobrist (1970).
    #[inline]
    fn look_up<N: NodeType>(&mut self, node: &mut Node<N>) {
        node.entry = self.request.table.probe(self.table_key());
        let entry = node.entry;
        node.tt_score = entry.map_or(NONE, |e| score_at(&e, self.stack.ply(), self.position.halfmoves(), self.with_tb));
        node.tt_move = if N::ROOT {
            self.root_moves[self.line].pv.first().copied()
        } else {
            entry.and_then(|e| e.best).filter(|&m| self.position.pseudo_legal(m))
        };
        if let Some(m) = node.tt_move {
            self.prefetch(m);
            node.tt_noisy = self.position.is_noisy(m);
        }
        let frame = &mut self.stack[0];
        frame.tt_hit = entry.is_some();
        if frame.excluded.is_none() {
            frame.tt_pv = N::PV || entry.is_some_and(|e| e.pv);
        }
        frame.move_count = 0;
        frame.stat_score = 0;
        self.stack[2].cutoffs = 0;
    }

    /// Ends the node if a stored result is deep enough and decides the window.
    // CITE: conditions and figures, and the penalty: SF-2026-08; the limit on depth: SF-17.1.
    #[inline(always)]
    fn table_cutoff<N: NodeType>(&mut self, node: &Node<N>) -> Step {
        let Some(e) = node.entry else { return Ok(()) };
        let score = node.tt_score;
        if N::PV
            || self.stack[0].excluded.is_some()
            || score == NONE
            || e.depth <= node.depth - i32::from(score <= node.beta)
        {
            return Ok(());
        }
        if !e.bound.allows_cutoff(score, node.beta) {
            if node.depth > params::tt_penalty_depth() {
                self.request.table.penalise(self.table_key());
            }
            return Ok(());
        }
        // A shallow node that was expected to fail the other way is still searched.
        if node.cut_node != (score >= node.beta) && node.depth <= params::tt_other_depth() {
            return Ok(());
        }
        if score >= node.beta
            && let Some(m) = node.tt_move
        {
            self.learn_from_table(m, node.depth);
        }
        let holds = node.depth < params::tt_verify_depth() || !rules::table_verification() || self.table_agrees(node);
        cut_if(holds, score)
    }

    /// Whether the entry of the position after the table's move, if there is one, decides the window the same way.
    // CITE: Stockfish (May 2025); form: SF-2026-08.
    fn table_agrees<N: NodeType>(&mut self, node: &Node<N>) -> bool {
        let Some(m) = node.tt_move.filter(|&m| self.position.legal(m)) else {
            return true;
        };
        if score::is_decisive(node.tt_score) {
            return true;
        }
        // No evaluation takes place, so the accumulators need no update. The search cannot be aborted in between.
        self.position.do_move(m);
        let next = self.request.table.probe(self.table_key());
        let halfmoves = self.position.halfmoves();
        self.position.undo_move();
        let next = next.map_or(NONE, |e| score_at(&e, self.stack.ply() + 1, halfmoves, self.with_tb));
        next == NONE || (node.tt_score >= node.beta) == (-next >= node.beta)
    }

    /// Step 4. Tablebases, probed only after a capture or pawn move (otherwise the 50-move counter matters).
    // CITE: Syzygy tablebases: R. de Man (2013); form, and the extra depth of the stored entry: SF-2026-08.
    #[inline]
    fn tablebase_cutoff<N: NodeType>(&mut self, node: &mut Node<N>) -> Step {
        if self.request.syzygy.is_none() || self.stack[0].excluded.is_some() {
            return Ok(());
        }
        if N::PV {
            node.apply_tb_bound()?;
        }
        if self.request.root_in_tb {
            return Ok(());
        }
        self.probe_tablebases(node)
    }

    /// Applies the result of the tablebases: an exact draw, or a win or loss that bounds the value.
    fn probe_tablebases<N: NodeType>(&mut self, node: &mut Node<N>) -> Step {
        let Some(wdl) = self.tablebase_result(node.depth) else {
            return Ok(());
        };
        self.tb_hits += 1;
        let won = TB_WIN - self.stack.ply() as Value;
        let rule = self.request.options.syzygy_50_move_rule;
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
            let depth = (node.depth + params::tb_store_plies()).min(MAX_PLY as i32 - 1);
            self.store(node, value, None, bound, depth);
            return Err(Exit::Cut(value));
        }
        if N::PV {
            // This is only a bound: there may be a mate above it, or a loss below it. Search on within the bound.
            if bound == Bound::Lower {
                node.best = value;
                node.alpha = node.alpha.max(value);
            } else {
                node.max_value = value;
            }
        }
        debug_assert!(score::is_decisive(value));
        Ok(())
    }

    /// Result of the position in the tablebases, if a search to `depth` may probe them and they contain it.
    fn tablebase_result(&self, depth: i32) -> Option<Wdl> {
        let (syzygy, options) = (self.request.syzygy.as_ref()?, &self.request.options);
        let pieces = self.position.occupied().count();
        let max_pieces = syzygy.max_pieces().min(options.syzygy_probe_limit);
        if pieces > max_pieces
            || (pieces == max_pieces && depth < options.syzygy_probe_depth)
            || self.position.halfmoves() != 0
            || self.position.has_castling_rights()
        {
            return None;
        }
        syzygy.wdl(&self.position)
    }

    pub fn store<N: NodeType>(&mut self, node: &Node<N>, best: Value, m: Option<Move>, bound: Bound, depth: i32) {
        let entry = TableEntry {
            best: m,
            score: score::to_tt(best, self.stack.ply()),
            eval: node.raw_eval,
            depth,
            bound,
            pv: self.stack[0].tt_pv,
        };
        self.request.table.store(self.table_key(), entry);
    }
}

// Nodes and moves.
//
// A node of the full search: its type, its state that no other ply reads, and its moves. State that children and
// grandchildren read (check, static evaluation, excluded move) is in its `Frame`.
// CITE: PV, cut and all nodes: Knuth and Moore (1975), Marsland and Popowich (1985); their use for pruning: Stockfish.

/// Type of a node, known at compile time.
pub trait NodeType {
    /// Whether the moves are the root moves.
    const ROOT: bool;
    /// Whether the window is open: at the root, or on the principal variation.
    const PV: bool;
}

/// The root: a node with an open window whose moves are the root moves.
pub struct Root;
/// A node with an open window.
pub struct Pv;
/// A node with a null window.
pub struct NullWindow;

impl NodeType for Root {
    const ROOT: bool = true;
    const PV: bool = true;
}

impl NodeType for Pv {
    const ROOT: bool = false;
    const PV: bool = true;
}

impl NodeType for NullWindow {
    const ROOT: bool = false;
    const PV: bool = false;
}

/// State of a node before its moves are searched.
pub struct Node<N: NodeType> {
    node_type: PhantomData<N>,
    pub alpha: Value,
    pub beta: Value,
    pub depth: i32,
    /// Whether this node is expected to fail high.
    pub cut_node: bool,
    pub entry: Option<TableEntry>,
    /// The table's score relative to the root, or `NONE`.
    pub tt_score: Value,
    /// The table's move, pseudo-legal in this position.
    pub tt_move: Option<Move>,
    pub tt_noisy: bool,
    /// The network's value, or `NONE` in check.
    pub raw_eval: Value,
    /// Best estimate: the static evaluation, or the table's score where its bound improves on it.
    pub eval: Value,
    /// Correction of the static evaluation.
    pub correction: Value,
    /// Whether the evaluation is better than two plies earlier.
    pub improving: bool,
    /// Whether the opponent's evaluation is worse than a ply earlier.
    pub worsening: bool,
    /// Best value so far, and the upper bound from tablebases.
    pub best: Value,
    pub max_value: Value,
}

impl<N: NodeType> Node<N> {
    /// A new node with its window and depth. `cut_node` is whether it is expected to fail high.
    #[inline]
    pub fn new(alpha: Value, beta: Value, depth: i32, cut_node: bool) -> Self {
        debug_assert!(-INFINITE <= alpha && alpha < beta && beta <= INFINITE);
        debug_assert!(N::PV || alpha + 1 == beta);
        Self {
            node_type: PhantomData,
            alpha,
            beta,
            depth: depth.min(MAX_PLY as i32 - 1),
            cut_node,
            entry: None,
            tt_score: NONE,
            tt_move: None,
            tt_noisy: false,
            raw_eval: NONE,
            eval: NONE,
            correction: 0,
            improving: false,
            worsening: false,
            best: -INFINITE,
            max_value: INFINITE,
        }
    }

    /// Depth of the table's entry; very small without an entry.
    pub fn tt_depth(&self) -> i32 {
        self.entry.map_or(-10, |e| e.depth)
    }

    /// Relation of the table's score to the true score.
    pub fn tt_bound(&self) -> Bound {
        self.entry.map_or(Bound::None, |e| e.bound)
    }

    /// In a PV node, applies a tablebase win or loss from the transposition table at any depth. Null-window searches
    /// of earlier moves use such entries. A full-window search that ignored them would find less, would not raise
    /// alpha, and would search move after move at every node of the variation. This took minutes where the window lay
    /// between an evaluation and a tablebase win.
    pub fn apply_tb_bound(&mut self) -> Step {
        let score = self.tt_score;
        if score == NONE || !score::is_decisive(score) || score::is_mate(score) {
            return Ok(());
        }
        if score::is_win(score) && self.tt_bound().is_lower() {
            self.best = score;
            self.alpha = self.alpha.max(score);
        } else if score::is_loss(score) && self.tt_bound().is_upper() {
            self.max_value = score;
        }
        cut_if(self.alpha >= self.beta || self.max_value <= self.alpha, score)
    }

    /// Whether the node is expected to fail low.
    pub fn all_node(&self) -> bool {
        !N::PV && !self.cut_node
    }
}

/// The current move of a node.
#[derive(Clone, Copy)]
pub struct MoveInfo {
    pub m: Move,
    pub piece: Piece,
    pub captured: Option<Role>,
    /// Capture or queen promotion.
    pub noisy: bool,
    pub gives_check: bool,
    /// Ordinal of the move, from 1.
    pub count: i32,
    /// Remaining depth after the move, without extension and reduction.
    pub depth: i32,
    /// Reduction by depth and ordinal, in 1024ths of a ply.
    pub reduction: i32,
}

impl MoveInfo {
    /// The piece on its destination square.
    pub fn square(&self) -> PieceSquare {
        PieceSquare::new(self.piece, self.m)
    }
}

/// Moves that were searched and are not the best, at most 32 noisy and 32 quiet ones.
#[derive(Default)]
pub struct SearchedMoves {
    pub quiets: ArrayVec<MoveInfo, 32>,
    pub noisy: ArrayVec<MoveInfo, 32>,
}

impl SearchedMoves {
    pub fn push(&mut self, c: &MoveInfo) {
        let list = if c.noisy { &mut self.noisy } else { &mut self.quiets };
        // Moves beyond a full list are dropped: later moves matter less.
        let _ = list.try_push(*c);
    }

    pub fn len(&self) -> i32 {
        (self.quiets.len() + self.noisy.len()) as i32
    }
}

// Quiescence search: noisy moves only (all evasions in check), until the position is quiet enough for a static
// evaluation.

// CITE: Shannon (1950), Harris (1975), Beal (1990). Form: SF-2026-08, except that quiet evasions are limited and
// pruned by history as in Stockfish 16.1 and 17, and that stalemates are not recognised. Figures: see the group in the
// table of parameters.

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;
    use crate::search::score::{TB_WIN, mate_in};
    use crate::search::tests::{uci, worker};
    use crate::search::worker::Exit;

    /// A node with an open window whose table entry has this score and bound.
    fn node(score: Value, bound: Bound) -> Node<Pv> {
        let entry = TableEntry { best: None, score, eval: NONE, depth: 1, bound, pv: false };
        Node { entry: Some(entry), tt_score: score, ..Node::new(100, score::MATE, 4, false) }
    }

    #[test]
    fn tablebase_result_applies_in_open_window() {
        let kept = |score, bound| {
            let mut node = node(score, bound);
            let cut = match node.apply_tb_bound() {
                Err(Exit::Cut(value)) => Some(value),
                _ => None,
            };
            (cut, node.best, node.alpha, node.max_value)
        };
        let win = TB_WIN - 7;
        assert_eq!(kept(win, Bound::Lower), (None, win, win, INFINITE));
        assert_eq!(kept(-win, Bound::Upper), (Some(-win), -INFINITE, 100, -win));
        let nothing = (None, -INFINITE, 100, INFINITE);
        assert_eq!(kept(win, Bound::Upper), nothing);
        assert_eq!(kept(400, Bound::Lower), nothing);
        assert_eq!(kept(mate_in(5), Bound::Lower), nothing);
    }

    #[test]
    fn table_cutoff_is_checked_by_the_entry_after_its_move() {
        let mut w = worker(&Position::startpos());
        let m = uci(&w, "e2e4");
        let next = w.child(m, |w| w.table_key());
        let agrees = |w: &mut Worker, score: Value, reply: Option<Value>| {
            if let Some(score) = reply {
                let entry = TableEntry { best: None, score, eval: NONE, depth: 9, bound: Bound::Exact, pv: false };
                w.request.table.store(next, entry);
            }
            let node = Node { tt_move: Some(m), tt_score: score, ..Node::<NullWindow>::new(50, 51, 10, true) };
            w.table_agrees(&node)
        };
        assert!(agrees(&mut w, 80, None), "no entry");
        assert!(agrees(&mut w, 80, Some(-70)) && !agrees(&mut w, 20, None));
        assert!(!agrees(&mut w, 80, Some(-10)) && agrees(&mut w, 20, None));
        assert!(agrees(&mut w, mate_in(9), None), "a mate needs no second entry");
        assert_eq!(w.position.key(), Position::startpos().key());
    }
}
