//! `zoothera match`: games, counts, outputs, and rejected arguments.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::engine::engine;
use common::folder::{Folder, pauses};
use serde_json::Value;

/// A short match of two settings with unequal strength.
const SHORT: &str = "--nodes 200 --hash 1 --option-b Skill\u{a0}Level=0 --games 12 --json";

/// The command `zoothera match` in a folder. A no-break space in `arguments` stands for a space inside an argument.
fn command(folder: &Folder, arguments: &str) -> Command {
    let mut command = engine();
    command.current_dir(folder.path("")).arg("match").args(arguments.split_whitespace_but_hard()).stdin(Stdio::null());
    command
}

/// Splits at spaces, but not at no-break spaces, which are replaced with spaces.
trait SplitHard {
    fn split_whitespace_but_hard(&self) -> Vec<String>;
}

impl SplitHard for str {
    fn split_whitespace_but_hard(&self) -> Vec<String> {
        let words = self.split(' ').filter(|word| !word.is_empty());
        words.map(|word| word.replace('\u{a0}', " ")).collect()
    }
}

fn run(folder: &Folder, arguments: &str) -> Output {
    command(folder, arguments).output().expect("the engine runs")
}

/// The JSON of a match that must succeed, without its duration.
fn result(folder: &Folder, arguments: &str) -> Value {
    let output = run(folder, arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {error}");
    let mut json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    json.as_object_mut().expect("an object").remove("seconds");
    json
}

/// Runs a match that must fail with this reason.
fn refused(folder: &Folder, arguments: &str, reason: &str) {
    let output = run(folder, arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{arguments} succeeded");
    assert!(error.contains(reason), "{arguments}: {error}");
    assert!(!error.contains("panicked"), "{arguments}: {error}");
}

/// Number of games that the engine's own reader finds in a PGN file; all moves must be legal.
fn reread(folder: &Folder, name: &str) -> usize {
    let output = engine()
        .current_dir(folder.path(""))
        .args(["review", name, "--nodes", "1", "--json", "--hash", "1"])
        .stdin(Stdio::null())
        .output()
        .expect("the engine runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !error.contains("illegal"), "{error}");
    String::from_utf8_lossy(&output.stdout).lines().count()
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn stronger_player_wins_and_games_are_legal() {
    let folder = Folder::new("match");
    let json = result(&folder, &format!("{SHORT} --pgn games.pgn --no-adjudication"));
    assert_eq!(json["played"], 12);
    assert!(json["games"]["won"].as_u64() > Some(8), "{json}");
    let pairs = json["pairs"].as_array().expect("five numbers");
    let pairs: u64 = pairs.iter().filter_map(Value::as_u64).sum();
    assert_eq!(pairs, 6);
    assert_eq!(json["players"][1]["options"][0], "Skill Level=0");
    assert_eq!(reread(&folder, "games.pgn"), 12);
    let games = text(&folder.path("games.pgn"));
    for tag in ["Event", "Date", "Round", "White", "Black", "Result", "Termination"] {
        assert_eq!(games.matches(&format!("[{tag} \"")).count(), 12, "{tag}");
    }
    // Both players get every opening with White.
    assert_eq!(games.matches("[White \"default\"]").count(), 6);
    assert!(games.contains("[Round \"6.2\"]") && games.contains(" mates}"), "{games}");
}

#[test]
fn result_does_not_depend_on_concurrency_or_interruption() {
    let folder = Folder::new("match-same");
    let whole = result(&folder, &format!("{SHORT} --concurrency 1 --pgn a.pgn"));
    let other = result(&folder, &format!("{SHORT} --concurrency 2 --pgn b.pgn"));
    assert_eq!(whole, other);
    let games = text(&folder.path("a.pgn"));
    assert_eq!(games, text(&folder.path("b.pgn")));
    let kept = format!("{SHORT} --concurrency 2 --pgn c.pgn --state c.json");
    for pause in pauses(4, 700) {
        let mut child =
            command(&folder, &kept).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the engine runs");
        std::thread::sleep(pause);
        let _ = child.kill();
        let _ = child.wait();
    }
    assert_eq!(result(&folder, &kept), whole);
    assert_eq!(text(&folder.path("c.pgn")), games);
    // The match is over: no more games are played.
    assert_eq!(result(&folder, &kept), whole);
    assert_eq!(text(&folder.path("c.pgn")), games);
    let other = result(&folder, &format!("{SHORT} --seed 2"));
    assert_ne!(other["games"], Value::Null);
}

#[test]
fn state_of_another_match_is_refused_by_name_and_kept() {
    let folder = Folder::new("match-state");
    let base = "--nodes 20 --hash 1 --games 2 --state s.json";
    result(&folder, &format!("{base} --json"));
    let before = text(&folder.path("s.json"));
    for (arguments, reason) in [
        ("--nodes 30 --hash 1 --games 2", "limit of a move was 20 nodes a move and is now 30"),
        ("--nodes 20 --hash 2 --games 2", "player A was"),
        ("--nodes 20 --hash 1 --games 2 --seed 9", "seed was 1 and is now 9"),
        ("--nodes 20 --hash 1 --games 2 --sprt 0,5", "sequential test was none"),
    ] {
        refused(&folder, &format!("{arguments} --state s.json"), reason);
    }
    assert_eq!(text(&folder.path("s.json")), before);
    // More games of the same match are allowed.
    let more = result(&folder, "--nodes 20 --hash 1 --games 4 --state s.json --json");
    assert_eq!(more["played"], 4);
    fs::write(folder.path("s.json"), "nonsense").expect("room");
    refused(&folder, base, "s.json is not the state of a match");
}

#[test]
fn bad_arguments_are_refused_before_a_game_is_played() {
    let folder = Folder::new("match-refused");
    folder.file("bad.nnue", b"nonsense");
    folder.file("bad.epd", b"rubbish\n");
    folder.file("old.pgn", b"precious");
    folder.file("book.epd", b"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n");
    for (arguments, reason) in [
        ("--net bad.nnue", "bad.nnue"),
        ("--net absent.nnue", "absent.nnue"),
        ("--net default --net default --net default", "two players"),
        ("--book absent.epd", "absent.epd"),
        ("--book bad.epd", "bad.epd: line 1"),
        ("--games 3", "even number"),
        ("--tc 8-1", "as in 8+0.08"),
        ("--tc 8 --movetime 5", "cannot be used with"),
        ("--sprt 5,0", "the smaller one first"),
        ("--option Nothing=3", "no option 'Nothing'"),
        ("--option Hash=none", "--option Hash: expected an integer"),
        ("--pgn old.pgn", "old.pgn exists"),
        ("--pgn book.epd --book book.epd", "is also an input"),
        ("--pgn new.pgn --state ./new.pgn", "--pgn and --state are both"),
        ("--pgn no/folder.pgn", "no/folder.pgn"),
        ("--state no/folder.json", "no/folder.json"),
    ] {
        refused(&folder, &format!("--nodes 10 --hash 1 {arguments}"), reason);
    }
    assert_eq!(text(&folder.path("old.pgn")), "precious");
    assert_eq!(folder.names(), ["bad.epd", "bad.nnue", "book.epd", "old.pgn"]);
}

#[test]
fn sequential_test_ends_the_match() {
    let folder = Folder::new("match-sprt");
    let strong = "--nodes 300 --hash 1 --option-b Skill\u{a0}Level=0 --sprt 0,400 --json";
    let json = result(&folder, strong);
    assert_eq!(json["sprt"]["accepted"], "h1", "{json}");
    let played = json["played"].as_u64().expect("a number");
    assert!(played.is_multiple_of(2) && played < 400, "{played}");
    let one = result(&folder, &format!("{strong} --concurrency 1"));
    assert_eq!(one, json);
}

#[test]
fn mirror_match_and_repeated_openings_are_remarked() {
    let folder = Folder::new("match-mirror");
    folder.file("one.epd", b"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\nrubbish\n");
    let output = run(&folder, "--nodes 10 --hash 1 --games 4 --book one.epd");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    assert!(error.contains("same net and options"), "{error}");
    assert!(error.contains("after 2 games the same games are repeated"), "{error}");
    assert!(error.contains("1 lines of one.epd were skipped"), "{error}");
    assert!(!error.contains("games/min"), "{error}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("50.0 %") && text.contains("Elo from pairs: +0.0"), "{text}");
}

#[test]
fn clock_and_time_of_a_move_are_kept() {
    let folder = Folder::new("match-clock");
    for limit in ["--tc 0.4+0.01", "--movetime 20", "--tc 20/0.4 --depth 3"] {
        let json = result(&folder, &format!("{limit} --time-margin 2000 --hash 1 --games 2 --json"));
        assert_eq!(json["played"], 2, "{limit}");
        assert_eq!(json["lost_on_time"], serde_json::json!([0, 0]), "{limit}");
    }
    // The engine needs at least a millisecond.
    let games = run(&folder, "--tc 0.001 --hash 1 --games 2 --json --pgn late.pgn");
    let json: Value = serde_json::from_slice(&games.stdout).expect("JSON");
    assert_eq!(json["endings"]["time"], 2, "{json}");
    let pgn = text(&folder.path("late.pgn"));
    assert!(pgn.contains("[Termination \"time forfeit\"]"), "{pgn}");
    assert!(pgn.contains("[TimeControl \"0.001\"]"), "{pgn}");
}

#[test]
fn games_with_clocks_that_count_nodes_do_not_depend_on_speed() {
    let folder = Folder::new("match-nodestime");
    for (limit, name) in [("--tc 0.4+0.01", "clock"), ("--movetime 20", "move")] {
        let play = |concurrency: usize| {
            let pgn = format!("{name}-{concurrency}.pgn");
            let options = "--hash 1 --games 4 --json --option-a nodestime=200 --option-b nodestime=100";
            let arguments = format!("{limit} {options} --concurrency {concurrency} --pgn {pgn}");
            (result(&folder, &arguments), text(&folder.path(&pgn)))
        };
        // The PGN has the moves and the times on the clocks.
        let both = [play(1), play(2)];
        assert_eq!(both[0], both[1], "{limit}");
        let games = &both[0].1;
        assert!(games.contains("s}"), "{games}");
        assert!(!games.contains("time forfeit"), "{games}");
    }
}

/// Ctrl-C and a request to terminate: the result so far, the state on the disk, and the exit code of an interrupt.
#[cfg(unix)]
#[test]
fn interrupted_match_prints_its_result_and_continues() {
    let folder = Folder::new("match-interrupt");
    for signal in ["-INT", "-TERM"] {
        let long = "--nodes 1000000000 --hash 1 --games 2 --json --state";
        let name = format!("s{signal}.json");
        let long = format!("{long} {name}");
        let child =
            command(&folder, &long).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the engine runs");
        let state = folder.path(&name);
        while !state.exists() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        std::thread::sleep(std::time::Duration::from_millis(300));
        let id = child.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status();
        assert!(sent.expect("kill runs").success());
        let output = child.wait_with_output().expect("it ends");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{error}");
        assert!(error.contains("the same command continues from s-"), "{error}");
        let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(json["interrupted"], true);
        let saved: Value = serde_json::from_str(&text(&state)).expect("a state");
        assert_eq!(saved["games"], json["played"]);
    }
}
