//! Every command of the command line, end to end: what it prints, where, and how it leaves.

mod engine;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use engine::engine;
use zoothera::nnue::Architecture;
use zoothera::nnue::synthetic;

/// What a run printed and returned.
struct Run {
    out: String,
    err: String,
    code: Option<i32>,
}

impl Run {
    fn of(output: Output) -> Self {
        Self {
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
        }
    }

    /// The run must have succeeded.
    fn ok(self) -> Self {
        assert_eq!(
            self.code,
            Some(0),
            "stdout:\n{}\nstderr:\n{}",
            self.out,
            self.err
        );
        self
    }

    /// The run must have failed with a message that contains `reason`, and without a panic.
    fn fails_with(self, reason: &str) -> Self {
        assert!(
            self.code.is_some_and(|code| code != 0),
            "code {:?}\n{}",
            self.code,
            self.out
        );
        assert!(
            self.err.contains("error:"),
            "no error message:\n{}",
            self.err
        );
        assert!(
            self.err.contains(reason),
            "'{reason}' is not in:\n{}",
            self.err
        );
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }

    fn last_line(&self) -> &str {
        self.out.lines().last().unwrap_or_default()
    }
}

fn zoothera(arguments: &[&str]) -> Run {
    let mut command = engine();
    command.args(arguments).stdin(Stdio::null());
    Run::of(command.output().expect("the engine starts"))
}

/// A file of this test run; `name` must be unique among the tests.
fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).expect("the directory for tests is writable");
    path.to_string_lossy().into_owned()
}

/// The number before a word, as `123 nodes 456 nps` has it.
fn number_before(text: &str, word: &str) -> Option<u64> {
    let words: Vec<_> = text.split_whitespace().collect();
    let place = words.iter().position(|w| *w == word)?;
    words.get(place.checked_sub(1)?)?.parse().ok()
}

const MATE_IN_ONE: &str = "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1";

#[test]
fn help_and_version() {
    assert!(zoothera(&["--version"]).ok().out.starts_with("zoothera "));
    let help = zoothera(&["--help"]).ok().out;
    for command in [
        "bench", "perft", "eval", "analyse", "epd", "net", "cpu", "genfens",
    ] {
        assert!(help.contains(command), "{command} is not in the help");
        assert!(!zoothera(&[command, "--help"]).ok().out.is_empty());
    }
}

#[test]
fn unknown_commands_are_errors() {
    zoothera(&["anlayse"]).fails_with("anlayse");
    zoothera(&["bench", "deep"]).fails_with("deep");
    zoothera(&["perft"]).fails_with("DEPTH");
}

#[test]
fn bench_prints_what_both_test_farms_parse() {
    let first = zoothera(&["bench", "3"]).ok();
    let nodes = number_before(first.last_line(), "nodes").expect("nodes");
    assert!(
        number_before(first.last_line(), "nps").is_some(),
        "{}",
        first.last_line()
    );
    let value = |name: &str| {
        let line = first
            .err
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .expect("the line of fishtest");
        line.trim().parse::<u64>().expect("a number")
    };
    assert_eq!(value("Nodes searched  : "), nodes);
    value("Total time (ms) : ");
    value("Nodes/second    : ");

    let again = zoothera(&["bench", "16", "1", "3", "default", "depth"]).ok();
    assert_eq!(
        number_before(again.last_line(), "nodes"),
        Some(nodes),
        "bench is not reproducible"
    );
}

#[test]
fn perft_of_a_position() {
    assert_eq!(zoothera(&["perft", "4"]).ok().last_line(), "Nodes: 197281");
    let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
    let divided = zoothera(&["perft", "2", "--divide", "--fen", fen]).ok();
    assert_eq!(divided.last_line(), "Nodes: 2039");
    assert!(divided.out.contains("e1g1: 43"), "{}", divided.out);
    let fen = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9";
    assert_eq!(
        zoothera(&["perft", "3", "--chess960", "--fen", fen])
            .ok()
            .last_line(),
        "Nodes: 12189"
    );
    zoothera(&["perft", "3", "--fen", "8/8/8/8/8/8/8/8 w - - 0 1"]).fails_with("FEN");
}

#[test]
fn perft_of_a_suite() {
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let good = file("good.epd", &format!("{start} ;D1 20 ;D2 400 ;D9 1\n"));
    let run = zoothera(&["perft", "--suite", &good, "--max-depth", "2"]).ok();
    assert_eq!(run.last_line(), "Nodes: 420");
    let bad = file("bad.epd", &format!("{start} ;D1 20 ;D2 401\n"));
    let run = zoothera(&["perft", "--suite", &bad]).fails_with("1 of 2 counts differ");
    assert!(
        run.out
            .contains("MISMATCH depth 2: 400 found, 401 expected"),
        "{}",
        run.out
    );
    assert_eq!(run.code, Some(1));
    zoothera(&["perft", "--suite", "no-such-suite.epd"]).fails_with("no-such-suite.epd");
}

#[test]
fn eval_explains() {
    let run = zoothera(&["eval"]).ok();
    let line = run
        .out
        .lines()
        .find(|line| line.contains("(side to move, internal units)"))
        .expect("the line");
    let number = line.split_whitespace().nth(2).expect("a number");
    assert!(number.parse::<i32>().is_ok(), "{line}");
    let board = run
        .out
        .lines()
        .filter(|line| line.contains("+-------+"))
        .count();
    assert_eq!(board, 9);
    zoothera(&["eval", "rubbish"]).fails_with("rubbish");
    zoothera(&["eval", "--net", "no-such-net.nnue"]).fails_with("no-such-net.nnue");
}

#[test]
fn eval_prints_raw_outputs() {
    let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let fens = file(
        "fens.txt",
        &format!("{fen}\tmore\n\n# comment\n{MATE_IN_ONE}\n"),
    );
    let chosen = zoothera(&["eval", "--raw", "--file", &fens]).ok().out;
    let scalar = zoothera(&["eval", "--raw", "--file", &fens, "--kernel", "scalar"])
        .ok()
        .out;
    assert_eq!(chosen, scalar, "kernels disagree");
    let lines: Vec<_> = chosen
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0].0, fen);
    // One number, or piece-square value, positional value and bucket: as the architecture of the embedded net has it.
    for (_, raw) in lines {
        let numbers: Result<Vec<i32>, _> = raw.split('\t').map(str::parse).collect();
        assert!(numbers.is_ok_and(|n| [1, 3].contains(&n.len())), "{chosen}");
    }

    let bad = file("bad-fens.txt", &format!("rubbish\n{fen}\n"));
    let run = zoothera(&["eval", "--raw", "--file", &bad]).fails_with("1 lines");
    assert!(
        run.err.contains("bad-fens.txt:1:") && run.out.contains(fen),
        "{}",
        run.err
    );
    zoothera(&["eval", "--raw", "--file", &fens, "--kernel", "abacus"]).fails_with("abacus");
}

#[test]
fn analyse_for_people() {
    let run = zoothera(&["analyse", MATE_IN_ONE, "--depth", "4"]).ok();
    assert!(
        run.last_line().starts_with("Best move: 1. Rd8# (d1d8) #1"),
        "{}",
        run.out
    );
    let mated = zoothera(&[
        "analyse",
        "3R2k1/5ppp/8/8/8/8/8/K7 b - - 0 1",
        "--depth",
        "4",
    ])
    .ok();
    assert_eq!(mated.last_line(), "No legal move: checkmate.");
    zoothera(&["analyse", "8/8/8/8/8/8/8/8 w - - 0 1"]).fails_with("FEN");
    zoothera(&["analyse", "--depth", "many"]).fails_with("many");
}

#[test]
fn analyse_takes_positions_games_and_files() {
    let json = |arguments: &[&str]| -> Vec<serde_json::Value> {
        let arguments = [&["analyze", "--json", "--depth", "2"], arguments].concat();
        let messages = zoothera(&arguments).ok().out;
        messages
            .lines()
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect()
    };
    let fens = |messages: &[serde_json::Value]| -> Vec<String> {
        let best = messages.iter().filter(|message| message["type"] == "best");
        best.map(|message| message["fen"].as_str().expect("a FEN").to_owned())
            .collect()
    };
    let after = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    assert_eq!(fens(&json(&["startpos", "moves", "e2e4"])), [after]);
    let several = json(&[MATE_IN_ONE, "startpos moves e4"]);
    assert_eq!(fens(&several), [MATE_IN_ONE, after]);
    assert_eq!(
        several.iter().filter(|m| m["type"] == "position").count(),
        2
    );

    let games = file(
        "games.pgn",
        "[White \"A\"]\n[Black \"B\"]\n\n1. e4 *\n\n1. e4 Ke3 *\n",
    );
    let run = zoothera(&["analyse", "--depth", "2", &games]).ok();
    assert!(
        run.out.contains("game 1: A - B") && run.out.contains(after),
        "{}",
        run.out
    );
    assert!(
        run.err
            .contains("game 2: move 1... (ply 2) 'Ke3' is not legal"),
        "{}",
        run.err
    );
    let suite = file(
        "two.epd",
        &format!("{MATE_IN_ONE} bm Rd8#; id \"first\";\n{after}\n"),
    );
    let found = json(&[&suite]);
    assert_eq!(fens(&found).len(), 2);
    assert_eq!(found[0]["title"], "first");

    zoothera(&["analyse", "--syzygy", "/no/such/tables"]).fails_with("'/no/such/tables'");
    zoothera(&["analyse", "no-such.pgn"]).fails_with("no-such.pgn");
    zoothera(&["analyse", "startpos", "moves", "e2e5"]).fails_with("e2e5");
}

#[cfg(unix)]
#[test]
fn an_interrupted_analysis_shows_what_it_has() {
    let mut command = engine();
    command
        .args(["analyse", "--depth", "200"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let child = command.spawn().expect("the engine starts");
    // Long enough for the handler to be there: before, the signal ends the process.
    std::thread::sleep(std::time::Duration::from_secs(2));
    let interrupt = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(interrupt.is_ok_and(|status| status.success()));
    let run = Run::of(child.wait_with_output().expect("the engine ends")).ok();
    assert!(run.last_line().starts_with("Best move: 1. "), "{}", run.out);
}

#[test]
fn analyse_for_programs() {
    let run = zoothera(&["analyse", "--json", "--depth", "5", "--multipv", "2"]).ok();
    let lines: Vec<serde_json::Value> = run
        .out
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect();
    let (best, lines) = lines.split_last().expect("some lines");
    assert_eq!(best["type"], "best");
    assert_eq!(
        best["best"],
        lines
            .iter()
            .rfind(|line| line["multipv"] == 1)
            .expect("a first line")["pv"][0]
    );
    assert!(lines.iter().any(|line| line["multipv"] == 2));
    assert!(
        lines
            .iter()
            .all(|line| line["type"] == "line" && line["score"]["cp"].is_i64())
    );
}

#[test]
fn epd_scores_a_suite_and_survives_bad_lines() {
    let text = format!(
        "{MATE_IN_ONE} bm Rd8#; id \"mate\"; c0 \"Rd8#=10, Rd7=2\";\n\
         rubbish\n\
         6k1/5ppp/8/8/8/8/8/K2R4 w - - am Rd8; id \"wrong on purpose\";\n"
    );
    let suite = file("suite.epd", &text);
    let run = zoothera(&["epd", &suite, "--depth", "4", "--hash", "4"]).ok();
    assert!(run.err.contains("suite.epd:2:"), "{}", run.err);
    let expected = "Solved 1 of 2 (50.0 %), 10 of 10 points (100.0 %), 1 left out as unreadable";
    assert_eq!(run.last_line(), expected);
    assert!(
        run.out
            .lines()
            .any(|line| line.contains("mate") && line.contains(" ok ") && line.contains("Rd8#"))
    );
    let json = zoothera(&["epd", &suite, "--depth", "4", "--json"])
        .ok()
        .out;
    let messages: Vec<serde_json::Value> = json
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect();
    assert_eq!(messages.len(), 3, "{json}");
    assert_eq!(
        (&messages[0]["id"], &messages[0]["found"]),
        (&"mate".into(), &"Rd8#".into())
    );
    assert!(messages[0]["solved"] == true && messages[1]["solved"] == false);
    assert!(
        messages[2]["type"] == "summary" && messages[2]["points"] == 10,
        "{json}"
    );
    let empty = file("empty.epd", "# nothing\n");
    zoothera(&["epd", &empty]).fails_with("no position could be read");
    zoothera(&["epd", "no-such-suite.epd"]).fails_with("no position could be read");
}

#[test]
fn nets_are_shown_and_verified() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("material.nnue");
    let net = path.to_string_lossy();
    zoothera(&["net-material", &net]).ok();
    let info = zoothera(&["net", "info", &net]).ok();
    let sha256 = info
        .out
        .lines()
        .find_map(|line| line.strip_prefix("SHA-256"))
        .expect("the hash")
        .trim();
    assert_eq!(sha256.len(), 64);
    assert!(
        zoothera(&["net", "verify", &net])
            .ok()
            .last_line()
            .ends_with("is sound")
    );

    let named = path.with_file_name(format!("nn-{}.nnue", &sha256[..12]));
    fs::copy(&path, &named).expect("a copy");
    assert!(
        zoothera(&["net", "verify", &named.to_string_lossy()])
            .ok()
            .out
            .contains("name agrees")
    );
    let misnamed = path.with_file_name("nn-000000000000.nnue");
    fs::copy(&path, &misnamed).expect("a copy");
    zoothera(&["net", "verify", &misnamed.to_string_lossy()])
        .fails_with("the name says 000000000000");

    let bytes = fs::read(&path).expect("the net");
    let truncated = path.with_file_name("truncated.nnue");
    fs::write(&truncated, &bytes[..bytes.len() - 1]).expect("a copy");
    let run =
        zoothera(&["net", "verify", &truncated.to_string_lossy()]).fails_with("truncated.nnue");
    assert_eq!(run.code, Some(1));
    zoothera(&["net", "info", "no-such-net.nnue"]).fails_with("no-such-net.nnue");
}

#[test]
fn a_net_of_our_own_shape_is_shown_and_verified() {
    let own = Architecture::from_words([0, 128, 1, 16, 32, 1]).expect("a shape that we run");
    let bytes = synthetic::network(own, &synthetic::A, false);
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("own.nnue");
    let net = path.to_string_lossy();
    fs::write(&path, &bytes).expect("the net");
    let info = zoothera(&["net", "info", &net]).ok().out;
    for line in [
        "Architecture  HalfKP 128x2-16-32-1 SCReLU (own)",
        "Activation    squared clipped ReLU, then clipped ReLU",
        "Version       0x5a6f6f31",
    ] {
        assert!(info.contains(line), "no '{line}' in:\n{info}");
    }
    assert!(
        zoothera(&["net", "verify", &net])
            .ok()
            .last_line()
            .ends_with("is sound")
    );
    let mut wider = bytes;
    wider[12 + b"synthetic".len() + 4] = 64;
    fs::write(&path, wider).expect("the net");
    zoothera(&["net", "verify", &net]).fails_with("width 64; this engine runs 128, 256 or 512");
}

#[test]
fn nets_are_exported_byte_for_byte() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let (net, copy) = (path("exported.nnue"), path("again.nnue"));
    let (small, large) = (path("small.nnue"), path("large.nnue"));
    let bytes = |name: &str| fs::read(name).expect("a net");
    zoothera(&["net-material", &net]).ok();
    let run = zoothera(&["net", "export", &copy, "--net", &net]).ok();
    assert!(run.out.contains("not compressed"));
    assert!(bytes(&net) == bytes(&copy));
    zoothera(&["net", "export", &small, "--net", &net, "--compress"]).ok();
    assert!(bytes(&small).len() < bytes(&net).len() * 2 / 3);
    let info = zoothera(&["net", "info", &small]).ok();
    assert!(info.out.contains("Compression   LEB128"));
    zoothera(&["net", "export", &copy, "--net", &small]).ok();
    assert!(bytes(&small) == bytes(&copy), "as it was read");
    zoothera(&["net", "export", &large, "--net", &small, "--decompress"]).ok();
    assert!(bytes(&large) == bytes(&net));
    zoothera(&["net", "export", &path("no/such/folder")]).fails_with("no/such/folder");
}

#[test]
fn cpu_names_the_kernel() {
    let out = zoothera(&["cpu"]).ok().out;
    assert!(out.contains("Kernels") && out.contains("Chosen"), "{out}");
}

#[test]
fn genfens_in_the_form_of_openbench() {
    let openings = |arguments: &[&str]| -> Vec<String> {
        let run = zoothera(arguments).ok();
        let fen = |line: &str| {
            line.strip_prefix("info string genfens ")
                .expect("only openings")
                .to_owned()
        };
        run.out.lines().map(fen).collect()
    };
    let quoted = openings(&["genfens 5 seed 42 book None", "quit"]);
    assert_eq!(quoted.len(), 5);
    assert!(quoted.iter().all(|fen| fen.split(' ').count() == 6));
    assert_eq!(
        quoted,
        openings(&["genfens", "5", "seed", "42", "book", "None"])
    );
    assert_ne!(quoted, openings(&["genfens 5 seed 43 book None", "quit"]));

    let book = file(
        "book.epd",
        "rnbqkb1r/pp2pppp/3p1n2/8/3NP3/2N5/PPP2PPP/R1BQKB1R b KQkq -  \n",
    );
    assert_eq!(
        openings(&[&format!("genfens 3 seed 1 book {book}"), "quit"]).len(),
        3
    );
    zoothera(&["genfens 3 seed 1 book no-such-book.epd", "quit"]).fails_with("no-such-book.epd");
    zoothera(&["genfens 3 seed"]).fails_with("genfens N seed S book");
}

#[test]
fn uci_commands_as_arguments() {
    assert!(
        zoothera(&["uci", "quit"])
            .ok()
            .out
            .lines()
            .any(|line| line == "uciok")
    );
    let run = zoothera(&["go", "depth", "3"]).ok();
    assert_eq!(
        run.out
            .lines()
            .filter(|line| line.starts_with("bestmove "))
            .count(),
        1,
        "{}",
        run.out
    );
    let run = zoothera(&[&format!("position fen {MATE_IN_ONE}"), "go depth 3", "quit"]).ok();
    assert!(run.last_line().starts_with("bestmove d1d8"), "{}", run.out);
}

#[test]
fn the_end_of_the_input_ends_the_engine() {
    assert_eq!(zoothera(&[]).ok().err, "");
}

#[cfg(unix)]
#[test]
fn a_closed_stdout_is_no_panic() {
    for arguments in [
        &["perft", "3", "--divide"][..],
        &["bench", "2"],
        &["analyse", "--depth", "6"],
        &["cpu"],
    ] {
        let mut command = engine();
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the engine starts");
        drop(child.stdout.take());
        let run = Run::of(child.wait_with_output().expect("the engine ends"));
        assert!(
            matches!(run.code, Some(0 | 1)),
            "{arguments:?}: {:?}",
            run.code
        );
        assert!(!run.err.contains("panicked"), "{arguments:?}: {}", run.err);
    }
}

#[test]
fn no_error_speaks_rust() {
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
        for raw in [
            "digit found",
            "os error",
            "float literal",
            "target type",
            "Err(",
            "{ ",
        ] {
            assert!(!run.err.contains(raw), "{arguments:?}: {}", run.err);
        }
        let twice = run.err.matches("s a directory").count();
        assert!(twice <= 1, "{arguments:?}: {}", run.err);
    }
}

/// A game of `play`, typed as one text.
fn play(arguments: &[&str], typed: &str) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_zoothera"))
        .arg("play")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the engine starts");
    let mut input = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut input, typed.as_bytes()).expect("the engine reads");
    drop(input);
    Run::of(child.wait_with_output().expect("the engine ends"))
}

#[test]
fn a_game_is_played_taken_back_and_saved() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("game.pgn");
    let pgn = path.to_str().expect("a name");
    let level = ["--elo", "600", "--seed", "5", "--pgn", pgn];
    let run = play(&level, "e4\nback\nd2d4\nhint\nKe5\nmoves\nresign\n").ok();
    assert!(run.out.contains("Try ") && run.out.contains("White resigns: 0-1"));
    assert!(
        run.out.contains("'Ke5' is not a legal move in "),
        "{}",
        run.out
    );
    let text = fs::read_to_string(&path).expect("a game");
    assert!(
        text.contains("\n1. d4 ") && text.contains("[Result \"0-1\"]"),
        "{text}"
    );
    let today = chrono::Utc::now()
        .format("[UTCDate \"%Y.%m.%d\"]")
        .to_string();
    // A game that ends at midnight began the day before.
    assert!(
        text.contains(&today) || text.contains("[UTCTime \"23:59:"),
        "{text}"
    );
    assert!(
        text.contains("[Black \"Zoothera (Elo 600, Level Seed 5)\"]"),
        "{text}"
    );
    // The same seed answers in the same way; the end of the input leaves the game unfinished, and adds it.
    let again = play(&level, "d4\n").ok();
    assert!(again.out.contains("Unfinished: *"));
    let both = fs::read_to_string(&path).expect("two games");
    assert!(both.starts_with(&text) && both.matches("[Event").count() == 2);
    let moves = |text: &str| {
        let line = text.lines().rev().find(|line| line.starts_with("1. d4"));
        line.map(|line| line.split(' ').take(3).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(moves(&text), moves(&both));
}

#[test]
fn games_end_by_mate_stalemate_and_agreement() {
    let mate = ["--fen", "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"];
    assert!(play(&mate, "Ra8\n").ok().out.contains("White mates: 1-0"));
    let stalemate = ["--fen", "7k/8/6K1/8/8/8/8/5Q2 w - - 0 1"];
    assert!(
        play(&stalemate, "Qf7\n")
            .ok()
            .out
            .contains("Stalemate: 1/2-1/2")
    );
    let equal = ["--fen", "4k3/4p3/8/8/8/8/4P3/4K3 w - - 0 1"];
    assert!(
        play(&equal, "Kd2\ndraw\n")
            .ok()
            .out
            .contains("Draw agreed: 1/2-1/2")
    );
    let black = [
        "--colour",
        "black",
        "--fen",
        "k7/8/1K6/8/8/8/8/7R w - - 0 1",
    ];
    assert!(play(&black, "").ok().out.contains("Rh8#"));
    play(&["--fen", "rubbish"], "").fails_with("rubbish");
    play(&["--elo", "5"], "").fails_with("500");
}

#[test]
fn an_analysis_goes_on_from_its_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("lasting.hash");
    let path = path.to_str().expect("a name");
    let to_depth = |depth, file: &[&str]| {
        let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
        let arguments = ["analyse", fen, "--depth", depth, "--json"];
        zoothera(&[&arguments, file].concat())
    };
    let nodes = |run: &Run| -> u64 {
        let best: serde_json::Value = serde_json::from_str(run.last_line()).expect("JSON");
        best["nodes"].as_u64().expect("nodes")
    };
    let file = ["--hash-file", path];
    let alone = to_depth("11", &[]).ok();
    // Deeper than what is compared: of a search as deep as itself a table may save much or little.
    let first = to_depth("15", &file).ok();
    assert!(first.err.contains("MB written"), "{}", first.err);
    let second = to_depth("11", &file).ok();
    assert!(second.err.contains("a table of 64 MiB read"));
    assert!(nodes(&second) * 2 < nodes(&alone));
    std::fs::write(path, "something else").expect("room");
    to_depth("11", &file).fails_with("holds no transposition table");
    assert_eq!(
        std::fs::read_to_string(path).ok().as_deref(),
        Some("something else"),
        "what is no table is not overwritten"
    );
}

#[test]
fn a_book_is_made_of_games_and_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("book.bin");
    let path = path.to_str().expect("a name");
    let games = file(
        "book.pgn",
        "[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 1-0\n\n[Result \"1/2-1/2\"]\n\n1. d4 d5 1/2-1/2\n\n\
         [Result \"0-1\"]\n\n1. e4 Ke7 0-1\n\n",
    );
    let made = zoothera(&["book", "build", &games, "--out", path, "--min-games", "1"]).ok();
    assert!(
        made.out.contains("4 moves of 3 positions, from 2 games"),
        "{}",
        made.out
    );
    assert!(
        made.err.contains("game 3") && made.err.contains("Ke7"),
        "{}",
        made.err
    );
    let shown = zoothera(&["book", "show", "--book", path]).ok().out;
    let rows: Vec<&str> = shown.lines().skip(3).collect();
    assert_eq!(
        rows,
        ["     2   66.7%  e4 (e2e4)", "     1   33.3%  d4 (d2d4)"],
        "{shown}"
    );
    let later = zoothera(&["book", "show", "startpos moves e2e4", "--book", path]).ok();
    assert!(
        !later.out.contains("e7e5"),
        "1...e5 only lost: {}",
        later.out
    );
    zoothera(&["book", "build", &games, "--out", path]).fails_with("--min-games");
    let again = zoothera(&["book", "show", "--book", path]).ok();
    assert_eq!(again.out, shown, "the book that was there stays");
}
