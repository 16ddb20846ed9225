//! A place in a game: `15` or `15w` is White's 15th move, `15b` is Black's.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context as _, Result, bail};

use super::pgn::Game;
use crate::board::{Color, Move, Position};
use crate::util::text::excerpt;

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
mod tests {
    use super::*;
    use crate::notation::pgn;

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
        let game = pgn::read("1. e4 e5 2. Nf3 *".as_bytes()).expect("readable").remove(0).expect("a game");
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
