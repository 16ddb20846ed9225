//! `play`: a game at a terminal.

use std::fs;
use std::process::Stdio;

use crate::engine::engine;
use crate::run::Run;

/// Runs `play` with the whole input at once.
fn play(arguments: &[&str], typed: &str) -> Run {
    let mut child = engine()
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
fn game_with_takeback_is_played_and_saved() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("game.pgn");
    let pgn = path.to_str().expect("a name");
    let level = ["--elo", "600", "--seed", "5", "--pgn", pgn];
    let run = play(&level, "e4\nback\nd2d4\nhint\nKe5\nmoves\nresign\n").ok();
    assert!(run.out.contains("Try ") && run.out.contains("White resigns: 0-1"));
    assert!(run.out.contains("'Ke5' is not a legal move in "), "{}", run.out);
    let text = fs::read_to_string(&path).expect("a game");
    assert!(text.contains("\n1. d4 ") && text.contains("[Result \"0-1\"]"), "{text}");
    let today = chrono::Utc::now().format("[UTCDate \"%Y.%m.%d\"]").to_string();
    // The date may change while the test runs.
    assert!(text.contains(&today) || text.contains("[UTCTime \"23:59:"), "{text}");
    assert!(text.contains("[Black \"Zoothera (Elo 600, Level Seed 5)\"]"), "{text}");
    // The same seed gives the same replies. At the end of the input the unfinished game is appended to the file.
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
fn game_ends_by_mate_stalemate_or_agreement() {
    for (fen, typed, end) in [
        ("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "Ra8", "White mates: 1-0"),
        ("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "Qf7", "Stalemate: 1/2-1/2"),
        ("4k3/4p3/8/8/8/8/4P3/4K3 w - - 0 1", "Kd2\ndraw", "Draw agreed: 1/2-1/2"),
    ] {
        let run = play(&["--fen", fen], &format!("{typed}\n")).ok();
        assert!(run.out.contains(end), "{end}: {}", run.out);
    }
}

#[test]
fn game_starts_from_any_position_and_names_its_level() {
    let run = play(&["1. e4 e5", "--elo", "800", "--seed", "7"], "Nf3\nquit\n").ok();
    assert!(run.out.starts_with("You play White against level 800. Its seed is 7: --seed 7 repeats"), "{}", run.out);
    // A game without a file is printed.
    assert!(run.out.contains("[FEN \"") && run.out.contains("2. Nf3 "), "{}", run.out);
    play(&["--elo", "800", "1. e4 Ke3"], "").fails_with("'Ke3' is not a legal move");
}

#[test]
fn engine_plays_mate_in_one() {
    let fen = "k7/8/1K6/8/8/8/8/7R w - - 0 1";
    let run = play(&["--colour", "black", "--fen", fen], "").ok();
    assert!(run.out.contains("Rh8#"), "{}", run.out);
}

#[test]
fn play_rejects_bad_fen_and_elo() {
    play(&["--fen", "rubbish"], "").fails_with("rubbish");
    play(&["--elo", "5"], "").fails_with("500");
}

#[test]
fn play_accepts_common_move_notations() {
    let typed = "1. e4\n0-0\ne2-e9\nnf3!\nsf3\nmoves\nquit\n";
    let run = play(&["--elo", "800", "--seed", "42"], typed).ok();
    for reason in [
        "'0-0' is not a legal move in this position: White cannot castle there",
        "'e2-e9' is not a move",
        "'sf3' is not a move",
    ] {
        assert!(run.out.contains(reason), "{reason} is not in:\n{}", run.out);
    }
    assert!(run.out.contains("1. e4 ") && run.out.contains(" 2. Nf3 "), "{}", run.out);
    let castled = play(&["--fen", "4k3/8/8/8/8/8/8/4K2R w K - 0 1", "--elo", "800"], "o\u{2013}o\nmoves\nquit\n").ok();
    assert!(castled.out.contains("1. O-O"), "{}", castled.out);
}
