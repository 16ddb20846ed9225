//! `analyse`, `eval` and `epd`: results for positions.

use std::process::{Command, Stdio};

use crate::MATE_IN_ONE;
use crate::common::engine::engine;
use crate::common::schema::Schema;
use crate::run::{Run, file, zoothera};

#[test]
fn eval_prints_board_and_value_and_rejects_bad_input() {
    let run = zoothera(&["eval"]).ok();
    let line = run
        .out
        .lines()
        .find(|line| line.contains("(side to move, internal units)"))
        .expect("the line of the evaluation");
    let number = line.split_whitespace().nth(2).expect("a number");
    assert!(number.parse::<i32>().is_ok(), "{line}");
    let board = run.out.lines().filter(|line| line.contains("+-------+")).count();
    assert_eq!(board, 9);
    zoothera(&["eval", "rubbish"]).fails_with("rubbish");
    zoothera(&["eval", "--net", "no-such-net.nnue"]).fails_with("no-such-net.nnue");
}

#[test]
fn eval_prints_raw_outputs() {
    let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let fens = file("fens.txt", &format!("{fen}\tmore\n\n# comment\n{MATE_IN_ONE}\n"));
    let chosen = zoothera(&["eval", "--raw", "--file", &fens]).ok().out;
    let scalar = zoothera(&["eval", "--raw", "--file", &fens, "--kernel", "scalar"]).ok().out;
    assert_eq!(chosen, scalar, "the kernels give different outputs");
    let lines: Vec<_> = chosen.lines().filter_map(|line| line.split_once('\t')).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0].0, fen);
    // One number, or piece-square value, positional value and bucket, depending on the embedded net's architecture.
    for (_, raw) in lines {
        let numbers: Result<Vec<i32>, _> = raw.split('\t').map(str::parse).collect();
        assert!(numbers.is_ok_and(|n| [1, 3].contains(&n.len())), "{chosen}");
    }

    let bad = file("bad-fens.txt", &format!("rubbish\n{fen}\n"));
    let run = zoothera(&["eval", "--raw", "--file", &bad]).fails_with("1 invalid position");
    assert!(run.err.contains("bad-fens.txt:1:") && run.out.contains(fen), "{}", run.err);
    zoothera(&["eval", "--raw", "--file", &fens, "--kernel", "abacus"]).fails_with("abacus");
}

#[test]
fn analyse_prints_best_move_or_checkmate() {
    let run = zoothera(&["analyse", MATE_IN_ONE, "--depth", "4"]).ok();
    assert!(run.last_line().starts_with("Best move: 1. Rd8# (d1d8), #1 at depth "), "{}", run.out);
    let mated = zoothera(&["analyse", "3R2k1/5ppp/8/8/8/8/8/K7 b - - 0 1", "--depth", "4"]).ok();
    assert_eq!(mated.last_line(), "No legal move: checkmate.");
    zoothera(&["analyse", "8/8/8/8/8/8/8/8 w - - 0 1"]).fails_with("FEN");
    zoothera(&["analyse", "--depth", "many"]).fails_with("many");
}

#[test]
fn analyse_accepts_positions_games_and_files() {
    let json = |arguments: &[&str]| -> Vec<serde_json::Value> {
        let arguments = [&["analyze", "--json", "--depth", "2"], arguments].concat();
        let messages = zoothera(&arguments).ok().out;
        messages.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    };
    let fens = |messages: &[serde_json::Value]| -> Vec<String> {
        let best = messages.iter().filter(|message| message["type"] == "best");
        best.map(|message| message["fen"].as_str().expect("a FEN").to_owned()).collect()
    };
    let after = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    assert_eq!(fens(&json(&["startpos", "moves", "e2e4"])), [after]);
    for spelled in ["startpos moves e2-e4!", "startpos moves 1. E2E4", "1. e4", "1.e4"] {
        assert_eq!(fens(&json(&[spelled])), [after], "{spelled}");
    }
    let several = json(&[MATE_IN_ONE, "startpos moves e4"]);
    assert_eq!(fens(&several), [MATE_IN_ONE, after]);
    assert_eq!(several.iter().filter(|m| m["type"] == "position").count(), 2);

    let games = file("games.pgn", "[White \"A\"]\n[Black \"B\"]\n\n1. e4 *\n\n1. e4 Ke3 *\n");
    let run = zoothera(&["analyse", "--depth", "2", &games]).fails_with("1 game or position was skipped or cut");
    assert!(run.out.contains("game 1: A - B") && run.out.contains(after), "{}", run.out);
    assert!(run.err.contains("game 2: move 1... (ply 2) 'Ke3' is not legal"), "{}", run.err);
    let suite = file("two.epd", &format!("{MATE_IN_ONE} bm Rd8#; id \"first\";\n{after}\n"));
    let found = json(&[&suite]);
    assert_eq!(fens(&found).len(), 2);
    assert_eq!(found[0]["title"], "first");

    // Standard input, in each format.
    for (typed, expected) in [
        (after, vec![after]),
        ("startpos moves e4\n", vec![after]),
        ("1. e4 {best by test} *\n", vec![after]),
        ("[White \"A\"]\n\n1. e4 e5 *\n\n[White \"B\"]\n\n1. e4 *\n", vec![OPEN, after]),
    ] {
        let run = with_input(&["analyse", "--json", "--depth", "2", "-"], typed).ok();
        let messages: Vec<serde_json::Value> =
            run.out.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
        assert_eq!(fens(&messages), expected, "{typed}");
    }
    zoothera(&["analyse", "--syzygy", "/no/such/tables"]).fails_with("'/no/such/tables'");
    zoothera(&["analyse", "no-such.pgn"]).fails_with("no-such.pgn");
    zoothera(&["analyse", "startpos", "moves", "e2e5"]).fails_with("e2e5");
}

/// The position after 1. e4 e5.
const OPEN: &str = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";

/// Runs the engine with the text as its standard input.
fn with_input(arguments: &[&str], text: &str) -> Run {
    let mut command = engine();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the engine starts");
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), text.as_bytes()).expect("the engine reads");
    Run::of(child.wait_with_output().expect("the engine ends"))
}

#[test]
fn at_selects_a_position_of_a_game_in_every_tool() {
    let games = file("at.pgn", "[White \"A\"]\n\n1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0\n\n1. d4 d5 *\n");
    let run = zoothera(&["analyse", "--depth", "2", "--json", &games, "--game", "1", "--at", "2"]).ok();
    assert!(run.last_line().contains(OPEN), "{}", run.out);
    let run = zoothera(&["eval", &games, "--at", "2w", "--game", "1"]).ok();
    assert!(run.out.starts_with("game 1"), "{}", run.out);
    let run = zoothera(&["explain", "--nodes", "2k", &games, "--game", "1", "--at", "2b"]).ok();
    assert!(run.out.starts_with("2... Ke7??"), "{}", run.out);
    let run = zoothera(&["explain", "--nodes", "2k", &games, "--game", "1", "--at", "2b", "Nc6"]).ok();
    assert!(run.out.starts_with("2... Nc6"), "{}", run.out);
    zoothera(&["explain", &games, "--game", "1", "--at", "3b"]).fails_with("the game ends at this place");
    zoothera(&["explain", &games, "--at", "3", "e4"]).fails_with("game 2 does not reach move 3w");
    zoothera(&["explain", &games, "--at", "2", "e4"]).fails_with("there are 2 positions");
    zoothera(&["analyse", &games, "--game", "3"]).fails_with("has no game 3; its last game is 2");
    zoothera(&["analyse", "startpos", "--at", "3"]).fails_with("give a PGN file");
    zoothera(&["analyse", &games, "--at", "third"]).fails_with("expected a move number such as 15, 15w or 15b");
}

#[test]
fn searchmoves_restricts_analysis() {
    let best = |moves: &str| zoothera(&["analyse", MATE_IN_ONE, "--depth", "4", "--searchmoves", moves]).ok().out;
    assert!(best("Rd7").contains("Best move: 1. Rd7 "));
    assert!(
        best("d1d2,Kb2")
            .lines()
            .any(|line| line.starts_with("Best move: 1. Rd2 ") || line.starts_with("Best move: 1. Kb2 "))
    );
    zoothera(&["analyse", MATE_IN_ONE, "--searchmoves", "Qd8"]).fails_with("--searchmoves: 'Qd8' is not a legal move");
}

#[test]
fn scores_are_from_whites_view_in_text_and_json() {
    // White is a queen up, with either side to move.
    for turn in ["w", "b"] {
        let fen = format!("k7/8/8/8/8/8/PP6/KQ6 {turn} - - 0 1");
        let json = zoothera(&["analyse", &fen, "--nodes", "2k", "--json"]).ok();
        let best: serde_json::Value = serde_json::from_str(json.last_line()).expect("JSON");
        let score = &best["score"];
        assert!(score["cp"].as_i64().or(score["mate"].as_i64()).is_some_and(|value| value > 0), "{best}");
    }
}

#[cfg(unix)]
#[test]
fn interrupted_analysis_prints_best_move_so_far() {
    let mut command = engine();
    command.args(["analyse", "--depth", "200"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the engine starts");
    // Time for the engine to install its handler; an earlier signal would kill the process.
    std::thread::sleep(std::time::Duration::from_secs(2));
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupt.is_ok_and(|status| status.success()));
    let run = Run::of(child.wait_with_output().expect("the engine ends"));
    assert_eq!(run.code, Some(130), "{}", run.err);
    assert!(run.err.contains("interrupted") && !run.err.contains("error:"), "{}", run.err);
    assert!(run.last_line().starts_with("Best move: 1. "), "{}", run.out);
}

#[test]
fn analyse_json_has_all_lines_and_best_move() {
    let run = zoothera(&["analyse", "--json", "--depth", "5", "--multipv", "2"]).ok();
    let lines: Vec<serde_json::Value> =
        run.out.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    lines.iter().for_each(|line| Schema::read("src/tools/analyse.schema.json").check(line));
    let (best, lines) = lines.split_last().expect("some lines");
    assert_eq!(best["type"], "best");
    assert_eq!(best["best"], lines.iter().rfind(|line| line["multipv"] == 1).expect("a line with multipv 1")["pv"][0]);
    assert!(lines.iter().any(|line| line["multipv"] == 2));
    assert!(lines.iter().all(|line| line["type"] == "line" && line["score"]["cp"].is_i64()));
}

#[test]
fn analysis_resumes_from_hash_file() {
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
    // Deeper than the searches compared below: a table from a search of equal depth saves an unpredictable amount.
    let first = to_depth("15", &file).ok();
    assert!(first.err.contains("MB written"), "{}", first.err);
    let second = to_depth("11", &file).ok();
    assert!(second.err.contains("a table of 64 MiB read"));
    assert!(nodes(&second) * 2 < nodes(&alone));
    std::fs::write(path, "something else").expect("the file is written");
    to_depth("11", &file).fails_with("not a file with a transposition table");
    assert_eq!(
        std::fs::read_to_string(path).ok().as_deref(),
        Some("something else"),
        "a file of another kind is not overwritten"
    );
}

#[test]
fn epd_scores_suite_and_skips_bad_lines() {
    let text = format!(
        "{MATE_IN_ONE} bm Rd8#; id \"mate\"; c0 \"Rd8#=10, Rd7=2\";\n\
         rubbish\n\
         6k1/5ppp/8/8/8/8/8/K2R4 w - - am Rd8; id \"wrong on purpose\";\n"
    );
    let suite = file("suite.epd", &text);
    let run = zoothera(&["epd", &suite, "--depth", "4", "--hash", "4"]).fails_with("1 line or file was skipped");
    assert!(run.err.contains("suite.epd:2:"), "{}", run.err);
    let expected = "Solved 1 of 2 (50.0 %), 10 of 10 points (100.0 %), 1 skipped as unreadable";
    assert_eq!(run.last_line(), expected);
    assert!(run.out.lines().any(|line| line.contains("mate") && line.contains(" ok ") && line.contains("Rd8#")));
    let json = zoothera(&["epd", &suite, "--depth", "4", "--json"]).fails_with("1 line or file was skipped").out;
    let messages: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    assert_eq!(messages.len(), 3, "{json}");
    messages.iter().for_each(|message| Schema::read("src/tools/epd/epd.schema.json").check(message));
    assert_eq!((&messages[0]["id"], &messages[0]["found"]), (&"mate".into(), &"Rd8#".into()));
    assert!(messages[0]["solved"] == true && messages[1]["solved"] == false);
    assert!(messages[2]["type"] == "summary" && messages[2]["points"] == 10, "{json}");
    let empty = file("empty.epd", "# nothing\n");
    zoothera(&["epd", &empty]).fails_with("no position could be read");
    zoothera(&["epd", "no-such-suite.epd"]).fails_with("no position could be read");
}

#[test]
fn byte_order_mark_is_skipped_in_every_text_file() {
    let marked = |name: &str, text: &str| file(name, &format!("\u{feff}{text}"));
    let suite = marked("marked.epd", &format!("{MATE_IN_ONE} bm Rd8#;\n"));
    let run = zoothera(&["epd", &suite, "--depth", "2", "--hash", "4"]).ok();
    assert_eq!(run.last_line(), "Solved 1 of 1 (100.0 %)");
    assert_eq!(run.err, "");
    zoothera(&["analyse", &suite, "--depth", "1", "--hash", "4"]).ok();
    let raw = zoothera(&["eval", "--raw", "--file", &suite]);
    assert!(!raw.err.contains("bad FEN '\u{feff}"), "{}", raw.err);
    let fens = marked("marked.fen", &format!("{MATE_IN_ONE}\n"));
    assert_eq!(zoothera(&["eval", "--raw", "--file", &fens]).ok().out.lines().count(), 1);
    let perft = marked("marked-perft.epd", "4k3/8/8/8/8/8/8/4K3 w - - 0 1 ;D1 5\n");
    zoothera(&["perft", "--suite", &perft]).ok();
    let plain = marked(
        "marked.plain",
        "fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\nmove e2e4\nscore 23\nply 0\nresult 1\ne\n",
    );
    zoothera(&["data", "info", &plain]).ok();
    let book = marked("marked-book.epd", "8/8/4k3/8/8/8/4P3/4K3 w - -\n");
    zoothera(&["bench", "16", "1", "1", &book, "depth"]).ok();
    let config = marked("marked.toml", "milions = 1\n");
    let run = zoothera(&["train", "--config", &config, "no-such.tree", "--out", "no-such.nnue"]);
    assert!(run.err.contains("milions"), "{}", run.err);
}

#[test]
fn epd_accepts_common_variants_of_the_format() {
    let suite = file(
        "people.epd",
        "r1bqk1r1/1p1p1n2/p1n2pN1/2p1b2Q/2P1Pp2/1PN5/PB4PP/R4RK1 w q - - bm Rxf4; id \"ERET 001\";\n\
         4k2r/8/8/8/8/8/8/4K2R w Kk - ; bm 0-0 h1-h8;\n\
         7k/8/5K2/6Q1/8/8/8/8 w - -; bm #2;\n\
         7k/8/5K2/8/8/8/8/Q7 b - - bm #-3;\n\
         7k/P7/8/8/8/8/8/K7 w - - bm a8Q; id \"\u{1b}[2J\";\n",
    );
    let run = zoothera(&["epd", &suite, "--depth", "9", "--hash", "4"]).ok();
    assert_eq!(run.err, "");
    assert!(run.last_line().contains(" of 5 (") && !run.last_line().contains("unreadable"), "{}", run.out);
    assert!(!run.out.contains('\u{1b}'), "{}", run.out);
    let solved =
        |number: &str| run.out.lines().any(|line| line.trim_start().starts_with(number) && line.contains(" ok "));
    assert!(["1 ", "2 ", "3 ", "5 "].into_iter().all(solved), "{}", run.out);
}

#[test]
fn escapes_in_input_are_not_printed() {
    let games = file(
        "escapes.pgn",
        "[White \"\u{1b}]52;c;x\u{7}\"]\n[Black \"\u{202e}b\"]\n\n1. e4 e5 \u{1b}[2J *\n\n1. e4 *\n",
    );
    for command in
        [&["analyse", &games, "--depth", "1"][..], &["review", &games, "--nodes", "100"], &["analyse", "\u{1b}[2Jx"]]
    {
        let run = zoothera(command);
        let foreign = |c: char| matches!(c, '\u{1b}' | '\u{7}' | '\u{202e}');
        assert!(!run.out.contains(foreign) && !run.err.contains(foreign), "{}\n{}", run.out, run.err);
        assert!(run.err.contains("[2J"), "{}", run.err);
    }
}
