//! Files used in a session: the saved transposition table, opening books, the debug log.

use crate::common::driver::{Driver, errors, field};

/// A temporary folder for one test.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Node count in the last line of a search.
fn nodes(lines: &[String]) -> u64 {
    let last = lines.iter().rev().find(|line| line.contains(" nodes "));
    last.and_then(|line| field(line, "nodes")).and_then(|nodes| nodes.parse().ok()).expect("a line with nodes")
}

const GAME: &str = "position fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

/// Positions to search. A table may save few or many nodes in a single position, so there are several.
const POSITIONS: [&str; 5] = [
    GAME,
    "position startpos moves e2e4 e7e5",
    "position startpos moves d2d4 d7d5 c2c4 e7e6",
    "position fen 8/2p2kp1/1p1p1p1p/1P1Pn3/2P1P1PP/4KN2/8/8 w - - 0 1",
    "position fen 2r3k1/p2q1pp1/Pbrp3p/6n1/1BP1PpP1/R4P2/2QN2KP/1R6 b - - 0 1",
];

/// Nodes of the searches of all positions to `depth`.
fn total_nodes(engine: &mut Driver, depth: u32) -> u64 {
    let place = |place| {
        engine.send(place);
        nodes(&engine.go(&format!("go depth {depth}")))
    };
    POSITIONS.into_iter().map(place).sum()
}

#[test]
fn loaded_table_saves_nodes() {
    let folder = folder();
    let path = folder.path().join("a table.hash");
    let with_file = |engine: &mut Driver| {
        engine.send(&format!("setoption name Hash File value {}", path.display()));
    };
    let mut first = Driver::start();
    with_file(&mut first);
    let before = total_nodes(&mut first, 10);
    // The table must contain much deeper results: a search to the same depth again may find something new.
    total_nodes(&mut first, 16);
    first.send("setoption name Save Hash");
    let lines = first.ready();
    assert!(lines.iter().any(|line| line.contains("Save Hash: 16 MiB written to")), "{lines:?}");
    for hash in [16, 7, 40] {
        let mut second = Driver::start();
        second.send(&format!("setoption name Hash value {hash}"));
        with_file(&mut second);
        second.send("setoption name Load Hash");
        let lines = second.ready();
        assert!(errors(&lines).is_empty(), "{lines:?}");
        assert!(lines.iter().any(|line| line.contains("Load Hash: 16 MiB read")));
        let after = total_nodes(&mut second, 10);
        assert!(after * 2 < before, "{hash} MiB: {after} nodes after {before}");
    }
}

#[test]
fn invalid_hash_file_keeps_the_table() {
    let folder = folder();
    let mut engine = Driver::start();
    for button in ["Save Hash", "Load Hash"] {
        engine.send(&format!("setoption name {button}"));
        let lines = engine.ready();
        assert!(errors(&lines)[0].contains("set Hash File first"), "{lines:?}");
    }
    let whole = total_nodes(&mut engine, 10);
    total_nodes(&mut engine, 16);
    let rubbish = folder.path().join("rubbish");
    std::fs::write(&rubbish, "rubbish").expect("room");
    let missing = folder.path().join("missing");
    for (path, reason) in [
        (&rubbish, "not a file with a transposition table"),
        (&missing, "missing"),
        (&folder.path().to_path_buf(), "not a regular file"),
    ] {
        engine.send(&format!("setoption name Hash File value {}", path.display()));
        engine.send("setoption name Load Hash");
        let lines = engine.ready();
        let [line] = errors(&lines)[..] else {
            panic!("expected one error: {lines:?}");
        };
        assert!(line.contains(reason) && line.contains("the table in use is unchanged"), "{line}");
    }
    assert!(total_nodes(&mut engine, 10) * 2 < whole, "the table was lost");
    engine.send(&format!("setoption name Hash File value {}", folder.path().display()));
    engine.send("setoption name Save Hash");
    assert!(errors(&engine.ready())[0].contains("not a regular file"));
}

#[test]
fn load_of_truncated_hash_file_names_the_damage() {
    let folder = folder();
    let path = folder.path().join("cut.hash");
    let mut engine = Driver::start();
    engine.send(&format!("setoption name Hash File value {}", path.display()));
    engine.send(GAME);
    engine.go("go depth 8");
    engine.send("setoption name Save Hash");
    engine.ready();
    let bytes = std::fs::read(&path).expect("a table");
    std::fs::write(&path, &bytes[..bytes.len() / 2]).expect("room");
    engine.send("setoption name Load Hash");
    let lines = engine.ready();
    let [line] = errors(&lines)[..] else {
        panic!("expected one error: {lines:?}");
    };
    assert!(line.contains("damaged: it ends too early; the table in use is unchanged"), "{line}");
}

#[test]
fn table_is_saved_after_the_running_search() {
    let folder = folder();
    let path = folder.path().join("later.hash");
    let mut engine = Driver::start();
    engine.send(&format!("setoption name Hash File value {}", path.display()));
    engine.send(GAME);
    engine.send("go infinite");
    engine.send("setoption name Save Hash");
    let lines = engine.ready();
    assert!(lines.iter().any(|line| line.contains("Save Hash: will be applied after this search")));
    assert!(!path.exists());
    engine.send("stop");
    engine.until("bestmove");
    engine.ready();
    assert!(path.exists());
}

#[test]
fn quit_waits_for_a_pending_save() {
    let folder = folder();
    for (round, search) in ["go infinite", "go nodes 3000", "go infinite"].into_iter().enumerate() {
        let path = folder.path().join(format!("{round}.hash"));
        let mut engine = Driver::start();
        engine.send(&format!("setoption name Hash File value {}", path.display()));
        engine.send_bytes(format!("{search}\nsetoption name save hash\nquit\n").as_bytes());
        let lines = engine.rest();
        assert!(path.exists(), "{lines:?}");
    }
}

#[test]
fn quit_does_not_wait_for_a_rejected_save() {
    let mut engine = Driver::start();
    engine.send_bytes(b"go infinite\nsetoption name Save Hash\nsetoption name Save Hash value x\nquit\n");
    engine.rest();
}

/// Bytes of two Polyglot entries of the initial position: e2e4 and d2d4 with these weights.
fn book(e4: u16, d4: u16) -> Vec<u8> {
    let entry = |code: u16, weight: u16| {
        let key = 0x463b_9618_1691_fc9c_u64.to_be_bytes();
        [&key[..], &code.to_be_bytes(), &weight.to_be_bytes(), &[0; 4]].concat()
    };
    [entry(0x031C, e4), entry(0x02DB, d4)].concat()
}

#[test]
fn book_is_probed_in_games_only() {
    let folder = folder();
    let path = folder.path().join("a book.bin");
    std::fs::write(&path, book(1, 0)).expect("room");
    let mut engine = Driver::start();
    engine.send(&format!("setoption name Book File value {}", path.display()));
    assert!(errors(&engine.ready()).is_empty());
    engine.send("position startpos");
    let from_book = |lines: &[String]| lines.iter().any(|line| line.starts_with("info string Book: "));
    assert!(!from_book(&engine.go("go nodes 100")), "off by default");
    engine.send("setoption name OwnBook value true");
    let lines = engine.go("go wtime 1000 btime 1000");
    assert!(from_book(&lines));
    assert_eq!(lines.last().map(String::as_str), Some("bestmove e2e4"));
    for searched in ["go nodes 100 searchmoves d2d4", "go mate 1 nodes 100"] {
        assert!(!from_book(&engine.go(searched)), "{searched}");
    }
    engine.send("go infinite");
    engine.send("stop");
    assert!(!from_book(&engine.until("bestmove")));
    engine.send("position startpos moves e2e4");
    assert!(!from_book(&engine.go("go nodes 100")), "the book does not contain the position");
    engine.send("position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 21");
    assert!(!from_book(&engine.go("go nodes 100")), "beyond Book Depth");
    engine.send("setoption name Book Depth value 21");
    assert!(from_book(&engine.go("go nodes 100")));
    engine.send("setoption name UCI_AnalyseMode value true");
    assert!(!from_book(&engine.go("go nodes 100")), "no book in analysis mode");
}

#[test]
fn book_seed_selects_the_move_and_a_bad_book_keeps_the_old_one() {
    let folder = folder();
    let path = folder.path().join("two.bin");
    std::fs::write(&path, book(1, 1)).expect("room");
    let mut engine = Driver::start();
    engine.send(&format!("setoption name Book File value {}", path.display()));
    engine.send("setoption name OwnBook value true");
    engine.send("position startpos");
    let mut first_move = |seed: usize| {
        engine.send(&format!("setoption name Book Seed value {seed}"));
        let lines = engine.go("go nodes 100");
        lines.last().cloned().expect("a move")
    };
    let moves: Vec<String> = (1..=12).map(&mut first_move).collect();
    assert!(moves.iter().any(|m| *m != moves[0]), "{moves:?}");
    assert_eq!((1..=12).map(&mut first_move).collect::<Vec<_>>(), moves);
    for (bytes, reason) in [(&b"no book"[..], "not a Polyglot book"), (&[], "not a Polyglot book")] {
        let bad = folder.path().join("bad.bin");
        std::fs::write(&bad, bytes).expect("room");
        engine.send(&format!("setoption name Book File value {}", bad.display()));
        let lines = engine.ready();
        let [line] = errors(&lines)[..] else {
            panic!("expected one error: {lines:?}");
        };
        assert!(line.contains(reason) && line.contains("the book in use is unchanged"), "{line}");
    }
    let lines = engine.go("go nodes 100");
    assert!(lines.iter().any(|line| line.starts_with("info string Book: ")));
}

#[test]
fn engine_does_not_overwrite_files_of_another_kind() {
    let folder = folder();
    let path = folder.path().join("games.pgn");
    let games = "[Event \"?\"]\n\n1. e4 *\n";
    std::fs::write(&path, games).expect("room");
    let mut engine = Driver::start();
    let shown = path.display();
    engine.send(&format!("setoption name Hash File value {shown}"));
    for command in [
        "setoption name Save Hash".to_owned(),
        format!("export_net {shown}"),
        format!("setoption name Debug Log File value {shown}"),
    ] {
        engine.send(&command);
        let lines = engine.ready();
        let errors = errors(&lines);
        let refused = |line: &&String| line.contains("games.pgn exists and is not a");
        assert!(errors.iter().any(refused), "{command}: {lines:?}");
        assert_eq!(std::fs::read_to_string(&path).expect("it"), games);
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("it").count(), 1);
}

#[cfg(unix)]
#[test]
fn debug_log_rejects_pipe_without_blocking() {
    let folder = folder();
    let path = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("there is a mkfifo").success());
    let mut engine = Driver::start();
    let shown = path.display();
    engine.send(&format!("setoption name Debug Log File value {shown}"));
    let lines = engine.ready();
    assert!(lines.iter().any(|line| line.contains("not a regular file")), "{lines:?}");
    engine.go("go depth 1");
}

#[cfg(unix)]
#[test]
fn sigterm_during_a_search_ends_the_engine() {
    let mut engine = Driver::start();
    engine.send("go infinite");
    engine.until("info");
    engine.signal("TERM");
    engine.rest();
}
