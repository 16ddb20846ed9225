//! `zoothera tune` in a build that has it: `make check-tune`.
#![cfg(feature = "tune")]

mod folder;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use folder::{Folder, pauses};
use serde_json::Value;

/// A run of a few games at next to no nodes.
const SHORT: &str =
    "--pairs 1 --processes 1 --nodes 50 --hash 1 --only red_ --max-plies 40 --state";

fn command(state: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zoothera"));
    command
        .args(["tune", "spsa"])
        .args(SHORT.split(' '))
        .arg(state)
        .args(arguments.split(' '))
        .stdin(Stdio::null());
    command
}

fn tune(state: &Path, arguments: &str) -> Output {
    command(state, arguments).output().expect("the engine runs")
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
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && error.contains(why), "{error}");
    }
    assert!(fs::read(&path).expect("a state") == before);
    fs::write(&path, "{}").expect("room");
    let output = tune(&path, "--iterations 1");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && error.contains("no state of a run"),
        "{error}"
    );
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
