//! Arbitrary input lines, the end of the input, and a closed output.

use std::time::Duration;

use super::bestmoves;
use crate::common::driver::{Driver, errors, field};
use crate::common::engine;

#[test]
fn quit_ends_the_process_in_any_state() {
    for command in ["", "isready", "go infinite", "go ponder", "position startpos", "go perft 9"] {
        let mut engine = Driver::start();
        engine.send(command);
        std::thread::sleep(Duration::from_millis(50));
        engine.send("quit");
        let (status, time) = engine.exit();
        eprintln!("{command:?}: ended after {time:?}");
        assert!(status.success() && time < Duration::from_secs(2), "{command}: {status} {time:?}");
    }
}

/// Output of the engine for a whole input.
fn piped(input: &str) -> Vec<String> {
    let mut engine = Driver::silent();
    engine.send_bytes(input.as_bytes());
    engine.close_input();
    let lines = engine.rest();
    assert!(engine.exit().0.success(), "{input}");
    lines
}

#[test]
fn engine_executes_queued_commands_after_end_of_input() {
    let has = |input: &str, expected: &str| {
        let lines = piped(input);
        assert!(lines.iter().any(|line| line.contains(expected)), "{input:?} without {expected}: {lines:?}");
    };
    has("bench 2", " nps");
    has("eval\n", "NNUE evaluation");
    has("go perft 4\n", "Nodes searched: 197281");
    has("position startpos\ngo depth 8\n", "info depth 8 ");
    has("go nodes 20000\nd\n", "bestmove ");
    has("go ponder depth 3\nponderhit\n", "info depth 3 ");
    has("setoption name Threads value 2\nisready\ngo depth 4", "bestmove ");
    // Both searches run to their end, although a GUI's second `go` would stop the first search.
    let lines = piped("go depth 9\nposition startpos moves e2e4\ngo depth 8\n");
    let last = |before: &[String]| {
        let line = before.iter().rfind(|line| line.contains(" score "));
        line.and_then(|line| field(line, "depth"))
    };
    let first = lines.iter().position(|line| line.starts_with("bestmove ")).expect("a move");
    assert_eq!(last(&lines[..first]).as_deref(), Some("9"), "{lines:?}");
    assert_eq!(last(&lines).as_deref(), Some("8"), "{lines:?}");
}

#[test]
fn end_of_input_stops_search_without_limit() {
    for go in ["go", "go infinite", "go infinite depth 3", "go ponder movetime 60000", "go ponder"] {
        let lines = piped(&format!("{go}\n"));
        assert_eq!(bestmoves(&lines), 1, "{go}: {lines:?}");
        assert!(lines[lines.len() - 2].contains(" score "), "{go}: {lines:?}");
        let mut engine = Driver::start();
        engine.send(go);
        std::thread::sleep(Duration::from_millis(50));
        engine.close_input();
        assert_eq!(bestmoves(&engine.rest()), 1, "{go}");
        assert!(engine.exit().0.success());
    }
}

#[test]
fn errors_are_printed_in_order() {
    let mut engine = Driver::start();
    engine.send_bytes(b"bench 2\nnonsense\nd\nposition\ndebug maybe\nisready\n");
    let lines = engine.until("Fen:");
    let place = |word: &str| lines.iter().position(|line| line.contains(word));
    let (bench, error) = (place(" nps"), place("nonsense"));
    assert!(bench.is_some() && bench < error, "{lines:?}");
    let later = engine.listen(Duration::from_millis(500));
    assert_eq!(errors(&later).len(), 2, "{later:?}");
}

#[test]
fn quick_commands_before_quit_are_executed() {
    let mut engine = Driver::silent();
    engine.send_bytes(b"uci\nisready\nposition startpos\nd\nquit\n");
    let lines = engine.listen(Duration::from_secs(3));
    assert!(lines.iter().any(|line| line == "uciok") && lines.iter().any(|line| line == "readyok"));
    assert!(engine.exit().0.success());
}

#[test]
fn malformed_commands_get_one_error_each() {
    let mut engine = Driver::start();
    for line in [
        "position",
        "position fen",
        "position startpos e2e4",
        "setoption",
        "setoption name",
        "setoption value 3",
        "setoption name Nonsense value 3",
        "setoption name Hash value abc",
        "setoption name Hash value 999999999",
        "setoption name Hash value 0",
        "setoption name Hash",
        "setoption name MultiPV value 0",
        "setoption name Threads value -1",
        "setoption name Ponder value maybe",
        "setoption name EvalFile value /no/such/file.nnue",
        "setoption name Debug Log File value /no/such/folder/log.txt",
        "debug maybe",
        "perft",
        "some junk with words",
    ] {
        engine.send(line);
        let lines = engine.ready();
        assert_eq!(errors(&lines).len(), 1, "{line}: {lines:?}");
    }
    engine.send("position startpos moves");
    engine.send("\n   \n\t\r\n");
    assert_eq!(engine.ready(), ["readyok"]);
    assert_eq!(engine.best("go depth 2").len(), 4);
}

#[test]
fn reader_accepts_any_bytes_and_skips_too_long_lines() {
    let mut engine = Driver::start();
    engine.send_bytes(b"\xff\xfe\x00 go \x00 depth 1\n");
    engine.until("bestmove");
    engine.send_bytes(&vec![b'x'; 6 << 20]);
    engine.send_bytes(b"\nisready\n");
    assert_eq!(errors(&engine.until("readyok")).len(), 1);
}

#[test]
fn unread_output_does_not_block_the_engine() {
    let mut engine = Driver::start();
    // The output is far larger than the capacity of a pipe, and the test reads no line of it before `quit`.
    for _ in 0..3000 {
        engine.send("d");
    }
    engine.send("quit");
    assert!(engine.exit().0.success());
}

#[test]
fn closed_output_ends_the_process() {
    use std::io::Write;
    use std::process::Stdio;
    for command in ["isready\n", "go infinite\n", "uci\n"] {
        let mut run = engine::engine()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the engine starts");
        drop(run.stdout.take());
        let mut input = run.stdin.take().expect("a pipe");
        input.write_all(command.as_bytes()).expect("the engine reads");
        // The input stays open, so only the closed output can end the process.
        let ended = run.wait_with_output().expect("the engine ends");
        drop(input);
        assert!(ended.status.success() && ended.stderr.is_empty(), "{command}: {ended:?}");
    }
}
