use super::*;
use crate::board::{Color, Piece, Square};
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
    let mut scene = Scene { position, histories: Box::new(Histories::new()), context, rng: SplitMix64::new(44) };
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
