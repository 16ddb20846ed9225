use super::*;
use crate::board::{Color, Move, Piece, Position, Role, Square};
use crate::search::history::PieceSquare;
use crate::search::negamax::{NullWindow, Pv};
use crate::search::score::{MATE_IN_MAX_PLY, TB_WIN, TB_WIN_IN_MAX_PLY};
use crate::search::tests::{position, random_positions, set_position, worker};

#[test]
fn base_reduction_rises_with_move_count_and_depth() {
    for improving in [false, true] {
        for window_share in [0, 16, 1024, 100_000] {
            for depth in 1..=60 {
                for count in 1..=255 {
                    let r = base(improving, depth, count, window_share);
                    assert!(base(improving, depth, count + 1, window_share) >= r, "depth {depth}, move {count}");
                    assert!(base(improving, depth + 1, count, window_share) >= r, "depth {depth}, move {count}");
                }
            }
        }
    }
    assert!(base(true, 10, 20, 0) > base(true, 10, 2, 0) + 1024);
    assert!(base(true, 20, 10, 0) > base(true, 2, 10, 0) + 1024);
}

#[test]
fn base_reduction_is_smaller_in_wide_windows_and_if_improving() {
    for depth in 2..=60 {
        for count in 2..=100 {
            assert!(base(true, depth, count, 512) < base(true, depth, count, 0));
            assert!(base(true, depth, count, 0) < base(false, depth, count, 0));
        }
    }
}

/// A quiet move in a null-window node of depth 8 that is expected to fail low.
struct Case {
    node: Node<NullWindow>,
    info: MoveInfo,
    tt_pv: bool,
    child_cutoffs: i32,
    stat_score: i32,
}

/// The reduction after `change` of one fact.
fn reduction_with(change: impl FnOnce(&mut Case)) -> i32 {
    let info = MoveInfo {
        m: Move::new(Square::E2, Square::E4).expect("not a1a1"),
        piece: Piece { color: Color::White, role: Role::Pawn },
        captured: None,
        noisy: false,
        gives_check: false,
        count: 5,
        depth: 7,
        reduction: base(false, 8, 5, 0),
    };
    let node = Node::new(0, 1, 8, false);
    let mut case = Case { node, info, tt_pv: false, child_cutoffs: 0, stat_score: 0 };
    change(&mut case);
    let Case { node, info, tt_pv, child_cutoffs, stat_score } = &case;
    let (tt_pv, child_cutoffs, stat_score) = (*tt_pv, *child_cutoffs, *stat_score);
    reduction(&ReductionFacts { node, info, tt_pv, child_cutoffs, stat_score })
}

#[test]
fn reduction_falls_with_history_and_rises_with_child_cutoffs() {
    let by_history = |score| reduction_with(|case| case.stat_score = score);
    assert!((-60_000..60_000).step_by(1000).all(|score| by_history(score) >= by_history(score + 1000)));
    assert!(by_history(-30_000) > by_history(30_000) + 1024);
    let by_cutoffs = |cutoffs| reduction_with(|case| case.child_cutoffs = cutoffs);
    assert!((0..6).all(|cutoffs| by_cutoffs(cutoffs) <= by_cutoffs(cutoffs + 1)));
    assert!(by_cutoffs(4) > by_cutoffs(0) + 1024);
}

#[test]
fn reduction_depends_on_the_type_of_node() {
    let cut_node = |tt_pv| {
        reduction_with(|case| {
            case.node.cut_node = true;
            case.tt_pv = tt_pv;
        })
    };
    assert!(cut_node(false) > reduction_with(|_| {}));
    assert!(cut_node(true) < cut_node(false));
    // In a node that is expected to fail low, the same terms count more.
    let scaled = all_node_reduction(&Node::<NullWindow>::new(0, 1, 8, false), 1000);
    assert!(scaled > 0 && scaled < 1000);
    assert_eq!(all_node_reduction(&Node::<Pv>::new(0, 9, 8, false), 1000), 0);
}

#[test]
fn table_move_is_reduced_less_and_other_moves_more_if_it_is_noisy() {
    let quiet = reduction_with(|_| {});
    let of_table = reduction_with(|case| case.node.tt_move = Some(case.info.m));
    let beside_noisy = reduction_with(|case| case.node.tt_noisy = true);
    assert!(of_table < quiet && quiet < beside_noisy);
    let unreliable = reduction_with(|case| case.node.correction = -150);
    assert!(unreliable < quiet);
}

/// Every legal move of the worker's position, as a late and much reduced move.
fn late_moves<N: NodeType>(w: &Worker, node: &Node<N>) -> Vec<MoveInfo> {
    let checks = w.position.check_info();
    let moves = w.position.legal_moves();
    moves.iter().map(|&m| w.move_info(node, m, &checks, 100, 0)).collect()
}

/// Makes the histories of every move of the worker's position as bad as possible.
fn worsen_histories(w: &mut Worker) {
    let (turn, key) = (w.position.turn(), w.position.pawn_key());
    for &m in w.position.legal_moves().iter() {
        let piece = w.position.moved_piece(m);
        let square = PieceSquare::new(piece, m);
        for _ in 0..4 {
            w.histories.butterfly.update(turn, m, -30_000);
            w.histories.pawn.update(key, square, -30_000);
            w.histories.capture.update(PieceSquare::new(piece, m), w.position.captured(m), -30_000);
        }
    }
}

/// Number of moves that are pruned if the best value so far is `best` and everything else favours pruning.
fn pruned(w: &mut Worker, position: &Position, best: Value) -> (usize, usize) {
    set_position(w, position);
    worsen_histories(w);
    w.stack[0].static_eval = -3000;
    let mut node = Node::<NullWindow>::new(2000, 2001, 6, true);
    let moves = late_moves(w, &node);
    let is_pruned = |c: &&MoveInfo| {
        node.best = best;
        w.shallow_prune(&mut node, c)
    };
    (moves.iter().filter(is_pruned).count(), moves.len())
}

#[test]
fn no_move_is_pruned_before_one_that_does_not_lose() {
    let mut w = worker(&Position::startpos());
    let (mut moves, mut pruned_moves) = (0, 0);
    for position in random_positions(200) {
        let losing = [-INFINITE, score::mated_in(3), -MATE_IN_MAX_PLY, 9 - TB_WIN, -TB_WIN_IN_MAX_PLY];
        for best in losing {
            assert_eq!(pruned(&mut w, &position, best).0, 0, "best value {best}: {}", position.fen());
        }
        if position.has_non_pawn_material(position.turn()) {
            let (some, all) = pruned(&mut w, &position, 1 - TB_WIN_IN_MAX_PLY);
            (moves, pruned_moves) = (moves + all, pruned_moves + some);
        }
    }
    assert!(pruned_moves > moves / 2 && moves > 1000, "{pruned_moves} of {moves} pruned");
}

#[test]
fn no_move_is_pruned_where_zugzwang_is_likely() {
    let mut w = worker(&Position::startpos());
    let ending = position("8/8/4kp2/4p1p1/4P1P1/4KP2/8/8 w - - 0 1");
    assert_eq!(pruned(&mut w, &ending, 0).0, 0);
    let with_rook = position("8/8/4kp2/4p1p1/4P1P1/4KP2/8/R7 w - - 0 1");
    assert!(pruned(&mut w, &with_rook, 0).0 > 0);
}

#[test]
fn late_move_count_rises_with_depth_and_if_improving() {
    let first_late = |depth, improving| {
        let mut node = Node::<NullWindow>::new(0, 1, depth, true);
        node.improving = improving;
        (1..10_000).find(|&count| Worker::is_late(&node, count)).expect("a late move")
    };
    for depth in 1..20 {
        assert!(first_late(depth, false) < first_late(depth + 1, false));
        assert!(first_late(depth, false) < first_late(depth, true));
        assert!(first_late(depth, false) > 1, "the first move is not late");
    }
}

#[test]
fn bad_histories_do_not_hide_the_only_moves() {
    let mut w = worker(&Position::startpos());
    let mut in_check = 0;
    for position in random_positions(200) {
        set_position(&mut w, &position);
        worsen_histories(&mut w);
        in_check += usize::from(position.in_check());
        let quiescence = w.quiesce::<Pv>(-INFINITE, INFINITE).expect("no limit");
        assert!(quiescence > score::mated_in(0), "{}", position.fen());
        set_position(&mut w, &position);
        let value = w.negamax::<Pv>(-INFINITE, INFINITE, 1, false).expect("no limit");
        assert!(value > score::mated_in(0) && value < INFINITE, "{value}: {}", position.fen());
    }
    assert!(in_check > 10, "{in_check} positions in check");
}

#[test]
fn node_without_legal_moves_is_mate_or_stalemate() {
    let value_of = |fen: &str| {
        let mut w = worker(&position(fen));
        w.negamax::<Pv>(-INFINITE, INFINITE, 3, false).expect("no limit")
    };
    assert_eq!(value_of("R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1"), score::mated_in(0));
    assert_eq!(value_of("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), score::DRAW);
    assert_eq!(value_of("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"), score::mate_in(1));
}
