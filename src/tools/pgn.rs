//! Games in PGN: tags, start and main line of each, checked against the rules.

use std::io::{self, Read};
use std::ops::ControlFlow;

use anyhow::{Context, Result, anyhow};
use pgn_reader::{RawTag, Reader, SanPlus, Visitor};

use super::position_from_fen;
use crate::board::{Color, Move, Position};

/// A game: what its file says of it, and its main line.
#[derive(Clone)]
pub struct Game {
    /// Number in the file, from 1.
    pub number: usize,
    /// The tags in their order, as `("White", "Carlsen")`.
    pub tags: Vec<(String, String)>,
    /// Where the game begins: the `FEN` tag, or the initial position.
    pub start: Position,
    /// The moves of the main line, all legal.
    pub moves: Vec<Move>,
}

impl Game {
    /// The value of a tag.
    pub fn tag(&self, name: &str) -> Option<&str> {
        let found = self.tags.iter().find(|(tag, _)| tag == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The position after the last move, with the game behind it.
    pub fn end(&self) -> Position {
        let mut position = self.start.clone();
        for &m in &self.moves {
            position.do_move(m);
        }
        position
    }

    /// `game 3: Carlsen - Caruana, 2018`, from what the tags tell.
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

/// The games of a file. A game with a mistake is an error that tells its number and move, and does not hide the others.
///
/// # Errors
/// When the file cannot be read.
pub fn read(input: impl Read) -> io::Result<Vec<Result<Game>>> {
    let mut reader = Reader::new(input);
    let mut games = Vec::new();
    while let Some(game) = reader.read_game(&mut Collector)? {
        let number = games.len() + 1;
        games.push(
            game.map(|game| Game { number, ..game })
                .with_context(|| format!("game {number}")),
        );
    }
    Ok(games)
}

/// Gathers a game.
struct Collector;

/// A game that is being read, and the position that it has reached.
struct Reading {
    game: Game,
    position: Position,
}

impl Visitor for Collector {
    type Tags = Vec<(String, String)>;
    type Movetext = Reading;
    type Output = Result<Game>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Self::Tags> {
        ControlFlow::Continue(Vec::new())
    }

    fn tag(
        &mut self,
        tags: &mut Self::Tags,
        name: &[u8],
        value: RawTag<'_>,
    ) -> ControlFlow<Self::Output> {
        let name = String::from_utf8_lossy(name).into_owned();
        tags.push((name, value.decode_utf8_lossy().into_owned()));
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Self::Tags) -> ControlFlow<Self::Output, Self::Movetext> {
        let fen = tags.iter().find(|(name, _)| name == "FEN");
        match position_from_fen(fen.map_or("", |(_, fen)| fen)) {
            Ok(start) => ControlFlow::Continue(Reading {
                position: start.clone(),
                game: Game {
                    number: 0,
                    tags,
                    start,
                    moves: Vec::new(),
                },
            }),
            Err(error) => ControlFlow::Break(Err(error)),
        }
    }

    fn san(&mut self, reading: &mut Reading, san: SanPlus) -> ControlFlow<Self::Output> {
        let position = &mut reading.position;
        match position.parse_san(&san.to_string()) {
            Ok(m) => {
                position.do_move(m);
                reading.game.moves.push(m);
                ControlFlow::Continue(())
            }
            Err(_) => {
                let dots = match position.turn() {
                    Color::White => ".",
                    Color::Black => "...",
                };
                let number = position.fullmoves();
                ControlFlow::Break(Err(anyhow!("move {number}{dots} '{san}' is not legal")))
            }
        }
    }

    fn end_game(&mut self, reading: Reading) -> Self::Output {
        Ok(reading.game)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAMES: &str = "[White \"A\"]\n[Black \"B\"]\n[Date \"2018.??.??\"]\n\n\
        1. e4 {best} e5 (1... c5 2. Nf3) 2. Nf3 $1 Nc6 1-0\n\n\
        [FEN \"4k3/8/8/8/8/8/4P3/4K3 b - - 0 9\"]\n\n9... Kd7 10. e4 Qd5 *\n\n1. d4 *\n";

    #[test]
    fn games_have_their_main_line_and_mistakes_their_place() {
        let games = read(GAMES.as_bytes()).expect("a text");
        assert_eq!(games.len(), 3);
        let first = games[0].as_ref().expect("a game");
        assert_eq!((first.moves.len(), first.tag("White")), (4, Some("A")));
        assert_eq!(first.title(), "game 1: A - B, 2018");
        assert!(
            first
                .end()
                .fen()
                .starts_with("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP")
        );
        let error = games[1].as_ref().err().map(|e| format!("{e:#}"));
        assert_eq!(
            error.as_deref(),
            Some("game 2: move 10... 'Qd5' is not legal")
        );
        assert_eq!(games[2].as_ref().expect("a game").title(), "game 3");
    }
}
