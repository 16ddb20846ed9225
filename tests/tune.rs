//! `zoothera tune` in builds with the feature `tune`; run by `make check-tune`.
#![cfg(feature = "tune")]

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::folder::{Folder, pauses};
use serde_json::Value;

/// A depth at which every rule applies somewhere in `bench`.
const BENCH_DEPTH: u32 = 9;
/// Settings for short runs.
const SHORT: &str = "--pairs 1 --processes 1 --hash 1 --state";

fn run(kind: &str, state: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zoothera"));
    command.args(["tune", kind]).args(SHORT.split(' ')).arg(state).args(arguments.split(' ')).stdin(Stdio::null());
    command
}

fn command(state: &Path, arguments: &str) -> Command {
    let settings = "--only red_ --nodes 50 --max-plies 40";
    run("spsa", state, &format!("{settings} {arguments}"))
}

fn tune(state: &Path, arguments: &str) -> Output {
    command(state, arguments).output().expect("the engine runs")
}

fn screen(state: &Path, arguments: &str) -> Output {
    let settings = "--nodes 200 --win-score 300 --win-plies 1";
    let mut command = run("screen", state, &format!("{settings} {arguments}"));
    command.output().expect("the engine runs")
}

/// The output of the engine after these UCI commands.
fn engine(commands: &[String]) -> String {
    let mut engine = Command::new(env!("CARGO_BIN_EXE_zoothera"));
    let output = engine.args(commands).stdin(Stdio::null()).output().expect("the engine runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Asserts that the run failed with an error that contains `why`.
fn assert_refused(output: &Output, why: &str) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains(why), "{why}: {error}");
}

fn state(path: &Path) -> Value {
    let text = fs::read_to_string(path).expect("a state");
    serde_json::from_str(&text).expect("a complete state")
}

#[test]
fn killed_run_resumes_to_the_same_state() {
    let folder = Folder::new("tune");
    let [whole, killed] = ["whole.json", "killed.json"].map(|name| folder.path(name));
    let run = "--iterations 8";
    let output = tune(&whole, run);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("red_base "), "{printed}");
    assert_eq!(state(&whole)["done"], 8);
    for pause in pauses(4, 500) {
        let mut child = command(&killed, run).spawn().expect("the engine runs");
        std::thread::sleep(pause);
        let _ = child.kill();
        let _ = child.wait();
    }
    assert!(tune(&killed, run).status.success());
    assert_eq!(state(&killed), state(&whole));
}

#[test]
fn state_of_another_run_is_refused_and_kept() {
    let folder = Folder::new("tune-other");
    let path = folder.path("state.json");
    assert!(tune(&path, "--iterations 1").status.success());
    let before = fs::read(&path).expect("a state");
    for (arguments, why) in
        [("--iterations 2", "of a run of 1 iterations, not 2"), ("--iterations 1 --shake 0", "above 0")]
    {
        let output = tune(&path, arguments);
        assert_refused(&output, why);
    }
    assert!(fs::read(&path).expect("a state") == before);
    fs::write(&path, "{}").expect("the file is writable");
    let output = tune(&path, "--iterations 1");
    assert_refused(&output, "is not the state file of a run");
}

#[test]
fn screening_resumes_and_prints_the_effect_of_every_parameter() {
    let folder = Folder::new("tune-screen");
    let [whole, parts] = ["whole.json", "parts.json"].map(|name| folder.path(name));
    let only = "--only asp_de,qs_futility=100..500 --games";
    let output = screen(&whole, &format!("{only} 24"));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success());
    assert_eq!(printed.lines().count(), 3, "{printed}");
    assert!(!printed.contains("+- 0.0"), "all games were drawn: {printed}");
    assert!(printed.contains("qs_futility 500 against 100: ") && printed.contains(" +- "), "{printed}");
    for games in ["2", "13", "24"] {
        let output = screen(&parts, &format!("{only} {games}"));
        assert!(output.status.success());
        let last = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(games == "24", last == printed, "{last}{printed}");
    }
    assert_eq!(state(&parts), state(&whole));
    assert_eq!(state(&whole)["games"], 24);
}

#[test]
fn screening_compares_a_rule_with_its_absence() {
    let folder = Folder::new("tune-rule");
    let output = screen(&folder.path("state.json"), "--only rule_reduce_h,rule_null_move=0..1 --games 12");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success());
    for rule in ["rule_reduce_history", "rule_null_move"] {
        assert!(printed.contains(&format!("{rule} 1 against 0: ")), "{printed}");
    }
}

#[test]
fn clock_counts_nodes_and_gives_time_parameters_an_effect() {
    let folder = Folder::new("tune-clock");
    let [first, second] = ["first.json", "second.json"].map(|name| folder.path(name));
    let settings = "--only time_share=400..3000 --games 40 --win-score 300 --win-plies 1 --tc 1+0.01";
    let played = |state: &Path, nodes: &str| {
        let output =
            run("screen", state, &format!("{settings} --nodestime {nodes}")).output().expect("the engine runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    // Both players search the same numbers of nodes if the parameter has no effect; their pairs are then even.
    let printed = played(&first, "20");
    assert!(printed.starts_with("time_share 3000 against 400: ") && !printed.contains("+- 0.0"), "{printed}");
    assert_eq!(played(&second, "20"), printed, "the games depend on the time that passes");
    for (arguments, why) in [
        ("--games 2 --nodestime 20", "--tc"),
        ("--games 2 --tc 1 --depth 3", "cannot be used with"),
        ("--games 2 --tc 0", "a time control is"),
    ] {
        let output = run("screen", &folder.path("refused.json"), arguments).output().expect("the engine runs");
        assert_refused(&output, why);
    }
}

#[test]
fn spsa_run_does_not_tune_switches() {
    let folder = Folder::new("tune-switch");
    let output = run("spsa", &folder.path("state.json"), "--only rule_ --nodes 50").output().expect("the engine runs");
    assert_refused(&output, "no parameter name starts with rule_");
}

#[test]
fn every_switch_changes_the_search() {
    let declared = engine(&["uci".into(), "quit".into()]);
    let switches: Vec<&str> = declared
        .lines()
        .filter_map(|line| line.strip_prefix("option name ")?.split(' ').next())
        .filter(|name| name.starts_with("rule_"))
        .collect();
    assert!(switches.len() > 20, "{declared}");
    // Each switch off, then on again.
    let mut commands = Vec::new();
    for name in &switches {
        for value in [0, 1] {
            commands.push(format!("setoption name {name} value {value}"));
            commands.push(format!("bench {BENCH_DEPTH}"));
        }
    }
    commands.push("quit".into());
    let printed = engine(&commands);
    let nodes: Vec<&str> =
        printed.lines().filter_map(|line| line.split_once(" nodes ")).map(|(nodes, _)| nodes).collect();
    assert_eq!(nodes.len(), 2 * switches.len(), "{printed}");
    let with_all = nodes[1];
    for (name, pair) in switches.iter().zip(nodes.chunks(2)) {
        assert_ne!(pair[0], with_all, "{name}");
        assert_eq!(pair[1], with_all, "{name}");
    }
}

#[test]
fn screening_rejects_invalid_levels_by_name() {
    let folder = Folder::new("tune-levels");
    let path = folder.path("state.json");
    assert!(screen(&path, "--games 2 --only asp_delta").status.success());
    let before = fs::read(&path).expect("a state");
    for (only, why) in [
        ("asp_delta=9..13", "other parameters or levels"),
        ("asp_delta=9", "expected LOW..HIGH, such as 4..40"),
        ("asp_delta=9..41", "two different levels between 4 and 40"),
        ("asp_delta=9..9", "two different levels"),
        ("asp_delta=9..13,asp_", "asp_delta is given twice"),
        ("rule_null_move=0..2", "two different levels between 0 and 1"),
        ("no_such", "no parameter name starts with no_such"),
        ("time_share=400..500", "time_share is not a tunable parameter without a clock (--tc)"),
        ("vote_offset=1..2", "vote_offset is not a tunable parameter"),
    ] {
        let output = screen(&path, &format!("--games 2 --only {only}"));
        assert_refused(&output, why);
    }
    assert!(fs::read(&path).expect("a state") == before);
}

#[test]
fn every_parameter_is_an_option_and_a_line_of_spsa_input() {
    let output = |arguments: &[&str]| {
        let mut engine = Command::new(env!("CARGO_BIN_EXE_zoothera"));
        let output = engine.args(arguments).output().expect("the engine runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let (options, lines) = (output(&["uci"]), output(&["tune"]));
    assert!(lines.lines().count() > 50, "{lines}");
    for line in lines.lines() {
        let name = line.split(',').next().unwrap_or_default();
        let option = format!("option name {name} type spin default ");
        assert!(options.contains(&option), "{option}");
    }
}
