//! Lexer of a movetext: every character belongs to one part; and variations while they are read.

use super::Token;
use super::tags::parse_result;
use crate::board::Color;
use crate::notation::moves::Spelling;
use crate::util::text::printable;

/// A part of a movetext.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// A move, or an unknown word.
    Word(&'a str),
    /// A move number, and whether dots follow it.
    Number(u32, bool),
    /// Ignored text: dots without a number before them, a check sign or "e.p." without a move before it.
    Ignored,
    /// A comment that ends on this line, without braces.
    Comment(&'a str),
    /// The first line of a comment that continues on the next line.
    CommentBegins(&'a str),
    /// The digits of a glyph after the dollar sign.
    Nag(&'a str),
    /// A glyph written as a symbol.
    Glyph(u8),
    /// `N`: the glyph of a novelty, or the letter of a knight, separated from its square by a space.
    Novelty,
    /// `(`
    Open,
    /// `)`
    Close,
    /// The result of a game.
    Result(&'static str),
}

/// Symbols of glyphs, written as separate words or directly after a move.
// CITE: S. Edwards, "Portable Game Notation Specification and Implementation Guide", section 10, and the additions of
// ChessBase (146 for "TN" and for "N", which is a part of its own).
const GLYPHS: [(&str, u8); 31] = [
    ("‼", 3),
    ("⁇", 4),
    ("⁉", 5),
    ("⁈", 6),
    ("□", 7),
    ("=", 10),
    ("∞", 13),
    ("+=", 14),
    ("+/=", 14),
    ("⩲", 14),
    ("=+", 15),
    ("=/+", 15),
    ("⩱", 15),
    ("+/-", 16),
    ("±", 16),
    ("-/+", 17),
    ("∓", 17),
    ("+-", 18),
    ("+−", 18),
    ("+–", 18),
    ("-+", 19),
    ("−+", 19),
    ("–+", 19),
    ("⨀", 22),
    ("○", 26),
    ("⟳", 32),
    ("→", 40),
    ("⇆", 132),
    ("TN", 146),
    ("Δ", 140),
    ("⌓", 142),
];

/// Words after a move that are ignored.
const IGNORED: [&str; 10] = ["+", "++", "#", "†", "‡", "ch", "mate", "e.p.", "e.p", "ep"];

/// Takes the next part from the front of `text`; `None` at its end.
pub fn take_part<'a>(text: &mut &'a str) -> Option<Part<'a>> {
    *text = text.trim_start_matches(is_space);
    let first = text.chars().next()?;
    if let Some(result) = take_spaced_result(text) {
        return Some(Part::Result(result));
    }
    let after = &text[first.len_utf8()..];
    match first {
        '{' => Some(take_comment(text, after)),
        ';' => {
            *text = "";
            Some(Part::Comment(after))
        }
        '(' | ')' => {
            *text = after;
            Some(if first == '(' { Part::Open } else { Part::Close })
        }
        '$' => {
            let end = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            *text = &after[end..];
            Some(Part::Nag(&after[..end]))
        }
        '!' | '?' => {
            let end = text.len() - text.trim_start_matches(['!', '?']).len();
            let (signs, rest) = text.split_at(end);
            *text = rest;
            Some(Part::Glyph(judgement(signs)))
        }
        '.' | '…' => {
            *text = text.trim_start_matches(['.', '…']);
            Some(Part::Ignored)
        }
        '}' => {
            *text = after;
            Some(Part::Word("}"))
        }
        _ => Some(take_word(text)),
    }
}

/// A result with blanks around its dash: `1 - 0`, `1/2 - 1/2`. `0 - 0` may be castling.
fn take_spaced_result(text: &mut &str) -> Option<&'static str> {
    let (points, rest) = text.split_once(is_space)?;
    let (dash, rest) = rest.trim_start_matches(is_space).split_once(is_space)?;
    let rest = rest.trim_start_matches(is_space);
    let is_dash = |c: char| matches!(c, '-' | ':' | '\u{2010}'..='\u{2015}' | '\u{2212}');
    let is_points = matches!(points, "0" | "1" | "1/2" | "½" | "0.5");
    let mut signs = dash.chars();
    let is_single_dash = signs.next().is_some_and(is_dash) && signs.next().is_none();
    if !is_points || !is_single_dash {
        return None;
    }
    let end = rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, '/' | '½' | '.'))).unwrap_or(rest.len());
    let (other, rest) = rest.split_at(end);
    let result = parse_result(&format!("{points}-{other}"))?;
    *text = rest;
    Some(result)
}

/// A comment; `after` is the text after its opening brace.
fn take_comment<'a>(text: &mut &'a str, after: &'a str) -> Part<'a> {
    match after.split_once('}') {
        Some((comment, rest)) => {
            *text = rest;
            Part::Comment(comment)
        }
        None => {
            *text = "";
            Part::CommentBegins(after)
        }
    }
}

/// The glyph at the end of a move, as in `Nf3!?`.
pub fn signs(word: &str) -> Option<u8> {
    let signs = &word[word.trim_end_matches(['!', '?']).len()..];
    match word.chars().next_back()? {
        '!' | '?' => Some(judgement(signs)),
        '‼' => Some(3),
        '⁇' => Some(4),
        '⁉' => Some(5),
        '⁈' => Some(6),
        _ => None,
    }
}

/// The glyph of `!`, `?`, and both together.
fn judgement(signs: &str) -> u8 {
    match signs.as_bytes() {
        [b'!'] => 1,
        [b'?'] => 2,
        [b'!', b'!', ..] => 3,
        [b'?', b'?', ..] => 4,
        [b'!', ..] => 5,
        _ => 6,
    }
}

fn is_space(c: char) -> bool {
    // Unicode does not count the zero-width space and the byte order mark as white space. Control characters separate
    // words; old files end with Ctrl-Z (0x1A).
    c.is_whitespace() || c.is_control() || matches!(c, '\u{200b}' | '\u{feff}')
}

/// A word, which may be a number, a result or a symbol.
fn take_word<'a>(text: &mut &'a str) -> Part<'a> {
    let (word, rest) = text.split_at(word_length(text));
    // Fast path: almost all words are moves that start with a letter and end with a rank, and no other part does.
    if word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.ends_with(|c: char| c.is_ascii_digit()) {
        *text = rest;
        return Part::Word(word);
    }
    if word.starts_with(|c: char| c.is_ascii_digit()) && Spelling::parse(word).is_none() {
        return take_number(text, word, rest);
    }
    if word == "N" {
        *text = rest;
        return Part::Novelty;
    }
    if let Some(length) = move_before_sign(word) {
        let (word, rest) = text.split_at(length);
        *text = rest;
        return Part::Word(word);
    }
    *text = rest;
    if let Some(result) = parse_result(word) {
        return Part::Result(result);
    }
    if IGNORED.contains(&word) {
        return Part::Ignored;
    }
    let glyph = GLYPHS.iter().find(|(sign, _)| *sign == word);
    glyph.map_or(Part::Word(word), |(_, number)| Part::Glyph(*number))
}

/// Number of bytes of the move in a word that ends with the symbol of a glyph: `Bc4+-`, `Bc4N`.
fn move_before_sign(word: &str) -> Option<usize> {
    let last = word.chars().next_back()?;
    // On the first and the last rank, the letter is a promotion piece.
    if let Some(before) = word.strip_suffix('N').filter(|before| before.ends_with(['2', '3', '4', '5', '6', '7'])) {
        return Spelling::parse(before).map(|_| before.len());
    }
    if last.is_alphanumeric() || matches!(last, '+' | '#' | '!' | '?') || Spelling::parse(word).is_some() {
        return None;
    }
    let moves = GLYPHS.iter().filter_map(|(sign, _)| word.strip_suffix(sign));
    moves.filter(|m| Spelling::parse(m).is_some()).map(str::len).min()
}

/// Number of bytes of the word at the front of a non-empty text.
fn word_length(text: &str) -> usize {
    let ends = |c: char| is_space(c) || matches!(c, '{' | '}' | '(' | ')' | ';' | '$');
    let mut length = text.find(ends).unwrap_or(text.len()).max(1);
    if text.starts_with('*') {
        return 1;
    }
    // The result may directly follow the last move.
    if let Some(star) = text[..length].find('*') {
        let is_capture = Spelling::parse(&text[..length]).is_some();
        length = if is_capture { length } else { star };
    }
    // A promotion piece in parentheses is part of the move: e8(Q)+.
    let after = &text[length..];
    let is_promotion = text[..length].ends_with(['1', '8', '='])
        && after.strip_prefix('(').and_then(|inner| inner.split_once(')')).is_some_and(|(piece, _)| {
            matches!(
                piece,
                "Q" | "R" | "B" | "N" | "q" | "r" | "b" | "n" | "♕" | "♖" | "♗" | "♘" | "♛" | "♜" | "♝" | "♞"
            )
        });
    let is_en_passant = after.starts_with("(ep)") || after.starts_with("(e.p.)");
    if is_promotion || is_en_passant {
        let close = after.find(')').map_or(0, |close| close + 1);
        let tail = &after[close..];
        return length + close + tail.find(ends).unwrap_or(tail.len());
    }
    length
}

/// A word that begins with a digit: a result, or a number. Text after the number remains in `text`.
fn take_number<'a>(text: &mut &'a str, word: &'a str, rest: &'a str) -> Part<'a> {
    if let Some(result) = parse_result(word) {
        *text = rest;
        return Part::Result(result);
    }
    let digits = word.len() - word.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = word[..digits].parse().unwrap_or(u32::MAX);
    let after = &word[digits..];
    let move_text = after.trim_start_matches(['.', '…']);
    let dots = move_text.len() < after.len();
    if !dots && !after.is_empty() && Spelling::parse(after).is_none() {
        *text = rest;
        return Part::Word(word);
    }
    *text = &text[word.len() - move_text.len()..];
    Part::Number(number, dots)
}

// An open variation: its tokens, and its source text in case the brackets contain prose.
//
// Authors also put remarks in brackets: `(this is prose, see 1...c5)`. Brackets that do not begin with a move are one
// comment. Prose after moves is one comment too; it ends at a bracket, a comment or a glyph, or at the number of the
// line's next move.

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

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(mut text: &str) -> Vec<Part<'_>> {
        std::iter::from_fn(|| take_part(&mut text)).collect()
    }

    #[test]
    fn lexer_distinguishes_all_kinds_of_parts() {
        use Part::{Close, Comment, Glyph, Ignored, Nag, Number, Open, Result, Word};
        let text = "1. e4!? $14$1 {good} (1.d4 d5) 1...e5 ... 2 Nf3 +- e8(Q)+ exd6 e.p. 1-0 ; end";
        let expected = [
            Number(1, true),
            Word("e4!?"),
            Nag("14"),
            Nag("1"),
            Comment("good"),
            Open,
            Number(1, true),
            Word("d4"),
            Word("d5"),
            Close,
            Number(1, true),
            Word("e5"),
            Ignored,
            Number(2, false),
            Word("Nf3"),
            Glyph(18),
            Word("e8(Q)+"),
            Word("exd6"),
            Ignored,
            Result("1-0"),
            Comment(" end"),
        ];
        assert_eq!(parts(text), expected);
    }

    #[test]
    fn castling_with_zeros_is_neither_result_nor_number() {
        use Part::{Number, Result, Word};
        assert_eq!(
            parts("4.0-0 0-0-0+ 0–0 00"),
            [Number(4, true), Word("0-0"), Word("0-0-0+"), Word("0–0"), Word("00"),]
        );
        assert_eq!(
            parts("0-1 0:1 1/2 ½-½ * Nf3*"),
            [Result("0-1"), Result("0-1"), Result("1/2-1/2"), Result("1/2-1/2"), Result("*"), Word("Nf3"), Result("*"),]
        );
    }

    #[test]
    fn lexer_reads_results_with_blanks() {
        use Part::{Number, Result, Word};
        assert_eq!(parts("1 - 0"), [Result("1-0")]);
        assert_eq!(parts("0 – 1 1/2 - 1/2"), [Result("0-1"), Result("1/2-1/2")]);
        assert_eq!(parts("½ - ½{x}"), [Result("1/2-1/2"), Part::Comment("x")]);
        assert_eq!(parts("1 - e4"), [Number(1, false), Word("-"), Word("e4")]);
        assert_eq!(parts("1 -- 2"), [Number(1, false), Word("--"), Number(2, false)]);
    }

    #[test]
    fn control_characters_separate_words() {
        assert_eq!(parts("e4\0e5 *\u{1a}"), [Part::Word("e4"), Part::Word("e5"), Part::Result("*")]);
    }

    #[test]
    fn novelty_is_distinguished_from_a_promotion() {
        assert_eq!(parts("e5N"), [Part::Word("e5"), Part::Novelty]);
        assert_eq!(parts("Nf3N N"), [Part::Word("Nf3"), Part::Novelty, Part::Novelty]);
        assert_eq!(parts("e8N"), [Part::Word("e8N")]);
    }

    #[test]
    fn lexer_keeps_unknown_words_whole() {
        use Part::{Glyph, Open, Word};
        assert_eq!(
            parts("hello 2nd [x] <y> } (=)"),
            [Word("hello"), Word("2nd"), Word("[x]"), Word("<y>"), Word("}"), Open, Glyph(10), Part::Close,]
        );
        assert_eq!(parts("{ open"), [Part::CommentBegins(" open")]);
        assert_eq!(parts("\u{a0}e4\u{202f}e5\u{200b}"), [Word("e4"), Word("e5")]);
    }
}
