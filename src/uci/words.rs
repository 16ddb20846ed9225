//! Splits a line into words.

/// Iterator over the words of a line.
#[derive(Clone)]
pub struct Words<'a> {
    rest: &'a str,
}

/// Whether `c` separates words: white space, a control character (such as NUL) or a byte order mark.
fn is_separator(c: char) -> bool {
    c.is_whitespace() || c.is_control() || c == '\u{feff}'
}

impl<'a> Words<'a> {
    /// The words of `line`.
    pub fn new(line: &'a str) -> Self {
        Self { rest: line.trim_matches(is_separator) }
    }

    /// The rest of the line, trimmed.
    pub fn rest(&self) -> &'a str {
        self.rest
    }

    /// The next word, without consuming it.
    pub fn peek(&self) -> Option<&'a str> {
        self.clone().next()
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.find(is_separator).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start_matches(is_separator);
        Some(word)
    }
}
