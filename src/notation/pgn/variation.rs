//! An open variation: its tokens, and its source text in case the brackets contain prose.
//!
//! Authors also put remarks in brackets: `(this is prose, see 1...c5)`. Brackets that do not begin with a move are one
//! comment. Prose after moves is one comment too; it ends at a bracket, a comment or a glyph, or at the number of the
//! line's next move.

use super::Token;
use super::movetext::{Part, signs};
use crate::board::Color;
use crate::notation::spelling::Spelling;
use crate::util::text::printable;

/// The content of brackets, known from the first word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Unknown,
    Moves,
    Prose,
}

/// A move number that no move follows yet.
struct Pending {
    number: u32,
    side: Color,
    source: String,
}

/// A variation that is not closed yet.
pub(super) struct OpenVariation {
    tokens: Vec<Token>,
    content: Content,
    /// The source text without the outer brackets and without braces.
    raw: String,
    /// Prose after moves, until it ends.
    prose: String,
    pending: Option<Pending>,
    /// Number and side of the next move.
    next: (u32, Color),
}

impl OpenVariation {
    /// A variation that replaces this move, unless its own numbers say otherwise.
    pub(super) fn new(replaced: (u32, Color)) -> Self {
        Self {
            tokens: Vec::new(),
            content: Content::Unknown,
            raw: String::new(),
            prose: String::new(),
            pending: None,
            next: replaced,
        }
    }

    /// Number and side of the last move: the move that a nested variation replaces.
    pub(super) fn last_move(&self) -> (u32, Color) {
        match self.next {
            (number, Color::White) => (number.saturating_sub(1), Color::Black),
            (number, Color::Black) => (number, Color::White),
        }
    }

    /// Reads a part and its source text. Returns true if the part is done; false if its text, glyph or bracket still
    /// has to be attached.
    pub(super) fn read(&mut self, part: &Part<'_>, source: &str) -> bool {
        match *part {
            Part::Open | Part::Close | Part::Comment(_) | Part::CommentBegins(_) | Part::Result(_) => {
                self.end_prose();
                return false;
            }
            Part::Nag(digits) => {
                self.end_prose();
                // Any other number is attached as a comment.
                let is_glyph = digits.is_empty() || digits.parse::<u8>().is_ok();
                self.raw += if is_glyph { source } else { "" };
                return false;
            }
            _ => self.raw += source,
        }
        if self.content == Content::Prose {
            return true;
        }
        match *part {
            Part::Number(number, dots) => self.number(number, dots, source),
            Part::Word(word) => self.word(word, source),
            _ if !self.prose.is_empty() => self.prose += source,
            Part::Ignored => self.sign(source.trim()),
            _ => return false,
        }
        true
    }

    /// Reads a move number. In prose, only the number of the line's next move ends the prose.
    fn number(&mut self, number: u32, dots: bool, source: &str) {
        let side = if source.contains('…') || source.matches('.').count() > 1 { Color::Black } else { Color::White };
        let side = if !dots && number == self.next.0 { self.next.1 } else { side };
        self.add_pending_to_prose();
        if !self.prose.is_empty() && (!dots || (number, side) != self.next) {
            self.prose += source;
            return;
        }
        self.pending = Some(Pending { number, side, source: source.to_owned() });
    }

    /// Reads a move, or a word of prose.
    fn word(&mut self, word: &str, source: &str) {
        let numbered = self.pending.is_some();
        match Spelling::parse(word).filter(|_| self.prose.is_empty() || numbered) {
            Some(spelling) => {
                self.end_prose();
                self.play(&format!("{spelling}{}", check_sign(word)));
                self.tokens.extend(signs(word).map(Token::Nag));
            }
            None if self.content == Content::Unknown => self.content = Content::Prose,
            None => {
                self.add_pending_to_prose();
                self.prose += source;
            }
        }
    }

    fn play(&mut self, san: &str) {
        self.content = Content::Moves;
        if let Some(Pending { number, side, .. }) = self.pending.take() {
            self.tokens.push(Token::Number(number, side));
            self.next = (number, side);
        }
        self.tokens.push(Token::Move(san.to_owned()));
        self.next = match self.next {
            (number, Color::White) => (number, Color::Black),
            (number, Color::Black) => (number.saturating_add(1), Color::White),
        };
    }

    /// Reads dots after a number, or a check sign that is separated from its move.
    fn sign(&mut self, sign: &str) {
        if let Some(pending) = &mut self.pending {
            pending.side = Color::Black;
            return;
        }
        if let Some(Token::Move(san)) = self.tokens.last_mut()
            && !san.ends_with(['+', '#'])
        {
            *san += check_sign(sign);
        }
    }

    /// A number that no move follows is part of the prose.
    fn add_pending_to_prose(&mut self) {
        if self.content == Content::Moves
            && let Some(pending) = self.pending.take()
        {
            self.prose += &pending.source;
        }
    }

    fn end_prose(&mut self) {
        let prose = std::mem::take(&mut self.prose);
        if let Some(text) = one_line(&prose) {
            self.tokens.push(Token::Comment(text));
        }
    }

    /// Separates the words of two lines.
    pub(super) fn end_line(&mut self) {
        self.raw.push(' ');
        if !self.prose.is_empty() {
            self.prose.push(' ');
        }
    }

    /// Adds a comment, a glyph, or a nested variation.
    pub(super) fn attach(&mut self, token: Token) {
        if let Token::Comment(text) = &token {
            self.raw += &format!(" {text}");
        }
        self.tokens.push(token);
    }

    /// Adds the source of a nested variation, in case this one turns out to be prose.
    pub(super) fn add_nested(&mut self, inner: &Self) {
        if inner.content == Content::Moves {
            self.raw += &format!(" ({})", inner.raw.trim());
        }
    }

    /// The closed variation, or a comment if it has no moves; `None` if it is empty.
    pub(super) fn finish(mut self) -> Option<Token> {
        self.add_pending_to_prose();
        self.end_prose();
        if self.content == Content::Moves {
            return Some(Token::Variation(self.tokens));
        }
        one_line(&self.raw).map(|text| Token::Comment(format!("({text})")))
    }
}

/// Printable text with single blanks; `None` if it is empty.
pub(super) fn one_line(text: &str) -> Option<String> {
    let text = printable(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// The check sign at the end of a move as written: `+`, `#` or nothing.
fn check_sign(word: &str) -> &'static str {
    let word = word.trim_end_matches(['!', '?', ',', '‼', '⁇', '⁉', '⁈']);
    if word.ends_with(['#', '‡']) || word.ends_with("mate") {
        "#"
    } else if word.ends_with(['+', '†']) || word.ends_with("ch") {
        "+"
    } else {
        ""
    }
}
