//! Games in PGN: tags, initial position and main line of each, checked against the rules, with the comments on the
//! moves.
//!
//! The reader never silently changes a game. A word that is not a move, number, comment, glyph, variation or result
//! makes the game count as broken. The error names the game, the move and the word.
//!
//! * [`tags`]: tags, variants and results
//! * [`movetext`]: the parts of a movetext, and the state of an open variation
//! * `reading`: the state of a game while it is read

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context as _, Result, bail};

use crate::board::{Color, Move, Position};
use crate::util::text::{Lines, excerpt, printable};
use reading::{Reading, Taken};
use tags::{Tags, begins_tag, is_tag, take_tag};

// CITE: S. Edwards, "Portable Game Notation Specification and Implementation Guide".

pub mod movetext;
mod reading;
pub mod tags;

/// Maximum number of bytes of a game. A longer one counts as a file without end.
const MAX_GAME_BYTES: usize = 64 << 20;

/// Annotations of a move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// Numbers of glyphs: 1 is `!`, 2 is `?`.
    pub nags: Vec<u8>,
    /// [`Token::Comment`] and [`Token::Variation`] in the order of the file.
    pub texts: Vec<Token>,
}

impl Remarks {
    /// The comments in order, without braces.
    pub fn comments(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().filter_map(|text| match text {
            Token::Comment(comment) => Some(comment.as_str()),
            _ => None,
        })
    }

    /// The variations in order.
    pub fn variations(&self) -> impl Iterator<Item = &[Token]> {
        self.texts.iter().filter_map(|text| match text {
            Token::Variation(line) => Some(line.as_slice()),
            _ => None,
        })
    }
}

/// A part of a variation as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// The number of the next move, and the side that it is written for: `3.` or `3...`.
    Number(u32, Color),
    /// A move in SAN with its check sign, legal or not.
    Move(String),
    /// The number of a glyph.
    Nag(u8),
    /// A comment without braces.
    Comment(String),
    /// An alternative to the preceding move.
    Variation(Vec<Token>),
}

/// A game: its tags, main line and annotations.
#[derive(Clone, Debug, PartialEq)]
pub struct Game {
    /// Number in the file, from 1.
    pub number: usize,
    /// The tags in order.
    pub tags: Tags,
    /// The initial position: the position of the `FEN` tag, or the standard initial position.
    pub start: Position,
    /// The moves of the main line, all legal.
    pub moves: Vec<Move>,
    /// Annotations before the first move, then those after each move: one entry more than moves.
    pub remarks: Vec<Remarks>,
    /// `1-0`, `0-1`, `1/2-1/2`, or `*` if unknown.
    pub result: &'static str,
    /// Reason why the moves stop before the end of the game, if they do.
    pub cut: Option<String>,
}

impl Game {
    fn new(tags: Tags, start: Position) -> Self {
        Self { number: 0, tags, start, moves: Vec::new(), remarks: vec![Remarks::default()], result: "*", cut: None }
    }

    /// The value of a tag.
    pub fn tag(&self, name: &str) -> Option<&str> {
        let found = self.tags.iter().find(|(tag, _)| tag == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The position after the last move, with the history of the game.
    pub fn end(&self) -> Position {
        let mut position = self.start.clone();
        for &m in &self.moves {
            position.do_move(m);
        }
        position
    }

    /// `game 3: Carlsen - Caruana, 2018`, from the tags.
    pub fn title(&self) -> String {
        let known = |name: &str| {
            let value = self.tag(name).unwrap_or("");
            (!value.is_empty() && !value.starts_with('?')).then(|| value.to_owned())
        };
        let mut title = format!("game {}", self.number);
        if let (Some(white), Some(black)) = (known("White"), known("Black")) {
            title += &format!(": {white} - {black}");
        }
        if let Some(date) = known("Date") {
            title += &format!(", {}", date.trim_end_matches(".??"));
        }
        title
    }
}

/// A game with a mistake.
#[derive(Clone, Debug, PartialEq)]
pub struct Broken {
    /// The number of the game, and the mistake with its place.
    pub message: String,
    /// The game before the mistake; `None` if its tags are invalid.
    pub part: Option<Box<Game>>,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Opens a file of games; `-` is standard input.
///
/// # Errors
/// Fails if the file cannot be opened.
pub fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    Ok(Box::new(File::open(path)?))
}

/// All games of a file.
///
/// # Errors
/// Same as [`Games::next_game`].
pub fn read(input: impl Read) -> io::Result<Vec<Result<Game, Broken>>> {
    let mut games = Games::new(input);
    let mut all = Vec::new();
    while let Some(game) = games.next_game()? {
        all.push(game);
    }
    Ok(all)
}

/// Iterator over the games of a file.
pub struct Games<'a> {
    lines: Lines<'a>,
    /// The first line of the next game, which was read to find the end of the last one, with its number.
    held: Option<(String, usize)>,
    /// Whether a blank line precedes the next line.
    blank: bool,
    number: usize,
    initial: Position,
}

impl<'a> Games<'a> {
    /// The games of `input`.
    pub fn new(input: impl Read + 'a) -> Self {
        Self { lines: Lines::new(input), held: None, blank: false, number: 0, initial: Position::startpos() }
    }

    /// The next game; `None` at the end. A broken game is returned as such and does not affect the others.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or is not a PGN file because a line or a game has no end.
    pub fn next_game(&mut self) -> io::Result<Option<Result<Game, Broken>>> {
        let mut draft = Draft::default();
        loop {
            let next = self.lines.number() + 1;
            let (line, number) = match self.held.take() {
                Some((line, number)) => (Cow::Owned(line), number),
                None => match self.lines.next_line()? {
                    Some(line) => (line, next),
                    None => break,
                },
            };
            draft.bytes += line.len();
            if draft.bytes > MAX_GAME_BYTES {
                let number = self.number + 1;
                let why = format!("game {number} is longer than 64 MiB or has no end: not a PGN file");
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
            let rest = draft.line(&line, number, self.blank, &self.initial);
            self.blank = rest > 0 || line.trim().is_empty();
            if rest > 0 {
                self.held = Some((line[line.len() - rest..].to_owned(), number));
                break;
            }
        }
        self.number += 1;
        Ok(draft.finish(self.number, &self.initial))
    }
}

/// The tags of a game, and its movetext, if the movetext has begun.
#[derive(Default)]
struct Draft {
    tags: Tags,
    /// Whether a blank line follows the tags.
    apart: bool,
    /// Whether the value of the last tag continues on the next line.
    wrapped: bool,
    /// Comments before and between the tags.
    before: Vec<String>,
    reading: Option<Reading>,
    bytes: usize,
}

impl Draft {
    /// Reads a line. Returns the number of bytes at its end that belong to the next game.
    fn line(&mut self, line: &str, number: usize, after_blank: bool, initial: &Position) -> usize {
        let mut text = line;
        if self.reading.as_ref().is_some_and(Reading::in_comment) {
            // A comment that is never closed must not hide the games after it.
            if after_blank && is_tag(line) {
                return line.len();
            }
        } else if std::mem::take(&mut self.wrapped) && self.take_rest_of_tag(line) {
            return 0;
        } else if line.trim().is_empty() {
            self.blank_line();
            return 0;
        } else if line.starts_with('%') {
            // PGN reserves such a line for other programs.
            return 0;
        } else if line.trim_start().starts_with('[') {
            if !self.owns_tags(line) {
                return line.len();
            }
            text = self.take_tags(line);
            let among_tags = self.reading.is_none() && !self.tags.is_empty() && !self.apart;
            if among_tags && tags::is_bracketed(text) {
                // An invalid tag.
                return 0;
            }
        }
        if text.trim().is_empty() && self.reading.is_none() {
            return 0;
        }
        let (tags, before) = (&mut self.tags, &mut self.before);
        let begin = || Reading::new(std::mem::take(tags), std::mem::take(before), initial);
        match self.reading.get_or_insert_with(begin).line(text, number, after_blank) {
            Taken::All => 0,
            Taken::NextGame(rest) => rest,
        }
    }

    fn blank_line(&mut self) {
        match &mut self.reading {
            Some(reading) => reading.blank_line(),
            None => self.apart = !self.tags.is_empty(),
        }
    }

    /// Whether a line that starts with a bracket belongs to this game. Tags end a movetext. A second section of tags
    /// begins a new game unless it adds to the first one.
    fn owns_tags(&mut self, line: &str) -> bool {
        if !begins_tag(line) {
            return true;
        }
        let Some(((name, _), _)) = take_tag(line) else {
            return true;
        };
        let tags = match &self.reading {
            Some(reading) => match reading.tags_before_moves() {
                Some(tags) => tags,
                None => return false,
            },
            None => &self.tags,
        };
        let is_known = |name: &str| tags.iter().any(|(known, _)| known == name);
        let begins = is_known(&name) || (name == "Event" && (is_known("White") || is_known("Black")));
        if begins && (self.apart || self.reading.is_some()) {
            return false;
        }
        if let Some(reading) = self.reading.take() {
            (self.tags, self.before) = reading.into_tags();
        }
        true
    }

    /// Appends the second line of a tag to its value. Returns false if the line is something else.
    fn take_rest_of_tag(&mut self, line: &str) -> bool {
        let rest = line.trim().strip_suffix("\"]").filter(|rest| !rest.starts_with('['));
        let (Some(rest), Some((_, value))) = (rest, self.tags.last_mut()) else {
            return false;
        };
        *value = format!("{value} {}", printable(rest)).trim().to_owned();
        true
    }

    /// Parses the tags at the start of a line. The rest of the line is movetext.
    fn take_tags<'t>(&mut self, line: &'t str) -> &'t str {
        let mut rest = line;
        while self.reading.is_none()
            && let Some((tag, after)) = take_tag(rest)
        {
            self.tags.push(tag);
            self.apart = false;
            self.wrapped = after.is_empty() && !rest.trim_end().ends_with(']') && rest.matches('"').count() == 1;
            rest = after;
        }
        rest
    }

    fn finish(self, number: usize, initial: &Position) -> Option<Result<Game, Broken>> {
        let reading = match self.reading {
            Some(reading) if reading.is_empty() => return None,
            Some(reading) => reading,
            None if self.tags.is_empty() => return None,
            None => Reading::new(self.tags, self.before, initial),
        };
        Some(reading.finish(number))
    }
}

#[cfg(test)]
mod tests;

// A place in a game: `15` or `15w` is White's 15th move, `15b` is Black's.

/// The number of a move and the side that plays it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The move number, from 1.
    pub number: u32,
    /// The side to move.
    pub side: Color,
}

impl FromStr for Place {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
        let side = match text[digits.len()..].to_ascii_lowercase().as_str() {
            "" | "." | "w" => Color::White,
            "..." | "b" => Color::Black,
            _ => bail!("'{}' is not a place in a game; expected a move number such as 15, 15w or 15b", excerpt(text)),
        };
        let number = digits.parse().with_context(|| format!("'{}' is not a move number", excerpt(text)))?;
        Ok(Self { number, side })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.number, self.side.fold_wb("w", "b"))
    }
}

impl Game {
    /// The position before the move at `place`, and the move. The move is `None` at the end of the game.
    ///
    /// # Errors
    /// Fails if the game has no position at this place.
    pub fn at(&self, place: Place) -> Result<(Position, Option<Move>)> {
        let mut position = self.start.clone();
        let reached = |position: &Position| position.fullmoves() == place.number && position.turn() == place.side;
        for &m in &self.moves {
            if reached(&position) {
                return Ok((position, Some(m)));
            }
            position.do_move(m);
        }
        if reached(&position) {
            return Ok((position, None));
        }
        let end = Place { number: position.fullmoves(), side: position.turn() };
        bail!("game {} does not reach move {place}; its last position is that of move {end}", self.number)
    }
}

#[cfg(test)]
mod place_tests {
    use super::*;

    fn place(text: &str) -> Option<(u32, Color)> {
        text.parse::<Place>().ok().map(|place| (place.number, place.side))
    }

    #[test]
    fn place_parses_in_every_spelling() {
        for (text, expected) in [
            ("15", Some((15, Color::White))),
            ("15w", Some((15, Color::White))),
            ("15.", Some((15, Color::White))),
            ("15b", Some((15, Color::Black))),
            ("15B", Some((15, Color::Black))),
            ("15...", Some((15, Color::Black))),
            ("", None),
            ("b", None),
            ("-3", None),
            ("15x", None),
            ("99999999999", None),
        ] {
            assert_eq!(place(text), expected, "{text}");
        }
    }

    #[test]
    fn game_gives_the_position_before_the_move_at_a_place() {
        let game = read("1. e4 e5 2. Nf3 *".as_bytes()).expect("readable").remove(0).expect("a game");
        let at = |text: &str| game.at(text.parse().expect(text));
        let (position, m) = at("1b").expect("reached");
        assert_eq!(m.map(|m| position.san(m)).as_deref(), Some("e5"));
        let (position, m) = at("2b").expect("the end");
        assert!(m.is_none() && position.turn().is_black());
        let error = format!("{:#}", at("3").expect_err("not reached"));
        assert_eq!(error, "game 1 does not reach move 3w; its last position is that of move 2b");
        assert!(at("0").is_err());
    }
}
