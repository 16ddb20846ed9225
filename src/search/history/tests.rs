use super::*;
use crate::board::{Move, Piece, Role, Square};
use crate::search::tests::random_positions;
use crate::util::rng::SplitMix64;

fn quiet() -> Move {
    Move::new(Square::E2, Square::E4).expect("not a1a1")
}

#[test]
fn gravity_moves_entries_with_the_bonus_and_keeps_them_in_range() {
    let mut rng = SplitMix64::new(1);
    for max in [params::hist_butterfly_max(), params::hist_cont_max(), params::corr_max()] {
        let mut entry = Entry::ZERO;
        for step in 0..20_000 {
            // Bonuses of every size, some beyond the limit; long runs of one sign reach both limits.
            let bits = rng.below(17);
            let size = rng.below(1 << bits) as i32;
            let bonus = if step / 100 % 2 == 0 { size } else { -size };
            let before = entry.get();
            entry.update(bonus, max);
            let after = entry.get();
            assert!(after.abs() <= max, "{before} {bonus:+} gives {after}, limit {max}");
            let change = (after - before) * bonus.signum();
            assert!(change >= 0, "{before} {bonus:+} gives {after}");
            // A bonus has its whole effect on an entry of zero or of the other sign, and less near the limit.
            let bounded = size.min(max);
            if before * bonus <= 0 {
                assert!(change >= bounded, "{before} {bonus:+} gives {after}");
            } else {
                assert!(change <= bounded, "{before} {bonus:+} gives {after}");
            }
        }
        (0..200).for_each(|_| entry.update(max / 4, max));
        assert!(entry.get() > max * 9 / 10, "repeated bonuses reach {entry:?} of {max}");
    }
}

#[test]
fn empty_context_stays_zero() {
    let mut histories = Histories::new();
    let square = PieceSquare::new(Piece { color: Color::White, role: Role::Pawn }, quiet());
    for context in [ContHistIndex::NONE, ContHistIndex(0)] {
        let before = histories.continuation.score(context, square);
        histories.continuation.update(context, square, 1000);
        let after = histories.continuation.score(context, square);
        assert_eq!(after > before, context != ContHistIndex::NONE);
    }
    assert_eq!(histories.continuation.score(ContHistIndex::NONE, square), 0);
}

#[test]
fn updates_change_one_side_only() {
    let mut histories = Histories::new();
    let before = histories.butterfly.score(Color::Black, quiet());
    histories.butterfly.update(Color::White, quiet(), 500);
    assert!(histories.butterfly.score(Color::White, quiet()) > 0);
    assert_eq!(histories.butterfly.score(Color::Black, quiet()), before);
    histories.clear();
    assert_eq!(histories.butterfly.score(Color::White, quiet()), 0);
}

#[test]
fn contexts_and_piece_squares_differ_for_every_move() {
    let mut contexts = std::collections::HashSet::new();
    for color in Color::ALL {
        for role in Role::ALL {
            for to in Square::ALL.into_iter().filter(|&to| to != Square::A1) {
                let m = Move::new(Square::A1, to).expect("not a1a1");
                let piece = Piece { color, role };
                assert!(PieceSquare::new(piece, m).index() < PieceSquare::COUNT);
                for (in_check, noisy) in [(false, false), (false, true), (true, false), (true, true)] {
                    let context = ContHistIndex::new(in_check, noisy, piece, m);
                    assert!(context.index() < ContHistIndex::NONE.index());
                    assert!(contexts.insert(context.index()), "{piece:?} {m:?}");
                }
            }
        }
    }
}

#[test]
fn first_plies_have_scores_of_their_own() {
    let mut histories = Histories::new();
    histories.new_root();
    histories.low_ply.update(2, quiet(), -500);
    let scores = [1, 2, 3, LOW_PLIES, 200].map(|ply| histories.low_ply.score(ply, quiet()));
    let start = params::hist_low_start();
    assert!(scores[1] < 0);
    assert_eq!([scores[0], scores[2], scores[3], scores[4]], [start, start, 0, 0]);
    histories.low_ply.update(LOW_PLIES, quiet(), 500);
    histories.new_root();
    assert_eq!(histories.low_ply.score(2, quiet()), start);
}

/// Largest possible correction: every entry at its limit.
fn max_value() -> Value {
    let weights = params::corr_pawn() + params::corr_minor() + 2 * params::corr_non_pawn() + 2 * params::corr_cont();
    weights * params::corr_max() / 1024
}

fn keys(position: &Position) -> Keys {
    let piece = |role| Piece { color: Color::White, role };
    let square = |role| Some(PieceSquare::new(piece(role), Move::new(Square::A1, Square::B2).expect("not a1a1")));
    let moves = LastMoves { last: square(Role::King), second: square(Role::Queen), fourth: square(Role::Bishop) };
    Keys::new(position, moves)
}

#[test]
fn correction_follows_the_bonus_and_stays_in_range() {
    let mut corrections = Corrections::new();
    let mut rng = SplitMix64::new(2);
    for (number, position) in random_positions(300).iter().enumerate() {
        let keys = keys(position);
        let sign = if number % 2 == 0 { 1 } else { -1 };
        for _ in 0..rng.below(60) {
            let before = corrections.value(&keys);
            corrections.learn(&keys, sign * rng.below(100_000) as i32);
            let after = corrections.value(&keys);
            assert!((after - before) * sign >= 0, "{before} to {after} with sign {sign}");
            assert!(after.abs() <= max_value(), "{after}");
        }
    }
}

#[test]
fn correction_depends_on_the_side_to_move() {
    for mut position in random_positions(300).into_iter().filter(|position| !position.in_check()) {
        let mut corrections = Corrections::new();
        let keys = |position: &Position| Keys::new(position, LastMoves::default());
        corrections.learn(&keys(&position), 200);
        assert!(corrections.value(&keys(&position)) > 0, "{}", position.fen());
        position.do_null_move();
        assert_eq!(corrections.value(&keys(&position)), 0, "{}", position.fen());
    }
}

#[test]
fn every_table_contributes_to_the_correction() {
    let position = Position::startpos();
    let none = Keys::new(&position, LastMoves::default());
    let mut corrections = Corrections::new();
    corrections.learn(&none, 200);
    let without_moves = corrections.value(&none);
    let mut corrections = Corrections::new();
    corrections.learn(&keys(&position), 200);
    assert!(corrections.value(&keys(&position)) > without_moves);
    // The same moves before another position with other pieces and pawns.
    let other = crate::search::tests::position("4k3/8/8/8/3P4/8/8/4K3 w - - 0 1");
    assert!(corrections.value(&keys(&other)) > 0);
    assert_eq!(corrections.value(&Keys::new(&other, LastMoves::default())), 0);
}

#[test]
fn missing_moves_have_no_correction() {
    let position = Position::startpos();
    let mut corrections = Corrections::new();
    corrections.learn(&Keys::new(&position, LastMoves::default()), 256);
    assert_eq!(corrections.continuation.get(Slot::NO_MOVE), 0);
}

#[test]
fn corrected_evaluation_stays_below_proven_results() {
    for eval in [-40_000, -31_000, -500, 0, 31_000, 40_000] {
        for correction in [-1000, 0, 1000] {
            assert!(!crate::search::score::is_decisive(corrected(eval, correction)), "{eval} {correction}");
        }
    }
    assert_eq!(corrected(100, -30), 70);
}
