//! Options, set between and during searches.

use std::time::Duration;

use crate::common::driver::{Driver, best_move, errors};

#[test]
fn options_can_be_set_during_a_search() {
    let mut engine = Driver::start();
    engine.send("go infinite");
    engine.send("setoption name MultiPV value 2");
    engine.send("setoption name UCI_ShowWDL value true");
    engine.send("setoption name Move Overhead value 30");
    for deferred in ["Hash value 8", "Threads value 2", "Clear Hash", "EvalFile value <default>"] {
        engine.send(&format!("setoption name {deferred}"));
        let line = engine.until("info");
        let mut line = line.last().cloned().unwrap_or_default();
        while !line.contains("applied after this search") {
            line = engine.next(Duration::from_secs(5)).expect(deferred);
            assert!(!line.starts_with("bestmove"));
        }
    }
    engine.send("setoption name Hash value 0");
    engine.send("stop");
    // `stop` takes effect before the option in the queue, so the error may be printed before or after the move.
    let mut lines_read = engine.until("bestmove");
    lines_read.extend(engine.ready());
    assert_eq!(errors(&lines_read).len(), 1);
    assert!(lines_read.iter().any(|line| line.contains("EvalFile")));
    let lines = engine.go("go depth 4");
    assert!(lines.iter().any(|line| line.contains(" multipv 2 ") && line.contains(" wdl ")));
}

#[test]
fn option_names_are_accepted_in_any_spelling() {
    let mut engine = Driver::start();
    for line in [
        "setoption name HASH value 33",
        "setoption NAME hash VALUE 32",
        "setoption name MoveOverhead value 20",
        "setoption name Move_Overhead value 20",
        "setoption name move overhead value 20",
        "setoption name clear hash",
        "setoption name UCI_Opponent value",
    ] {
        engine.send(line);
        let unknown = usize::from(line.contains("Opponent"));
        assert_eq!(errors(&engine.ready()).len(), unknown, "{line}");
    }
}

#[test]
fn every_option_accepts_its_default_and_minimum() {
    let mut engine = Driver::silent();
    engine.send("uci");
    for line in engine.until("uciok") {
        let Some((name, rest)) = line.strip_prefix("option name ").and_then(|rest| rest.split_once(" type ")) else {
            continue;
        };
        let default = rest.split_once(" default ").map(|(_, rest)| rest.split(" min ").next().unwrap_or_default());
        let minimum = rest.split_once(" min ").and_then(|(_, rest)| rest.split(' ').next());
        for value in [minimum, default].into_iter().flatten() {
            engine.send(&format!("setoption name {name} value {value}"));
        }
        // These two options require a file name first (`lasting.rs`).
        let needs_file = ["Save Hash", "Load Hash"].contains(&name);
        if default.is_none() && !needs_file {
            engine.send(&format!("setoption name {name}"));
        }
        assert!(errors(&engine.ready()).is_empty(), "{line}");
    }
}

#[test]
fn invalid_net_keeps_the_old_one() {
    let path = std::env::temp_dir().join(format!("zoothera garbage {}.nnue", std::process::id()));
    std::fs::write(&path, b"this is not a net").expect("a temporary file");
    let mut engine = Driver::start();
    let before = engine.go("go nodes 2000");
    for value in ["/no/such/file.nnue", &format!("\"{}\"", path.display()), "/dev/zero", "/"] {
        engine.send(&format!("setoption name EvalFile value {value}"));
        let lines = engine.ready();
        assert!(
            matches!(errors(&lines)[..], [line] if line.ends_with("not loaded; using the embedded net")),
            "{lines:?}"
        );
    }
    // The next search repeats the error once.
    let reminders =
        |lines: &[String]| lines.iter().filter(|line| line.contains("was not loaded; using the embedded net")).count();
    assert_eq!(reminders(&engine.go("go depth 1")), 1);
    assert_eq!(reminders(&engine.go("go depth 1")), 0);
    let _ = std::fs::remove_file(&path);
    engine.send("ucinewgame");
    assert_eq!(best_move(&before), engine.best("go nodes 2000"));
    for value in ["value <default>", "value <empty>", "value", ""] {
        engine.send(&format!("setoption name EvalFile {value}"));
        let lines = engine.ready();
        assert!(errors(&lines).is_empty() && lines[0].contains("EvalFile"), "{lines:?}");
    }
}

#[test]
fn debug_log_contains_input_and_output() {
    let path = std::env::temp_dir().join(format!("zoothera debug {}.tmp", std::process::id()));
    let mut engine = Driver::start();
    engine.send(&format!("setoption name Debug Log File value {}", path.display()));
    engine.ready();
    engine.best("go depth 1");
    engine.send("setoption name Debug Log File value <empty>");
    engine.ready();
    let log = std::fs::read_to_string(&path).unwrap_or_default();
    let _ = std::fs::remove_file(&path);
    assert!(log.contains(">> go depth 1") && log.contains("<< bestmove "), "{log}");
}

/// The engine with a limit of its address space, in KiB; `None` if another engine is tested.
#[cfg(target_os = "linux")]
fn limited(kib: u32) -> Option<Driver> {
    use crate::common::engine::{engine, native};
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &format!("ulimit -v {kib}; exec \"$0\"")]);
    command.arg(native().get_program());
    (engine().get_program() == native().get_program()).then(|| Driver::of(command))
}

#[cfg(target_os = "linux")]
#[test]
fn low_memory_reduces_table_and_threads() {
    for (kib, options) in [
        (500_000, ["Hash value 512", "Threads value 8"]),
        (500_000, ["Threads value 8", "Hash value 512"]),
        (3_000_000, ["Threads value 1024", "Hash value 64"]),
    ] {
        let Some(mut engine) = limited(kib) else {
            return;
        };
        engine.send("uci");
        engine.until("uciok");
        for option in options {
            engine.send(&format!("setoption name {option}"));
        }
        let lines_read = engine.ready();
        let reported = |name: &str| lines_read.iter().any(|line| line.starts_with(&format!("info string {name}: ")));
        assert!(reported("Threads") || reported("Hash"), "{kib} {lines_read:?}");
        assert_eq!(engine.best("go nodes 20000").len(), 4);
        // Changes of a running pool; in this order the table takes most of the memory.
        for option in ["Hash value 1000000", "Threads value 64", "Threads value 1"] {
            engine.send(&format!("setoption name {option}"));
            assert_eq!(engine.best("go nodes 20000").len(), 4, "{kib} {option}");
        }
    }
}
