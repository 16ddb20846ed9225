//! Consistency of the reports of a search: score, bound, depth and moves of a line come from the same result.

use std::collections::HashMap;
use std::fs;

use crate::common::driver::{Driver, best_move, field};
use crate::common::engine;

/// A position whose last line was once wrong: the search ran out of time while its best move failed low.
const RUY_LOPEZ: &str = "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3";

/// The FENs of the Bratko-Kopec test, and one more.
fn positions() -> Vec<String> {
    let mut positions = vec![RUY_LOPEZ.to_owned()];
    let path = crate::common::shared::data("epd/bratko-kopec.epd");
    let text = fs::read_to_string(path).expect("the suite");
    let fen = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().take(4).collect();
        format!("{} 0 1", fields.join(" "))
    };
    positions.extend(text.lines().filter(|line| line.contains(" bm ")).map(fen));
    assert_eq!(positions.len(), 25);
    positions
}

/// The lines of the search that have a score.
fn scored(lines: &[String]) -> Vec<&String> {
    lines.iter().filter(|line| line.contains(" score ")).collect()
}

/// Checks that two exact lines of the same depth do not differ for the same move, that no later line of a depth has a
/// higher score than the last one, and that the last line starts with the best move.
fn check(lines: &[String], context: &str) {
    let after = |line: &str, word: &str| line.split(word).nth(1).unwrap_or_default().to_owned();
    let mut exact: HashMap<String, Vec<(String, String)>> = HashMap::new();
    for line in scored(lines).into_iter().filter(|line| !line.contains("bound")) {
        let score = after(line, " score ");
        let score = score.split(" nodes ").next().unwrap_or_default();
        let (score, pv) = (score.to_owned(), after(line, " pv "));
        let known = exact.entry(field(line, "depth").expect("a depth")).or_default();
        let cp = |score: &str| score.strip_prefix("cp ").and_then(|cp| cp.parse::<i32>().ok());
        for (other, moves) in known.iter() {
            let same_move = moves.split(' ').next() == pv.split(' ').next();
            let agree = if same_move {
                *other == score && *moves == pv
            } else {
                cp(&score).zip(cp(other)).is_none_or(|(later, first)| later <= first)
            };
            assert!(agree, "two results of one depth, {context}: {lines:#?}");
        }
        known.push((score, pv));
    }
    let last = scored(lines).pop().expect("a line");
    let (first, best) = (field(last, "pv"), best_move(lines));
    assert_eq!(first, Some(best), "{context}: {lines:#?}");
}

#[test]
fn last_line_before_bestmove_is_consistent() {
    let mut engine = Driver::start();
    for fen in positions() {
        for nodes in [9_000, 20_000, 47_000] {
            engine.send(&format!("ucinewgame\nposition fen {fen}"));
            let go = format!("go nodes {nodes}");
            let lines = engine.go(&go);
            check(&lines, &format!("{fen}, {go}"));
        }
    }
}

#[test]
fn current_moves_and_bounds_have_the_depth_of_the_iteration() {
    let mut engine = Driver::start();
    // With a clock of one node per millisecond, current moves and bounds are printed at once, not after seconds.
    engine.send("setoption name nodestime value 1");
    let mut current = 0;
    for fen in positions().iter().take(5) {
        engine.send(&format!("ucinewgame\nposition fen {fen}"));
        let lines = engine.go("go depth 9");
        check(&lines, fen);
        let depths: Vec<i32> = lines.iter().filter_map(|line| field(line, "depth")?.parse().ok()).collect();
        assert!(depths.is_sorted(), "{fen}: {lines:#?}");
        current += lines.iter().filter(|line| line.contains(" currmove ")).count();
    }
    assert!(current > 0);
}

#[test]
fn analysis_ends_with_the_result_of_its_last_line() {
    for nodes in ["30000", "47000", "80000"] {
        let run = engine::engine()
            .args(["analyse", RUY_LOPEZ, "--json", "--nodes", nodes])
            .output()
            .expect("the engine runs");
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        let messages: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
        let (best, lines) = messages.split_last().expect("messages");
        let same: Vec<_> =
            lines.iter().filter(|line| line["depth"] == best["depth"] && line["bound"] == best["bound"]).collect();
        let last = same.last().expect("the line with the final result");
        assert_eq!(last["score"], best["score"], "{text}");
        assert_eq!(last["pv"][0], best["best"], "{text}");
    }
}
