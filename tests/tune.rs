//! `zoothera tune` in a build that has it: `make check-tune`.
#![cfg(feature = "tune")]

mod folder;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use folder::{Folder, pauses};
use serde_json::Value;

/// A few games at next to no nodes.
const SHORT: &str = "--pairs 1 --processes 1 --hash 1 --state";

fn run(kind: &str, state: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zoothera"));
    command
        .args(["tune", kind])
        .args(SHORT.split(' '))
        .arg(state)
        .args(arguments.split(' '))
        .stdin(Stdio::null());
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

/// It failed, and said why.
fn refused(output: &Output, why: &str) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && error.contains(why),
        "{why}: {error}"
    );
}

fn state(path: &Path) -> Value {
    let text = fs::read_to_string(path).expect("a state");
    serde_json::from_str(&text).expect("a whole state")
}

#[test]
fn a_killed_run_goes_on_as_if_nothing_had_been() {
    let folder = Folder::new("tune");
    let [whole, killed] = ["whole.json", "killed.json"].map(|name| folder.path(name));
    let run = "--iterations 8";
    let output = tune(&whole, run);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("red_base "),
        "{said}"
    );
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
fn a_state_of_another_run_is_neither_taken_nor_lost() {
    let folder = Folder::new("tune-other");
    let path = folder.path("state.json");
    assert!(tune(&path, "--iterations 1").status.success());
    let before = fs::read(&path).expect("a state");
    for (arguments, why) in [
        ("--iterations 2", "of a run of 1 iterations, not 2"),
        ("--iterations 1 --shake 0", "above zero"),
    ] {
        let output = tune(&path, arguments);
        refused(&output, why);
    }
    assert!(fs::read(&path).expect("a state") == before);
    fs::write(&path, "{}").expect("room");
    let output = tune(&path, "--iterations 1");
    refused(&output, "no state of a run");
}

#[test]
fn a_screening_goes_on_and_prints_what_every_parameter_is_worth() {
    let folder = Folder::new("tune-screen");
    let [whole, parts] = ["whole.json", "parts.json"].map(|name| folder.path(name));
    let only = "--only asp_de,qs_futility=100..500 --games";
    let output = screen(&whole, &format!("{only} 24"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success());
    assert_eq!(said.lines().count(), 4, "{said}");
    assert!(!said.contains("+- 0.0"), "no game was decided: {said}");
    assert!(
        said.contains("qs_futility 500 against 100: ") && said.contains(" +- "),
        "{said}"
    );
    for games in ["2", "13", "24"] {
        let output = screen(&parts, &format!("{only} {games}"));
        assert!(output.status.success());
        let last = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(games == "24", last == said, "{last}{said}");
    }
    assert_eq!(state(&parts), state(&whole));
    assert_eq!(state(&whole)["games"], 24);
}

#[test]
fn a_screening_says_which_levels_will_not_do() {
    let folder = Folder::new("tune-levels");
    let path = folder.path("state.json");
    assert!(screen(&path, "--games 2 --only asp_delta").status.success());
    let before = fs::read(&path).expect("a state");
    for (only, why) in [
        ("asp_delta=9..13", "other parameters or levels"),
        ("asp_delta=9", "levels look like 4..40"),
        ("asp_delta=9..41", "two different levels of 4 to 40"),
        ("asp_delta=9..9", "two different levels"),
        ("asp_delta=9..13,asp_", "asp_delta is asked for twice"),
        ("no_such", "no parameter's name begins with no_such"),
        ("time_share=1..2", "no parameter time_share that games"),
    ] {
        let output = screen(&path, &format!("--games 2 --only {only}"));
        refused(&output, why);
    }
    assert!(fs::read(&path).expect("a state") == before);
}

#[test]
fn every_parameter_is_an_option_and_a_line_for_the_farm() {
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
