//! Foreign text in our own output.

use std::borrow::Cow;

/// The beginning of a text, short and printable enough to quote in a message: at most 100 characters (a whole FEN), on
/// one line.
pub fn excerpt(text: &str) -> String {
    const LONGEST: usize = 100;
    let text = printable(text.trim_matches(|c: char| c.is_whitespace() || is_unprintable(c)));
    let one_line = |c: char| if c.is_control() { ' ' } else { c };
    let mut short: String = text.chars().take(LONGEST).map(one_line).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push_str("...");
    }
    short
}

/// A text without what can change a terminal, a page or the order of other text: control characters (and with them
/// every terminal escape sequence) become blanks, marks of direction and byte order marks are removed. Line feeds and
/// tabs stay.
///
/// Every text of a file, of a file name or of another program passes through this before it is printed.
// CITE: https://trojansource.codes for the marks of direction; ECMA-48 for the control characters.
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
    fn excerpts_are_short_and_printable() {
        assert_eq!(excerpt(" a\0b\u{1b}"), "a b");
        assert_eq!(excerpt("a\nb\tc"), "a b c");
        assert_eq!(excerpt(&"é".repeat(100)).chars().count(), 100);
        assert_eq!(excerpt(&"é".repeat(101)).chars().count(), 103);
    }

    #[test]
    fn printable_text_has_no_escapes_and_no_marks_of_direction() {
        assert_eq!(
            printable("\u{1b}]52;c;eA==\u{7}x\u{9b}2J"),
            " ]52;c;eA== x 2J"
        );
        assert_eq!(printable("a\u{202e}b\u{2066}c\u{200f}"), "abc");
        assert_eq!(printable("Ünï 🦊\n\tא"), "Ünï 🦊\n\tא");
    }
}
