//! A line as words.

/// The words of a line, one after the other.
#[derive(Clone)]
pub struct Words<'a> {
    rest: &'a str,
}

/// Control characters (NUL among them) and a byte order mark separate words as white space does.
fn is_separator(c: char) -> bool {
    c.is_whitespace() || c.is_control() || c == '\u{feff}'
}

impl<'a> Words<'a> {
    /// The words of `line`.
    pub fn new(line: &'a str) -> Self {
        Self {
            rest: line.trim_matches(is_separator),
        }
    }

    /// What has not been read yet, without white space at either end.
    pub fn rest(&self) -> &'a str {
        self.rest
    }

    /// The next word, which stays unread.
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
