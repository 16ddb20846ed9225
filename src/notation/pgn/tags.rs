//! Tags of a game: their syntax, and the values that the reader uses.

use std::borrow::Cow;

use anyhow::{Result, bail};

use crate::board::{CastlingMode, Position};
use crate::notation::position_from_fen;
use crate::util::text::{excerpt, printable};

/// Tags in order, such as `("White", "Carlsen")`.
pub type Tags = Vec<(String, String)>;

/// Names of variants with the rules of chess, in lower case without blanks, hyphens and underscores.
// CITE: the names of lichess, chess.com, python-chess, FICS (wild/0 to wild/8a), ICC (wild/fr), XBoard and ChessBase.
const CHESS: [&str; 25] = [
    "",
    "?",
    "standard",
    "standardchess",
    "chess",
    "normal",
    "orthodox",
    "orthodoxchess",
    "classical",
    "classic",
    "classicalchess",
    "regular",
    "western",
    "fromposition",
    "wild/0",
    "wild/1",
    "wild/2",
    "wild/3",
    "wild/4",
    "wild/5",
    "wild/6",
    "wild/7",
    "wild/8",
    "wild/8a",
    "illegal",
];

/// Names of Chess960.
const CHESS_960: [&str; 19] = [
    "chess960",
    "960",
    "chess324",
    "dfrc",
    "doublechess960",
    "doublefischerrandom",
    "doublefischerrandomchess",
    "chess9lx",
    "fischerandom",
    "fischerandomchess",
    "fischerrandom",
    "fischerrandomchess",
    "fischerrandom960",
    "frc",
    "freestyle",
    "freestylechess",
    "wild/fr",
    "wildfr",
    "shufflechess",
];

/// Whether a line consists of one tag: `[Name "value"]`.
pub fn is_tag(line: &str) -> bool {
    let line = line.trim();
    begins_tag(line) && line.ends_with("\"]")
}

/// Whether a text is in brackets as a whole, like a tag.
pub fn is_bracketed(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('[') && text.ends_with(']')
}

/// Whether a text begins with a tag: a bracket, a name, and a quotation mark.
pub fn begins_tag(text: &str) -> bool {
    let Some(inner) = text.trim_start().strip_prefix('[') else {
        return false;
    };
    let inner = inner.trim_start();
    let name = inner.len() - inner.trim_start_matches(is_name).len();
    name > 0 && inner[name..].trim_start().starts_with('"')
}

/// Whether a character can be part of a tag's name. PGN allows ASCII only; names in other scripts occur.
fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Parses the first tag of a text leniently: quotation marks may be missing or occur in the value. `None` if there is
/// no name.
pub fn take_tag(text: &str) -> Option<((String, String), &str)> {
    let inner = text.trim_start().strip_prefix('[')?.trim_start();
    let end = inner.len() - inner.trim_start_matches(is_name).len();
    let (name, after) = inner.split_at(end);
    if name.is_empty() {
        return None;
    }
    let (value, rest) = match after.trim_start().strip_prefix('"') {
        Some(quoted) => take_quoted(quoted),
        // Without quotation marks, the value requires a blank before it and a bracket after it.
        None => {
            let value = after.strip_prefix(char::is_whitespace)?.trim_end().strip_suffix(']')?;
            (value, "")
        }
    };
    Some(((name.to_owned(), printable(&unescaped(value)).trim().to_owned()), rest))
}

/// The value up to the quotation mark that ends the tag, and the text after the tag.
fn take_quoted(text: &str) -> (&str, &str) {
    let mut escaped = false;
    for (i, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => {
                let after = text[i + 1..].trim_start();
                let rest = after.strip_prefix(']').map(str::trim_start);
                if let Some(rest) = rest.filter(|rest| rest.is_empty() || begins_tag(rest)) {
                    return (&text[..i], rest);
                }
            }
            _ => {}
        }
    }
    // No proper end: a bracket or a quotation mark is missing, or other text follows the bracket.
    match text.rsplit_once("\"]") {
        Some((value, rest)) => (value, rest),
        None => (text.trim_end_matches([']', '"']), ""),
    }
}

/// The text with `\"` replaced by `"` and `\\` by `\`.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('"' | '\\')) => plain.extend(chars.next()),
            _ => plain.push(c),
        }
    }
    Cow::Owned(plain)
}

/// The value of a tag; letter case of the name is ignored.
fn value<'a>(tags: &'a Tags, name: &str) -> &'a str {
    let tag = tags.iter().find(|(tag, _)| tag.eq_ignore_ascii_case(name));
    tag.map_or("", |(_, value)| value.trim())
}

/// The initial position of a game with these tags; `initial` if no tag defines one.
///
/// # Errors
/// Fails if the variant has other rules, or the FEN is invalid.
pub fn start(tags: &Tags, initial: &Position) -> Result<Position> {
    let variant = value(tags, "Variant");
    let name: String = variant.to_lowercase().chars().filter(|c| !matches!(c, ' ' | '-' | '_' | '\u{a0}')).collect();
    let is_960 = CHESS_960.contains(&name.as_str());
    if !is_960 && !CHESS.contains(&name.as_str()) {
        bail!("the variant '{}' has other rules than chess", excerpt(variant));
    }
    match value(tags, "FEN") {
        "" | "?" | "-" => Ok(initial.clone()),
        fen if is_960 => Position::from_fen(fen, CastlingMode::Chess960),
        fen => position_from_fen(fen),
    }
}

/// The result in the tags, in PGN's form; `*` if there is none.
pub fn result(tags: &Tags) -> &'static str {
    parse_result(value(tags, "Result")).unwrap_or("*")
}

/// Converts a result to PGN's form: `1-0`, `0-1`, `1/2-1/2`, `*`. Colons, other dashes, `1/2` and `½` are accepted.
/// Results with less than one point in total (`0-0`, `1/2-0`) become `*`.
pub fn parse_result(text: &str) -> Option<&'static str> {
    if text == "*" {
        return Some("*");
    }
    if !text.starts_with(['0', '1', '½']) {
        return None;
    }
    let replaced = |c: char| match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' | ':' => '-',
        c => c,
    };
    let plain: String = text.chars().filter(|c| !c.is_whitespace()).map(replaced).collect();
    match plain.replace('½', "1/2").as_str() {
        "1-0" => Some("1-0"),
        "0-1" => Some("0-1"),
        "1/2-1/2" | "1/2" | "0.5-0.5" => Some("1/2-1/2"),
        "1/2-0" | "0-1/2" => Some("*"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn take_tag_reads_malformed_tags_leniently() {
        for (text, name, value) in [
            ("[Event \"x\"]", "Event", "x"),
            ("  [ Event  \"x y\" ] ", "Event", "x y"),
            ("[Event \"5th \"Somebody\" Memorial\"]", "Event", "5th \"Somebody\" Memorial"),
            ("[Event \"a \\\"b\\\" \\\\ \\c\"]", "Event", "a \"b\" \\ \\c"),
            ("[ePGN \"0.1;DGT LiveChess/2.2.4\"]", "ePGN", "0.1;DGT LiveChess/2.2.4"),
            ("[Event \"a [b] c\"]", "Event", "a [b] c"),
            ("[Event \"a] b", "Event", "a] b"),
            ("[Event \"a\"", "Event", "a"),
            ("[Event \"a]", "Event", "a"),
            ("[Round 3]", "Round", "3"),
            ("[White \"\"]", "White", ""),
            ("[White \"\u{1b}]52;c;x\u{7}\u{202e}y\"]", "White", "]52;c;x y"),
        ] {
            let tag = take_tag(text).map(|(tag, _)| tag);
            assert_eq!(tag, Some((name.to_owned(), value.to_owned())), "{text}");
        }
        assert!(take_tag("[\"x\"]").is_none() && take_tag("[%clk 1]").is_none());
        assert!(take_tag("[x]").is_none() && take_tag("[x] e4").is_none() && take_tag("[x y").is_none());
        let (first, rest) = take_tag("[White \"A\"][Black \"B\"]").expect("a tag");
        assert_eq!((first.1.as_str(), rest), ("A", "[Black \"B\"]"));
    }

    #[test]
    fn is_tag_rejects_other_brackets() {
        assert!(is_tag("[Event \"x\"]") && is_tag(" [FEN \"8/8\"] "));
        for text in ["[%clk 0:01:00]", "[#]", "[x]", "[Event \"x\"", "(1. e4)", "[ \"x\"]"] {
            assert!(!is_tag(text), "{text}");
        }
    }

    #[test]
    fn start_accepts_chess_variants_in_every_spelling_and_rejects_others() {
        let initial = Position::startpos();
        let start = |variant: &str| start(&vec![("Variant".to_owned(), variant.to_owned())], &initial);
        for variant in [
            "Chess 960",
            "FischerRandom",
            "Fischer Random",
            "Freestyle Chess",
            "Classical",
            "wild/0",
            "wild/fr",
            "",
            "Standard",
            "From Position",
            "chess960",
            "fischerandom",
            "CHESS-960",
            "fischer_random",
            "Normal",
            "wild/8a",
        ] {
            assert!(start(variant).is_ok(), "{variant}");
        }
        for variant in ["Atomic", "Crazyhouse", "King of the Hill", "Three-check", "suicide", "wild/9", "Xiangqi"] {
            let error = start(variant).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(&format!("'{variant}' has other rules")), "{variant}: {error}");
        }
    }

    #[test]
    fn parse_result_accepts_every_spelling() {
        for (text, result) in [
            ("1-0", "1-0"),
            ("0:1", "0-1"),
            ("1–0", "1-0"),
            ("1/2", "1/2-1/2"),
            ("½-½", "1/2-1/2"),
            ("½", "1/2-1/2"),
            ("1/2:1/2", "1/2-1/2"),
            ("1/2 - 1/2", "1/2-1/2"),
            ("*", "*"),
        ] {
            assert_eq!(parse_result(text), Some(result), "{text}");
        }
        assert!(["", "0-0", "1", "0", "2-0", "?"].iter().all(|text| parse_result(text).is_none()));
    }
}
