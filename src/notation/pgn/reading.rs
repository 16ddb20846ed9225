//! State of a game while it is read: the current position, and open comments and variations.

use shakmaty::{Chess, Position as _};

use super::movetext::{OpenVariation, Part, one_line, signs, take_part};
use super::tags::Tags;
use super::{Broken, Game, Remarks, Token, tags};
use crate::board::{Color, Position, from_shakmaty};
use crate::notation::moves;
use crate::notation::moves::MoveError;
use crate::util::reason;
use crate::util::text::excerpt;

/// Maximum nesting of variations; deeper ones are dropped.
const MAX_VARIATION_DEPTH: usize = 32;

/// Reason why the main line is not read to its end.
enum Stop {
    /// A null move; the moves before it are valid.
    Null(String),
    /// A mistake, after which the game counts as broken.
    Mistake(String),
}

/// A comment that continues on the next line.
struct OpenComment {
    text: String,
    /// Number of its first line.
    line: usize,
}

/// Result of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// The whole line belongs to the game.
    All,
    /// A new game begins this number of bytes before the end of the line.
    NextGame(usize),
}

/// A game while it is read.
pub(super) struct Reading {
    /// `None` if the tags are invalid.
    game: Option<Game>,
    chess: Chess,
    stop: Option<Stop>,
    /// Open variations, outermost first, without variations that are nested too deeply.
    open: Vec<OpenVariation>,
    depth: usize,
    /// Place of the outermost open variation, for error messages.
    opened: String,
    comment: Option<OpenComment>,
    ended: bool,
    /// Whether a blank line follows the result.
    apart: bool,
    /// Whether anything but a comment has been read.
    any: bool,
    /// The part of the main line before the next word.
    before: Before,
}

/// The context of a word of the main line, as far as it affects the reading of the word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A move or an annotation.
    Move,
    /// A move number, or nothing.
    Number,
    /// The letter N, which marks a novelty unless a square follows that a knight can go to.
    Novelty,
}

impl Reading {
    /// A game with these tags, and the comments before or between them.
    pub(super) fn new(tags: Tags, comments: Vec<String>, initial: &Position) -> Self {
        let (mut game, stop) = match tags::start(&tags, initial) {
            Ok(start) => (Some(Game::new(tags, start)), None),
            Err(error) => (None, Some(Stop::Mistake(reason::chain(&error)))),
        };
        if let Some(game) = &mut game {
            game.remarks[0].texts = comments.into_iter().map(Token::Comment).collect();
        }
        Self {
            chess: game.as_ref().map_or_else(Chess::default, |game| game.start.to_chess()),
            game,
            stop,
            open: Vec::new(),
            depth: 0,
            opened: String::new(),
            comment: None,
            ended: false,
            apart: false,
            any: false,
            before: Before::Number,
        }
    }

    /// The tags, if only comments follow them.
    pub(super) fn tags_before_moves(&self) -> Option<&Tags> {
        let game = self.game.as_ref().filter(|_| !self.any && self.comment.is_none());
        game.map(|game| &game.tags)
    }

    /// Returns the tags and the comments after them.
    pub(super) fn into_tags(self) -> (Tags, Vec<String>) {
        let game = self.game.map(|game| (game.tags, game.remarks));
        let (tags, mut remarks) = game.unwrap_or_default();
        let comments = remarks.pop().map(|remarks| remarks.comments().map(str::to_owned).collect());
        (tags, comments.unwrap_or_default())
    }

    /// Whether only comments have been read.
    pub(super) fn is_empty(&self) -> bool {
        self.tags_before_moves().is_some_and(Tags::is_empty)
    }

    pub(super) fn in_comment(&self) -> bool {
        self.comment.is_some()
    }

    /// Records a blank line.
    pub(super) fn blank_line(&mut self) {
        self.apart |= self.ended;
    }

    /// Reads a line of the movetext. `after_blank` is true if a blank line precedes it.
    pub(super) fn line(&mut self, line: &str, number: usize, after_blank: bool) -> Taken {
        let mut rest = line;
        if let Some(open) = self.innermost() {
            open.end_line();
        }
        if let Some(comment) = &mut self.comment {
            comment.text.push(' ');
            let Some((end, after)) = line.split_once('}') else {
                comment.text += line;
                return Taken::All;
            };
            comment.text += end;
            rest = after;
            let text = self.comment.take().map(|comment| comment.text).unwrap_or_default();
            self.remark(&text);
        }
        let mut first = rest.len() == line.len();
        loop {
            let source = rest;
            let before = rest.trim_start().len();
            let Some(part) = take_part(&mut rest) else {
                return Taken::All;
            };
            if self.begins_next(&part, first && after_blank) {
                return Taken::NextGame(before);
            }
            first = false;
            self.any |= !matches!(part, Part::Comment(_) | Part::CommentBegins(_));
            let source = &source[..source.len() - rest.len()];
            if self.innermost().is_some_and(|open| open.read(&part, source)) {
                continue;
            }
            self.part(&part, number);
        }
    }

    /// Whether a part belongs to the next game: it follows the result of this one, or it is move number 1 after a
    /// blank line, while this game is at a later move.
    fn begins_next(&self, part: &Part<'_>, after_blank: bool) -> bool {
        match part {
            Part::Comment(_)
            | Part::CommentBegins(_)
            | Part::Nag(_)
            | Part::Glyph(_)
            | Part::Novelty
            | Part::Ignored => false,
            // A variation after the result belongs to the game that it ended.
            _ if self.depth > 0 => false,
            Part::Open if self.ended => false,
            Part::Number(1, _) if self.ended => true,
            _ if self.ended => self.apart,
            Part::Number(1, true) => {
                let further =
                    self.any && self.stop.is_some() || (self.plies() > 0 && self.chess.fullmoves().get() != 1);
                after_blank && further
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
            Part::Ignored => {}
            Part::Comment(text) => self.remark(text),
            Part::CommentBegins(text) => {
                let text = text.to_owned();
                self.comment = Some(OpenComment { text, line });
            }
            Part::Nag(digits) => match digits.parse() {
                Ok(number) => self.glyph(number),
                Err(_) if digits.is_empty() => self.word("$", line),
                // Not the number of a glyph; kept as a comment.
                Err(_) => self.remark(&format!("${digits}")),
            },
            Part::Glyph(number) => self.glyph(number),
            Part::Novelty => self.novelty(line),
            Part::Open => self.open_variation(line),
            Part::Close => self.close_variation(line),
            Part::Result(result) => self.result(result, line),
        }
    }

    /// Reads a word of the main line, which must be a move. The words of a variation are not checked.
    fn word(&mut self, word: &str, line: usize) {
        if self.stop.is_some() || self.depth > 0 {
            return;
        }
        if self.ended {
            let place = self.place(word);
            return self.stop_at(format!("{place} follows the result (line {line})"));
        }
        if std::mem::replace(&mut self.before, Before::Move) == Before::Novelty
            && moves::find(&self.chess, &format!("N{word}")).is_ok()
        {
            let place = self.place(&format!("N {word}"));
            return self
                .stop_at(format!("{place} is ambiguous: it could be a novelty and {word}, or N{word} (line {line})"));
        }
        match moves::find(&self.chess, word) {
            Ok(m) => {
                self.play(m);
                if let Some(glyph) = signs(word) {
                    self.glyph(glyph);
                }
            }
            // Two zeros are also the result of a game that both sides lost.
            Err(MoveError::Illegal(..)) if matches!(word, "0-0" | "0:0") && self.is_tag_result("0-0") => {
                self.ended = true;
            }
            Err(error @ MoveError::Null(_)) => {
                let why = self.message(word, &error, line);
                self.stop = Some(Stop::Null(format!("{why}: the moves after it were ignored")));
            }
            Err(error) => self.stop_at(self.message(word, &error, line)),
        }
    }

    /// Reads the letter N. It must follow a move, because a glyph belongs to one.
    fn novelty(&mut self, line: usize) {
        const NOVELTY: u8 = 146;
        if self.depth == 0 && !self.ended {
            if self.before == Before::Number {
                return self.word("N", line);
            }
            self.before = Before::Novelty;
        }
        self.glyph(NOVELTY);
    }

    fn is_tag_result(&self, result: &str) -> bool {
        let value = self.game.as_ref().and_then(|game| game.tag("Result"));
        value == Some(result)
    }

    fn play(&mut self, m: shakmaty::Move) {
        let (Some(game), Some(ours)) = (&mut self.game, from_shakmaty(m)) else {
            return;
        };
        game.moves.push(ours);
        game.remarks.push(Remarks::default());
        self.chess.play_unchecked(m);
    }

    /// Place of a word for messages: `move 10... (ply 3) 'Qd5'`
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
                text.strip_prefix(&quoted).unwrap_or(&text).trim().to_owned()
            }
        };
        format!("{} {why} (line {line})", self.place(word))
    }

    fn stop_at(&mut self, why: String) {
        self.stop.get_or_insert(Stop::Mistake(why));
    }

    /// A number without dots must be the move number, because any other number may be a move in another notation. The
    /// first number of a game from the initial position must be 1: otherwise the beginning of the game is missing.
    fn number(&mut self, number: u32, dots: bool, line: usize) {
        if self.depth > 0 || self.stop.is_some() || self.ended {
            return;
        }
        self.before = Before::Number;
        if dots && number > 1 && self.plies() == 0 && self.chess == Chess::default() {
            let place = self.place(&format!("{number}."));
            return self.stop_at(format!("{place}: the moves before it are missing (line {line})"));
        }
        if dots {
            return;
        }
        let counted = 1 + self.plies() / 2;
        if number != self.chess.fullmoves().get() && number as usize != counted {
            let word = number.to_string();
            let place = self.place(&word);
            self.stop_at(format!("{place} is neither a move nor the move number (line {line})"));
        }
    }

    fn remark(&mut self, text: &str) {
        if let Some(text) = one_line(text) {
            self.attach(Token::Comment(text));
        }
    }

    fn glyph(&mut self, number: u8) {
        self.attach(Token::Nag(number));
    }

    /// Attaches a token that is not a move of the main line to the current move or variation.
    fn attach(&mut self, token: Token) {
        let (None, Some(game)) = (&self.stop, &mut self.game) else {
            return;
        };
        if self.depth > self.open.len() {
            return;
        }
        if let Some(line) = self.open.last_mut() {
            return line.attach(token);
        }
        let Some(remarks) = game.remarks.last_mut() else {
            return;
        };
        match token {
            Token::Nag(number) => remarks.nags.push(number),
            Token::Comment(_) | Token::Variation(_) => remarks.texts.push(token),
            Token::Move(_) | Token::Number(..) => {}
        }
    }

    /// The innermost open variation; `None` in the main line and in variations that are nested too deeply.
    fn innermost(&mut self) -> Option<&mut OpenVariation> {
        if self.depth > self.open.len() { None } else { self.open.last_mut() }
    }

    /// Number and side of the move that a variation replaces.
    fn replaced(&self) -> (u32, Color) {
        let turn = !self.chess.turn();
        let number = self.chess.fullmoves().get();
        (if turn == Color::Black { number.saturating_sub(1) } else { number }, turn)
    }

    fn open_variation(&mut self, line: usize) {
        if self.depth == 0 {
            self.opened = format!("{} (line {line})", self.place("("));
        }
        if self.depth < MAX_VARIATION_DEPTH && self.open.len() == self.depth && self.stop.is_none() {
            let replaced = self.open.last().map_or_else(|| self.replaced(), OpenVariation::last_move);
            self.open.push(OpenVariation::new(replaced));
        }
        self.depth += 1;
    }

    fn close_variation(&mut self, line: usize) {
        if self.depth == 0 {
            let place = self.place(")");
            return self.stop_at(format!("{place} closes a variation that was not opened (line {line})"));
        }
        if self.open.len() == self.depth
            && let Some(inner) = self.open.pop()
        {
            self.depth -= 1;
            if let Some(outer) = self.innermost() {
                outer.add_nested(&inner);
            }
            if let Some(token) = inner.finish() {
                self.attach(token);
            }
            return;
        }
        self.depth -= 1;
    }

    fn result(&mut self, result: &'static str, line: usize) {
        if self.depth > 0 {
            // The result of a quoted game. PGN has no place for one in a variation.
            if result != "*" {
                self.remark(result);
            }
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

    /// Finishes the game, at its end or at the start of the next one. A missing or unknown result is replaced by the
    /// one in the tags.
    pub(super) fn finish(mut self, number: usize) -> Result<Game, Broken> {
        if let Some(comment) = self.comment.take() {
            let began = excerpt(&comment.text);
            self.stop_at(format!("the comment '{{{began}' in line {} is never closed", comment.line));
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
            (Some(Stop::Null(why)), Some(game)) => Ok(Game { cut: Some(format!("game {number}: {why}")), ..game }),
            (Some(Stop::Null(why) | Stop::Mistake(why)), part) => {
                Err(Broken { message: format!("game {number}: {why}"), part: part.map(Box::new) })
            }
            (None, None) => Err(Broken { message: format!("game {number}: no initial position"), part: None }),
        }
    }
}
