//! Games reviewed end to end: input, outputs and messages. The page has its own tests, in `tests/page.rs`.

mod common;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::folder::Folder;
use common::schema::Schema;
use serde_json::Value;

/// A short game with clocks and odd names, one from a position, one in Chess960, a broken one.
const GAMES: &str = "[White \"A <b>&\"]\n[Black \"B </script>\"]\n[Result \"1-0\"]\n\n\
    1. e4 {[%clk 0:01:00] <i>&} e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n\n\
    [FEN \"6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 30\"]\n[SetUp \"1\"]\n\n30. h3 h6 31. Rd8+ Kh7 1/2-1/2\n\n\
    [Variant \"Chess960\"]\n[FEN \"bqnbrkr1/pppppppp/5n2/8/8/5N2/PPPPPPPP/BQ1BRKRN w GEge - 0 2\"]\n\n2. e3 O-O *\n\n\
    [White \"C\"]\n\n1. e4 e5 2. Nf6 *\n";

fn zoothera(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zoothera"));
    command.args(arguments).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Output of a run on [`GAMES`], which contain a mistake: the run must review the other games, and fail at the end.
fn named_a_mistake(output: Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "stdout:\n{out}\nstderr:\n{err}");
    assert!(err.contains("error: 1 game was cut or skipped"), "{err}");
    (out, err)
}

/// Output of a run, which must have succeeded.
fn succeeded(output: Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "stdout:\n{out}\nstderr:\n{err}");
    (out, err)
}

fn run(arguments: &[&str]) -> (String, String) {
    succeeded(zoothera(arguments).output().expect("the engine starts"))
}

fn run_with_a_mistake(arguments: &[&str]) -> (String, String) {
    named_a_mistake(zoothera(arguments).output().expect("the engine starts"))
}

fn name(path: &Path) -> &str {
    path.to_str().expect("a plain name")
}

#[test]
fn games_from_standard_input_become_annotated_games() {
    let mut child =
        zoothera(&["review", "-", "--nodes", "2000"]).stdin(Stdio::piped()).spawn().expect("the engine starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(GAMES.as_bytes()).expect("it is read");
    drop(stdin);
    let (out, err) = named_a_mistake(child.wait_with_output().expect("it ends"));
    assert!(err.contains("game 4: move 2. (ply 3) 'Nf6' is not legal"), "{err}");
    assert_eq!(out.matches("[Result ").count(), 4, "{out}");
    // The broken game is reviewed up to the mistake, which its last comment names.
    let comment = "game 4: move 2. (ply 3) 'Nf6' is not legal: White has no knight that can go to f6";
    assert!(out.contains(comment), "{out}");
    assert!(out.matches("[%eval ").count() >= 13, "{out}");
    assert!(out.contains("[%clk 0:01:00] <i>&"), "{out}");
    assert!(out.contains("Nf6 $4"), "{out}");
    // Mate was missed. The mark depends on the default net's evaluation of the rest.
    assert!(out.contains("30. h3 $"), "{out}");
    assert!(out.contains("2... O-O"), "{out}");
}

#[test]
fn review_writes_every_output_and_no_other_file() {
    let folder = Folder::new("review");
    let games = folder.file("games.pgn", GAMES.as_bytes());
    let (pgn, html) = (folder.path("out.pgn"), folder.path("out.html"));
    let common = ["review", name(&games), "--nodes", "1000", "--lines", "2", "--detail", "full"];
    let outputs = ["--pgn", name(&pgn), "--html", name(&html), "--json"];
    let (out, _) = run_with_a_mistake(&[&common[..], &outputs[..]].concat());
    assert_eq!(out.lines().count(), 4);
    assert_eq!(folder.names(), ["games.pgn", "out.html", "out.pgn"]);
    let page = fs::read_to_string(&html).expect("the page");
    assert!(page.contains("A &lt;b&gt;&amp;") && !page.contains("A <b>"), "names are escaped");
    assert_eq!(page.matches("</script>").count(), 4 + 1, "only ours end");
    assert!(
        !page.contains("http://")
            || page.matches("http://").count() == page.matches("http://www.w3.org/2000/svg").count()
    );
    assert!(!page.contains("https://") && !page.contains(" src="), "nothing is loaded");
    // A second review of an annotated game gives the same result, once.
    let (again, _) = run(&["review", name(&pgn), "--nodes", "1000", "--detail", "brief"]);
    assert_eq!(again.matches("[%clk 0:01:00]").count(), 1);
}

#[test]
fn json_matches_its_schema() {
    let schema = Schema::read("src/review/review.schema.json");
    let folder = Folder::new("schema");
    let games = folder.file("games.pgn", GAMES.as_bytes());
    let (out, _) = run_with_a_mistake(&["review", name(&games), "--nodes", "1500", "--json", "--detail", "full"]);
    for line in out.lines() {
        let game: Value = serde_json::from_str(line).expect("JSON");
        schema.check(&game);
    }
    let first: Value = serde_json::from_str(out.lines().next().unwrap_or_default()).expect("JSON");
    assert_eq!(first["moves"][5]["mark"], "??");
    assert_eq!(first["moves"][5]["reasons"][0]["kind"], "allows_mate");
    assert_eq!(first["moves"][0]["clock"], "0:01:00");
    assert_eq!(first["opening"]["eco"], "C23");
    assert_eq!(first["tags"]["White"], "A <b>&");
}

#[test]
fn invalid_input_is_reported_before_the_first_search() {
    let folder = Folder::new("mistakes");
    let games = folder.file("games.pgn", GAMES.as_bytes());
    let broken = folder.file("broken.pgn", b"1. Nf6 *\n");
    let word = folder.file("word.pgn", b"hello\n");
    let fails = |arguments: &[&str], reason: &str| {
        let output = zoothera(arguments).output().expect("the engine starts");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && err.contains(reason), "{err}");
    };
    fails(&["review", "no-such.pgn"], "no-such.pgn");
    fails(&["review", name(&broken)], "has no game that can be read");
    fails(&["review", name(&word)], "game 1: move 1. (ply 1) 'hello' is not a move");
    fails(&["review", name(&games), "--html", "no/such/folder/x.html"], "no/such/folder");
    fails(&["review", name(&games), "--json", "--pgn", "-"], "standard output");
    fails(&["review"], "GAMES");
    fails(&["review", "--svg", "8/8 w"], "bad FEN");
    fails(&["explain", "startpos", "e5"], "e5");
    fails(&["explain", "e4"], "no position before 'e4'; give one, as in: zoothera explain startpos e4");
}

#[test]
fn one_move_and_one_picture() {
    let scholar = "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3";
    let (out, _) = run(&["explain", scholar, "Nf6", "--nodes", "3000"]);
    assert!(out.starts_with("3... Nf6?? (blunder)"), "{out}");
    assert!(out.contains("It allows mate in 1: 4.Qxf7#."), "{out}");
    let (json, _) = run(&["explain", scholar, "g8f6", "--nodes", "3000", "--json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["mark"], "??");
    Schema::read("src/review/explain.schema.json").check(&json);
    let (svg, _) = run(&["review", "--svg", scholar]);
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"), "{svg}");
}

/// White is a queen up against a bare king with two pawns.
const QUEEN: &str = "7k/6pp/8/8/8/2Q5/5PPP/6K1 w - -";

#[test]
fn draws_by_rule_end_games_everywhere() {
    let explain = |start: &str, m: &str| run(&["explain", start, m, "--nodes", "20000"]).0;
    // The hundredth ply: drawn like every other move.
    let hundredth = explain(&format!("{QUEEN} 96 80 moves c3d3 h8g8 d3c4"), "Kh8");
    assert!(hundredth.starts_with("81... Kh8\n") || hundredth.starts_with("81... Kh8 (the best move)"), "{hundredth}");
    assert!(hundredth.contains("It ends the game: a draw by the fifty-move rule."), "{hundredth}");
    // The opponent repeats for the third time, and no line goes on.
    let again = explain(&format!("{QUEEN} 0 1 moves c3d3 h8g8 d3c3 g8h8 c3d3 h8g8"), "Qc3");
    assert!(again.contains("4...Kh8 the game ends in a draw by threefold repetition (+0.00)"), "{again}");
    assert!(!again.contains("Qc8#"), "{again}");
    // The game was over before the move.
    let over = format!("{QUEEN} 0 1 moves c3d3 h8g8 d3c3 g8h8 c3d3 h8g8 d3c3 g8h8");
    let later = explain(&over, "Qa3");
    assert!(later.starts_with("5. Qa3\n") && later.contains("a draw by threefold repetition"), "{later}");
    let (analysed, _) = run(&["analyse", &over, "--nodes", "1000"]);
    assert!(analysed.contains("The game is over: a draw by threefold repetition."), "{analysed}");
    let (json, _) = run(&["analyse", &format!("{QUEEN} 100 90"), "--nodes", "1000", "--json"]);
    let json: Value = serde_json::from_str(json.trim()).expect("one line of JSON");
    assert_eq!((&json["score"]["cp"], &json["best"]), (&Value::from(0), &Value::Null));
}

#[test]
fn game_of_many_plies_is_reviewed_in_little_memory() {
    let folder = Folder::new("shuffles");
    let text = format!("{}*\n", "Nf3 Nf6 Ng1 Ng8 ".repeat(4424));
    let game = folder.file("shuffles.pgn", text.as_bytes());
    let mut command = Command::new("prlimit");
    command.args(["--as=500000000", env!("CARGO_BIN_EXE_zoothera"), "review", name(&game), "--depth", "1", "--json"]);
    let limited = command.args(["--hash", "4"]).stdin(Stdio::null()).output();
    // Not every system can limit memory.
    let out = match limited {
        Ok(output) if !String::from_utf8_lossy(&output.stderr).contains("prlimit:") => succeeded(output).0,
        _ => run(&["review", name(&game), "--depth", "1", "--json"]).0,
    };
    let review: Value = serde_json::from_str(&out).expect("JSON");
    let moves = review["moves"].as_array().expect("moves");
    assert_eq!(moves.len(), 17_696);
    assert!(moves[8..].iter().all(|played| played["evaluation"]["eval"]["cp"] == 0 && played["mark"].is_null()));
}

#[test]
fn evaluations_are_numbers_with_tablebases() {
    let folder = Folder::new("tables");
    let game = "[FEN \"8/8/8/3k4/8/1r6/8/K5Q1 w - - 0 1\"]\n\n1. Qg8+ Kd6 2. Qxb3 Kc5 *\n";
    let games = folder.file("tables.pgn", game.as_bytes());
    let (out, _) = run(&["review", name(&games), "--nodes", "2000", "--syzygy", "tests/data/syzygy"]);
    let evals: Vec<&str> = out.split("[%eval ").skip(1).filter_map(|rest| rest.split(']').next()).collect();
    assert!(evals.len() >= 4, "{out}");
    let is_value = |eval: &&str| eval.trim_start_matches('#').parse::<f64>().is_ok();
    assert!(evals.iter().all(is_value), "{evals:?}");
}

/// Explanation of a move with the default net.
fn explained(position: &str, m: &str) -> String {
    run(&["explain", position, m, "--nodes", "100000"]).0
}

#[test]
fn small_changes_do_not_explain_large_losses() {
    // A bishop and a knight for a rook and a pawn.
    let traded = explained("r1bq1rk1/pppp1ppp/2n5/2b1p3/P1B1P1n1/2PP1N2/1P3PPP/RNBQ1RK1 b - - 2 7", "Nxf2");
    assert!(!traded.contains("bishop pair"), "{traded}");
    assert!(traded.contains("Black gives a bishop and a knight for a rook and a pawn"), "{traded}");
    // A mating attack.
    let mated = explained("r1bq1rk1/pppp1pp1/3b3B/3P3Q/8/2PB4/PP3PPP/R4RK1 b - - 0 13", "g6");
    assert!(mated.contains("g6??") && !mated.contains("isolated") && !mated.contains("wins a pawn"), "{mated}");
}

#[test]
fn material_that_the_defender_can_keep_is_not_called_won() {
    let drawn = explained("8/8/8/8/6k1/5p2/5K2/8 w - - 0 1", "Kf1");
    assert!(!drawn.contains("wins"), "{drawn}");
    let topalov = "1. e4 d6 2. d4 Nf6 3. Nc3 g6 4. Be3 Bg7 5. Qd2 c6 6. f3 b5 7. Nge2 Nbd7 8. Bh6 Bxh6 9. Qxh6 Bb7 \
        10. a3 e5 11. O-O-O Qe7 12. Kb1 a6 13. Nc1 O-O-O 14. Nb3 exd4 15. Rxd4 c5 16. Rd1 Nb6 17. g3 Kb8 18. Na5 Ba8 \
        19. Bh3 d5 20. Qf4+ Ka7 21. Rhe1 d4 22. Nd5 Nbxd5 23. exd5 Qd6 24. Rxd4 cxd4 25. Re7+ Kb6 26. Qxd4+ Kxa5 \
        27. b4+ Ka4 28. Qc3 Qxd5 29. Ra7 Bb7 30. Rxb7 Qc4 31. Qxf6 Kxa3 32. Qxa6+ Kxb4 33. c3+";
    let lost = explained(topalov, "Kxc3");
    assert!(!lost.contains("It wins"), "{lost}");
    let kieseritzky = "1. e4 e5 2. f4 exf4 3. Bc4 Qh4+ 4. Kf1 b5 5. Bxb5 Nf6 6. Nf3 Qh6 7. d3 Nh5 8. Nh4 Qg5 9. Nf5 c6 \
        10. g4 Nf6 11. Rg1 cxb5";
    let immortal = explained(kieseritzky, "h4");
    assert!(!immortal.contains("It wins"), "{immortal}");
}

#[test]
fn sound_sacrifice_that_mates_has_a_mark() {
    let lasker = explained("rn3rk1/pbppq1pp/1p2pb2/4N2Q/3PN3/3B4/PPP2PPP/R3K2R w KQ - 6 11", "Qxh7+");
    assert!(lasker.starts_with("11. Qxh7+!! (sound sacrifice)"), "{lasker}");
    assert!(lasker.contains("It is a sound sacrifice of the queen."), "{lasker}");
}

#[test]
fn first_choice_of_the_search_is_judged_by_the_search_after_it() {
    let folder = Folder::new("first-choice");
    let game = "[FEN \"r4rk1/1pp3p1/p2p1qPn/3Ppb2/2P1B3/8/PP1NQPPR/1K1R4 b - - 7 27\"]\n\n27... Ng4 28. Qxg4 *\n";
    let games = folder.file("game.pgn", game.as_bytes());
    let (out, _) = run(&["review", name(&games), "--nodes", "5000", "--json"]);
    let review: Value = serde_json::from_str(&out).expect("JSON");
    let chance = |value: &Value| value["evaluation"]["chance"].as_f64().unwrap_or_default();
    let (before, played) = (chance(&review), &review["moves"][0]);
    // Either the move has a mark, or the position was already as bad as it is after the move.
    let is_consistent = !played["mark"].is_null() || chance(played) - before < 5.0;
    assert!(is_consistent, "{before} {played}");
}
