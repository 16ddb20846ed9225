//! A game that is being read: the position that it has reached, and what is open.

use shakmaty::{Chess, Position as _};

use super::movetext::{Part, judgement, take_part};
use super::tags::{self, Tags};
use super::{Broken, Game, Remarks, Token};
use crate::board::{Position, from_shakmaty};
use crate::notation::moves::{self, MoveError};
use crate::notation::spelling::Spelling;
use crate::util::text::{excerpt, printable};

/// Variations within variations beyond this depth are left out.
const DEEPEST_VARIATION: usize = 32;

/// Why the main line is not read to its end.
enum Stop {
    /// A null move: the moves before it count.
    Null(String),
    /// A mistake: the game is broken.
    Mistake(String),
}

/// A comment that goes on.
struct OpenComment {
    text: String,
    /// Number of the line where it begins.
    line: usize,
}

/// What became of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// All of it belongs to the game.
    All,
    /// A new game begins so many bytes before the end.
    NextGame(usize),
}

/// A game in the making.
pub(super) struct Reading {
    /// `None` where no game can begin: the tags are wrong.
    game: Option<Game>,
    chess: Chess,
    stop: Option<Stop>,
    /// Variations that are open, outermost first; those too deep to be kept are not among them.
    open: Vec<Vec<Token>>,
    depth: usize,
    /// Where the outermost open variation begins.
    opened: String,
    comment: Option<OpenComment>,
    ended: bool,
    /// A blank line follows the result.
    apart: bool,
    /// Whether something else than a comment has been read.
    any: bool,
}

impl Reading {
    /// A game with these tags, and the comments that stand before or between them.
    pub(super) fn new(tags: Tags, comments: Vec<String>, initial: &Position) -> Self {
        let (mut game, stop) = match tags::start(&tags, initial) {
            Ok(start) => (Some(Game::new(tags, start)), None),
            Err(error) => (None, Some(Stop::Mistake(format!("{error:#}")))),
        };
        if let Some(game) = &mut game {
            game.remarks[0].comments = comments;
        }
        Self {
            chess: game
                .as_ref()
                .map_or_else(Chess::default, |game| game.start.to_chess()),
            game,
            stop,
            open: Vec::new(),
            depth: 0,
            opened: String::new(),
            comment: None,
            ended: false,
            apart: false,
            any: false,
        }
    }

    /// The tags, if nothing but comments follows them.
    pub(super) fn tags_before_moves(&self) -> Option<&Tags> {
        let game = self
            .game
            .as_ref()
            .filter(|_| !self.any && self.comment.is_none());
        game.map(|game| &game.tags)
    }

    /// The tags and the comments after them.
    pub(super) fn give_back(self) -> (Tags, Vec<String>) {
        let game = self.game.map(|game| (game.tags, game.remarks));
        let (tags, mut remarks) = game.unwrap_or_default();
        (
            tags,
            remarks
                .pop()
                .map(|remarks| remarks.comments)
                .unwrap_or_default(),
        )
    }

    /// Whether nothing has been read but comments.
    pub(super) fn is_empty(&self) -> bool {
        self.tags_before_moves().is_some_and(Tags::is_empty)
    }

    pub(super) fn in_comment(&self) -> bool {
        self.comment.is_some()
    }

    /// Notes a blank line.
    pub(super) fn blank_line(&mut self) {
        self.apart |= self.ended;
    }

    /// Reads a line of the movetext; `after_blank` if a blank line precedes it.
    pub(super) fn line(&mut self, line: &str, number: usize, after_blank: bool) -> Taken {
        let mut rest = line;
        if let Some(comment) = &mut self.comment {
            comment.text.push(' ');
            let Some((end, after)) = line.split_once('}') else {
                comment.text += line;
                return Taken::All;
            };
            comment.text += end;
            rest = after;
            let text = self
                .comment
                .take()
                .map(|comment| comment.text)
                .unwrap_or_default();
            self.remark(&text);
        }
        let mut first = rest.len() == line.len();
        loop {
            let before = rest.trim_start().len();
            let Some(part) = take_part(&mut rest) else {
                return Taken::All;
            };
            if self.begins_next(&part, first && after_blank) {
                return Taken::NextGame(before);
            }
            first = false;
            self.any |= !matches!(part, Part::Comment(_) | Part::CommentBegins(_));
            self.part(&part, number);
        }
    }

    /// Whether a part belongs to the next game: it follows the result of this one, or is move number 1 after a blank
    /// line although the game is further on.
    fn begins_next(&self, part: &Part<'_>, after_blank: bool) -> bool {
        match part {
            Part::Comment(_)
            | Part::CommentBegins(_)
            | Part::Nag(_)
            | Part::Glyph(_)
            | Part::Nothing => false,
            Part::Number(1, _) if self.ended => true,
            _ if self.ended => self.apart,
            Part::Number(1, true) => {
                let further = self.any && self.stop.is_some()
                    || (self.plies() > 0 && self.chess.fullmoves().get() != 1);
                after_blank && self.depth == 0 && further
            }
            _ => false,
        }
    }

    fn plies(&self) -> usize {
        self.game.as_ref().map_or(0, |game| game.moves.len())
    }

    fn part(&mut self, part: &Part<'_>, line: usize) {
        match *part {
            Part::Word(word) => self.word(word, line),
            Part::Number(number, dots) => self.number(number, dots, line),
            Part::Nothing => {}
            Part::Comment(text) => self.remark(text),
            Part::CommentBegins(text) => {
                let text = text.to_owned();
                self.comment = Some(OpenComment { text, line });
            }
            Part::Nag(digits) => match digits.parse() {
                Ok(number) => self.glyph(number),
                Err(_) if digits.is_empty() => self.word("$", line),
                // A number that no glyph has: kept as a comment.
                Err(_) => self.remark(&format!("${digits}")),
            },
            Part::Glyph(number) => self.glyph(number),
            Part::Open => self.open_variation(line),
            Part::Close => self.close_variation(line),
            Part::Result(result) => self.result(result, line),
        }
    }

    /// A word of the main line must be a move; one of a variation is kept as it is.
    fn word(&mut self, word: &str, line: usize) {
        if self.stop.is_some() {
            return;
        }
        if self.depth > 0 {
            match Spelling::parse(word) {
                Some(spelling) => {
                    self.keep(Token::Move(spelling.to_string()));
                    self.signs(word);
                }
                None => self.remark(word),
            }
            return;
        }
        if self.ended {
            let place = self.place(word);
            return self.stop_at(format!("{place} comes after the result (line {line})"));
        }
        match moves::find(&self.chess, word) {
            Ok(m) => {
                self.play(m);
                self.signs(word);
            }
            // Two zeros are also the result of a game that both sides lost.
            Err(MoveError::Illegal(..))
                if matches!(word, "0-0" | "0:0") && self.is_tag_result("0-0") =>
            {
                self.ended = true;
            }
            Err(error @ MoveError::Null(_)) => {
                let why = self.message(word, &error, line);
                self.stop = Some(Stop::Null(format!("{why}: read as far as that")));
            }
            Err(error) => self.stop_at(self.message(word, &error, line)),
        }
    }

    fn is_tag_result(&self, result: &str) -> bool {
        let value = self.game.as_ref().and_then(|game| game.tag("Result"));
        value == Some(result)
    }

    /// The glyphs at the end of a move, as in `Nf3!?`.
    fn signs(&mut self, word: &str) {
        let signs = &word[word.trim_end_matches(['!', '?']).len()..];
        if !signs.is_empty() {
            return self.glyph(judgement(signs));
        }
        if let Some(number) = word.chars().next_back().and_then(|c| match c {
            '‼' => Some(3),
            '⁇' => Some(4),
            '⁉' => Some(5),
            '⁈' => Some(6),
            _ => None,
        }) {
            self.glyph(number);
        }
    }

    fn play(&mut self, m: shakmaty::Move) {
        let (Some(game), Some(ours)) = (&mut self.game, from_shakmaty(m)) else {
            return;
        };
        game.moves.push(ours);
        game.remarks.push(Remarks::default());
        self.chess.play_unchecked(m);
    }

    /// `move 10... (ply 3) 'Qd5'`
    fn place(&self, word: &str) -> String {
        let dots = self.chess.turn().fold_wb(".", "...");
        let (number, ply) = (self.chess.fullmoves(), self.plies() + 1);
        format!("move {number}{dots} (ply {ply}) '{}'", excerpt(word))
    }

    fn message(&self, word: &str, error: &MoveError, line: usize) -> String {
        let why = match error {
            MoveError::Illegal(_, why) => format!("is not legal: {why}"),
            error => {
                let text = error.to_string();
                let quoted = format!("'{}'", excerpt(word));
                text.strip_prefix(&quoted)
                    .unwrap_or(&text)
                    .trim()
                    .to_owned()
            }
        };
        format!("{} {why} (line {line})", self.place(word))
    }

    fn stop_at(&mut self, why: String) {
        self.stop.get_or_insert(Stop::Mistake(why));
    }

    /// A number without dots is that of the move: any other one may be a move in another notation.
    fn number(&mut self, number: u32, dots: bool, line: usize) {
        if dots || self.depth > 0 || self.stop.is_some() || self.ended {
            return;
        }
        let counted = 1 + self.plies() / 2;
        if number != self.chess.fullmoves().get() && number as usize != counted {
            let word = number.to_string();
            let place = self.place(&word);
            self.stop_at(format!(
                "{place} is neither a move nor the number of the move (line {line})"
            ));
        }
    }

    fn remark(&mut self, text: &str) {
        let text = printable(text);
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ");
        if !text.is_empty() {
            self.keep(Token::Comment(text));
        }
    }

    fn glyph(&mut self, number: u8) {
        self.keep(Token::Nag(number));
    }

    /// Keeps something that is no move of the main line, where it belongs to what has been read.
    fn keep(&mut self, token: Token) {
        let (None, Some(game)) = (&self.stop, &mut self.game) else {
            return;
        };
        if self.depth > self.open.len() {
            return;
        }
        if let Some(line) = self.open.last_mut() {
            return line.push(token);
        }
        let Some(remarks) = game.remarks.last_mut() else {
            return;
        };
        match token {
            Token::Move(_) => {}
            Token::Nag(number) => remarks.nags.push(number),
            Token::Comment(text) => remarks.comments.push(text),
            Token::Variation(line) => remarks.variations.push(line),
        }
    }

    fn open_variation(&mut self, line: usize) {
        if self.depth == 0 {
            self.opened = format!("{} (line {line})", self.place("("));
        }
        if self.depth < DEEPEST_VARIATION && self.open.len() == self.depth && self.stop.is_none() {
            self.open.push(Vec::new());
        }
        self.depth += 1;
    }

    fn close_variation(&mut self, line: usize) {
        if self.depth == 0 {
            let place = self.place(")");
            return self.stop_at(format!("{place} closes no variation (line {line})"));
        }
        if self.open.len() == self.depth
            && let Some(inner) = self.open.pop()
        {
            self.depth -= 1;
            return self.keep(Token::Variation(inner));
        }
        self.depth -= 1;
    }

    fn result(&mut self, result: &'static str, line: usize) {
        if self.depth > 0 {
            return;
        }
        if self.ended {
            let place = self.place(result);
            return self.stop_at(format!("{place} is a second result (line {line})"));
        }
        self.ended = true;
        if let Some(game) = &mut self.game {
            game.result = result;
        }
    }

    /// The game, at its end or at the beginning of the next one. A result that is missing or unknown is that of the
    /// tags.
    pub(super) fn finish(mut self, number: usize) -> Result<Game, Broken> {
        if let Some(comment) = self.comment.take() {
            let began = excerpt(&comment.text);
            self.stop_at(format!(
                "the comment '{{{began}' of line {} is never closed",
                comment.line
            ));
        }
        if self.depth > 0 {
            let opened = std::mem::take(&mut self.opened);
            self.stop_at(format!("{opened}: the variation is never closed"));
        }
        if let Some(game) = &mut self.game {
            game.number = number;
            if game.result == "*" {
                game.result = tags::result(&game.tags);
            }
        }
        match (self.stop, self.game) {
            (None, Some(game)) => Ok(game),
            (Some(Stop::Null(why)), Some(game)) => Ok(Game {
                cut: Some(format!("game {number}: {why}")),
                ..game
            }),
            (Some(Stop::Null(why) | Stop::Mistake(why)), part) => Err(Broken {
                message: format!("game {number}: {why}"),
                part: part.map(Box::new),
            }),
            (None, None) => Err(Broken {
                message: format!("game {number}: it has no beginning"),
                part: None,
            }),
        }
    }
}
