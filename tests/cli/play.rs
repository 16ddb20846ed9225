//! `play`: a game at a terminal.

use std::fs;
use std::process::Stdio;

use crate::common::engine::engine;
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
fn game_ends_by_mate_or_stalemate() {
    for (fen, typed, end) in [
        ("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "Ra8", "White mates: 1-0"),
        ("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "Qf7", "Stalemate: 1/2-1/2"),
    ] {
        let run = play(&["--fen", fen], &format!("{typed}\n")).ok();
        assert!(run.out.contains(end), "{end}: {}", run.out);
    }
}

/// All pawns are blocked, so neither king can get through.
const BLOCKED: &str = "4k3/8/p1p1p1p1/P1P1P1P1/8/8/8/4K3 w - - 0 40";

#[test]
fn draw_is_accepted_after_ten_level_moves_only() {
    let early = play(&["--elo", "1000", "--seed", "1"], "e4\nNf3\nNc3\ndraw\nquit\n").ok();
    assert!(early.out.contains("declines the draw: it accepts when 30 moves have been played"), "{}", early.out);
    assert!(early.out.contains("Unfinished: *"), "{}", early.out);
    let kings = ["Ke2", "Ke3", "Ke4", "Kd4", "Kc4", "Kb4", "Kb3", "Kb2", "Kb1", "Kc1"];
    let nine = format!("{}\ndraw\nquit\n", kings[..9].join("\n"));
    let ten = format!("{}\ndraw\n", kings.join("\n"));
    let level = ["--fen", BLOCKED];
    assert!(play(&level, &nine).ok().out.contains("declines the draw"));
    let agreed = play(&level, &ten).ok();
    assert!(agreed.out.contains("Draw agreed: 1/2-1/2"), "{}", agreed.out);
    // A queen more is not level, even after 40 moves.
    let ahead = BLOCKED.replace("4k3", "4k2q");
    assert!(play(&["--fen", &ahead], "Ke2\ndraw\nquit\n").ok().out.contains("declines the draw"));
}

#[test]
fn pgn_has_names_clocks_and_termination() {
    let run =
        play(&["--elo", "600", "--seed", "3", "--clock", "5+3", "--name", "Ann \"A\" B"], "e4\nclock\nquit\n").ok();
    for part in [
        "Each side has 5:00 and 3 s for each move.",
        "You have 5:0",
        "[White \"Ann \\\"A\\\" B\"]",
        "[TimeControl \"300+3\"]",
        "[Termination \"unterminated\"]",
        "1. e4 {[%clk 0:05:0",
    ] {
        assert!(run.out.contains(part), "{part} is not in:\n{}", run.out);
    }
    let unnamed = play(&["--elo", "600", "--colour", "black"], "resign\n").ok();
    assert!(
        unnamed.out.contains("[Black \"Player\"]") && unnamed.out.contains("[TimeControl \"-\"]"),
        "{}",
        unnamed.out
    );
    play(&["--clock", "x"], "").fails_with("such as 5+3");
}

#[test]
fn overdue_clock_loses_unless_the_other_side_has_a_bare_king() {
    for (fen, end) in [
        ("4k3/4r3/8/8/8/8/4P3/K7 w - - 0 1", "White's time is up: 0-1"),
        ("4k3/8/8/8/8/8/4P3/K7 w - - 0 1", "Time is up against a bare king: 1/2-1/2"),
    ] {
        // Sixty nanoseconds are over before the first line is read.
        let run = play(&["--fen", fen, "--clock", "0.000000001"], "Kb2\n").ok();
        assert!(run.out.contains(end), "{end}: {}", run.out);
    }
}

#[test]
fn help_explains_every_command_and_games_without_moves_are_not_saved() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("game.pgn");
    let run = play(&["--pgn", path.to_str().expect("a name")], "help\nquit\n").ok();
    for part in ["  back     take back", "  resign   lose the game", "  quit     end the game unfinished"] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    assert!(!path.exists() && fs::read_dir(folder.path()).expect("a folder").next().is_none());
}

#[test]
fn board_has_colours_where_they_are_forced() {
    let mut child = engine()
        .args(["play", "--elo", "600", "--seed", "1"])
        .envs([("CLICOLOR_FORCE", "1"), ("LC_ALL", "C.UTF-8")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the engine starts");
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), b"e4\nquit\n").expect("the engine reads");
    let run = Run::of(child.wait_with_output().expect("the engine ends")).ok();
    assert!(run.out.contains("\x1b[1;38;5;231;48;5;180m♜ ") && run.out.contains("48;5;186m"), "{}", run.out);
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
