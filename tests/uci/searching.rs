//! Searches: limits, `stop`, `ponderhit`, and exactly one `bestmove`.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{MATED, SHORT, STALEMATED, bestmoves};
use crate::common::driver::{Driver, best_move, errors, field};

#[test]
fn isready_during_a_search_is_answered_and_the_search_continues() {
    let mut engine = Driver::start();
    engine.send("go infinite");
    for _ in 0..20 {
        assert_eq!(bestmoves(&engine.ready()), 0);
        std::thread::sleep(Duration::from_millis(5));
    }
    engine.send("stop");
    engine.until("bestmove");
    assert_eq!(engine.ready(), ["readyok"]);
}

#[test]
fn go_during_a_search_stops_the_old_search() {
    let mut engine = Driver::start();
    for _ in 0..3 {
        engine.send("go infinite");
    }
    engine.send("go depth 2");
    for _ in 0..4 {
        engine.until("bestmove");
    }
    assert_eq!(engine.ready(), ["readyok"]);
}

#[test]
fn stop_and_ponderhit_are_ignored_while_idle() {
    let mut engine = Driver::start();
    engine.send("stop\nponderhit\nstop");
    assert_eq!(engine.ready(), ["readyok"]);
    engine.send("stop\ngo nodes 20000");
    let lines = engine.until("bestmove");
    let searched = nodes(&lines).expect("a line with nodes");
    assert!(searched >= 20_000, "the stop affected a later go: {lines:?}");
}

#[test]
fn each_stop_ends_exactly_one_search() {
    let mut engine = Driver::start();
    for _ in 0..200 {
        engine.send_bytes(b"go infinite\nstop\n");
        engine.until("bestmove");
    }
    for _ in 0..50 {
        engine.send_bytes(b"go infinite\nstop\ngo infinite\nstop\nisready\n");
        engine.until("bestmove");
        engine.until("bestmove");
    }
    engine.send_bytes(b"go ponder movetime 1\nponderhit\n");
    engine.until("bestmove");
    assert_eq!(bestmoves(&engine.listen(SHORT)), 0);
}

#[test]
fn infinite_and_ponder_delay_the_move() {
    let mut engine = Driver::start();
    engine.send("position fen 7k/8/5KQ1/8/8/8/8/8 w - - 0 1");
    for go in [
        "go infinite depth 1",
        "go infinite",
        "go ponder depth 1",
        "go ponder movetime 1",
        "go infinite mate 1",
        "go infinite nodes 100",
        "go ponder nodes 100",
    ] {
        engine.send(go);
        assert_eq!(bestmoves(&engine.listen(SHORT)), 0, "{go}");
        engine.send("stop");
        engine.until("bestmove");
    }
    for go in ["go ponder wtime 200 btime 200", "go ponder movetime 10", "go ponder depth 1", "go ponder nodes 100"] {
        engine.send(go);
        assert_eq!(bestmoves(&engine.listen(SHORT)), 0, "{go}");
        engine.send("ponderhit");
        engine.until("bestmove");
    }
    assert_eq!(engine.ready(), ["readyok"]);
}

/// Positions with many moves and a long first iteration: a wall of pawns and pieces, and 30 queens.
const CROWDED: [&str; 2] = [
    "position fen 8/PPPPPPPP/nr4RN/qb4BQ/kb4BK/nr4RN/pppppppp/8 w - - 0 1",
    "position fen kqqqqqqq/qqqqqqqq/8/8/8/8/QQQQQQQQ/QQQQQQQK w - - 0 1",
];

/// Node count in the last line of a search.
fn nodes(lines: &[String]) -> Option<u64> {
    let last = lines.iter().rfind(|line| line.contains(" nodes "))?;
    field(last, "nodes")?.parse().ok()
}

#[test]
fn node_limit_holds_in_the_first_iteration() {
    let mut engine = Driver::start();
    for position in CROWDED {
        for lines in [1, 5, 256] {
            engine.send(&format!("setoption name MultiPV value {lines}"));
            for limit in [1, 100, 1000, 10_000] {
                engine.send(&format!("ucinewgame\n{position}"));
                let searched = nodes(&engine.go(&format!("go nodes {limit}")));
                assert!(
                    searched.is_some_and(|nodes| nodes <= limit + 256),
                    "{searched:?} nodes for {limit}, {lines} lines, {position}"
                );
            }
        }
    }
}

#[test]
fn stop_and_clock_end_the_first_iteration() {
    let mut engine = Driver::start();
    engine.send("setoption name MultiPV value 256");
    for position in CROWDED {
        engine.send(&format!("ucinewgame\n{position}"));
        for go in ["go infinite", "go movetime 5", "go wtime 10 btime 10"] {
            engine.send(&format!("{go}\nisready"));
            let mut lines = engine.until("readyok");
            engine.send("stop");
            if bestmoves(&lines) == 0 {
                lines.extend(engine.until("bestmove"));
            }
            let ended = lines.iter().any(|line| line.starts_with("info depth 3 "));
            assert!(!ended, "not stopped: {position}");
        }
        assert_eq!(engine.ready(), ["readyok"]);
    }
}

/// The last line printed for each MultiPV rank.
fn last_lines(lines: &[String]) -> Vec<&String> {
    let rank = |line: &String| field(line, "multipv")?.parse::<usize>().ok();
    let mut last_lines = Vec::new();
    for line in lines {
        if let Some(rank) = rank(line) {
            last_lines.resize(last_lines.len().max(rank), line);
            last_lines[rank - 1] = line;
        }
    }
    last_lines
}

/// The score of a line as one number; mates outrank all centipawn scores.
fn score(line: &str) -> i64 {
    let number = |name| field(line, name).and_then(|text| text.parse::<i64>().ok());
    match (number("cp"), number("mate")) {
        (Some(cp), _) => cp,
        (None, Some(mate)) => mate.signum() * 1_000_000 - mate,
        (None, None) => panic!("no score: {line}"),
    }
}

/// Checks that the last lines of all ranks are consistent.
fn check_last_lines(lines: &[String], expected: usize, what: &str) {
    let last_lines = last_lines(lines);
    assert_eq!(last_lines.len(), expected, "{what}: {last_lines:?}");
    let moves: Vec<_> = last_lines.iter().filter_map(|line| field(line, "pv")).collect();
    let distinct: BTreeSet<_> = moves.iter().collect();
    assert_eq!(distinct.len(), expected, "{what}: {last_lines:?}");
    assert_eq!(moves[0], best_move(lines), "{what}: {last_lines:?}");
    assert!(last_lines.is_sorted_by_key(|line| -score(line)), "{what}: {last_lines:?}");
}

#[test]
fn last_lines_of_all_ranks_are_consistent() {
    let mut engine = Driver::start();
    let few = "position fen 7k/8/8/8/8/8/8/K7 w - - 0 1";
    let game = "position startpos moves e2e4 e7e5 g1f3 b8c6";
    for threads in [1, 3] {
        engine.send(&format!("setoption name Threads value {threads}"));
        for (position, multipv, expected) in
            [(game, 3, 3), (game, 1, 1), (CROWDED[0], 5, 5), (CROWDED[1], 3, 3), (few, 5, 3)]
        {
            engine.send(&format!("setoption name MultiPV value {multipv}"));
            engine.send("ucinewgame");
            engine.send(position);
            for step in 0..14 {
                let go = format!("go nodes {}", 1 + 70 * step * step);
                let what = format!("{go}, {threads} threads, {multipv} lines, {position}");
                check_last_lines(&engine.go(&go), expected, &what);
            }
            engine.send("go infinite");
            let mut lines = engine.listen(Duration::from_millis(30));
            engine.send("stop");
            lines.extend(engine.until("bestmove"));
            check_last_lines(&lines, expected, position);
            check_last_lines(&engine.go("go movetime 20"), expected, position);
            if !CROWDED.contains(&position) {
                check_last_lines(&engine.go("go depth 4"), expected, position);
            }
        }
    }
}

#[test]
fn unusual_limits_give_one_legal_move() {
    let mut engine = Driver::start();
    for (go, expected_errors) in [
        ("go wtime -50 btime 1000", 0),
        ("go wtime 0 btime 0", 0),
        ("go wtime 100", 0),
        ("go btime 100", 0),
        ("go wtime abc btime 1000", 1),
        ("go wtime abc btime def", 1),
        ("go depth abc", 1),
        ("go movetime", 1),
        ("go movetime -7", 0),
        ("go wtime btime", 1),
        ("go depth 0", 0),
        ("go depth -3", 0),
        ("go nodes 0", 0),
        ("go nodes 1", 0),
        ("go nodes 99999999999999999999999999 depth 2", 0),
        ("go movestogo 0 wtime 100 btime 100", 0),
        ("go movestogo -5 wtime 100 btime 100 winc -10 binc -10", 0),
        ("go movestogo 40", 0),
        ("go winc 100 binc 100", 0),
        ("go wtime 100 winc 100 btime 100 binc 100", 0),
        ("GO Depth 2", 0),
        ("go searchmoves a2a3 depth 3", 0),
        ("go depth 3 joho nodes 1000", 1),
        ("go dept 5", 1),
        ("go deep", 1),
        ("joho go depth 2", 0),
        ("  \t go\tdepth \t 2 \r", 0),
        ("go mate 1 nodes 2000", 0),
        ("go mate 0 nodes 2000", 0),
        ("go mate 0", 0),
        ("go mate -5", 0),
        ("go mate -99999999999999999999999", 0),
        ("go movetime 0", 0),
        ("go nodes -4", 0),
    ] {
        let lines = engine.go(go);
        assert_eq!(errors(&lines).len(), expected_errors, "{go}: {lines:?}");
        assert_eq!(best_move(&lines).len(), 4, "{go}: {lines:?}");
        let before = lines.iter().rev().skip(1).find(|line| !line.starts_with("info string"));
        let before = before.expect("an info line");
        assert!(before.contains(" score "), "{go}: {before}");
        // If the clock ends a search, the last score can be a bound. If the depth ends it, the score must be exact.
        let by_depth = go.to_lowercase().contains("depth") && expected_errors == 0;
        assert!(!(by_depth && before.contains("bound")), "{go}: {before}");
        assert!(before.contains(&format!(" pv {}", best_move(&lines))), "{go}: {before}");
    }
}

#[test]
fn searchmoves_and_excludemoves_select_root_moves() {
    let mut engine = Driver::start();
    assert_eq!(engine.best("go searchmoves a2a3 depth 5"), "a2a3");
    assert_eq!(engine.best("go depth 5 searchmoves h2h3"), "h2h3");
    let lines = engine.go("go searchmoves h2h3 e2e5 nonsense depth 3");
    assert_eq!((errors(&lines).len(), best_move(&lines).as_str()), (1, "h2h3"));
    for go in ["go depth 3 searchmoves 0000", "go searchmoves e2e5", "go searchmoves"] {
        let lines = engine.go(go);
        assert_eq!((errors(&lines).len(), best_move(&lines).len()), (1, 4), "{lines:?}");
    }
    engine.send("go infinite searchmoves 0000");
    assert_eq!(bestmoves(&engine.listen(SHORT)), 0);
    engine.send("stop");
    assert_eq!(best_move(&engine.until("bestmove")).len(), 4);
    engine.send("position fen 7k/8/8/8/8/8/8/K7 w - - 0 1");
    assert_eq!(engine.best("go depth 4 excludemoves a1a2 a1b2"), "a1b1");
    assert_eq!(engine.best("go depth 4 excludemoves a1a2 a1b2 a1b1"), "(none)");
}

#[test]
fn depths_never_decrease_and_node_limit_is_printed() {
    let mut engine = Driver::start();
    let lines = engine.go("go depth 8");
    let depths: Vec<i32> =
        lines.iter().filter_map(|line| line.strip_prefix("info depth ")?.split(' ').next()?.parse().ok()).collect();
    assert!(depths.is_sorted() && depths.last() == Some(&8), "{depths:?}");
    let nodes = engine.go("go nodes 1000");
    assert_eq!(best_move(&nodes).len(), 4);
}

#[test]
fn go_mate_finds_mate_and_ends() {
    let mut engine = Driver::start();
    engine.send("position fen 6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1");
    let lines = engine.go("go mate 1");
    assert_eq!(best_move(&lines), "a1a8");
    assert!(lines.iter().any(|line| line.contains(" score mate 1 ")));
}

#[test]
fn mate_and_stalemate_at_the_root_give_bestmove_none() {
    let mut engine = Driver::start();
    for (position, score) in [(MATED, "info depth 0 score mate 0"), (STALEMATED, "info depth 0 score cp 0")] {
        engine.send(position);
        assert_eq!(engine.go("go depth 3"), [score, "bestmove (none)"]);
        assert_eq!(engine.go("go wtime 100 btime 100"), [score, "bestmove (none)"]);
        engine.send("go infinite");
        assert_eq!(engine.listen(SHORT), [score]);
        engine.send("stop");
        assert_eq!(engine.until("bestmove"), ["bestmove (none)"]);
        engine.send("go ponder wtime 100 btime 100");
        assert_eq!(engine.listen(SHORT), [score]);
        engine.send("ponderhit");
        assert_eq!(engine.until("bestmove"), ["bestmove (none)"]);
    }
}

#[test]
fn position_during_a_search_applies_to_the_next_one() {
    let mut engine = Driver::start();
    engine.send("go infinite");
    engine.send("position fen 8/8/8/8/8/4k3/4p3/4K3 b - - 0 1");
    assert_eq!(bestmoves(&engine.ready()), 0);
    engine.send("stop");
    let first = best_move(&engine.until("bestmove"));
    assert!(first.ends_with(['3', '4']), "a move from the starting position: {first}");
    assert!(engine.best("go depth 3").starts_with("e3"));
}
