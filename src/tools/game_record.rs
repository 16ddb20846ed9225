//! Games as PGN text: any game, a game against a person, and the one in progress.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use chrono::{DateTime, Utc};

use crate::board::{Color, Move, Position};
use crate::util::atomic::{AtomicFile, unused_path, write_atomically};
use crate::util::files::{Kind, is_text};
use crate::util::text::Shown as _;

/// The kind of file to which games are appended.
pub const GAMES: Kind = Kind { name: "a text file of games", is: is_text };
/// Maximum width of the move text in columns.
const WIDTH: usize = 80;

/// Result of a game and the reason for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// This side delivered mate.
    Mate(Color),
    /// The side to move had no legal move and was not in check.
    Stalemate,
    /// Threefold repetition, 50-move rule, or insufficient material.
    DrawByRule,
    /// Both sides agreed to a draw.
    Agreed,
    /// This side resigned.
    Resigned(Color),
    /// This side's time is up.
    Time(Color),
    /// A side's time is up, but the other side has only its king.
    TimeAgainstKing,
    /// The person quit.
    Unfinished,
}

impl Ending {
    /// Returns the result in PGN notation.
    fn result(self) -> &'static str {
        match self {
            Self::Mate(winner) => winner.fold_wb("1-0", "0-1"),
            Self::Resigned(loser) | Self::Time(loser) => loser.fold_wb("0-1", "1-0"),
            Self::Stalemate | Self::DrawByRule | Self::Agreed | Self::TimeAgainstKing => "1/2-1/2",
            Self::Unfinished => "*",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Mate(Color::White) => "White mates",
            Self::Mate(Color::Black) => "Black mates",
            Self::Stalemate => "Stalemate",
            Self::DrawByRule => "Draw by rule",
            Self::Agreed => "Draw agreed",
            Self::Resigned(Color::White) => "White resigns",
            Self::Resigned(Color::Black) => "Black resigns",
            Self::Time(Color::White) => "White's time is up",
            Self::Time(Color::Black) => "Black's time is up",
            Self::TimeAgainstKing => "Time is up against a bare king",
            Self::Unfinished => "Unfinished",
        }
    }

    /// The value of the tag `Termination`.
    // CITE: S. Edwards, "Portable Game Notation Specification and Implementation Guide", section 9.8.1.
    fn termination(self) -> &'static str {
        match self {
            Self::Time(_) | Self::TimeAgainstKing => "time forfeit",
            Self::Unfinished => "unterminated",
            _ => "normal",
        }
    }
}

/// A finished game.
pub struct GameRecord<'a> {
    /// Starting position.
    pub start: &'a Position,
    /// Moves from the starting position.
    pub moves: &'a [Move],
    /// The mover's clock after each move, in seconds; empty without clocks.
    pub clocks: &'a [f64],
    /// The value of the tag `TimeControl`.
    pub control: Option<String>,
    /// The person's colour.
    pub person: Color,
    /// The person's name.
    pub name: &'a str,
    /// The engine's level in Elo; `None` for full strength.
    pub elo: Option<i32>,
    /// Seed of the level.
    pub seed: u64,
    /// Start time.
    pub began: DateTime<Utc>,
    /// How the game ended.
    pub ending: Ending,
}

impl GameRecord<'_> {
    /// Returns the ending and the result: `White mates: 1-0`.
    pub fn summary(&self) -> String {
        format!("{}: {}", self.ending.words(), self.ending.result())
    }

    /// Appends the game to a file atomically: on failure the file is unchanged.
    ///
    /// # Errors
    /// Fails if the file cannot be read or written, or is not a text file; the error names it.
    pub fn append_to(&self, path: &Path) -> Result<()> {
        let mut file = AtomicFile::create_over(path, &GAMES)?;
        let mut append = || -> io::Result<()> {
            // Read after the file is locked, so that a game written by another process is not lost.
            match File::open(path) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                old => {
                    if io::copy(&mut old?, &mut file)? > 0 {
                        file.write_all(b"\n")?;
                    }
                }
            }
            file.write_all(self.pgn().as_bytes())
        };
        append().with_context(|| format!("cannot write {}", path.shown()))?;
        file.commit()
    }

    /// Appends the game to a file. On failure, saves it to a new file in the same folder, the current folder or the
    /// system's temporary folder. If that fails too, the error contains the PGN.
    ///
    /// # Errors
    /// The error states why the file could not be written and where the game was saved.
    pub fn save(&self, path: &Path) -> Result<()> {
        let Err(error) = self.append_to(path) else {
            return Ok(());
        };
        let folder = path.parent().map(Path::to_path_buf);
        let folders = [folder, Some(PathBuf::new()), Some(env::temp_dir())];
        let mut folders = folders.into_iter().flatten();
        match folders.find_map(|folder| self.write_new(&folder).ok()) {
            Some(saved) => Err(error.context(format!("the game was saved to {}", saved.shown()))),
            None => Err(error.context(format!("the game could not be saved:\n\n{}", self.pgn()))),
        }
    }

    /// Writes the game to a new file in a folder, named after the start time, and returns its path.
    fn write_new(&self, folder: &Path) -> Result<PathBuf> {
        let path = unused_path(folder, &self.began.format("zoothera-%Y%m%d-%H%M%S").to_string(), "pgn")?;
        write_atomically(&path, |file| file.write_all(self.pgn().as_bytes()))?;
        Ok(path)
    }

    /// Returns the game in PGN.
    pub fn pgn(&self) -> String {
        let engine = match self.elo {
            Some(elo) => format!("Zoothera (Elo {elo}, Level Seed {})", self.seed),
            None => String::from("Zoothera"),
        };
        let name = if self.name.is_empty() { "?" } else { self.name };
        let (white, black) = self.person.fold_wb((name, engine.as_str()), (engine.as_str(), name));
        // Dates are in UTC, as in lichess games; PGN has no time zone.
        let date = self.began.format("%Y.%m.%d").to_string();
        let time = self.began.format("%H:%M:%S").to_string();
        let tags = [
            ("Event", "?"),
            ("Site", "?"),
            ("Date", date.as_str()),
            ("Round", "-"),
            ("White", white),
            ("Black", black),
            ("Result", self.ending.result()),
            ("UTCDate", date.as_str()),
            ("UTCTime", time.as_str()),
            ("TimeControl", self.control.as_deref().unwrap_or("-")),
            ("Termination", self.ending.termination()),
        ];
        let note = |ply: usize| self.clocks.get(ply).map(|&seconds| format!("[%clk {}]", on_clock(seconds)));
        pgn(&tags, self.start, self.moves, note, self.ending.result())
    }
}

/// `0:04:58`
fn on_clock(seconds: f64) -> String {
    let seconds = seconds.max(0.0) as u64;
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Returns a result in PGN notation: 1 is a win for White, 0 a draw, -1 a win for Black.
pub fn result_of(white: i8) -> &'static str {
    match white {
        1 => "1-0",
        0 => "1/2-1/2",
        _ => "0-1",
    }
}

/// Returns a game in PGN, with the tags `SetUp` and `FEN` if it does not start from the initial position. `note`
/// returns the comment after a move, by its ply from 0.
pub fn pgn(
    tags: &[(&str, &str)],
    start: &Position,
    moves: &[Move],
    note: impl Fn(usize) -> Option<String>,
    result: &str,
) -> String {
    let fen = start.fen();
    let setup = [("SetUp", "1"), ("FEN", fen.as_str())];
    let setup = setup.iter().filter(|_| fen != Position::startpos().fen());
    let tags: String =
        tags.iter().chain(setup).map(|(name, value)| format!("[{name} \"{}\"]\n", escaped(value))).collect();
    let text = format!("{} {result}", annotated(start, moves, note));
    format!("{tags}\n{}\n", wrapped(text.trim()))
}

/// Escapes quotation marks and backslashes in a tag's value.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Returns the moves in SAN with move numbers.
pub fn movetext(start: &Position, moves: &[Move]) -> String {
    annotated(start, moves, |_| None)
}

/// Returns the moves in SAN with move numbers, each followed by its comment.
fn annotated(start: &Position, moves: &[Move], note: impl Fn(usize) -> Option<String>) -> String {
    let mut position = start.clone();
    let mut words = Vec::new();
    let mut interrupted = true;
    for (index, &m) in moves.iter().enumerate() {
        let number = position.fullmoves();
        match position.turn() {
            Color::White => words.push(format!("{number}.")),
            Color::Black if interrupted => words.push(format!("{number}...")),
            Color::Black => {}
        }
        words.push(position.san(m));
        position.do_move(m);
        let note = note(index);
        interrupted = note.is_some();
        words.extend(note.map(|note| format!("{{{note}}}")));
    }
    words.join(" ")
}

/// Wraps a text into lines of at most [`WIDTH`] columns.
fn wrapped(text: &str) -> String {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("at least one line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.len() + word.len() < WIDTH {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join("\n")
}

// The game in progress, in a file next to the file of games. A killed session leaves it there and adds nothing to the
// file of games.

/// The file of a game in progress: `NAME.part`, or `NAME.part2` and so on if there are games of killed sessions.
pub(super) struct Kept(PathBuf);

impl Kept {
    /// The first unused name next to a file of games.
    pub(super) fn next_to(games: &Path) -> Self {
        let name = |number: u32| {
            let mut name = OsString::from(games);
            name.push(".part");
            if number > 1 {
                name.push(number.to_string());
            }
            PathBuf::from(name)
        };
        let mut number = 1;
        while name(number).symlink_metadata().is_ok() {
            number += 1;
        }
        Self(name(number))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes the game so far. Returns whether it could be written; the game continues if not.
    pub(super) fn write(&self, pgn: &str) -> bool {
        write_atomically(&self.0, |file| file.write_all(pgn.as_bytes())).is_ok()
    }

    /// Removes the file when the game has been saved.
    pub(super) fn remove(&self) {
        // The file does not exist if no move was played.
        let _ = fs::remove_file(&self.0);
    }
}
