//! The positions to analyse: from the command line, and from files of positions and games.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::board::Position;
use crate::notation::epd::{EpdRecord, is_blank};
use crate::notation::line::{begins_position, position_with_moves};
use crate::notation::pgn::tags::begins_tag;
use crate::notation::pgn::{self, Games};
use crate::notation::position_from_fen;
use crate::util::encoding::{Lines, read_text};
use crate::util::quantity::counted;
use crate::util::reason;
use crate::util::text::{Shown as _, printable};

/// A position and its title.
pub struct Subject {
    /// Empty if the argument was a position.
    pub title: String,
    /// The position, with the preceding moves of its game if they are known.
    pub position: Position,
}

/// Reads the positions that the arguments name. An argument is a FEN with or without quotation marks, `startpos`,
/// either of them followed by `moves` and moves, the moves of a game (`1. e4 e5`), or a file. A PGN file gives the
/// final position of each game, an EPD file each of its positions. Without arguments, the result is the initial
/// position. Errors in a file are added to `problems`, and the rest of the file is used.
///
/// # Errors
/// Fails if an argument is neither a position nor a file, a position or move is invalid, or no position was read.
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
        subjects.push(Subject { title: String::new(), position: Position::startpos() });
    }
    if subjects.is_empty() {
        bail!("no position: {}", problems.join("; "));
    }
    Ok(subjects)
}

/// Prints what was skipped in files of positions and games.
///
/// # Errors
/// Fails if a write fails.
pub fn report(problems: &[String], err: &mut dyn Write) -> Result<()> {
    for problem in problems {
        writeln!(err, "skipped: {problem}")?;
    }
    Ok(())
}

/// Fails if anything was skipped.
///
/// # Errors
/// Names the number of problems.
pub fn fail_with(problems: &[String]) -> Result<()> {
    if !problems.is_empty() {
        let count = counted(problems.len(), "game or position was", "games or positions were");
        bail!("{count} skipped or cut");
    }
    Ok(())
}

/// Whether a word names a file. Inside a position only the extension counts, because a file may be called `w` or `b`.
fn is_file(word: &str, first: bool) -> bool {
    let path = Path::new(word);
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    let known = ["pgn", "epd", "fen", "txt"].iter().any(|name| extension == *name);
    !word.is_empty() && (known || (first && path.exists()))
}

/// Parses the position made of the collected words.
fn finish(words: &mut Vec<&str>) -> Result<Option<Subject>> {
    if words.is_empty() {
        return Ok(None);
    }
    let text = std::mem::take(words).join(" ");
    let position = position_with_moves(&text)?;
    let title = String::new();
    Ok(Some(Subject { title, position }))
}

/// Reads the positions of a file, which is a PGN or a list of EPD or FEN lines.
fn read_file(name: &str, problems: &mut Vec<String>) -> Result<Vec<Subject>> {
    let path = Path::new(name);
    let subjects = if is_pgn(path).with_context(|| format!("cannot read {name}"))? {
        read_games(path, problems)?
    } else {
        let text = read_text(path).with_context(|| format!("cannot read {name}"))?;
        read_positions(name, &text, problems)
    };
    if subjects.is_empty() && problems.is_empty() {
        problems.push(format!("{name} is empty"));
    }
    Ok(subjects)
}

/// Whether a file is a PGN: by its extension, or because its first line is a tag.
fn is_pgn(path: &Path) -> io::Result<bool> {
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pgn")) {
        return Ok(true);
    }
    let mut lines = Lines::new(File::open(path)?);
    while let Some(line) = lines.next_line()? {
        if !line.trim().is_empty() {
            return Ok(begins_tag(&line));
        }
    }
    Ok(false)
}

fn read_games(path: &Path, problems: &mut Vec<String>) -> Result<Vec<Subject>> {
    let name = path.shown();
    let unreadable = || format!("cannot read {name}");
    let mut games = Games::new(pgn::open(path).with_context(unreadable)?);
    let mut subjects = Vec::new();
    while let Some(game) = games.next_game().with_context(unreadable)? {
        match game {
            Ok(game) => {
                problems.extend(game.cut.iter().map(|cut| format!("{name}: {cut}")));
                subjects.push(Subject { title: game.title(), position: game.end() });
            }
            Err(broken) => problems.push(format!("{name}: {broken}")),
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
                title: printable(record.text("id").unwrap_or(&place)).into_owned(),
                position: position_from_fen(&record.fen)?,
            })
        });
        match subject {
            Ok(subject) => subjects.push(subject),
            Err(error) => problems.push(format!("{place}: {}", reason::chain(&error))),
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
    fn positions_parse_with_and_without_quotation_marks() {
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
    fn moves_parse_in_coordinates_and_san() {
        let after = |text: &[&str]| fens(text).map(|list| list[0].clone()).unwrap_or_default();
        let expected = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
        assert_eq!(after(&["startpos", "moves", "e2e4", "e7e5"]), expected);
        assert_eq!(after(&["startpos moves e4 e5"]), expected);
        assert_eq!(after(&["1. e4 e5"]), expected);
        assert_eq!(after(&["1.", "e4", "e5"]), expected);
        assert_eq!(after(&[BARE, "moves", "Kd2"]), "8/8/4k3/8/8/8/3K4/8 b - - 1 1");
    }

    #[test]
    fn error_names_the_wrong_argument() {
        let error = |text: &[&str]| fens(text).err().map(|e| format!("{e:#}")).unwrap_or_default();
        assert!(error(&["1.", "e4", "e5", "2.", "Ke3"]).contains("'Ke3' is not a legal move"));
        assert!(error(&["startpos", "e2e4"]).contains("expected the word 'moves'"));
        assert!(error(&["startpos", "moves", "e2e5"]).contains("e2e5"));
        assert!(error(&["rubbish"]).contains("'rubbish' is neither a position nor a file"));
        assert!(error(&["no-such.pgn"]).contains("no-such.pgn"));
        assert!(error(&["8/8/8/8 w"]).contains("bad FEN"));
    }
}
