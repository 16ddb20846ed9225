//! Staged move picker: yields pseudo-legal moves in order of promise and generates each stage lazily.
//!
//! Most cutoffs come from the first or second move, so moves are generated in stages: the table's move (no
//! generation), captures that do not lose material, quiet moves by history, then bad captures and bad quiet moves.
// CITE: stages and scores: SF-2026-08. Here the scores of noisy evasions also include their history, and moves are
// selected one by one instead of by its partial sort.

use super::history::{
    ByPiece, BySquares, ContHistIndex, Histories, LOW_PLIES, PieceSquare, SharedEntry, threats_by_lesser,
};
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
    pawn: &'a ByPiece<SharedEntry>,
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
mod tests {
    use super::*;
    use crate::board::{Color, Piece, Square};
    use crate::search::history::SharedHistories;
    use crate::search::tests::random_positions;
    use crate::util::rng::SplitMix64;

    /// A position, and histories with random scores of its moves.
    struct Scene {
        position: Position,
        histories: Box<Histories>,
        context: ContHistIndex,
        rng: SplitMix64,
    }

    impl Scene {
        fn ordering<'a>(&'a self, checks: &'a CheckInfo) -> OrderingContext<'a> {
            let contexts = [self.context; 5];
            OrderingContext { position: &self.position, checks, histories: &self.histories, contexts, ply: 1 }
        }

        /// All moves that `picker` yields. `before` is called with the number of moves yielded so far.
        fn run(&self, mut picker: MovePicker, mut before: impl FnMut(usize, &mut MovePicker)) -> Vec<Move> {
            let checks = self.position.check_info();
            let ordering = self.ordering(&checks);
            let mut buffers = MoveBuffers::new();
            let mut moves = Vec::new();
            loop {
                before(moves.len(), &mut picker);
                match picker.next(&ordering, &mut buffers) {
                    Some(m) => moves.push(m),
                    None => return moves,
                }
                assert!(moves.len() <= MAX_MOVES, "the picker does not end: {}", self.position.fen());
            }
        }

        fn all(&self, picker: MovePicker) -> Vec<Move> {
            self.run(picker, |_, _| {})
        }

        /// Generated noisy moves, and generated quiet moves.
        fn generated(&self) -> [Vec<Move>; 2] {
            let (mut noisy, mut quiet) = (MoveList::new(), MoveList::new());
            self.position.generate_noisy(&mut noisy);
            self.position.generate_quiet(&mut quiet);
            [noisy.iter().copied().collect(), quiet.iter().copied().collect()]
        }

        /// `None`, then one table move of each kind that the position has.
        fn table_moves(&mut self) -> Vec<Option<Move>> {
            let mut moves = vec![None];
            for kind in self.generated() {
                if !kind.is_empty() {
                    moves.push(Some(kind[self.rng.below(kind.len())]));
                }
            }
            moves
        }

        fn quiet_score(&self, m: Move) -> i32 {
            let checks = self.position.check_info();
            let ordering = self.ordering(&checks);
            QuietScorer::new(&ordering).score(&ordering, m)
        }

        fn noisy_score(&self, m: Move) -> i32 {
            noisy_score(&self.ordering(&self.position.check_info()), m)
        }

        /// Stage of a move in the main search, from 0, and its score.
        fn stage(&self, m: Move) -> (usize, i32) {
            if self.position.is_noisy(m) {
                let score = self.noisy_score(m);
                let good = self.position.see_ge(m, exchange_units(-score / params::pick_see_div()));
                (if good { 0 } else { 2 }, score)
            } else {
                let score = self.quiet_score(m);
                (if score >= params::pick_good_quiet() { 1 } else { 3 }, score)
            }
        }
    }

    /// Runs `test` on a thousand positions, with histories that contain scores of every size for their moves.
    fn in_a_thousand_positions(mut test: impl FnMut(&mut Scene)) {
        let context = ContHistIndex::new(
            false,
            false,
            Piece { color: Color::White, role: Role::Pawn },
            Move::new(Square::E2, Square::E4).expect("not a1a1"),
        );
        let position = Position::startpos();
        let mut scene = Scene {
            position,
            histories: Box::new(Histories::new(&SharedHistories::new(1))),
            context,
            rng: SplitMix64::new(44),
        };
        for position in random_positions(1000) {
            scene.position = position;
            for m in scene.generated().concat() {
                let Scene { position, histories, rng, .. } = &mut scene;
                let mut bonus = || rng.below(60_001) as i32 - 30_000;
                let piece = position.moved_piece(m);
                histories.butterfly.update(position.turn(), m, bonus());
                histories.pawn.update(position.pawn_key(), PieceSquare::new(piece, m), bonus());
                histories.continuation.update(context, PieceSquare::new(piece, m), bonus());
                histories.capture.update(PieceSquare::new(piece, m), position.captured(m), bonus());
            }
            test(&mut scene);
        }
    }

    fn sorted(moves: &[Move]) -> Vec<u16> {
        let mut codes: Vec<u16> = moves.iter().map(|m| m.bits()).collect();
        codes.sort_unstable();
        codes
    }

    #[test]
    fn main_picker_yields_every_pseudo_legal_move_once_and_the_tables_first() {
        in_a_thousand_positions(|scene| {
            let expected = sorted(&scene.generated().concat());
            for table_move in scene.table_moves() {
                let moves = scene.all(MovePicker::main(&scene.position, table_move));
                let fen = scene.position.fen();
                assert_eq!(sorted(&moves), expected, "{fen} {table_move:?}");
                assert!(table_move.is_none() || moves.first().copied() == table_move, "{fen} {table_move:?}");
                // These moves come from a generator that the picker does not use.
                for m in scene.position.legal_moves().iter() {
                    assert!(moves.contains(m), "{fen} lacks {m:?}");
                }
            }
        });
    }

    #[test]
    fn main_picker_yields_stages_in_order_and_best_scores_first() {
        let mut seen = [0; 4];
        in_a_thousand_positions(|scene| {
            if scene.position.in_check() {
                return;
            }
            let moves = scene.all(MovePicker::main(&scene.position, None));
            let stages: Vec<_> = moves.iter().map(|&m| scene.stage(m)).collect();
            for pair in stages.windows(2) {
                let [(stage, score), (next_stage, next_score)] = [pair[0], pair[1]];
                let in_order = stage < next_stage || (stage == next_stage && score >= next_score);
                assert!(in_order, "{}: {stages:?}", scene.position.fen());
            }
            stages.iter().for_each(|&(stage, _)| seen[stage] += 1);
        });
        assert!(seen.iter().all(|&count| count > 300), "{seen:?}");
    }

    #[test]
    fn evasions_begin_with_noisy_moves_and_best_scores() {
        let mut seen = [0; 2];
        in_a_thousand_positions(|scene| {
            if !scene.position.in_check() {
                return;
            }
            let checks = scene.position.check_info();
            let moves = scene.all(MovePicker::main(&scene.position, None));
            let rank = |&m: &Move| match scene.position.is_noisy(m) {
                true => (1, scene.noisy_score(m)),
                false => (0, evasion_score(&scene.ordering(&checks), m)),
            };
            assert!(moves.is_sorted_by_key(|m| std::cmp::Reverse(rank(m))), "{}", scene.position.fen());
            moves.iter().for_each(|m| seen[rank(m).0] += 1);
        });
        assert!(seen.iter().all(|&count| count > 20), "{seen:?}");
    }

    #[test]
    fn skipped_quiets_are_not_yielded_but_every_noisy_move_is() {
        let mut skipped = 0;
        in_a_thousand_positions(|scene| {
            if scene.position.in_check() {
                return;
            }
            let [noisy, quiet] = scene.generated();
            let from = scene.rng.below(noisy.len() + quiet.len() + 1);
            let skip = |count: usize, picker: &mut MovePicker| {
                if count >= from {
                    picker.skip_quiets();
                }
            };
            let moves = scene.run(MovePicker::main(&scene.position, None), skip);
            let late_quiets = moves.iter().skip(from).filter(|&&m| !scene.position.is_noisy(m)).count();
            assert_eq!(late_quiets, 0, "{} from {from}", scene.position.fen());
            let yielded: Vec<Move> = moves.iter().copied().filter(|&m| scene.position.is_noisy(m)).collect();
            assert_eq!(sorted(&yielded), sorted(&noisy), "{} from {from}", scene.position.fen());
            skipped += noisy.len() + quiet.len() - moves.len();
        });
        assert!(skipped > 1000);
    }

    #[test]
    fn quiescence_picker_yields_noisy_moves_once_or_all_evasions() {
        in_a_thousand_positions(|scene| {
            let in_check = scene.position.in_check();
            let [noisy, quiet] = scene.generated();
            let expected = if in_check { [noisy, quiet].concat() } else { noisy };
            for table_move in scene.table_moves() {
                let moves = scene.all(MovePicker::quiescence(&scene.position, table_move));
                assert_eq!(sorted(&moves), sorted(&expected), "{} {table_move:?}", scene.position.fen());
                if let Some(m) = table_move.filter(|m| expected.contains(m)) {
                    assert_eq!(moves[0], m, "{}", scene.position.fen());
                }
            }
        });
    }

    #[test]
    fn probcut_picker_yields_exactly_the_captures_that_win_the_threshold() {
        let (mut yielded, mut refused) = (0, 0);
        in_a_thousand_positions(|scene| {
            if scene.position.in_check() {
                return;
            }
            let threshold = scene.rng.below(700) as i32 - 250;
            let [noisy, _] = scene.generated();
            let wins = |&m: &Move| scene.position.see_ge(m, threshold);
            let expected: Vec<Move> = noisy.iter().copied().filter(wins).collect();
            (yielded, refused) = (yielded + expected.len(), refused + noisy.len() - expected.len());
            for table_move in scene.table_moves() {
                let moves = scene.all(MovePicker::probcut(&scene.position, table_move, threshold));
                assert_eq!(sorted(&moves), sorted(&expected), "{} {table_move:?}", scene.position.fen());
                if let Some(m) = table_move.filter(|m| expected.contains(m)) {
                    assert_eq!(moves[0], m, "{}", scene.position.fen());
                }
            }
        });
        assert!(yielded > 300 && refused > 300, "{yielded} {refused}");
    }
}
