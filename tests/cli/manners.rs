//! Help, errors and exit codes.

use std::process::Stdio;

use crate::MATE_IN_ONE;
use crate::common::engine::engine;
use crate::run::{Run, zoothera};

#[test]
fn help_and_version_are_printed() {
    assert!(zoothera(&["--version"]).ok().out.starts_with("zoothera "));
    let help = zoothera(&["--help"]).ok().out;
    for command in ["bench", "perft", "eval", "analyse", "epd", "net", "cpu", "genfens"] {
        assert!(help.contains(command), "{command} is not in the help");
        assert!(!zoothera(&[command, "--help"]).ok().out.is_empty());
    }
}

#[test]
fn unknown_command_is_an_error() {
    zoothera(&["anlayse"]).fails_with("anlayse");
    zoothera(&["bench", "deep"]).fails_with("deep");
    zoothera(&["perft"]).fails_with("DEPTH");
}

#[test]
fn uci_commands_run_from_arguments() {
    assert!(zoothera(&["uci", "quit"]).ok().out.lines().any(|line| line == "uciok"));
    let run = zoothera(&["go", "depth", "3"]).ok();
    assert_eq!(run.out.lines().filter(|line| line.starts_with("bestmove ")).count(), 1, "{}", run.out);
    let run = zoothera(&[&format!("position fen {MATE_IN_ONE}"), "go depth 3", "quit"]).ok();
    assert!(run.last_line().starts_with("bestmove d1d8"), "{}", run.out);
}

#[test]
fn engine_exits_at_end_of_input() {
    assert_eq!(zoothera(&[]).ok().err, "");
}

#[cfg(unix)]
#[test]
fn closed_stdout_causes_no_panic() {
    for arguments in [&["perft", "3", "--divide"][..], &["bench", "2"], &["analyse", "--depth", "6"], &["cpu"]] {
        let mut command = engine();
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the engine starts");
        drop(child.stdout.take());
        let run = Run::of(child.wait_with_output().expect("the engine ends"));
        assert!(matches!(run.code, Some(0 | 1)), "{arguments:?}: {:?}", run.code);
        assert!(!run.err.contains("panicked"), "{arguments:?}: {}", run.err);
    }
}

#[test]
fn errors_contain_no_rust_internals() {
    let folder = env!("CARGO_TARGET_TMPDIR");
    for arguments in [
        &["analyse", "--depth", "many"][..],
        &["analyse", "--depth", "99999999999"],
        &["bench", "deep"],
        &["eval", "--net", folder],
        &["net", "info", folder],
        &["net", "verify", "no-such-net.nnue"],
        &["eval", "--raw", "--file", folder],
        &["epd", folder],
        &["perft", "--suite", folder],
        &["genfens x seed 1 book None"],
        &["train", "x.bin", "--out", "y", "--scale", "abc"],
        &["train", "x.bin", "--out", "y", "--threads", "-1"],
    ] {
        let run = zoothera(arguments).fails_with("error");
        for raw in ["digit found", "os error", "float literal", "target type", "Err(", "{ "] {
            assert!(!run.err.contains(raw), "{arguments:?}: {}", run.err);
        }
        let twice = run.err.matches("s a directory").count();
        assert!(twice <= 1, "{arguments:?}: {}", run.err);
    }
}
