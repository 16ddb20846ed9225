//! The picture of `play` in README.md shows what a user sees: it is made from the program's output.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::common::engine::engine;

/// The command, and what the user types. The reply is a move of a named opening, which does not depend on the search.
const ARGUMENTS: [&str; 4] = ["--elo", "1700", "--seed", "7"];
const TYPED: &str = "e4";
/// Width of a column, height of a line, and margin.
const COLUMN: f64 = 8.4;
const LINE: usize = 18;
const MARGIN: usize = 12;

/// What a terminal shows: the typed line follows its prompt.
fn session() -> String {
    let mut child = engine()
        .arg("play")
        .args(ARGUMENTS)
        .envs([("CLICOLOR_FORCE", "1"), ("LC_ALL", "C.UTF-8")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the engine starts");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(format!("{TYPED}\n").as_bytes()).expect("the engine reads");
    drop(input);
    let output = child.wait_with_output().expect("the engine ends");
    let text = String::from_utf8(output.stdout).expect("text");
    let (shown, _) = text.split_once("2.> ").expect("a second prompt");
    let shown = shown.replacen("1.> ", &format!("1.> {TYPED}\n"), 1);
    format!("$ zoothera play {}\n{shown}2.> ", ARGUMENTS.join(" "))
}

/// A colour of the palette of 256 colours, from its cube.
fn colour(number: &str) -> String {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let n = number.parse::<usize>().expect("a number") - 16;
    format!("#{:02x}{:02x}{:02x}", LEVELS[n / 36], LEVELS[n / 6 % 6], LEVELS[n % 6])
}

/// The colours of text and background in effect.
#[derive(Default)]
struct Style {
    text: Option<String>,
    background: Option<String>,
    bold: bool,
}

impl Style {
    /// Applies the codes of an escape sequence.
    fn apply(&mut self, codes: &str) {
        let mut codes = codes.split(';');
        while let Some(code) = codes.next() {
            match code {
                "0" => *self = Self::default(),
                "1" | "22" => self.bold = code == "1",
                "38" => self.text = codes.nth(1).map(colour),
                "48" => self.background = codes.nth(1).map(colour),
                other => panic!("unexpected code {other}"),
            }
        }
    }
}

/// The session as SVG.
fn picture(session: &str) -> String {
    let lines: Vec<&str> = session.lines().collect();
    let columns =
        lines.iter().filter(|line| !line.contains('\x1b')).map(|line| line.chars().count()).max().unwrap_or(0);
    let width = (columns as f64 * COLUMN) as usize + 2 * MARGIN;
    let height = lines.len() * LINE + 2 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" \
         role=\"img\">\n<title>A game against level 1700 at the terminal</title>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"#1e1e1e\"/>\n\
         <g font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace\" font-size=\"14\" \
         fill=\"#d4d4d4\">\n"
    );
    for (row, line) in lines.iter().enumerate() {
        draw_line(&mut svg, row, line);
    }
    svg + "</g>\n</svg>\n"
}

fn draw_line(svg: &mut String, row: usize, line: &str) {
    let (top, mut column, mut style) = (MARGIN + row * LINE, 0, Style::default());
    for (i, part) in line.split('\x1b').enumerate() {
        let text = match part.strip_prefix('[').and_then(|rest| rest.split_once('m')) {
            Some((codes, text)) if i > 0 => {
                style.apply(codes);
                text
            }
            _ => part,
        };
        let (x, length) = (MARGIN as f64 + column as f64 * COLUMN, text.chars().count());
        if let Some(background) = style.background.as_ref().filter(|_| length > 0) {
            let width = length as f64 * COLUMN;
            let _ = writeln!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{top}\" width=\"{width:.1}\" height=\"{LINE}\" fill=\"{background}\"/>"
            );
        }
        if !text.trim().is_empty() {
            let fill = style.text.as_ref().map(|fill| format!(" fill=\"{fill}\"")).unwrap_or_default();
            let bold = if style.bold { " font-weight=\"bold\"" } else { "" };
            // Viewers drop the blanks at the start of a text.
            let x = x + (length - text.trim_start().chars().count()) as f64 * COLUMN;
            let text = text.trim().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{}\"{fill}{bold}>{text}</text>", top + 14);
        }
        column += length;
    }
}

#[test]
fn picture_of_the_readme_shows_what_a_user_sees() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/images/play.svg");
    let made = picture(&session());
    if std::env::var_os("ZOOTHERA_WRITE_DOCS").is_some() {
        fs::write(&path, &made).expect("the picture is written");
    }
    let shown = fs::read_to_string(&path).expect("the picture");
    assert!(
        shown == made,
        "docs/images/play.svg differs; ZOOTHERA_WRITE_DOCS=1 cargo test --test cli picture rewrites it"
    );
}
