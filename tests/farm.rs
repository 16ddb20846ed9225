//! OpenBench's requirements for the engine and its configuration.

mod common;

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

use common::engine::engine;
use regex::Regex;
use serde_json::Value;

fn repository(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn config() -> Value {
    serde_json::from_str(&repository(".ci/openbench.json")).expect("valid JSON")
}

/// Standard output and standard error of a run, interleaved as written, which is how OpenBench reads them.
fn output_of(mut command: Command, arguments: &[&str]) -> String {
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    command.args(arguments).stdin(Stdio::null()).stdout(writer.try_clone().expect("a pipe")).stderr(writer);
    let mut run = command.spawn().expect("the engine runs");
    // The command still has writing ends of the pipe open.
    drop(command);
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).expect("readable output");
    assert!(run.wait().expect("the engine exits").success(), "{arguments:?}");
    String::from_utf8(bytes).expect("a text")
}

fn output(arguments: &[&str]) -> String {
    output_of(engine(), arguments)
}

// CITE: the checks of OpenBench's OpenBench/config.py (client v49), as facts.
#[test]
fn configuration_passes_the_checks_of_openbench() {
    let config = config();
    assert!(config["private"].is_boolean());
    assert!(config["nps"].as_u64().is_some_and(|nps| nps > 0));
    assert!(config["source"].is_string());
    assert!(config["build"]["path"].is_string());
    for list in ["compilers", "cpuflags", "systems"] {
        assert!(config["build"][list].is_array(), "build.{list}");
    }
    let general = "book_name upload_pgns priority throughput syzygy_wdl syzygy_adj win_adj draw_adj";
    let sides = |sides: &[&str]| -> Vec<String> {
        let parts = ["branch", "bench", "network", "options", "time_control"];
        let names = sides.iter().flat_map(|side| parts.map(|part| format!("{side}_{part}")));
        names.collect()
    };
    for (presets, side, more) in [
        (
            "test_presets",
            &["both", "dev", "base"][..],
            "workload_size test_mode test_bounds test_confidence test_max_games",
        ),
        (
            "tune_presets",
            &["dev"][..],
            "spsa_alpha spsa_gamma spsa_A_ratio spsa_iterations spsa_pairs_per spsa_reporting_type \
             spsa_distribution_type",
        ),
        (
            "datagen_presets",
            &["both", "dev", "base"][..],
            "workload_size datagen_custom_genfens datagen_play_reverses datagen_max_games",
        ),
    ] {
        let presets = config[presets].as_object().expect(presets);
        assert!(presets.contains_key("default"));
        for (name, preset) in presets {
            for key in preset.as_object().expect("a preset").keys() {
                let known = sides(side).contains(key) || general.split(' ').chain(more.split(' ')).any(|k| k == key);
                assert!(known, "{name}: OpenBench rejects the key {key}");
            }
        }
        // These presets fill in the form completely.
        for key in ["book_name", "win_adj", "draw_adj"] {
            assert!(presets["STC"][key].is_string(), "STC.{key}");
        }
        let clock = presets["STC"].as_object().expect("a preset").keys().any(|key| key.ends_with("time_control"));
        assert!(clock, "STC without a time control");
    }
}

#[test]
fn configuration_and_manifest_require_the_same_compiler() {
    let manifest = repository("Cargo.toml");
    let needed = manifest
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = \""))
        .expect("a rust-version in the manifest")
        .trim_end_matches('"');
    let required = config()["build"]["compilers"][0].as_str().expect("a compiler").to_owned();
    let required = required.strip_prefix("cargo>=").expect("cargo with a version");
    assert!(required.starts_with(needed), "the configuration requires {required}, the manifest {needed}");
}

#[test]
fn makefile_accepts_exe_and_evalfile() {
    let makefile = repository("Makefile");
    for variable in ["EXE ?=", "ifdef EVALFILE", ".DEFAULT_GOAL := build"] {
        assert!(makefile.contains(variable), "{variable}");
    }
}

/// The number that OpenBench finds with a pattern, in the last line that matches. Like OpenBench, replaces everything
/// but letters and digits with spaces first.
fn found(output: &str, pattern: &str) -> Option<u64> {
    let others = Regex::new("[^a-zA-Z0-9 ]+").expect("a pattern");
    let pattern = Regex::new(&format!("(?i-u){pattern}")).expect("a pattern");
    let digits = Regex::new("[0-9]+").expect("a pattern");
    output.trim().split('\n').rev().find_map(|line| {
        let line = others.replace_all(line, " ");
        let found = pattern.find(&line)?.as_str();
        digits.find(found)?.as_str().parse().ok()
    })
}

// CITE: the patterns of OpenBench's Client/bench.py, as facts.
const BENCH: &str = r"([0-9]+\s+nodes)|(nodes\s+[0-9]+)|(nodes searched\s+[0-9]+)";
const NPS: &str = r"([0-9]+\s+nps)|(nps\s+[0-9]+)|(nodes second\s+[0-9]+)";
/// OpenBench's pattern for commit messages; the last match counts.
const MESSAGE: &str = "(?i-u)(?:BENCH|NODES)[ :=]+([0-9,]+)";

#[test]
fn bench_count_is_readable_and_reproducible() {
    let first = output(&["bench", "4"]);
    let nodes = found(&first, BENCH).expect("a node count");
    assert!(found(&first, NPS).is_some_and(|nps| nps > 0), "{first}");
    // The total must be the sum of the node counts of the positions.
    let parts = first.lines().filter(|line| line.contains('/') && line.contains(" nodes "));
    let count = |line: &str| line.split_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok());
    assert_eq!(parts.filter_map(count).sum::<u64>(), nodes, "{first}");
    assert_eq!(found(&output(&["bench", "4"]), BENCH), Some(nodes));
}

#[test]
fn last_match_in_commit_message_is_the_bench() {
    let message = "Search 3,000 nodes more\n\nIt took nodes: 12.\n\nNo functional change.\nBench: 1583043\n";
    let pattern = Regex::new(MESSAGE).expect("a pattern");
    let last = pattern.captures_iter(message).last().expect("a number");
    assert_eq!(&last[1], "1583043");
}

/// An invalid network stops the build before anything is compiled, with the error message of the loader.
#[test]
fn build_with_invalid_network_fails_with_the_error_of_the_loader() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let script = folder.path().join("build-script");
    let compiled = Command::new("rustc")
        .args(["--edition", "2024", "build.rs", "-o"])
        .arg(&script)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status();
    assert!(compiled.is_ok_and(|status| status.success()), "rustc");
    for (name, content) in [("empty", ""), ("text", "This is not a network.")] {
        let file = folder.path().join(name);
        fs::write(&file, content).expect("a file");
        let verified = engine().args(["net", "verify"]).arg(&file).output().expect("the engine runs");
        let built = Command::new(&script)
            .env("CARGO_MANIFEST_DIR", env!("CARGO_MANIFEST_DIR"))
            .env("CARGO_FEATURE_EMBEDDED_NET", "1")
            .env("EVALFILE", &file)
            .output()
            .expect("the build script runs");
        assert!(!built.status.success() && !verified.status.success());
        let [built, verified] = [built, verified].map(|output| String::from_utf8_lossy(&output.stderr).into_owned());
        assert_eq!(built.replacen("cannot embed ", "", 1), verified);
    }
}

/// Performs the steps of an OpenBench worker with a branch and an uploaded network.
#[test]
#[ignore = "builds the engine; make check-slow"]
fn worker_can_build_the_engine_with_a_network_and_play() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("farm");
    fs::create_dir_all(&folder).expect("a folder for the test");
    let (net, engine) = (folder.join("3F2A91BC"), folder.join("Zoothera-1A2B3C4D"));
    let name = net.to_string_lossy();
    output(&["net-material", &name]);
    let built = Command::new("make")
        .arg("-j")
        .arg(format!("EXE={}", engine.display()))
        .arg(format!("EVALFILE={name}"))
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status();
    assert!(built.is_ok_and(|status| status.success()), "make failed");

    // The node count depends on the network, not on whether it is embedded or loaded.
    let announced = found(&output(&["bench", "8", "--net", &name]), BENCH);
    assert!(announced.is_some());
    assert_eq!(found(&output_of(Command::new(&engine), &["bench", "8"]), BENCH), announced);
    let printed = output_of(
        Command::new(&engine),
        &["setoption name Threads value 2", "setoption name Hash value 8", "go nodes 5000", "quit"],
    );
    assert!(printed.contains("bestmove ") && !printed.contains("ERROR"), "{printed}");
    let openings = output_of(Command::new(&engine), &["genfens 4 seed 7 book None", "quit"]);
    assert_eq!(openings.lines().filter(|line| line.starts_with("info string genfens ")).count(), 4);
}

#[cfg(feature = "tune")]
#[test]
fn spsa_input_has_no_empty_line() {
    let lines = output(&["tune"]);
    assert!(!lines.ends_with('\n'), "OpenBench would read the empty line as a parameter");
    assert!(lines.lines().all(|line| line.split(", ").count() == 7), "{lines}");
}

#[cfg(not(feature = "tune"))]
#[test]
fn build_without_tune_feature_reports_it() {
    let run = engine().args(["tune", "spsa", "--iterations", "5"]).output().expect("the engine runs");
    let printed = String::from_utf8_lossy(&run.stderr);
    assert!(!run.status.success() && printed.contains("--features tune"), "{printed}");
    let printed = output(&["setoption name asp_delta value 9"]);
    assert!(printed.contains("ERROR") && printed.contains("--features tune"), "{printed}");
}

#[test]
fn options_that_openbench_sets_exist() {
    let printed = output(&["uci", "quit"]);
    for option in ["Threads", "Hash", "SyzygyPath", "SyzygyProbeLimit", "UCI_Chess960"] {
        let line = format!("option name {option} type ");
        assert!(printed.contains(&line), "{line}");
    }
}
