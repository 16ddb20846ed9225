//! The page of a review, as text, and in a browser if one is installed.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::folder::Folder;
use serde_json::Value;

/// Scholar's mate with an author's comments, then a position with a pawn one move from promotion.
const GAMES: &str = "[White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n[TimeControl \"60+0\"]\n\
    [WhiteElo \"1830\"]\n[BlackElo \"1790\"]\n\
    [Site \"https://lichess.org/abcdefgh\"]\n[Termination \"time forfeit\"]\n\n\
    {First words} 1. e4 {[%clk 0:01:00] <i>&} e5 {[%clk 0:00:58]} 2. Bc4 {[%clk 0:00:45]} (2. Nf3 Nc6 {old}) \
    2... Nc6 {[%clk 0:00:50]} 3. Qh5 Nf6 $1 {brave} 4. Qxf7# 1-0\n\n\
    [White \"C\"]\n[FEN \"8/P1k5/8/8/8/8/8/7K w - - 0 1\"]\n[SetUp \"1\"]\n\n1. Kg2 Kb7 1/2-1/2\n";

fn name(path: &Path) -> &str {
    path.to_str().expect("a plain name")
}

/// The page of [`GAMES`]. The material net evaluates, so the marks do not depend on the default net.
fn page(folder: &Folder, options: &[&str]) -> String {
    let games = folder.file("games.pgn", GAMES.as_bytes());
    let (html, net) = (folder.path("out.html"), folder.path("material.nnue"));
    let engine = || Command::new(env!("CARGO_BIN_EXE_zoothera"));
    let made = engine().args(["net-material", name(&net)]).status();
    assert!(made.is_ok_and(|status| status.success()));
    let output = engine()
        .args(["review", name(&games), "--nodes", "4000", "--net", name(&net), "--html", name(&html)])
        .args(options)
        .stdin(Stdio::null())
        .output()
        .expect("the engine starts");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{err}");
    fs::read_to_string(&html).expect("the page")
}

#[test]
fn page_shows_remarks_clocks_and_times_of_the_file() {
    let page = page(&Folder::new("remarks"), &[]);
    for part in [
        "First words",
        "<span class=\"comment\">&lt;i&gt;&amp;</span>",
        "(2. Nf3 Nc6 <span class=\"comment\">old</span>)",
        "<span class=\"glyph\" title=\"From the file\">!</span>",
        "Time used: 15 s, 0:45 left",
        "title=\"Last book move\"",
        "<main>",
        "Nf6??: knight f6, blunder",
        "3...Nf6?? decided the game: White's winning chances rose from",
        "<h2>2 games</h2>",
        "href=\"#game=2&amp;ply=0\"",
        "Engine line (",
        "A (1830) – B (1790)",
        "Game on lichess.org",
        "time forfeit",
    ] {
        assert!(page.contains(part), "{part} is not on the page");
    }
    assert!(!page.contains("%clk"), "commands are not text");
}

#[test]
fn page_elements_have_each_attribute_once() {
    let page = page(&Folder::new("attributes"), &[]);
    let tags = page.split('<').filter_map(|rest| rest.split('>').next());
    let mut seen = 0;
    for tag in tags.filter(|tag| tag.starts_with(|c: char| c.is_ascii_lowercase())) {
        seen += 1;
        for attribute in [" class=\"", " style=\"", " aria-label=\""] {
            assert!(tag.matches(attribute).count() < 2, "<{tag}>");
        }
    }
    assert!(seen > 500, "only {seen} elements");
}

/// Path of a browser that runs without a screen.
fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|path| path.is_file());
    if found.is_none() {
        common::shared::notice("Chromium");
    }
    found
}

/// Records every script error, and every resource that the content security policy blocks.
const WATCHER: &str = r#"<head><script>
const seen = {}, failures = [];
addEventListener("error", (event) => failures.push(event.message || "a resource"), true);
addEventListener("securitypolicyviolation", (event) => failures.push(event.violatedDirective));
</script>"#;

/// Opens a page with this URL fragment and window size, runs a script, and returns the values that the script stored
/// in `seen`. Panics if a script fails. `None` if there is no browser.
fn seen(page: &str, folder: &Folder, script: &str, fragment: &str, size: &str) -> Option<Value> {
    let browser = browser()?;
    let script = format!(
        "<script>try {{ {script} }} catch (error) {{ failures.push(String(error.stack)); }}\n\
         document.title = encodeURIComponent(JSON.stringify({{ seen, failures }}));</script></body>"
    );
    let page = page.replacen("<head>", WATCHER, 1).replacen("</body>", &script, 1);
    let driven = folder.file("driven.html", page.as_bytes());
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .arg(format!("--user-data-dir={}", name(&folder.path("profile"))))
        .arg(format!("--window-size={size}"))
        .arg(format!("file://{}{fragment}", name(&driven)))
        .output()
        .expect("the browser starts");
    let dom = String::from_utf8_lossy(&output.stdout);
    let title = dom.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next()).unwrap_or_default();
    let report: Value = serde_json::from_str(&decoded(title)).unwrap_or_else(|error| panic!("{error}: {title}\n{dom}"));
    assert_eq!(report["failures"], serde_json::json!([]), "{report:#}");
    Some(report["seen"].clone())
}

/// Decodes the output of `encodeURIComponent`.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next(), rest.next()].map(|digit| char::from(digit.unwrap_or(b'0')));
                u8::from_str_radix(&String::from_iter(digits), 16).expect("two digits")
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).expect("a text")
}

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
const BEFORE_MISTAKE: &str = "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR";

#[test]
fn page_works_in_a_browser() {
    let folder = Folder::new("page");
    let page = page(&folder, &[]);
    let driver = include_str!("page/driver.js");
    let Some(seen) = seen(&page, &folder, driver, "", "1200,900") else {
        return;
    };
    let text = |what: &str, field: &str| match &seen[what][field] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let fen = |what: &str| text(what, "fen");
    steps(&seen, &text);
    // At the mistake, the better line is hidden and attempts are judged.
    for what in ["next", "no next", "no previous", "previous"] {
        assert_eq!(text(what, "move"), "Nf6??", "{what}");
    }
    assert_eq!(text("previous", "arrows"), "1");
    assert_eq!((fen("retry"), text("retry", "arrows")), (BEFORE_MISTAKE.into(), "0".into()));
    let better = text("better", "step");
    let better = better.trim_start_matches("3... ");
    for what in ["retry", "letter in the field"] {
        assert!(!text(what, "note").contains(better), "{what}: {better} is given away");
    }
    assert_eq!(seen["hidden"], serde_json::json!({ "moments": false, "field": true }));
    assert_eq!(seen["targets"], 2, "g6 and g5");
    assert!(fen("good try").starts_with("r1bqkbnr/pppp1p1p/2n3p1/"));
    assert_eq!(seen["offered"], serde_json::json!([true, "That was the last mistake", false]));
    assert!(
        fen("mine") == BEFORE_MISTAKE && text("mine", "note").contains("find a better move than 3... Nf6"),
        "{seen:#}"
    );
    let under = seen["under"].as_f64().unwrap_or(f64::NAN);
    assert!((0.0..20.0).contains(&under), "the buttons are directly under the board: {under}");
    assert_eq!(seen["columns"], 2, "moves stand in two columns");
    assert!(text("bad try", "note").contains("3... a6 is a blunder."), "{seen:#}");
    assert!(text("bad try", "note").contains("The best reply is 4. Qxf7#."));
    assert!(text("illegal try", "note").contains("Ke4 is not a legal move here"));
    assert!(text("same try", "note").contains("3... Nf6 is a blunder, as in the game."));
    assert_eq!(text("after the try", "move"), "Qxf7#");
    // Next to the board of another game, the arrow keys step through that game.
    assert_eq!(fen("second"), "8/P1k5/8/8/8/8/8/7K");
    assert_eq!(fen("second, right"), "8/P1k5/8/8/8/8/6K1/8");
    assert_eq!(seen["choices"].as_array().map(Vec::len), Some(4));
    assert_eq!(fen("promoted").split('/').next(), Some("Q7"));
    for scheme in ["light", "dark"] {
        let marks = seen[scheme].as_object().expect("marks");
        let colours: std::collections::BTreeSet<_> = marks.values().map(|v| v[0].to_string()).collect();
        assert_eq!(colours.len(), 5, "{scheme}: each mark has its colour: {marks:?}");
        for (mark, value) in marks {
            assert!(value[1].as_f64() >= Some(4.5), "{scheme} {mark}: {value}");
        }
    }
    assert_eq!(seen["marked"], seen["light"]["blunder"][0]);
    assert_ne!(seen["light"]["blunder"][0], seen["dark"]["blunder"][0]);
    assert_eq!(seen["labels"], serde_json::json!([]), "elements without a name");
    assert_eq!(seen["spoken"], "Kg2??: king g2, blunder");
    assert!(seen["board"].as_str().is_some_and(|text| text.starts_with("White: king ")));
}

/// Checks the steps through the first game and its better line.
fn steps(seen: &Value, text: &dyn Fn(&str, &str) -> String) {
    let fen = |what: &str| text(what, "fen");
    for what in ["start", "home", "first"] {
        assert_eq!(fen(what), START, "{what}");
    }
    let pieces = [text("start", "pieces"), text("end", "pieces")];
    assert_eq!(pieces, ["32", "31"]);
    assert_eq!(fen("right"), "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR");
    let moves = ["right", "end", "left", "move", "moment"].map(|what| text(what, "move"));
    assert_eq!(moves, ["e4", "Qxf7#", "Nf6??", "Nf6??", "Nf6??"]);
    assert_eq!(text("left", "arrows"), "1");
    assert!(text("left", "note").contains("blunder") && text("left", "note").contains("brave"));
    assert_eq!(text("graph", "cursor"), "20");
    assert_eq!(text("graph", "hash"), "#game=1&ply=2");
    assert_ne!(seen["corners"][0], seen["corners"][1]);
    let chance = |what: &str| text(what, "bar").parse::<f64>().unwrap_or(0.0);
    assert!(chance("left") > 90.0 && chance("start") < 70.0, "{seen:#}");
    // Steps back within a better line, by key and by button; then leaves the line, by the left arrow key and by
    // Escape.
    assert_eq!((fen("line back"), fen("button")), (fen("better"), fen("better")));
    assert_eq!((fen("line left"), fen("escape")), (BEFORE_MISTAKE.into(), fen("move")));
    assert_ne!(fen("line"), fen("line back"));
    assert!(text("line", "note").starts_with("Better ("), "{seen:#}");
    assert!(text("line", "note").contains(&text("line", "step")));
    assert!(text("line", "step").starts_with("4. ") && text("better", "step").starts_with("3... "));
    assert_eq!(text("line back", "step"), text("better", "step"));
    assert_eq!((text("escape", "step"), &seen["disabled"]), (String::new(), &true.into()));
}

/// Clicks a critical moment and measures the positions of mark and reason in the window.
const TAP: &str = r#"
seen.move = document.querySelector(".list [aria-current]")?.textContent;
seen.top = document.querySelector(".stage .on-light, .stage .on-dark").textContent;
const scroll = document.documentElement;
seen.overflow = scroll.scrollWidth - scroll.clientWidth;
document.querySelector(".moment h3 [data-ply]").click();
const place = (selector) => {
  const box = document.querySelector(selector).getBoundingClientRect();
  return [box.top, box.bottom, innerHeight];
};
seen.board = place(".stage .board");
seen.verdict = place(".note [data-note='6'] .verdict");
seen.reason = place(".note [data-note='6'] .reason");
seen.width = innerWidth;
"#;

#[test]
fn page_keeps_the_reason_in_sight_and_restores_its_address() {
    let folder = Folder::new("phone");
    let page = page(&folder, &["--side", "black"]);
    let Some(seen) = seen(&page, &folder, TAP, "#game=1&ply=3", "360,740") else {
        return;
    };
    assert_eq!(seen["move"], "Bc4", "the address is restored");
    assert_eq!(seen["top"], "1", "Black is below");
    assert_eq!(seen["overflow"], 0);
    for what in ["board", "verdict", "reason"] {
        let number = |i: usize| seen[what][i].as_f64().unwrap_or(f64::NAN);
        assert!(number(0) >= 0.0 && number(1) <= number(2), "{what}: {seen}");
    }
}

#[test]
fn review_is_the_same_with_and_without_a_page() {
    let folder = Folder::new("same");
    let games = folder.file("games.pgn", GAMES.as_bytes());
    let (alone, beside) = (folder.path("alone.pgn"), folder.path("beside.pgn"));
    let html = folder.path("out.html");
    let review = |outputs: &[&str]| {
        let status = Command::new(env!("CARGO_BIN_EXE_zoothera"))
            .args(["review", name(&games), "--nodes", "3000", "--detail", "full"])
            .args(outputs)
            .stdout(Stdio::null())
            .status();
        assert!(status.is_ok_and(|status| status.success()));
    };
    review(&["--pgn", name(&alone)]);
    review(&["--pgn", name(&beside), "--html", name(&html)]);
    let text = |path: &Path| fs::read_to_string(path).expect("the games");
    assert_eq!(text(&alone), text(&beside));
}
