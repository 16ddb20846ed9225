//! Games reviewed end to end: what is read, written and told, and the page in a browser where there is one.

mod folder;
#[allow(dead_code)] // Only the notices are used here.
mod shared;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use folder::Folder;
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

/// What a run printed that was told of the mistake in [`GAMES`]: it must have done the rest, and failed in the end.
fn named_a_mistake(output: Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(
        output.status.code(),
        Some(1),
        "stdout:\n{out}\nstderr:\n{err}"
    );
    assert!(err.contains("error: 1 game was cut or skipped"), "{err}");
    (out, err)
}

/// What a run printed; it must have succeeded.
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
    let mut child = zoothera(&["review", "-", "--nodes", "2000"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("the engine starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(GAMES.as_bytes()).expect("it is read");
    drop(stdin);
    let (out, err) = named_a_mistake(child.wait_with_output().expect("it ends"));
    assert!(
        err.contains("game 4: move 2. (ply 3) 'Nf6' is not legal"),
        "{err}"
    );
    assert_eq!(out.matches("[Result ").count(), 4, "{out}");
    // The broken game is reviewed as far as the mistake, which its last comment names.
    let comment =
        "game 4: move 2. (ply 3) 'Nf6' is not legal: White has no knight that can go to f6";
    assert!(out.contains(comment), "{out}");
    assert!(out.matches("[%eval ").count() >= 13, "{out}");
    assert!(out.contains("[%clk 0:01:00] <i>&"), "{out}");
    assert!(out.contains("Nf6 $4"), "{out}");
    assert!(out.contains("30. h3 $4"), "{out}");
    assert!(out.contains("2... O-O"), "{out}");
}

#[test]
fn every_output_at_once_and_no_file_is_left_beside() {
    let folder = Folder::new("review");
    let games = folder.file("games.pgn", GAMES.as_bytes());
    let (pgn, html) = (folder.path("out.pgn"), folder.path("out.html"));
    let common = [
        "review",
        name(&games),
        "--nodes",
        "1000",
        "--lines",
        "2",
        "--detail",
        "full",
    ];
    let outputs = ["--pgn", name(&pgn), "--html", name(&html), "--json"];
    let (out, _) = run_with_a_mistake(&[&common[..], &outputs[..]].concat());
    assert_eq!(out.lines().count(), 4);
    assert_eq!(folder.names(), ["games.pgn", "out.html", "out.pgn"]);
    let page = fs::read_to_string(&html).expect("the page");
    assert!(
        page.contains("A &lt;b&gt;&amp;") && !page.contains("A <b>"),
        "names are escaped"
    );
    assert_eq!(page.matches("</script>").count(), 4 + 1, "only ours end");
    assert!(
        !page.contains("http://")
            || page.matches("http://").count()
                == page.matches("http://www.w3.org/2000/svg").count()
    );
    assert!(
        !page.contains("https://") && !page.contains(" src="),
        "nothing is loaded"
    );
    // Reviewed again, an annotated game says the same once.
    let (again, _) = run(&["review", name(&pgn), "--nodes", "1000", "--detail", "brief"]);
    assert_eq!(again.matches("[%clk 0:01:00]").count(), 1);
}

/// The keys of an object and of the schema's object must be the same; values that are objects are followed.
fn follow(value: &Value, schema: &Value, root: &Value, place: &str) {
    let schema = resolved(schema, root);
    match (value, schema) {
        (Value::Array(items), _) => {
            for item in items {
                follow(item, &schema["items"], root, &format!("{place}[]"));
            }
        }
        (Value::Object(fields), schema) if schema["properties"].is_object() => {
            let known = schema["properties"].as_object().expect("an object");
            let keys: BTreeSet<&String> = fields.keys().collect();
            let allowed: BTreeSet<&String> = known.keys().collect();
            assert!(keys.is_subset(&allowed), "{place}: {keys:?}");
            for required in schema["required"].as_array().into_iter().flatten() {
                let required = required.as_str().expect("a name");
                assert!(fields.contains_key(required), "{place} lacks {required}");
            }
            for (key, field) in fields {
                follow(field, &known[key], root, &format!("{place}.{key}"));
            }
        }
        (value, schema) => {
            if let Some(allowed) = schema["enum"].as_array() {
                assert!(allowed.contains(value), "{place}: {value}");
            }
        }
    }
}

fn resolved<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let schema = schema["anyOf"]
        .as_array()
        .map_or(schema, |choices| &choices[0]);
    match schema["$ref"].as_str() {
        Some(path) => root
            .pointer(path.trim_start_matches('#'))
            .expect("a definition"),
        None => schema,
    }
}

#[test]
fn the_json_is_what_the_schema_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/review/review.schema.json");
    let schema: Value =
        serde_json::from_str(&fs::read_to_string(path).expect("the schema")).expect("JSON");
    let folder = Folder::new("schema");
    let games = folder.file("games.pgn", GAMES.as_bytes());
    let (out, _) = run_with_a_mistake(&[
        "review",
        name(&games),
        "--nodes",
        "1500",
        "--json",
        "--detail",
        "full",
    ]);
    for line in out.lines() {
        let game: Value = serde_json::from_str(line).expect("JSON");
        follow(&game, &schema, &schema, "game");
    }
    let first: Value = serde_json::from_str(out.lines().next().unwrap_or_default()).expect("JSON");
    assert_eq!(first["moves"][5]["mark"], "??");
    assert_eq!(first["moves"][5]["reasons"][0]["kind"], "allows_mate");
    assert_eq!(first["moves"][0]["clock"], "0:01:00");
    assert_eq!(first["opening"]["eco"], "C23");
    assert_eq!(first["tags"]["White"], "A <b>&");
}

#[test]
fn mistakes_are_told_before_the_first_search() {
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
    fails(
        &["review", name(&word)],
        "game 1: move 1. (ply 1) 'hello' is not a move",
    );
    fails(
        &["review", name(&games), "--html", "no/such/folder/x.html"],
        "no/such/folder",
    );
    fails(
        &["review", name(&games), "--json", "--pgn", "-"],
        "standard output",
    );
    fails(&["review"], "GAMES");
    fails(&["review", "--svg", "8/8 w"], "bad FEN");
    fails(&["explain", "startpos", "e5"], "e5");
}

#[test]
fn one_move_and_one_picture() {
    let scholar = "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3";
    let (out, _) = run(&["explain", scholar, "Nf6", "--nodes", "3000"]);
    assert!(out.starts_with("3... Nf6?? (blunder)"), "{out}");
    assert!(out.contains("It allows mate in 1: 4. Qxf7#."), "{out}");
    let (json, _) = run(&["explain", scholar, "g8f6", "--nodes", "3000", "--json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["mark"], "??");
    let (svg, _) = run(&["review", "--svg", scholar]);
    assert!(
        svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"),
        "{svg}"
    );
}

/// A browser that can be run without a screen.
fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|path| path.is_file());
    if found.is_none() {
        shared::notice("Chromium");
    }
    found
}

/// Presses keys and clicks on the page, and writes what it then shows into its title.
const DRIVER: &str = r#"<script>
const seen = [];
const game = () => [...document.querySelectorAll("article.game")].find((a) => !a.classList.contains("away"));
const look = (what) => {
  const board = game().querySelector(".stage .board");
  const current = game().querySelector(".list [aria-current]");
  seen.push([what, board.getAttribute("aria-label").split(" ")[0], board.querySelectorAll("use").length,
    current ? current.textContent.trim() : "", game().querySelector(".cursor").getAttribute("x"),
    board.querySelectorAll(".best").length]);
};
const key = (name) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
try {
  look("start");
  key("ArrowRight"); look("right");
  key("End"); look("end");
  key("ArrowLeft"); look("left");
  key("Home"); look("home");
  game().querySelector('.list [data-ply="6"]').click(); look("move");
  game().querySelector('.graph [data-ply="2"]').dispatchEvent(new MouseEvent("click", { bubbles: true }));
  look("graph");
  const corner = () => game().querySelector(".stage .board use").getAttribute("y");
  const before = corner(); key("f"); seen.push(["flip", before, corner()]);
  game().querySelector(".moment [data-ply]").click(); look("moment");
  game().querySelector('.moment .line [data-step="1"]').click(); look("line");
  const shown = () => game().querySelector(".status").textContent;
  const pressed = () => game().querySelector(".moment .line [aria-current]")?.textContent ?? "";
  seen.push(["line's words", shown(), pressed()]);
  key("ArrowLeft"); look("line back"); seen.push(["first step", pressed()]);
  key("ArrowLeft"); look("line left");
  key("ArrowRight"); key("b"); look("better"); seen.push(["better step", pressed()]);
  key("Escape"); look("escape"); seen.push(["no step", pressed()]);
  const button = game().querySelector('[data-go="better"]');
  button.click(); look("button"); key("Home"); look("first"); seen.push(["disabled", button.disabled]);
  const select = document.getElementById("games"); select.value = "1";
  select.dispatchEvent(new Event("change")); look("second");
} catch (error) { failures.push(String(error)); }
document.title = JSON.stringify({ seen, failures });
</script></body>"#;

/// Notes every error of a script, and everything that the page was not allowed to load.
const WATCHER: &str = r#"<head><script>
const failures = [];
addEventListener("error", (event) => failures.push(event.message || "a resource"), true);
addEventListener("securitypolicyviolation", (event) => failures.push(event.violatedDirective));
</script>"#;

#[test]
fn the_page_works_in_a_browser() {
    let Some(browser) = browser() else { return };
    let folder = Folder::new("page");
    let games = folder.file("games.pgn", GAMES.as_bytes());
    let html = folder.path("out.html");
    run_with_a_mistake(&[
        "review",
        name(&games),
        "--nodes",
        "3000",
        "--html",
        name(&html),
    ]);
    let page = fs::read_to_string(&html).expect("the page");
    let page = page
        .replacen("<head>", WATCHER, 1)
        .replacen("</body>", DRIVER, 1);
    let driven = folder.file("driven.html", page.as_bytes());
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .arg(format!("--user-data-dir={}", name(&folder.path("profile"))))
        .arg(format!("file://{}", name(&driven)))
        .output()
        .expect("the browser starts");
    let dom = String::from_utf8_lossy(&output.stdout);
    let title = dom
        .split("<title>")
        .nth(1)
        .and_then(|rest| rest.split("</title>").next());
    let title = title
        .unwrap_or_default()
        .replace("&amp;", "&")
        .replace("&lt;", "<");
    let told: Value =
        serde_json::from_str(&title).unwrap_or_else(|error| panic!("{error}: {title}\n{dom}"));
    assert_eq!(told["failures"], serde_json::json!([]), "{told}");
    let seen = told["seen"].as_array().expect("a list");
    let of = |what: &str| {
        let found = seen.iter().find(|entry| entry[0] == what);
        found
            .unwrap_or_else(|| panic!("no {what} in {told}"))
            .clone()
    };
    assert_eq!(
        of("start")[1],
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
    );
    assert_eq!(
        (of("start")[2].clone(), of("end")[2].clone()),
        (32.into(), 31.into())
    );
    assert_eq!(
        of("right")[1],
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR"
    );
    assert_eq!(
        (of("right")[3].clone(), of("end")[3].clone()),
        ("e4".into(), "Qxf7#".into())
    );
    assert_eq!(
        (of("left")[3].clone(), of("left")[5].clone()),
        ("Nf6??".into(), 1.into()),
        "an arrow"
    );
    assert_eq!(of("home")[1], of("start")[1]);
    assert_eq!(
        (of("move")[3].clone(), of("graph")[4].clone()),
        ("Nf6??".into(), "20".into())
    );
    // With a mark behind it or without: that is the default net's to say.
    assert!(
        of("graph")[3]
            .as_str()
            .is_some_and(|san| san.starts_with("e5"))
    );
    assert_ne!(of("flip")[1], of("flip")[2]);
    assert_eq!(of("moment")[3], "Nf6??");
    // A better line from its second move back to the game, by its key, by its button, and out of it again.
    assert_eq!(of("line back")[1], of("better")[1]);
    assert_eq!(of("button")[1], of("better")[1]);
    assert_eq!(
        of("line left")[1],
        "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR"
    );
    assert_eq!(of("escape")[1], of("move")[1]);
    assert_ne!(of("line")[1], of("line back")[1]);
    assert_eq!(of("first")[1], of("start")[1]);
    let text = |what: &str, i: usize| of(what)[i].as_str().unwrap_or_default().to_owned();
    assert!(text("line's words", 1).starts_with("Better ("), "{told}");
    assert!(
        text("line's words", 1).contains(&text("line's words", 2)),
        "{told}"
    );
    assert!(text("line's words", 2).starts_with("4. "), "{told}");
    assert!(text("first step", 1).starts_with("3... "), "{told}");
    assert_eq!(text("better step", 1), text("first step", 1));
    assert_eq!(
        (text("no step", 1), of("disabled")[1].clone()),
        (String::new(), true.into())
    );
    assert_eq!(of("second")[1], "6k1/5ppp/8/8/8/8/5PPP/3R2K1");
}
