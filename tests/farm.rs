//! What an OpenBench instance demands of an engine's configuration and of the engine.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn repository(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn config() -> Value {
    serde_json::from_str(&repository(".ci/openbench.json")).expect("valid JSON")
}

/// Both streams of a run, as OpenBench reads them.
fn output(arguments: &[&str]) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_zoothera"))
        .args(arguments)
        .output()
        .expect("the engine runs");
    assert!(run.status.success());
    String::from_utf8_lossy(&[run.stdout, run.stderr].concat()).into_owned()
}

// CITE: the checks of OpenBench's OpenBench/config.py (client v49), as facts.
#[test]
fn the_configuration_has_what_openbench_checks() {
    let config = config();
    assert!(config["private"].is_boolean());
    assert!(config["nps"].as_u64().is_some_and(|nps| nps > 0));
    assert!(config["source"].is_string());
    assert!(config["build"]["path"].is_string());
    for list in ["compilers", "cpuflags", "systems"] {
        assert!(config["build"][list].is_array(), "build.{list}");
    }
    for presets in ["test_presets", "tune_presets", "datagen_presets"] {
        assert!(config[presets]["default"].is_object(), "{presets}.default");
    }
}

#[test]
fn the_compiler_asked_for_is_the_one_that_the_package_needs() {
    let manifest = repository("Cargo.toml");
    let needed = manifest
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = \""))
        .expect("the manifest names a compiler")
        .trim_end_matches('"');
    let asked = config()["build"]["compilers"][0]
        .as_str()
        .expect("a compiler")
        .to_owned();
    let asked = asked.strip_prefix("cargo>=").expect("cargo with a version");
    assert!(asked.starts_with(needed), "{asked} and {needed}");
}

#[test]
fn the_makefile_takes_the_name_and_the_net() {
    let makefile = repository("Makefile");
    for variable in ["EXE ?=", "ifdef EVALFILE", ".DEFAULT_GOAL := build"] {
        assert!(makefile.contains(variable), "{variable}");
    }
}

/// The words around a number, once everything but letters and digits is a blank, from the last line up.
fn parsed(output: &str, word: &str) -> Option<u64> {
    output.lines().rev().find_map(|line| {
        let line: String = line
            .chars()
            .map(|c| if c.is_alphanumeric() { c } else { ' ' })
            .collect();
        let words: Vec<_> = line.split_whitespace().collect();
        words
            .windows(2)
            .find(|pair| pair[1].eq_ignore_ascii_case(word))
            .and_then(|pair| pair[0].parse().ok())
    })
}

#[test]
fn bench_is_read_and_is_the_same_each_time() {
    let first = output(&["bench", "4"]);
    assert!(parsed(&first, "nps").is_some_and(|nps| nps > 0), "{first}");
    let nodes = parsed(&first, "nodes");
    assert!(nodes.is_some_and(|nodes| nodes > 0), "{first}");
    assert_eq!(nodes, parsed(&output(&["bench", "4"]), "nodes"));
}

#[test]
fn the_options_that_every_test_sets_exist() {
    let said = output(&["uci", "quit"]);
    for option in [
        "Threads",
        "Hash",
        "SyzygyPath",
        "SyzygyProbeLimit",
        "UCI_Chess960",
    ] {
        let line = format!("option name {option} type ");
        assert!(said.contains(&line), "{line}");
    }
}
