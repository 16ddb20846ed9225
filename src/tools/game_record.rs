//! Games as PGN text: any game, and one against a person.

use std::env;
use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use chrono::{DateTime, Utc};

use crate::board::{Color, Move, Position};
use crate::util::atomic::{AtomicFile, write_atomically};
use crate::util::kind::{Kind, is_text};

/// What a game is added to.
pub const GAMES: Kind = Kind {
    name: "a text file of games",
    is: is_text,
};
/// Columns of the move text.
const WIDTH: usize = 80;

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// This side mated the other.
    Mate(Color),
    /// The side to move had no move.
    Stalemate,
    /// Repetition, 50 moves, or too little material.
    DrawByRule,
    /// Both wanted a draw.
    Agreed,
    /// This side gave up.
    Resigned(Color),
    /// The person left.
    Unfinished,
}

impl Ending {
    /// As PGN writes the result.
    fn result(self) -> &'static str {
        match self {
            Self::Mate(winner) => winner.fold_wb("1-0", "0-1"),
            Self::Resigned(loser) => loser.fold_wb("0-1", "1-0"),
            Self::Stalemate | Self::DrawByRule | Self::Agreed => "1/2-1/2",
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
            Self::Unfinished => "Unfinished",
        }
    }
}

/// A game that is over.
pub struct GameRecord<'a> {
    /// Where it began.
    pub start: &'a Position,
    /// Its moves.
    pub moves: &'a [Move],
    /// The person's colour.
    pub person: Color,
    /// The engine's level in Elo; `None` for full strength.
    pub elo: Option<i32>,
    /// The seed of that level.
    pub seed: u64,
    /// When it began.
    pub began: DateTime<Utc>,
    /// How it ended.
    pub ending: Ending,
}

impl GameRecord<'_> {
    /// `White mates: 1-0`
    pub fn summary(&self) -> String {
        format!("{}: {}", self.ending.words(), self.ending.result())
    }

    /// Adds the game to the end of a file, which has all of it or is as it was.
    ///
    /// # Errors
    /// Fails if the file cannot be read or written, or is not one of games; the error names it.
    pub fn append_to(&self, path: &Path) -> Result<()> {
        let mut file = AtomicFile::create_over(path, &GAMES)?;
        let mut append = || -> io::Result<()> {
            // Read after the file is ours, so that no game of another process is lost.
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
        append().with_context(|| format!("cannot write {}", path.display()))?;
        file.commit()
    }

    /// Adds the game to the end of a file. If that cannot be done, saves it in a new file of the folder, of the current
    /// one or of the system's folder for temporary files, or else returns its text in the error.
    ///
    /// # Errors
    /// Says why the file cannot be written, and where the game is.
    pub fn save(&self, path: &Path) -> Result<()> {
        let Err(error) = self.append_to(path) else {
            return Ok(());
        };
        let folder = path.parent().map(Path::to_path_buf);
        let folders = [folder, Some(PathBuf::new()), Some(env::temp_dir())];
        let mut folders = folders.into_iter().flatten();
        match folders.find_map(|folder| self.write_new(&folder).ok()) {
            Some(saved) => Err(error.context(format!("the game was saved to {}", saved.display()))),
            None => Err(error.context(format!("the game could not be saved:\n\n{}", self.pgn()))),
        }
    }

    /// Writes the game to a new file in a folder, named by its time, and returns its name.
    fn write_new(&self, folder: &Path) -> Result<PathBuf> {
        let name = self.began.format("zoothera-%Y%m%d-%H%M%S").to_string();
        for number in 1..100 {
            let tail = if number == 1 {
                ".pgn".to_owned()
            } else {
                format!("-{number}.pgn")
            };
            let path = folder.join(format!("{name}{tail}"));
            if path.symlink_metadata().is_err() {
                write_atomically(&path, |file| file.write_all(self.pgn().as_bytes()))?;
                return Ok(path);
            }
        }
        bail!("no name is free in {}", folder.display())
    }

    /// The game in PGN.
    pub fn pgn(&self) -> String {
        let engine = match self.elo {
            Some(elo) => format!("Zoothera (Elo {elo}, Level Seed {})", self.seed),
            None => String::from("Zoothera"),
        };
        let (white, black) = self
            .person
            .fold_wb(("?", engine.as_str()), (engine.as_str(), "?"));
        // Dates are those of UTC, as in the games of lichess: no time zone is told.
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
        ];
        let note = |_| None;
        pgn(&tags, self.start, self.moves, note, self.ending.result())
    }
}

/// A result as PGN writes it: 1 is a win of White, -1 of Black.
pub fn result_of(white: i8) -> &'static str {
    match white {
        1 => "1-0",
        0 => "1/2-1/2",
        _ => "0-1",
    }
}

/// A game in PGN. A start other than the initial position gets its tags. `note` is the comment behind a move, by its
/// ply from 0.
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
    let tags: String = tags
        .iter()
        .chain(setup)
        .map(|(name, value)| format!("[{name} \"{}\"]\n", escaped(value)))
        .collect();
    let text = format!("{} {result}", annotated(start, moves, note));
    format!("{tags}\n{}\n", wrapped(text.trim()))
}

/// A tag's value with what PGN escapes in it.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"")
}

/// The moves with their numbers, in SAN.
pub fn movetext(start: &Position, moves: &[Move]) -> String {
    annotated(start, moves, |_| None)
}

/// The moves with their numbers, in SAN, each with its comment.
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

/// The words of a text in lines of [`WIDTH`] columns.
fn wrapped(text: &str) -> String {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a line");
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
