use super::*;
use crate::board::Position;
use crate::search::negamax::{NullWindow, Pv};
use crate::search::score::{INFINITE, MATE};
use crate::search::tests::{at_line, position, uci, worker};

/// A searched move of the worker's position.
fn move_info(w: &Worker, text: &str) -> MoveInfo {
    let m = uci(w, text);
    MoveInfo {
        m,
        piece: w.position.moved_piece(m),
        captured: w.position.captured(m),
        noisy: w.position.is_noisy(m),
        gives_check: false,
        count: 2,
        depth: 5,
        reduction: 0,
    }
}

fn searched(w: &Worker, moves: &[&str]) -> SearchedMoves {
    let mut searched = SearchedMoves::default();
    moves.iter().for_each(|text| searched.push(&move_info(w, text)));
    searched
}

/// Scores of a move at the worker's position: butterfly, first plies, pawn structure, last move, move before that.
fn scores(w: &Worker, text: &str) -> [i32; 5] {
    let c = move_info(w, text);
    let h = &w.histories;
    [
        h.butterfly.score(w.position.turn(), c.m),
        h.low_ply.score(w.stack.ply(), c.m),
        h.pawn.score(w.position.pawn_key(), c.square()),
        h.continuation.score(w.stack[-1].context, c.square()),
        h.continuation.score(w.stack[-2].context, c.square()),
    ]
}

fn capture_score(w: &Worker, text: &str) -> i32 {
    let c = move_info(w, text);
    w.histories.capture.score(c.square(), c.captured)
}

#[test]
fn best_quiet_move_gains_in_every_table_and_earlier_ones_lose() {
    let mut worker = worker(&Position::startpos());
    at_line(&mut worker, &["e2e4", "e7e5"], &mut |w| {
        let moves = ["g1f3", "d2d4", "b1c3", "a2a3"];
        let before = moves.map(|text| scores(w, text));
        let node = Node::<NullWindow>::new(10, 11, 6, true);
        let earlier = searched(w, &moves[1..]);
        w.update_histories(&node, uci(w, moves[0]), &earlier);
        let after = moves.map(|text| scores(w, text));
        let change = |of: usize, table: usize| after[of][table] - before[of][table];
        for table in 0..5 {
            assert!(change(0, table) > 0, "table {table}: {}", change(0, table));
            for (of, text) in moves.iter().enumerate().skip(1) {
                assert!(change(of, table) < 0, "{text} in table {table}: {}", change(of, table));
            }
            // The malus fades from move to move.
            assert!(change(1, table) < change(2, table) && change(2, table) < change(3, table), "table {table}");
        }
    });
}

#[test]
fn bonus_rises_with_depth_and_with_moves_that_failed_before() {
    let bonus_at = |depth, earlier: &[&str]| {
        let mut worker = worker(&Position::startpos());
        let searched = searched(&worker, earlier);
        let node = Node::<NullWindow>::new(10, 11, depth, true);
        let best = uci(&worker, "g1f3");
        worker.update_histories(&node, best, &searched);
        scores(&worker, "g1f3")[0]
    };
    assert!(bonus_at(2, &[]) > 0);
    assert!((2..8).all(|depth| bonus_at(depth, &[]) < bonus_at(depth + 1, &[])));
    assert_eq!(bonus_at(40, &[]), bonus_at(60, &[]));
    let many = ["a2a3", "a2a4", "b2b3", "b2b4", "c2c3", "c2c4", "d2d3", "d2d4", "e2e3", "e2e4", "f2f3", "f2f4"];
    assert!(bonus_at(6, &many) > bonus_at(6, &many[..1]));
}

#[test]
fn best_capture_gains_and_quiet_moves_keep_their_scores() {
    let mut worker = worker(&Position::startpos());
    at_line(&mut worker, &["e2e4", "d7d5", "b1c3", "g8f6"], &mut |w| {
        let quiet = scores(w, "d2d4");
        let node = Node::<Pv>::new(10, 90, 6, false);
        let earlier = searched(w, &["c3d5", "d2d4"]);
        let before = ["e4d5", "c3d5"].map(|text| capture_score(w, text));
        w.update_histories(&node, uci(w, "e4d5"), &earlier);
        assert!(capture_score(w, "e4d5") > before[0]);
        assert!(capture_score(w, "c3d5") < before[1]);
        assert_eq!(scores(w, "d2d4"), quiet);
    });
}

/// Score of the last quiet move in the context of the move before it, in the position after both.
fn last_move_after_its_predecessor(w: &Worker) -> i32 {
    let last = w.stack[-1];
    let m = last.current.expect("a move");
    w.histories.continuation.score(w.stack[-2].context, PieceSquare::new(last.piece, m))
}

#[test]
fn refuted_move_loses_only_if_it_was_the_first() {
    let change = |move_count| {
        let mut worker = worker(&Position::startpos());
        let mut change = 0;
        at_line(&mut worker, &["e2e4", "e7e5"], &mut |w| {
            w.stack[-1].move_count = move_count;
            let before = last_move_after_its_predecessor(w);
            let node = Node::<NullWindow>::new(10, 11, 6, true);
            w.update_histories(&node, uci(w, "g1f3"), &SearchedMoves::default());
            change = last_move_after_its_predecessor(w) - before;
        });
        change
    };
    assert!(change(1) < 0);
    assert_eq!(change(2), 0);
}

#[test]
fn move_that_made_the_node_fail_low_gains() {
    let mut worker = worker(&Position::startpos());
    at_line(&mut worker, &["e2e4", "g8f6"], &mut |w| {
        let (turn, m) = (w.position.turn(), w.stack[-1].current.expect("a move"));
        w.stack[-1].move_count = 20;
        w.stack[0].static_eval = 0;
        let before = (w.histories.butterfly.score(!turn, m), last_move_after_its_predecessor(w));
        let mut node = Node::<NullWindow>::new(10, 11, 8, false);
        node.best = -400;
        w.learn_from_fail_low(&node);
        assert!(w.histories.butterfly.score(!turn, m) > before.0);
        assert!(last_move_after_its_predecessor(w) > before.1);
        assert_eq!(w.histories.butterfly.score(turn, m), 0);
    });
}

#[test]
fn quiet_move_is_judged_by_the_change_of_the_evaluation() {
    let change = |before: Value, after: Value| {
        let mut worker = worker(&Position::startpos());
        worker.stack[0].static_eval = before;
        let mut change = 0;
        at_line(&mut worker, &["e2e4"], &mut |w| {
            w.stack[0].static_eval = after;
            w.learn_from_evaluation();
            change = w.histories.butterfly.score(Color::White, w.stack[-1].current.expect("a move"));
        });
        change
    };
    // From the opponent's view, the evaluation has the other sign.
    assert!(change(50, -250) > 0);
    assert!(change(50, 150) < 0);
    assert_eq!(change(NONE, -250), 0);
    assert_eq!(change(50, -5000), change(50, -50_000), "the change is capped");
}

#[test]
fn table_cutoff_and_repeated_search_give_a_bonus() {
    let mut worker = worker(&Position::startpos());
    at_line(&mut worker, &["e2e4", "e7e5"], &mut |w| {
        let before = scores(w, "g1f3");
        w.learn_from_table(uci(w, "g1f3"), 5);
        let after = scores(w, "g1f3");
        assert!((0..5).all(|table| after[table] > before[table]), "{before:?} {after:?}");
        let c = move_info(w, "b1c3");
        let m = c.m;
        w.child(m, |w| {
            let before = last_move_after_its_predecessor(w);
            w.learn_from_research(&c);
            assert!(last_move_after_its_predecessor(w) > before);
        });
    });
}

/// Change of the position's correction by a node with this window, best value and static evaluation.
fn correction_after(fen: &str, best: Value, static_eval: Value, best_move: Option<&str>) -> i32 {
    let mut worker = worker(&position(fen));
    worker.stack[0].static_eval = static_eval;
    worker.stack[0].in_check = worker.position.in_check();
    let mut node = Node::<NullWindow>::new(99, 100, 8, true);
    node.best = best;
    let m = best_move.map(|text| uci(&worker, text));
    worker.learn_correction(&node, m);
    let keys = worker.stack[0].keys;
    worker.corrections.value(&keys)
}

#[test]
fn correction_moves_towards_conclusive_results_only() {
    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    const CAPTURE: &str = "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 1";
    // A fail-high above the evaluation, and a fail-low below it.
    assert!(correction_after(START, 150, 20, Some("e2e4")) > 0);
    assert!(correction_after(START, 40, 90, None) < 0);
    // Bounds on the wrong side of the evaluation prove nothing.
    assert_eq!(correction_after(START, 40, 20, None), 0);
    assert_eq!(correction_after(START, 150, 400, Some("e2e4")), 0);
    // A capture, a proven result, or no evaluation.
    assert!(correction_after(CAPTURE, 150, 20, Some("d2d4")) > 0);
    assert_eq!(correction_after(CAPTURE, 150, 20, Some("e4d5")), 0);
    assert_eq!(correction_after(START, MATE - 9, 20, Some("e2e4")), 0);
    assert_eq!(correction_after(START, 40, NONE, None), 0);
    let in_check = "4k3/8/8/8/8/8/4r3/4K3 w - - 0 1";
    assert_eq!(correction_after(in_check, 40, 90, None), 0);
}

#[test]
fn search_without_a_move_does_not_correct() {
    let mut worker = worker(&Position::startpos());
    worker.stack[0].static_eval = 20;
    worker.stack[0].excluded = Some(uci(&worker, "e2e4"));
    let mut node = Node::<NullWindow>::new(99, 100, 8, true);
    node.best = 150;
    worker.learn_correction(&node, Some(uci(&worker, "d2d4")));
    let keys = worker.stack[0].keys;
    assert_eq!(worker.corrections.value(&keys), 0);
    worker.stack[0].excluded = None;
    worker.learn_from_multi_cut(INFINITE / 100, 6);
    assert!(worker.corrections.value(&keys) > 0);
}
