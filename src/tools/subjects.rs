//! What is to be analysed: positions on the command line, and files of positions and games.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::epd::record::{EpdRecord, is_blank};
use super::epd::test_position::parse_move;
use super::{pgn, position_from_fen};
use crate::board::Position;

/// A position, and what to call it.
pub struct Subject {
    /// Empty when the position was given alone.
    pub title: String,
    /// The position, with the game before it where that is known.
    pub position: Position,
}

/// Understands the arguments: FENs with or without quotation marks, `startpos`, each with or without `moves` and moves
/// after it (in coordinates or SAN), and files: the end of each game of a PGN, each position of an EPD. Nothing means
/// the initial position. What is wrong in a file is named in `problems`, the rest of it counts.
///
/// # Errors
/// When an argument is neither, a position or move is wrong, or no position is left.
pub fn read(arguments: &[String], problems: &mut Vec<String>) -> Result<Vec<Subject>> {
    let mut subjects = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for argument in arguments {
        let argument = argument.trim();
        let is_file = is_file(argument, open.is_empty());
        if is_file || begins_position(argument) {
            subjects.extend(finish(&mut open)?);
        } else if open.is_empty() {
            bail!("'{argument}' is neither a position nor a file");
        }
        if is_file {
            subjects.extend(read_file(argument, problems)?);
        } else {
            open.push(argument);
        }
    }
    subjects.extend(finish(&mut open)?);
    if arguments.iter().all(|argument| argument.trim().is_empty()) {
        subjects.push(Subject {
            title: String::new(),
            position: Position::startpos(),
        });
    }
    if subjects.is_empty() {
        bail!("no position: {}", problems.join("; "));
    }
    Ok(subjects)
}

/// Whether a word can only be the beginning of a position: `startpos`, or something with slashes as a board has them.
fn begins_position(word: &str) -> bool {
    let first = word.split_whitespace().next().unwrap_or("");
    first.eq_ignore_ascii_case("startpos") || first.contains('/')
}

/// Whether a word names a file; within a position (where a side to move may be called as a file is) only its extension
/// can tell.
fn is_file(word: &str, first: bool) -> bool {
    let path = Path::new(word);
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    let known = ["pgn", "epd", "fen", "txt"]
        .iter()
        .any(|name| extension == *name);
    !word.is_empty() && (known || (first && path.exists()))
}

/// The position that the words collected make up.
fn finish(words: &mut Vec<&str>) -> Result<Option<Subject>> {
    if words.is_empty() {
        return Ok(None);
    }
    let text = std::mem::take(words).join(" ");
    let position = position_with_moves(&text)?;
    let title = String::new();
    Ok(Some(Subject { title, position }))
}

/// `startpos` or a FEN, and the moves after the word `moves`.
fn position_with_moves(text: &str) -> Result<Position> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let end = words
        .iter()
        .position(|word| word.eq_ignore_ascii_case("moves"))
        .unwrap_or(words.len());
    let mut start = words[..end].join(" ");
    if start.eq_ignore_ascii_case("startpos") {
        start.clear();
    } else if words[0].eq_ignore_ascii_case("startpos") {
        bail!("'{}' after startpos: the word 'moves' is missing", words[1]);
    }
    let mut position = position_from_fen(&start)?;
    for word in words.iter().skip(end + 1) {
        let m = parse_move(&position, word)?;
        position.do_move(m);
    }
    Ok(position)
}

/// The positions of a file; a PGN is known by its name or its first tag.
fn read_file(name: &str, problems: &mut Vec<String>) -> Result<Vec<Subject>> {
    let bytes = std::fs::read(name).with_context(|| format!("cannot read {name}"))?;
    let named = Path::new(name)
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("pgn"));
    let subjects = if named || bytes.trim_ascii_start().starts_with(b"[") {
        read_games(name, &bytes, problems)?
    } else {
        read_positions(name, &String::from_utf8_lossy(&bytes), problems)
    };
    if subjects.is_empty() && problems.is_empty() {
        problems.push(format!("{name} is empty"));
    }
    Ok(subjects)
}

fn read_games(name: &str, bytes: &[u8], problems: &mut Vec<String>) -> Result<Vec<Subject>> {
    let mut subjects = Vec::new();
    for game in pgn::read(bytes).with_context(|| format!("cannot read {name}"))? {
        match game {
            Ok(game) => subjects.push(Subject {
                title: game.title(),
                position: game.end(),
            }),
            Err(error) => problems.push(format!("{name}: {error:#}")),
        }
    }
    Ok(subjects)
}

fn read_positions(name: &str, text: &str, problems: &mut Vec<String>) -> Vec<Subject> {
    let mut subjects = Vec::new();
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !is_blank(line)) {
        let place = format!("{name}:{}", i + 1);
        let subject = EpdRecord::parse(line).and_then(|record| {
            Ok(Subject {
                title: record.text("id").unwrap_or(&place).to_owned(),
                position: position_from_fen(&record.fen)?,
            })
        });
        match subject {
            Ok(subject) => subjects.push(subject),
            Err(error) => problems.push(format!("{place}: {error:#}")),
        }
    }
    subjects
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARE: &str = "8/8/4k3/8/8/8/8/4K3 w - - 0 1";

    fn fens(arguments: &[&str]) -> Result<Vec<String>> {
        let arguments: Vec<String> = arguments.iter().map(|&text| text.into()).collect();
        let subjects = read(&arguments, &mut Vec::new())?;
        Ok(subjects.iter().map(|s| s.position.fen()).collect())
    }

    #[test]
    fn positions_with_and_without_quotation_marks() {
        let start = Position::startpos().fen();
        assert_eq!(fens(&[]).ok(), Some(vec![start.clone()]));
        let words: Vec<&str> = BARE.split(' ').collect();
        assert_eq!(fens(&words).ok(), Some(vec![BARE.to_owned()]));
        let both = [BARE, "startpos"];
        assert_eq!(fens(&both).ok(), Some(vec![BARE.to_owned(), start]));
        let twice = [&words[..], &words[..]].concat();
        assert_eq!(fens(&twice).map(|list| list.len()).ok(), Some(2));
    }

    #[test]
    fn moves_in_coordinates_or_san() {
        let after = |text: &[&str]| fens(text).map(|list| list[0].clone()).unwrap_or_default();
        let expected = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
        assert_eq!(after(&["startpos", "moves", "e2e4", "e7e5"]), expected);
        assert_eq!(after(&["startpos moves e4 e5"]), expected);
        assert_eq!(
            after(&[BARE, "moves", "Kd2"]),
            "8/8/4k3/8/8/8/3K4/8 b - - 1 1"
        );
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &[&str]| {
            fens(text)
                .err()
                .map(|e| format!("{e:#}"))
                .unwrap_or_default()
        };
        assert!(error(&["startpos", "e2e4"]).contains("'moves' is missing"));
        assert!(error(&["startpos", "moves", "e2e5"]).contains("e2e5"));
        assert!(error(&["rubbish"]).contains("'rubbish' is neither a position nor a file"));
        assert!(error(&["no-such.pgn"]).contains("no-such.pgn"));
        assert!(error(&["8/8/8/8 w"]).contains("bad FEN"));
    }
}
