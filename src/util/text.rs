//! Filters foreign text for our output.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;

/// Text of a path or file name for messages and pages. `Path::display` must not be used, because file names can contain
/// control characters.
pub trait Shown {
    /// The name as printable text on one line.
    fn shown(&self) -> String;
}

impl Shown for OsStr {
    fn shown(&self) -> String {
        one_line(&printable(&self.to_string_lossy()))
    }
}

impl Shown for Path {
    fn shown(&self) -> String {
        self.as_os_str().shown()
    }
}

/// The text with line ends and tabs replaced by spaces.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Excerpt of a text for a message: its first 100 characters (enough for a FEN), printable and on one line.
pub fn excerpt(text: &str) -> String {
    const MAX_LENGTH: usize = 100;
    let text = printable(text.trim_matches(|c: char| c.is_whitespace() || is_unprintable(c)));
    let mut short = one_line(&text.chars().take(MAX_LENGTH).collect::<String>());
    if text.chars().nth(MAX_LENGTH).is_some() {
        short.push_str("...");
    }
    short
}

/// Removes characters that could change a terminal, a page, or the order of other text. Control characters except line
/// feeds and tabs become spaces, which disables every terminal escape sequence. Directional marks and byte order marks
/// are removed.
///
/// All text from files, file names and other programs must pass through this function before it is printed.
// CITE: https://trojansource.codes for the directional marks; ECMA-48 for the control characters.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unprintable) {
        return Cow::Borrowed(text);
    }
    let replaced = |c: char| match c {
        c if c.is_control() && !matches!(c, '\n' | '\t') => Some(' '),
        c if is_unprintable(c) => None,
        c => Some(c),
    };
    Cow::Owned(text.chars().filter_map(replaced).collect())
}

fn is_unprintable(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2066}'..='\u{2069}' | '\u{feff}' => true,
        c => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpt_is_short_and_printable() {
        assert_eq!(excerpt(" a\0b\u{1b}"), "a b");
        assert_eq!(excerpt("a\nb\tc"), "a b c");
        assert_eq!(excerpt(&"é".repeat(100)).chars().count(), 100);
        assert_eq!(excerpt(&"é".repeat(101)).chars().count(), 103);
    }

    #[test]
    fn shown_path_is_printable_and_on_one_line() {
        assert_eq!(Path::new("a/\u{1b}]0;x\u{7}\n\t\u{202e}é.pgn").shown(), "a/ ]0;x   é.pgn");
    }

    #[test]
    fn printable_text_has_no_escapes_and_no_directional_marks() {
        assert_eq!(printable("\u{1b}]52;c;eA==\u{7}x\u{9b}2J"), " ]52;c;eA== x 2J");
        assert_eq!(printable("a\u{202e}b\u{2066}c\u{200f}"), "abc");
        assert_eq!(printable("Ünï 🦊\n\tא"), "Ünï 🦊\n\tא");
    }
}
