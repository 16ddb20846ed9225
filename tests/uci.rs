//! The protocol from outside: the built engine, driven as a GUI drives it. Every case that was seen to break some
//! engine is here.

mod uci_driver;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use uci_driver::{Driver, best_move, errors};

const MATED: &str = "position fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1";
const STALEMATED: &str = "position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1";
const CASTLING: &str = "position fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
const SHORT: Duration = Duration::from_millis(150);

fn bestmoves(lines: &[String]) -> usize {
    lines
        .iter()
        .filter(|line| line.starts_with("bestmove"))
        .count()
}

#[test]
fn silent_until_uci_and_then_well_formed() {
    let mut engine = Driver::silent();
    assert_eq!(engine.listen(SHORT), [""; 0]);
    engine.send("joho\n\n42\nuciok");
    assert_eq!(engine.listen(SHORT), [""; 0]);
    let start = Instant::now();
    engine.send("uci");
    let lines = engine.until("uciok");
    eprintln!("uciok after {:?}", start.elapsed());
    assert!(lines.iter().all(|line| !line.trim().is_empty()));
    assert!(lines[0].starts_with("id name Zoothera") && lines[1].starts_with("id author "));
    let names = [
        "Hash",
        "Threads",
        "MultiPV",
        "Ponder",
        "Move Overhead",
        "EvalFile",
        "Clear Hash",
        "UCI_Chess960",
        "UCI_ShowWDL",
        "UCI_AnalyseMode",
        "SyzygyPath",
        "SyzygyProbeDepth",
        "SyzygyProbeLimit",
        "Syzygy50MoveRule",
        "nodestime",
        "Debug Log File",
        "UCI_EngineAbout",
    ];
    for name in names {
        let prefix = format!("option name {name} type ");
        assert!(lines.iter().any(|line| line.starts_with(&prefix)), "{name}");
    }
    assert_eq!(engine.ready(), ["readyok"]);
}

#[test]
fn isready_is_answered_during_a_search_which_goes_on() {
    let mut engine = Driver::start();
    engine.send("go infinite");
    for _ in 0..20 {
        let start = Instant::now();
        assert_eq!(bestmoves(&engine.ready()), 0);
        eprintln!("readyok after {:?}", start.elapsed());
        std::thread::sleep(Duration::from_millis(5));
    }
    let start = Instant::now();
    engine.send("stop");
    engine.until("bestmove");
    eprintln!("bestmove after {:?}", start.elapsed());
    assert_eq!(engine.ready(), ["readyok"]);
}

#[test]
fn options_during_a_search() {
    let mut engine = Driver::start();
    engine.send("go infinite");
    engine.send("setoption name MultiPV value 2");
    engine.send("setoption name UCI_ShowWDL value true");
    engine.send("setoption name Move Overhead value 30");
    for deferred in [
        "Hash value 8",
        "Threads value 2",
        "Clear Hash",
        "EvalFile value <default>",
    ] {
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
    // `stop` overtakes the option before it: the error may come on either side of the move.
    let mut said = engine.until("bestmove");
    said.extend(engine.ready());
    assert_eq!(errors(&said).len(), 1);
    assert!(said.iter().any(|line| line.contains("EvalFile")));
    let lines = engine.go("go depth 4");
    assert!(
        lines
            .iter()
            .any(|line| line.contains(" multipv 2 ") && line.contains(" wdl "))
    );
}

#[test]
fn a_position_during_a_search_is_for_the_next_one() {
    let mut engine = Driver::start();
    engine.send("go infinite");
    engine.send("position fen 8/8/8/8/8/4k3/4p3/4K3 b - - 0 1");
    assert_eq!(bestmoves(&engine.ready()), 0);
    engine.send("stop");
    let first = best_move(&engine.until("bestmove"));
    assert!(
        first.ends_with(['3', '4']),
        "a move from the starting position: {first}"
    );
    assert!(engine.best("go depth 3").starts_with("e3"));
}

#[test]
fn go_during_a_search_stops_the_old_one_first() {
    let mut engine = Driver::start();
    for _ in 0..3 {
        engine.send("go infinite");
    }
    engine.send("go depth 2");
    for _ in 0..4 {
        engine.until("bestmove");
    }
    assert_eq!(engine.ready(), ["readyok"]);
}

#[test]
fn stop_and_ponderhit_mean_nothing_while_idle() {
    let mut engine = Driver::start();
    engine.send("stop\nponderhit\nstop");
    assert_eq!(engine.ready(), ["readyok"]);
    engine.send("stop\ngo movetime 200");
    let start = Instant::now();
    engine.until("bestmove");
    assert!(
        start.elapsed() > Duration::from_millis(100),
        "the stop hit a later go"
    );
}

#[test]
fn no_stop_is_lost_and_none_hits_twice() {
    let mut engine = Driver::start();
    for _ in 0..200 {
        engine.send_bytes(b"go infinite\nstop\n");
        engine.until("bestmove");
    }
    for _ in 0..50 {
        engine.send_bytes(b"go infinite\nstop\ngo infinite\nstop\nisready\n");
        engine.until("bestmove");
        engine.until("bestmove");
    }
    engine.send_bytes(b"go ponder movetime 1\nponderhit\n");
    engine.until("bestmove");
    assert_eq!(bestmoves(&engine.listen(SHORT)), 0);
}

#[test]
fn the_process_ends_at_once_in_any_state() {
    for command in [
        "",
        "isready",
        "go infinite",
        "go ponder",
        "position startpos",
        "go perft 9",
    ] {
        for quit in [true, false] {
            let mut engine = Driver::start();
            engine.send(command);
            std::thread::sleep(Duration::from_millis(50));
            if quit {
                engine.send("quit");
            } else {
                engine.close_input();
            }
            let (status, time) = engine.exit();
            eprintln!("{command:?}: ended after {time:?}");
            assert!(
                status.success() && time < Duration::from_secs(2),
                "{command}: {status} {time:?}"
            );
        }
    }
}

#[test]
fn quick_commands_before_quit_are_answered() {
    let mut engine = Driver::silent();
    engine.send_bytes(b"uci\nisready\nposition startpos\nd\nquit\n");
    let lines = engine.listen(Duration::from_secs(3));
    assert!(lines.iter().any(|line| line == "uciok") && lines.iter().any(|line| line == "readyok"));
    assert!(engine.exit().0.success());
}

#[test]
fn impossible_positions_change_nothing() {
    let mut engine = Driver::start();
    engine.send("position startpos moves e2e4");
    for fen in [
        "blah",
        "8/8/8/8/8/8/8/8 w - - 0 1",
        "pppppppp/pppppppp/pppppppp/pppppppp/pppppppp/pppppppp/pppppppp/pppppppp w - - 0 1",
        "4k3/4R3/8/8/8/8/4r3/4K3 w - - 0 1",
        "4k3/8/8/8/8/8/4r3/4K3 b - - 0 1",
        "4k3/8/8/8/8/8/8/4K2P w - - 0 1",
        "4k3/8/8/8/8/8/8 w - - 0 1",
        "4k3/8/8/8/8/8/8/4K3 x - - 0 1",
        "9/4k3/8/8/8/8/8/4K3 w - - 0 1",
    ] {
        engine.send(&format!("position fen {fen}"));
        assert_eq!(errors(&engine.ready()).len(), 1, "{fen}");
    }
    engine.send("d");
    let kept = engine.ready();
    let kept = kept
        .iter()
        .any(|line| line.contains("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq"));
    assert!(kept, "the position was not kept");
    assert!(
        engine.best("go depth 2").contains(['5', '6']),
        "no move of Black's"
    );
}

#[test]
fn stray_castling_rights_are_survived() {
    let mut engine = Driver::start();
    engine.send("position fen 2k5/8/3K4/1p6/p7/P7/1B6/8 b KQkq - 0 1");
    assert_eq!(engine.best("go depth 3").len(), 4);
}

#[test]
fn an_illegal_move_changes_nothing_and_is_named() {
    let mut engine = Driver::start();
    engine.send(CASTLING);
    for moves in ["e2e4 e2e4", "e2e4 e7e5 e1e8", "z9z9", "e2e4 0000"] {
        engine.send(&format!("position startpos moves {moves}"));
        let lines = engine.ready();
        let named = moves.split(' ').next_back().unwrap_or_default();
        assert!(
            matches!(errors(&lines)[..], [line] if line.contains(named)),
            "{moves}: {lines:?}"
        );
    }
    engine.send("d");
    assert!(
        engine
            .ready()
            .iter()
            .any(|line| line.contains("r3k2r/8/8/8/8/8/8/R3K2R w KQkq"))
    );
}

#[test]
fn mate_and_stalemate_at_the_root() {
    let mut engine = Driver::start();
    for (position, score) in [
        (MATED, "info depth 0 score mate 0"),
        (STALEMATED, "info depth 0 score cp 0"),
    ] {
        engine.send(position);
        assert_eq!(engine.go("go depth 3"), [score, "bestmove (none)"]);
        assert_eq!(
            engine.go("go wtime 100 btime 100"),
            [score, "bestmove (none)"]
        );
        engine.send("go infinite");
        assert_eq!(engine.listen(SHORT), [score]);
        engine.send("stop");
        assert_eq!(engine.until("bestmove"), ["bestmove (none)"]);
        engine.send("go ponder wtime 100 btime 100");
        assert_eq!(engine.listen(SHORT), [score]);
        engine.send("ponderhit");
        assert_eq!(engine.until("bestmove"), ["bestmove (none)"]);
    }
}

#[test]
fn infinite_and_ponder_hold_the_move() {
    let mut engine = Driver::start();
    engine.send("position fen 7k/8/5KQ1/8/8/8/8/8 w - - 0 1");
    for go in [
        "go infinite depth 1",
        "go infinite",
        "go ponder depth 1",
        "go ponder movetime 1",
        "go infinite mate 1",
        "go infinite nodes 100",
        "go ponder nodes 100",
    ] {
        engine.send(go);
        assert_eq!(bestmoves(&engine.listen(SHORT)), 0, "{go}");
        engine.send("stop");
        engine.until("bestmove");
    }
    for go in [
        "go ponder wtime 200 btime 200",
        "go ponder movetime 10",
        "go ponder depth 1",
        "go ponder nodes 100",
    ] {
        engine.send(go);
        assert_eq!(bestmoves(&engine.listen(SHORT)), 0, "{go}");
        engine.send("ponderhit");
        engine.until("bestmove");
    }
    assert_eq!(engine.ready(), ["readyok"]);
}

#[test]
fn odd_limits_give_one_legal_move_soon() {
    let mut engine = Driver::start();
    for (go, complaints) in [
        ("go wtime -50 btime 1000", 0),
        ("go wtime 0 btime 0", 0),
        ("go wtime 100", 0),
        ("go btime 100", 0),
        ("go wtime abc btime 1000", 1),
        ("go wtime abc btime def", 1),
        ("go depth abc", 1),
        ("go movetime", 1),
        ("go movetime -7", 0),
        ("go wtime btime", 1),
        ("go depth 0", 0),
        ("go depth -3", 0),
        ("go nodes 0", 0),
        ("go nodes 1", 0),
        ("go nodes 99999999999999999999999999 depth 2", 0),
        ("go movestogo 0 wtime 100 btime 100", 0),
        ("go movestogo -5 wtime 100 btime 100 winc -10 binc -10", 0),
        ("go movestogo 40", 0),
        ("go winc 100 binc 100", 0),
        ("go wtime 100 winc 100 btime 100 binc 100", 0),
        ("GO Depth 2", 0),
        ("go searchmoves a2a3 depth 3", 0),
        ("go depth 3 joho nodes 1000", 0),
        ("joho go depth 2", 0),
        ("  \t go\tdepth \t 2 \r", 0),
        ("go mate 1 nodes 2000", 0),
        ("go mate 0 nodes 2000", 0),
    ] {
        let start = Instant::now();
        let lines = engine.go(go);
        assert!(start.elapsed() < Duration::from_secs(10), "{go}");
        assert_eq!(errors(&lines).len(), complaints, "{go}: {lines:?}");
        assert_eq!(best_move(&lines).len(), 4, "{go}: {lines:?}");
        let before = lines
            .iter()
            .rev()
            .skip(1)
            .find(|line| !line.starts_with("info string"));
        let before = before.expect("an info line");
        assert!(
            before.contains(" score ") && !before.contains("bound"),
            "{go}: {before}"
        );
        assert!(
            before.contains(&format!(" pv {}", best_move(&lines))),
            "{go}: {before}"
        );
    }
}

#[test]
fn root_moves_can_be_chosen() {
    let mut engine = Driver::start();
    assert_eq!(engine.best("go searchmoves a2a3 depth 5"), "a2a3");
    assert_eq!(engine.best("go depth 5 searchmoves h2h3"), "h2h3");
    let lines = engine.go("go searchmoves h2h3 e2e5 nonsense depth 3");
    assert_eq!(
        (errors(&lines).len(), best_move(&lines).as_str()),
        (1, "h2h3")
    );
    assert_eq!(engine.best("go depth 3 searchmoves 0000"), "(none)");
    engine.send("position fen 7k/8/8/8/8/8/8/K7 w - - 0 1");
    assert_eq!(engine.best("go depth 4 excludemoves a1a2 a1b2"), "a1b1");
    assert_eq!(
        engine.best("go depth 4 excludemoves a1a2 a1b2 a1b1"),
        "(none)"
    );
}

#[test]
fn malformed_commands_are_named_and_survived() {
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
fn option_names_in_any_spelling() {
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
fn every_option_takes_its_default_and_its_minimum() {
    let mut engine = Driver::silent();
    engine.send("uci");
    for line in engine.until("uciok") {
        let Some((name, rest)) = line
            .strip_prefix("option name ")
            .and_then(|rest| rest.split_once(" type "))
        else {
            continue;
        };
        let default = rest
            .split_once(" default ")
            .map(|(_, rest)| rest.split(" min ").next().unwrap_or_default());
        let least = rest
            .split_once(" min ")
            .and_then(|(_, rest)| rest.split(' ').next());
        for value in [least, default].into_iter().flatten() {
            engine.send(&format!("setoption name {name} value {value}"));
        }
        if default.is_none() {
            engine.send(&format!("setoption name {name}"));
        }
        assert!(errors(&engine.ready()).is_empty(), "{line}");
    }
}

#[test]
fn a_net_that_cannot_be_used_leaves_the_old_one() {
    let path = std::env::temp_dir().join(format!("zoothera garbage {}.nnue", std::process::id()));
    std::fs::write(&path, b"this is not a net").expect("a temporary file");
    let mut engine = Driver::start();
    let before = engine.go("go nodes 2000");
    for value in [
        "/no/such/file.nnue",
        &format!("\"{}\"", path.display()),
        "/dev/zero",
        "/",
    ] {
        engine.send(&format!("setoption name EvalFile value {value}"));
        let lines = engine.ready();
        assert!(
            matches!(errors(&lines)[..], [line] if line.contains("stays")),
            "{lines:?}"
        );
    }
    let _ = std::fs::remove_file(&path);
    engine.send("ucinewgame");
    assert_eq!(best_move(&before), engine.best("go nodes 2000"));
    for value in ["value <default>", "value <empty>", "value", ""] {
        engine.send(&format!("setoption name EvalFile {value}"));
        let lines = engine.ready();
        assert!(
            errors(&lines).is_empty() && lines[0].contains("EvalFile"),
            "{lines:?}"
        );
    }
}

#[test]
fn castling_in_both_notations_and_both_modes() {
    let mut engine = Driver::start();
    for (chess960, printed) in [("false", "e1g1"), ("true", "e1h1")] {
        engine.send(&format!("setoption name UCI_Chess960 value {chess960}"));
        for written in ["e1g1", "e1h1"] {
            engine.send(&format!("{CASTLING} moves {written}"));
            engine.send("d");
            let lines = engine.ready();
            assert!(errors(&lines).is_empty(), "{lines:?}");
            assert!(
                lines
                    .iter()
                    .any(|line| line.contains("r3k2r/8/8/8/8/8/8/R4RK1 b")),
                "{written}: {lines:?}"
            );
            engine.send(CASTLING);
            assert_eq!(
                engine.best(&format!("go depth 1 searchmoves {written}")),
                printed
            );
        }
    }
    engine.send("position fen 8/4P2k/8/8/8/8/8/4K3 w - - 0 1 moves e7e8Q");
    assert!(errors(&engine.ready()).is_empty());
}

#[test]
fn long_games_and_dos_line_ends() {
    let mut engine = Driver::start();
    let shuffle = "g1f3 g8f6 f3g1 f6g8 ".repeat(600);
    engine.send_bytes(format!("position startpos moves {shuffle}\r\ngo depth 2\r\n").as_bytes());
    let lines = engine.until("bestmove");
    assert!(errors(&lines).is_empty() && best_move(&lines).len() == 4);
    // 2401 plies against 2400: the last one is the black side's.
    engine.send(&format!("position startpos moves {shuffle} g1f3"));
    assert!(engine.best("go depth 2").contains(['5', '6']));
}

#[test]
fn odd_bytes_and_endless_lines() {
    let mut engine = Driver::start();
    engine.send_bytes(b"\xff\xfe\x00 go \x00 depth 1\n");
    engine.until("bestmove");
    engine.send_bytes(&vec![b'x'; 6 << 20]);
    engine.send_bytes(b"\nisready\n");
    assert_eq!(errors(&engine.until("readyok")).len(), 1);
}

#[test]
fn depths_never_fall_and_variations_begin_with_the_move() {
    let mut engine = Driver::start();
    let lines = engine.go("go depth 8");
    let depths: Vec<i32> = lines
        .iter()
        .filter_map(|line| {
            line.strip_prefix("info depth ")?
                .split(' ')
                .next()?
                .parse()
                .ok()
        })
        .collect();
    assert!(
        depths.is_sorted() && depths.last() == Some(&8),
        "{depths:?}"
    );
    let nodes = engine.go("go nodes 1000");
    assert_eq!(best_move(&nodes).len(), 4);
}

#[test]
fn a_mate_is_found_and_ends_the_search() {
    let mut engine = Driver::start();
    engine.send("position fen 6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1");
    let lines = engine.go("go mate 1");
    assert_eq!(best_move(&lines), "a1a8");
    assert!(lines.iter().any(|line| line.contains(" score mate 1 ")));
}

#[test]
fn commands_beyond_uci_answer() {
    let mut engine = Driver::start();
    for (command, expected) in [
        ("d", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq"),
        ("go perft 3", "Nodes searched: 8902"),
        ("perft 2", "Nodes searched: 400"),
        ("eval", "NNUE evaluation"),
        ("help", "setoption"),
    ] {
        engine.send(command);
        let lines = engine.ready();
        assert!(
            lines.iter().any(|line| line.contains(expected)),
            "{command}: {lines:?}"
        );
    }
    let exported = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("export net.nnue");
    let name = exported.display();
    engine.send(&format!(
        "export_net {name}\nsetoption name EvalFile value {name}"
    ));
    let answer = engine.ready();
    assert!(answer.iter().any(|line| line.contains("Network saved to")));
    assert!(
        answer
            .iter()
            .any(|line| line.contains("info string EvalFile: "))
    );
    engine.send("export_net no/such/folder/x.nnue");
    assert!(engine.ready()[0].contains("no/such/folder/x.nnue"));
    engine.send("position startpos moves e2e4\nflip\nd");
    assert!(
        engine
            .ready()
            .iter()
            .any(|line| line.contains("rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq"))
    );
    engine.send("go perft 9");
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(engine.ready().last().map(String::as_str), Some("readyok"));
    engine.send("stop");
    assert!(
        engine
            .ready()
            .iter()
            .all(|line| !line.starts_with("bestmove"))
    );
    assert_eq!(engine.best("go depth 1").len(), 4);
}

#[test]
fn the_debug_log_has_both_directions() {
    let path = std::env::temp_dir().join(format!("zoothera debug {}.tmp", std::process::id()));
    let mut engine = Driver::start();
    engine.send(&format!(
        "setoption name Debug Log File value {}",
        path.display()
    ));
    engine.ready();
    engine.best("go depth 1");
    engine.send("setoption name Debug Log File value <empty>");
    engine.ready();
    let log = std::fs::read_to_string(&path).unwrap_or_default();
    let _ = std::fs::remove_file(&path);
    assert!(
        log.contains(">> go depth 1") && log.contains("<< bestmove "),
        "{log}"
    );
}

#[test]
fn an_unread_output_blocks_nothing() {
    let mut engine = Driver::start();
    // Far more than a pipe holds, before a single line is read.
    for _ in 0..3000 {
        engine.send("d");
    }
    engine.send("quit");
    assert!(engine.exit().0.success());
}

#[test]
fn a_closed_output_ends_the_process() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    for command in ["isready\n", "go infinite\n", "uci\n"] {
        let mut engine = Command::new(env!("CARGO_BIN_EXE_zoothera"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the engine starts");
        drop(engine.stdout.take());
        let mut input = engine.stdin.take().expect("a pipe");
        input
            .write_all(command.as_bytes())
            .expect("the engine reads");
        // The input stays open: only the closed output can be the reason.
        let ended = engine.wait_with_output().expect("the engine ends");
        drop(input);
        assert!(
            ended.status.success() && ended.stderr.is_empty(),
            "{command}: {ended:?}"
        );
    }
}
