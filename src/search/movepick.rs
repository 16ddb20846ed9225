//! Staged move picker: yields pseudo-legal moves in order of promise and generates each stage lazily.
//!
//! Most cutoffs come from the first or second move, so moves are generated in stages: the table's move (no
//! generation), captures that do not lose material, quiet moves by history, then bad captures and bad quiet moves.
// CITE: stages and scores: SF-2026-08. Here the scores of noisy evasions also include their history, and moves are
// selected one by one instead of by its partial sort.

use super::history::{ByPiece, BySquares, ContHistIndex, Histories, LOW_PLIES, PieceSquare, threats_by_lesser};
use super::params;
use super::score::{exchange_units, piece_value};
use crate::board::moves::MAX_MOVES;
use crate::board::{CheckInfo, Move, MoveList, Position, Role};

/// Move buffers of one ply. They belong to the worker, because clearing them at each node would cost more than filling
/// them.
pub struct MoveBuffers {
    list: MoveList,
    scored: [Scored; MAX_MOVES],
}

/// A slot of the buffer: a move and its score, or no move.
#[derive(Clone, Copy, Default)]
struct Scored {
    score: i32,
    m: Option<Move>,
}

/// A selected move and its score.
#[derive(Clone, Copy)]
struct Selected {
    score: i32,
    m: Move,
}

impl MoveBuffers {
    /// Empty buffers.
    pub fn new() -> Self {
        Self { list: MoveList::new(), scored: [Scored::default(); MAX_MOVES] }
    }
}

/// The picker's inputs from the worker.
pub struct OrderingContext<'a> {
    /// The position, before the move.
    pub position: &'a Position,
    /// Check information of the position.
    pub checks: &'a CheckInfo,
    /// Move statistics of the thread.
    pub histories: &'a Histories,
    /// Contexts 1, 2, 3, 4 and 6 plies ago.
    pub contexts: [ContHistIndex; 5],
    /// Plies from the root.
    pub ply: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Table,
    MakeNoisy,
    GoodNoisy,
    MakeQuiet,
    GoodQuiet,
    BadNoisy,
    BadQuiet,
    MakeEvasions,
    Evasions,
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PickerKind {
    /// All moves, for the full search.
    Main,
    /// All evasions of a check.
    Evasions,
    /// Noisy moves only.
    Quiescence,
    /// Noisy moves whose exchange wins at least this many centipawns.
    ProbCut(i32),
}

/// State of one node's move ordering.
pub struct MovePicker {
    kind: PickerKind,
    stage: Stage,
    table_move: Option<Move>,
    next: usize,
    end: usize,
    bad_noisy_end: usize,
    quiet_start: usize,
    quiet_end: usize,
    skip_quiets: bool,
}

impl MovePicker {
    fn with(kind: PickerKind, table_move: Option<Move>) -> Self {
        Self {
            kind,
            stage: Stage::Table,
            table_move,
            next: 0,
            end: 0,
            bad_noisy_end: 0,
            quiet_start: 0,
            quiet_end: 0,
            skip_quiets: false,
        }
    }

    /// All moves, for the full search. `table_move` must be pseudo-legal.
    pub fn main(position: &Position, table_move: Option<Move>) -> Self {
        let kind = if position.in_check() { PickerKind::Evasions } else { PickerKind::Main };
        Self::with(kind, table_move)
    }

    /// Noisy moves, or all evasions in check, for the quiescence search.
    pub fn quiescence(position: &Position, table_move: Option<Move>) -> Self {
        let kind = if position.in_check() { PickerKind::Evasions } else { PickerKind::Quiescence };
        let table_move = table_move.filter(|&m| position.in_check() || position.is_noisy(m));
        Self::with(kind, table_move)
    }

    /// Noisy moves that win at least `threshold` (centipawns of the exchange evaluation), for ProbCut.
    pub fn probcut(position: &Position, table_move: Option<Move>, threshold: i32) -> Self {
        let table_move = table_move.filter(|&m| position.is_noisy(m) && position.see_ge(m, threshold));
        Self::with(PickerKind::ProbCut(threshold), table_move)
    }

    /// Skips all remaining quiet moves.
    pub fn skip_quiets(&mut self) {
        self.skip_quiets = true;
    }

    /// The next pseudo-legal move.
    pub fn next(&mut self, ordering: &OrderingContext, buffers: &mut MoveBuffers) -> Option<Move> {
        loop {
            match self.stage {
                Stage::Table => {
                    self.stage = self.after_table();
                    if self.table_move.is_some() {
                        return self.table_move;
                    }
                }
                Stage::MakeNoisy => self.make_noisy(ordering, buffers),
                Stage::GoodNoisy => {
                    if let Some(m) = self.next_good_noisy(ordering, buffers) {
                        return Some(m);
                    }
                    self.stage = if self.kind == PickerKind::Main { Stage::MakeQuiet } else { Stage::Done };
                }
                Stage::MakeQuiet => self.make_quiet(ordering, buffers),
                Stage::GoodQuiet => {
                    if let Some(m) = self.next_quiet(buffers, params::pick_good_quiet()) {
                        return Some(m);
                    }
                    (self.end, self.next) = (self.next, 0);
                    self.stage = Stage::BadNoisy;
                }
                Stage::BadNoisy => {
                    if self.next < self.bad_noisy_end {
                        self.next += 1;
                        return buffers.scored[self.next - 1].m;
                    }
                    self.next = self.end;
                    self.stage = Stage::BadQuiet;
                }
                Stage::BadQuiet => {
                    if let Some(m) = self.next_quiet(buffers, i32::MIN) {
                        return Some(m);
                    }
                    self.stage = Stage::Done;
                }
                Stage::MakeEvasions => self.make_evasions(ordering, buffers),
                Stage::Evasions => {
                    if let Some(m) = self.next_best(buffers) {
                        return Some(m);
                    }
                    self.stage = Stage::Done;
                }
                Stage::Done => return None,
            }
        }
    }

    fn after_table(&self) -> Stage {
        if self.kind == PickerKind::Evasions { Stage::MakeEvasions } else { Stage::MakeNoisy }
    }

    #[inline(never)]
    fn make_noisy(&mut self, ordering: &OrderingContext, buffers: &mut MoveBuffers) {
        let MoveBuffers { list, scored } = buffers;
        list.clear();
        ordering.position.generate_noisy(list);
        self.end = list.len();
        for (slot, &m) in scored.iter_mut().zip(list.iter()) {
            *slot = Scored { score: noisy_score(ordering, m), m: Some(m) };
        }
        self.stage = Stage::GoodNoisy;
    }

    /// Next good noisy move by score. Moves that lose material are moved to the front of the list, for a later stage.
    fn next_good_noisy(&mut self, ordering: &OrderingContext, buffers: &mut MoveBuffers) -> Option<Move> {
        while let Some(Selected { score, m }) = self.select(buffers) {
            if Some(m) == self.table_move {
                continue;
            }
            let good = match self.kind {
                PickerKind::Main => ordering.position.see_ge(m, exchange_units(-score / params::pick_see_div())),
                PickerKind::ProbCut(threshold) => ordering.position.see_ge(m, threshold),
                PickerKind::Quiescence | PickerKind::Evasions => true,
            };
            if good {
                return Some(m);
            }
            if self.kind == PickerKind::Main {
                buffers.scored.swap(self.bad_noisy_end, self.next - 1);
                self.bad_noisy_end += 1;
            }
        }
        None
    }

    #[inline(never)]
    fn make_quiet(&mut self, ordering: &OrderingContext, buffers: &mut MoveBuffers) {
        self.quiet_start = self.end;
        self.quiet_end = self.end;
        if !self.skip_quiets {
            let MoveBuffers { list, scored } = buffers;
            list.clear();
            ordering.position.generate_quiet(list);
            self.quiet_end = (self.quiet_start + list.len()).min(MAX_MOVES);
            let quiets = &mut scored[self.quiet_start..self.quiet_end];
            let scorer = QuietScorer::new(ordering);
            for (slot, &m) in quiets.iter_mut().zip(list.iter()) {
                *slot = Scored { score: scorer.score(ordering, m), m: Some(m) };
            }
        }
        self.next = self.quiet_start;
        self.stage = Stage::GoodQuiet;
    }

    /// The best remaining quiet move, if its score is at least `min_score`.
    fn next_quiet(&mut self, buffers: &mut MoveBuffers, min_score: i32) -> Option<Move> {
        if self.skip_quiets {
            return None;
        }
        while let Some(Selected { score, m }) = select(&mut buffers.scored[self.next..self.quiet_end]) {
            if score < min_score {
                return None;
            }
            self.next += 1;
            if Some(m) != self.table_move {
                return Some(m);
            }
        }
        None
    }

    #[inline(never)]
    fn make_evasions(&mut self, ordering: &OrderingContext, buffers: &mut MoveBuffers) {
        let MoveBuffers { list, scored } = buffers;
        list.clear();
        ordering.position.generate_noisy(list);
        let noisy = list.len();
        ordering.position.generate_quiet(list);
        self.end = list.len();
        for (i, (slot, &m)) in scored.iter_mut().zip(list.iter()).enumerate() {
            let score = if i < noisy { (1 << 28) + noisy_score(ordering, m) } else { evasion_score(ordering, m) };
            *slot = Scored { score, m: Some(m) };
        }
        self.stage = Stage::Evasions;
    }

    fn next_best(&mut self, buffers: &mut MoveBuffers) -> Option<Move> {
        while let Some(Selected { m, .. }) = self.select(buffers) {
            if Some(m) != self.table_move {
                return Some(m);
            }
        }
        None
    }

    /// Moves the best remaining move to the front of the rest and advances past it.
    fn select(&mut self, buffers: &mut MoveBuffers) -> Option<Selected> {
        let best = select(buffers.scored.get_mut(self.next..self.end)?)?;
        self.next += 1;
        Some(best)
    }
}

/// Moves the best move to the front. Most nodes need only one or two moves, so repeated selection costs less than
/// sorting.
#[inline]
fn select(rest: &mut [Scored]) -> Option<Selected> {
    let mut best = 0;
    let mut best_score = rest.first()?.score;
    for (i, other) in rest.iter().enumerate().skip(1) {
        if other.score > best_score {
            (best, best_score) = (i, other.score);
        }
    }
    rest.swap(0, best);
    Some(Selected { score: best_score, m: rest[0].m? })
}

/// Score of a noisy move: most valuable victim first, then capture history.
// CITE: SF-2026-08. The term of queen promotions: origin not recorded.
fn noisy_score(ordering: &OrderingContext, m: Move) -> i32 {
    let captured = ordering.position.captured(m);
    let piece = ordering.position.moved_piece(m);
    let mut score = params::pick_victim() * captured.map_or(0, piece_value);
    if m.is_queen_promotion() {
        score += params::pick_victim() * piece_value(Role::Queen);
    }
    score + ordering.histories.capture.score(PieceSquare::new(piece, m), captured)
}

fn evasion_score(ordering: &OrderingContext, m: Move) -> i32 {
    let square = PieceSquare::new(ordering.position.moved_piece(m), m);
    ordering.histories.butterfly.score(ordering.position.turn(), m)
        + ordering.histories.continuation.score(ordering.contexts[0], square)
}

/// Score terms that all quiet moves of a node share.
struct QuietScorer<'a> {
    cheaper: [crate::board::Bitboard; 6],
    butterfly: &'a BySquares,
    pawn: &'a ByPiece,
    continuations: [&'a ByPiece; 5],
    threat_weights: [i32; 6],
}

impl<'a> QuietScorer<'a> {
    fn new(ordering: &OrderingContext<'a>) -> Self {
        let histories = ordering.histories;
        Self {
            cheaper: threats_by_lesser(ordering.position),
            butterfly: histories.butterfly.row(ordering.position.turn()),
            pawn: histories.pawn.row(ordering.position.pawn_key()),
            continuations: ordering.contexts.map(|context| histories.continuation.row(context)),
            threat_weights: threat_weights(),
        }
    }

    /// Sum of the histories, plus a bonus for checks that lose no material and for moves away from attacks by cheaper
    /// pieces, minus a malus for moves into such attacks.
    // CITE: SF-2026-08; weights of attacked pieces: Stockfish between May and November 2025.
    #[inline]
    fn score(&self, ordering: &OrderingContext, m: Move) -> i32 {
        let piece = ordering.position.moved_piece(m);
        let square = PieceSquare::new(piece, m);
        let mut score = params::pick_general() * (self.butterfly[m].get() + self.pawn[square].get());
        for table in self.continuations {
            score += table[square].get();
        }
        let role = piece.role as usize - 1;
        if ordering.checks.squares[role].contains(m.to())
            && ordering.position.see_ge(m, exchange_units(-params::pick_check_see()))
        {
            score += params::pick_check();
        }
        score += self.threat_weights[role] * self.threat(role, m);
        if ordering.ply < LOW_PLIES {
            score +=
                params::pick_low_ply() * ordering.histories.low_ply.score(ordering.ply, m) / (1 + ordering.ply as i32);
        }
        score
    }

    fn threat(&self, role: usize, m: Move) -> i32 {
        let cheaper = self.cheaper[role];
        if cheaper.contains(m.to()) {
            -params::pick_threat_enter()
        } else if cheaper.contains(m.from()) {
            params::pick_threat_leave()
        } else {
            0
        }
    }
}

/// Weight of escaping a cheaper attacker, by role index.
// CITE: Stockfish between May and November 2025 (idea, form and figures).
fn threat_weights() -> [i32; 6] {
    let minor = params::pick_threat_minor();
    let (rook, queen) = (params::pick_threat_rook(), params::pick_threat_queen());
    [0, minor, minor, rook, queen, 0]
}

/// Whether a role can be cheaper than another: asserts the order that [`threat_weights`] assumes.
const _: () = assert!(Role::Pawn as usize == 1 && Role::King as usize == 6);

#[cfg(test)]
mod tests;
