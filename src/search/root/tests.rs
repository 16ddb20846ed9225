use std::sync::Arc;

use super::*;
use crate::board::{Move, Position, Square};
use crate::search::Limits;
use crate::search::score::{DRAW, MATE};
use crate::search::tests::{position, request, worker};
use crate::util::rng::SplitMix64;

fn root(average: Value, mean_squared: i64) -> RootMove {
    let m = Move::new(Square::E2, Square::E4).expect("not a1a1");
    RootMove { average, mean_squared, ..RootMove::new(m) }
}

#[test]
fn first_window_contains_the_average_and_widens_with_the_variance() {
    for average in [-3000, -1, 0, 250] {
        let narrow = Window::around(&root(average, 0), 20, 0);
        assert!(narrow.contains(average), "{narrow:?}");
        let wide = Window::around(&root(average, 1 << 40), 20, 0);
        assert!(wide.alpha <= narrow.alpha && wide.beta >= narrow.beta);
        assert!(wide.beta - wide.alpha > narrow.beta - narrow.alpha, "{wide:?} {narrow:?}");
    }
}

#[test]
fn mate_and_evaluation_are_not_averaged() {
    let mate = score::mate_in(20);
    for (average, value) in [(500, mate), (mate, 500), (mate, score::mate_in(8)), (-mate, 30)] {
        assert_eq!(root(average, 0).averaged(value, 0), value, "{average}");
    }
    let between = root(500, 0).averaged(100, 0);
    assert!(100 < between && between < 500, "{between}");
}

#[test]
fn window_is_open_at_low_depth_and_without_a_value_or_with_a_mate() {
    for (average, depth) in [(30, 1), (NONE, 20), (score::mate_in(30), 20), (score::mated_in(4), 20)] {
        let window = Window::around(&root(average, 0), depth, 0);
        assert_eq!((window.alpha, window.beta), (-INFINITE, INFINITE));
    }
}

#[test]
fn window_opens_on_the_side_of_a_mate() {
    let around = || Window::around(&root(250, 0), 20, 0);
    let mut high = around();
    high.widen(score::mate_in(30));
    assert_eq!(high.beta, INFINITE);
    assert!(!score::is_decisive(high.alpha));
    let mut low = around();
    low.widen(score::mated_in(30));
    assert_eq!((low.alpha, low.beta), (-INFINITE, around().alpha));
    // A bound never lies among the values of mates.
    let mut rising = around();
    while rising.beta < INFINITE {
        assert!(!score::is_decisive(rising.beta), "{rising:?}");
        rising.widen(rising.beta);
    }
}

/// A search that returns the true value as a bound, at most `excess` beyond the window.
fn search(window: &Window, value: Value, excess: Value) -> Value {
    value.clamp((window.alpha - excess).max(-score::MATE), (window.beta + excess).min(score::MATE))
}

#[test]
fn window_finds_every_value_in_few_searches() {
    let mut rng = SplitMix64::new(3);
    let mut any = |limit: Value| rng.below(2 * limit as usize + 1) as Value - limit;
    for _ in 0..5000 {
        let (average, value, excess) = (any(2000), any(score::MATE), any(100).abs());
        let mut window = Window::around(&root(average, 0), 20, 3);
        let mut searches = 0;
        loop {
            assert!(-INFINITE <= window.alpha && window.alpha < window.beta && window.beta <= INFINITE);
            let found = search(&window, value, excess);
            if window.contains(found) {
                assert_eq!(found, value);
                break;
            }
            let before = window;
            window.widen(found);
            // The window moves to the side of the value, and its next bound lies beyond it.
            if found <= before.alpha {
                assert!(window.alpha < before.alpha && window.beta == before.alpha, "{before:?} {window:?}");
            } else {
                assert!(window.beta > before.beta && window.alpha >= before.alpha, "{before:?} {window:?}");
            }
            assert!(window.delta > before.delta);
            searches += 1;
            assert!(searches < 60, "{value} from {average}: {window:?}");
        }
    }
}

#[test]
fn alpha_does_not_fall_after_a_fail_high() {
    let mut window = Window::around(&root(0, 0), 20, 0);
    for _ in 0..10 {
        // An unstable search: a fail low, followed immediately by a fail high.
        window.widen(window.alpha);
        let low = window;
        window.widen(low.beta);
        assert!(window.alpha >= low.alpha && window.beta > low.beta, "{low:?} {window:?}");
    }
}

/// A worker that is about to search the root moves of `position` to `depth`.
fn at_root(position: &Position, depth: i32, lines: usize) -> Worker {
    let limits = Limits { depth: Some(depth), ..Limits::default() };
    let mut request = request(position, limits);
    request.options.multi_pv = lines;
    let mut worker = worker(position);
    worker.begin(Arc::new(request));
    worker
}

fn values(w: &Worker) -> Vec<Value> {
    w.root_moves.iter().map(|root| root.value).collect()
}

#[test]
fn root_moves_below_alpha_keep_their_order_behind_the_best() {
    let mut w = at_root(&Position::startpos(), 3, 1);
    let moves: Vec<Move> = w.root_moves.iter().map(|root| root.m).collect();
    for (rank, root) in w.root_moves.iter_mut().enumerate() {
        root.previous = -10 * (rank * 7 % 20) as Value;
    }
    let mut node = Node::<Root>::new(-50, 90, 3, false);
    for (index, &m) in moves.iter().enumerate() {
        let value = if index == 4 { 30 } else { -60 };
        w.record_root_move(m, value, index as i32 + 1, 100, &node);
        node.alpha = node.alpha.max(value);
    }
    assert_eq!(w.root_moves[0].value, -60, "the first move has a value even below alpha");
    w.sort_line();
    assert_eq!(w.root_moves[0].m, moves[4]);
    assert_eq!(w.root_moves[1].m, moves[0]);
    assert!(values(&w)[2..].iter().all(|&value| value == -INFINITE));
    assert!(w.root_moves[1..].is_sorted_by_key(|root| Reverse(root.previous)));
}

#[test]
fn recorded_value_is_exact_only_inside_the_window() {
    let mut w = at_root(&Position::startpos(), 3, 1);
    let m = w.root_moves[0].m;
    let node = Node::<Root>::new(-50, 90, 3, false);
    let mut recorded = |value| {
        w.record_root_move(m, value, 1, 100, &node);
        let root = w.root_moves.iter().find(|root| root.m == m).expect("a root move");
        (root.shown, root.bound, root.exact.as_ref().map(|exact| exact.value))
    };
    assert_eq!(recorded(95), (90, ScoreBound::Lower, None));
    assert_eq!(recorded(20), (20, ScoreBound::Exact, Some(20)));
    assert_eq!(recorded(-70), (-50, ScoreBound::Upper, Some(20)));
}

/// Records a value of `m` in an open window, as the first move of an iteration.
fn record_exact(w: &mut Worker, m: Move, value: Value) {
    w.record_root_move(m, value, 1, 100, &Node::<Root>::new(-INFINITE, INFINITE, 3, false));
}

#[test]
fn deeper_iteration_keeps_the_mate_of_an_earlier_one() {
    let mut w = at_root(&Position::startpos(), 3, 1);
    let [first, second] = [w.root_moves[0].m, w.root_moves[1].m];
    record_exact(&mut w, second, MATE - 9);
    record_exact(&mut w, second, MATE - 7);
    w.root_depth = 4;
    for (m, value) in [(first, 40), (second, 700)] {
        record_exact(&mut w, m, value);
    }
    w.sort_line();
    let best = &w.root_moves[0];
    assert_eq!((best.m, best.value, best.shown, best.depth), (second, MATE - 7, MATE - 7, 4));
    assert_eq!(best.exact.as_ref().map(|exact| (exact.depth, exact.value)), Some((4, MATE - 7)));
    record_exact(&mut w, first, MATE - 5);
    w.sort_line();
    assert_eq!((w.root_moves[0].m, w.root_moves[0].value), (first, MATE - 5), "a shorter mate replaces it");
}

#[test]
fn bound_of_a_mate_is_not_kept() {
    let mut w = at_root(&Position::startpos(), 3, 1);
    let m = w.root_moves[0].m;
    w.record_root_move(m, MATE - 7, 1, 100, &Node::<Root>::new(-50, 90, 3, false));
    record_exact(&mut w, m, 20);
    w.sort_line();
    assert_eq!(w.root_moves[0].value, 20);
}

#[test]
fn threads_share_the_shortest_mate() {
    let mut w = at_root(&Position::startpos(), 3, 1);
    let m = w.root_moves[3].m;
    let mate = |value| Exact { depth: 9, value, seldepth: 12, pv: vec![m] };
    for value in [MATE - 9, MATE - 7, MATE - 11] {
        w.signals.share_mate(m, &mate(value));
    }
    record_exact(&mut w, m, 20);
    w.sort_line();
    assert_eq!((w.root_moves[0].m, w.root_moves[0].value), (m, MATE - 7));
    w.signals.begin(false);
    assert!(w.signals.shared_mate().is_none(), "a new search knows no mate");
}

#[test]
fn later_line_ranks_its_moves_below_the_line_above() {
    let mut w = at_root(&Position::startpos(), 3, 3);
    for (rank, root) in w.root_moves.iter_mut().enumerate() {
        root.previous = 60 - 10 * rank as Value;
    }
    w.root_moves[0].value = 45;
    w.line = 1;
    w.recall_values();
    assert_eq!(values(&w)[..4], [45, 45, 40, 30]);
}

#[test]
fn unsearched_moves_are_ranked_by_their_evaluations() {
    // The queen can be taken.
    let mut w = at_root(&position("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1"), 1, 4);
    w.value_unsearched(4);
    assert_eq!(w.position.uci(w.root_moves[0].m, false), "e4d5");
    assert!(w.root_moves.is_sorted_by_key(|root| Reverse(root.value)));
    assert!(w.root_moves.iter().all(|root| root.value > -INFINITE && root.shown == root.value));
    assert_eq!(w.nodes, 0);
}

#[test]
fn iterations_rank_all_lines_by_value() {
    for fen in [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1",
        "7k/8/5KQ1/8/8/8/8/8 w - - 0 1",
    ] {
        let mut w = at_root(&position(fen), 4, 256);
        let mut before: Vec<u16> = w.root_moves.iter().map(|root| root.m.bits()).collect();
        w.iterate();
        assert_eq!(w.completed_depth, 4, "{fen}");
        assert!(w.root_moves.is_sorted_by_key(|root| Reverse(root.value)), "{fen}: {:?}", values(&w));
        assert!(values(&w).iter().all(|&value| (-MATE..=MATE).contains(&value)), "{fen}");
        assert!(w.root_moves.iter().all(|root| root.pv[0] == root.m), "{fen}");
        let mut after: Vec<u16> = w.root_moves.iter().map(|root| root.m.bits()).collect();
        before.sort_unstable();
        after.sort_unstable();
        assert_eq!(before, after, "{fen}");
    }
}

#[test]
fn root_search_finds_mate_and_avoids_stalemate() {
    let mut w = at_root(&position("7k/8/5KQ1/8/8/8/8/8 w - - 0 1"), 3, 256);
    w.iterate();
    assert_eq!(w.root_moves[0].value, score::mate_in(1));
    let stalemates: Vec<_> = w.root_moves.iter().filter(|root| root.value.abs() <= 1).collect();
    assert!(!stalemates.is_empty() && stalemates.iter().all(|root| (root.value - DRAW).abs() <= 1));
}
