//! Games in PGN: tags, start and main line of each, checked against the rules, and what is written beside the moves.

use std::io::{self, Read};
use std::ops::ControlFlow;

use anyhow::{Context, Result, bail};
use pgn_reader::{Nag, Outcome, RawComment, RawTag, Reader, SanPlus, Skip, Visitor};

use super::line_comments::LineComments;
use super::position_from_fen;
use crate::board::{Color, Move, Position};
use crate::util::text::excerpt;

/// Bytes of a line with a tag; a longer one is no tag.
const LONGEST_TAG: usize = 1 << 16;
/// Variations within variations beyond this depth are left out.
const DEEPEST_VARIATION: usize = 32;
/// Values of the tag `Variant` (lower case) whose rules are those of the engine.
const VARIANTS: [&str; 8] = [
    "",
    "?",
    "standard",
    "chess",
    "normal",
    "from position",
    "chess960",
    "fischerandom",
];

/// What a file says beside a move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// Numbers of glyphs: 1 is `!`, 2 is `?`.
    pub nags: Vec<u8>,
    /// Comments in their order, without braces.
    pub comments: Vec<String>,
    /// Lines that begin in place of the move, unchecked.
    pub variations: Vec<Vec<Token>>,
}

/// A part of a variation, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A move in SAN, legal or not.
    Move(String),
    /// The number of a glyph.
    Nag(u8),
    /// A comment without braces.
    Comment(String),
    /// A line in place of the move before.
    Variation(Vec<Token>),
}

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
    /// What stands before the first move, then what stands after each move: one more than moves.
    pub remarks: Vec<Remarks>,
    /// The result that ends the moves, as `1-0`; `*` where it is unknown or missing.
    pub result: String,
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

/// The games of a file. A game with a mistake is an error that tells its number, move and ply, and does not hide the
/// others.
///
/// # Errors
/// When the file cannot be read.
pub fn read(input: impl Read) -> io::Result<Vec<Result<Game>>> {
    let mut reader = Reader::build(LineComments::new(input))
        .set_supported_tag_line_length(LONGEST_TAG)
        .finish();
    let mut games = Vec::new();
    loop {
        let number = games.len() + 1;
        let game = match reader.read_game(&mut Collector) {
            Ok(None) => return Ok(games),
            Ok(Some(game)) => game,
            // What is no PGN, and has been skipped: the rest may be.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(error.into()),
            Err(error) => return Err(error),
        };
        games.push(
            game.map(|game| Game { number, ..game })
                .with_context(|| format!("game {number}")),
        );
    }
}

/// Gathers a game.
struct Collector;

/// A game that is being read, and the position that it has reached.
struct Reading {
    game: Game,
    position: Position,
    /// The variations that are open, outermost first.
    open: Vec<Vec<Token>>,
    /// Whether the variation that ends next was left out.
    skipping: bool,
    /// The beginning of a long comment.
    comment: String,
    ended: bool,
}

impl Reading {
    fn new(tags: Vec<(String, String)>, start: Position) -> Self {
        Self {
            position: start.clone(),
            game: Game {
                number: 0,
                tags,
                start,
                moves: Vec::new(),
                remarks: vec![Remarks::default()],
                result: "*".to_owned(),
            },
            open: Vec::new(),
            skipping: false,
            comment: String::new(),
            ended: false,
        }
    }

    /// The remarks on the last move of the main line.
    fn remarks(&mut self) -> &mut Remarks {
        let last = self.game.remarks.len() - 1;
        &mut self.game.remarks[last]
    }

    /// Makes a move of the main line.
    fn play(&mut self, san: &str) -> Result<()> {
        let dots = match self.position.turn() {
            Color::White => ".",
            Color::Black => "...",
        };
        let (number, ply) = (self.position.fullmoves(), self.game.moves.len() + 1);
        let place = || format!("move {number}{dots} (ply {ply}) '{}'", excerpt(san));
        if self.ended {
            bail!("{} comes after the result", place());
        }
        let Ok(m) = self.position.parse_san(san) else {
            bail!("{} is not legal", place());
        };
        self.position.do_move(m);
        self.game.moves.push(m);
        self.game.remarks.push(Remarks::default());
        Ok(())
    }

    /// Ends the innermost variation.
    fn close(&mut self) {
        let Some(line) = self.open.pop() else { return };
        match self.open.last_mut() {
            Some(outer) => outer.push(Token::Variation(line)),
            None => self.remarks().variations.push(line),
        }
    }
}

/// Stops reading a game where something went wrong.
fn flow(done: Result<()>) -> ControlFlow<Result<Game>> {
    match done {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(Err(error)),
    }
}

/// Where a game with these tags begins.
fn start_of(tags: &[(String, String)]) -> Result<Position> {
    let value = |name: &str| {
        let tag = tags.iter().find(|(tag, _)| tag == name);
        tag.map_or("", |(_, value)| value.trim())
    };
    let variant = value("Variant");
    if !VARIANTS.contains(&variant.to_lowercase().as_str()) {
        bail!(
            "the variant '{}' has other rules than chess",
            excerpt(variant)
        );
    }
    position_from_fen(value("FEN"))
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
        match start_of(&tags) {
            Ok(start) => ControlFlow::Continue(Reading::new(tags, start)),
            Err(error) => ControlFlow::Break(Err(error)),
        }
    }

    fn san(&mut self, reading: &mut Reading, san: SanPlus) -> ControlFlow<Self::Output> {
        let san = san.to_string();
        match reading.open.last_mut() {
            Some(line) => line.push(Token::Move(san)),
            None => return flow(reading.play(&san)),
        }
        ControlFlow::Continue(())
    }

    fn nag(&mut self, reading: &mut Reading, nag: Nag) -> ControlFlow<Self::Output> {
        match reading.open.last_mut() {
            Some(line) => line.push(Token::Nag(nag.0)),
            None => reading.remarks().nags.push(nag.0),
        }
        ControlFlow::Continue(())
    }

    fn partial_comment(
        &mut self,
        reading: &mut Reading,
        comment: RawComment<'_>,
    ) -> ControlFlow<Self::Output> {
        reading.comment += &String::from_utf8_lossy(comment.as_bytes());
        ControlFlow::Continue(())
    }

    fn comment(
        &mut self,
        reading: &mut Reading,
        comment: RawComment<'_>,
    ) -> ControlFlow<Self::Output> {
        let mut text = std::mem::take(&mut reading.comment);
        text += &String::from_utf8_lossy(comment.as_bytes());
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ");
        match reading.open.last_mut() {
            _ if text.is_empty() => {}
            Some(line) => line.push(Token::Comment(text)),
            None => reading.remarks().comments.push(text),
        }
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, reading: &mut Reading) -> ControlFlow<Self::Output, Skip> {
        reading.skipping = reading.open.len() >= DEEPEST_VARIATION;
        if !reading.skipping {
            reading.open.push(Vec::new());
        }
        ControlFlow::Continue(Skip(reading.skipping))
    }

    fn end_variation(&mut self, reading: &mut Reading) -> ControlFlow<Self::Output> {
        if !std::mem::take(&mut reading.skipping) {
            reading.close();
        }
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, reading: &mut Reading, outcome: Outcome) -> ControlFlow<Self::Output> {
        if reading.open.is_empty() {
            reading.game.result = outcome.to_string();
            reading.ended = true;
        }
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, mut reading: Reading) -> Self::Output {
        while !reading.open.is_empty() {
            reading.close();
        }
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
            Some("game 2: move 10... (ply 3) 'Qd5' is not legal")
        );
        assert_eq!(games[2].as_ref().expect("a game").title(), "game 3");
    }

    #[test]
    fn what_stands_beside_the_moves_is_kept() {
        let games = read(GAMES.as_bytes()).expect("a text");
        let game = games[0].as_ref().expect("a game");
        assert_eq!(game.remarks.len(), game.moves.len() + 1);
        assert_eq!(game.remarks[1].comments, ["best"]);
        let line = ["c5", "Nf3"].map(|san| Token::Move(san.to_owned()));
        assert_eq!(game.remarks[2].variations, [line.to_vec()]);
        assert_eq!(game.remarks[3].nags, [1]);
        assert_eq!(game.result, "1-0");
    }

    #[test]
    fn comments_to_the_end_of_a_line_are_kept_too() {
        let games = read("1. e4 ; the king's pawn\n1... e5 *\n".as_bytes()).expect("a text");
        let game = games[0].as_ref().expect("a game");
        assert_eq!(game.moves.len(), 2);
        assert_eq!(game.remarks[1].comments, ["the king's pawn"]);
    }

    #[test]
    fn broken_games_have_reasons_and_hide_no_other() {
        let long = "x".repeat(2000);
        let nested = "(e5 ".repeat(100) + &")".repeat(100);
        let text = format!(
            "[Variant \"Atomic\"]\n\n1. e4 *\n\n[FEN \"8/8 w\"]\n\n1. e4 *\n\n1. e4 * e5\n\n\
             [Event \"E\"]\n\n1. e4 {{{long}}} {nested} c5 *\n\n[Event \"F\"]\n\n1. d4 (1. c4 {{ never closed"
        );
        let games = read(text.as_bytes()).expect("a text");
        let told: Vec<String> = games
            .iter()
            .map(|game| match game {
                Ok(game) => game.moves.len().to_string(),
                Err(error) => format!("{error:#}"),
            })
            .collect();
        assert!(told[0].contains("'Atomic' has other rules"), "{told:?}");
        assert!(told[1].contains("game 2: bad FEN"), "{told:?}");
        assert!(
            told[2].contains("(ply 2) 'e5' comes after the result"),
            "{told:?}"
        );
        assert_eq!(told[3], "2");
        assert!(told[4].contains("game 5: unterminated comment"), "{told:?}");
        let game = games[3].as_ref().expect("a game");
        assert_eq!(game.remarks[1].comments[0].len(), 2000);
        assert_eq!(told.len(), 5);
    }
}
