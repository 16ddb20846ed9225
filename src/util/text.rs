//! Foreign text in our own messages.

/// The beginning of a text, short and printable enough to quote in a message: at most 100 characters (a whole FEN),
/// control characters as blanks.
pub fn excerpt(text: &str) -> String {
    const LONGEST: usize = 100;
    let printable = |c: char| if c.is_control() { ' ' } else { c };
    let text = text.trim_matches(|c: char| c.is_whitespace() || c.is_control() || c == '\u{feff}');
    let mut short: String = text.chars().take(LONGEST).map(printable).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push_str("...");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_short_and_printable() {
        assert_eq!(excerpt(" a\0b\u{1b}"), "a b");
        assert_eq!(excerpt(&"é".repeat(100)).chars().count(), 100);
        assert_eq!(excerpt(&"é".repeat(101)).chars().count(), 103);
    }
}
