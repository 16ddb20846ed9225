//! Levels, as set by a GUI.

use crate::common::driver::{Driver, best_move};

/// An engine at a level, with a seed.
fn at(options: &[&str]) -> Driver {
    let mut engine = Driver::start();
    for option in options {
        engine.send(&format!("setoption name {option}"));
    }
    engine
}

/// A level's moves after 1. e4, 1. d4 and so on.
fn moves(engine: &mut Driver) -> Vec<String> {
    ["e2e4", "d2d4", "g1f3", "c2c4", "a2a3"]
        .map(|first| {
            engine.send(&format!("position startpos moves {first}"));
            engine.best("go movetime 20000")
        })
        .to_vec()
}

#[test]
fn level_seed_determines_moves_regardless_of_threads_and_multipv() {
    let weak = ["UCI_LimitStrength value true", "UCI_Elo value 900"];
    let with = |more: &[&str]| moves(&mut at(&[&weak[..], more].concat()));
    let first = with(&["Level Seed value 7"]);
    let more = ["Level Seed value 7", "Threads value 3", "MultiPV value 4", "Hash value 1"];
    assert_eq!(first, with(&more));
    assert!((8..12).any(|seed| with(&[&format!("Level Seed value {seed}")]) != first));
}

#[test]
fn reported_level_seed_repeats_the_game() {
    let mut engine = at(&["Skill Level value 2"]);
    let seed_in = |lines: &[String]| {
        let seed = lines.iter().find_map(|line| line.split_once("Level Seed "));
        seed.map(|(_, seed)| seed.to_owned())
    };
    let lines = engine.go("go");
    let seed = seed_in(&lines).expect("a seed");
    assert_eq!(seed_in(&engine.go("go")), None);
    engine.send("ucinewgame");
    let other = seed_in(&engine.go("go")).expect("another seed");
    assert_ne!(seed, other);
    engine.send(&format!("setoption name Level Seed value {seed}"));
    assert_eq!(best_move(&engine.go("go")), best_move(&lines));
}

#[test]
fn analysis_mode_ignores_the_level() {
    let mut limited = at(&["Skill Level value 0", "UCI_AnalyseMode value true"]);
    let mut full = at(&["UCI_AnalyseMode value true"]);
    assert_eq!(limited.best("go nodes 3000"), full.best("go nodes 3000"));
}

#[test]
fn level_delays_its_move_and_obeys_stop_and_clock() {
    let mut engine = at(&["Skill Level value 5"]);
    engine.ready();
    engine.best("go wtime 3000 btime 3000");
    engine.send("go wtime 7200000 btime 7200000");
    engine.send("stop");
    engine.until("bestmove");
    engine.send("go infinite");
    assert!(engine.listen(crate::SHORT).iter().all(|line| !line.starts_with("bestmove")));
    engine.send("stop");
    engine.until("bestmove");
}

#[test]
fn level_reports_every_line_of_multipv() {
    let mut engine = at(&["UCI_LimitStrength value true", "UCI_Elo value 900", "MultiPV value 4"]);
    engine.send("position startpos moves e2e4 e7e5 g1f3");
    let lines = engine.go("go depth 5");
    let last = &lines[lines.len() - 5..lines.len() - 1];
    for (rank, line) in (1..).zip(last) {
        assert!(line.contains(&format!(" multipv {rank} ")), "{last:?}");
    }
}
