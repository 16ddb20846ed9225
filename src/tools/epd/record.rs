//! The syntax of EPD: four FEN fields, then operations that semicolons end.
// CITE: S. Edwards, "Portable Game Notation Specification and Implementation Guide", section 16.2.

use anyhow::{Result, bail};

/// One line of an EPD file, taken apart but not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpdRecord {
    /// The position as a FEN of six fields; the counters come from the fields or from `hmvc` and `fmvn`.
    pub fen: String,
    /// The operations: an opcode and its operands.
    pub operations: Vec<(String, Vec<String>)>,
}

impl EpdRecord {
    /// Takes a line apart. Fails when there are not four fields.
    pub fn parse(line: &str) -> Result<Self> {
        let (fields, rest) = take_words(line, 4);
        if fields.len() < 4 {
            bail!("fewer than the four fields of a position");
        }
        let (counters, rest) = take_counters(rest);
        let operations = parse_operations(rest);
        let counter = |opcode: &str, position: usize, default: u32| {
            let named = operations.iter().find(|(name, _)| name == opcode);
            named
                .and_then(|(_, operands)| operands.first()?.parse().ok())
                .or(counters.map(|counters| counters[position]))
                .unwrap_or(default)
        };
        let (halfmoves, fullmoves) = (counter("hmvc", 0, 0), counter("fmvn", 1, 1));
        let fen = format!("{} {halfmoves} {fullmoves}", fields.join(" "));
        Ok(Self { fen, operations })
    }

    /// The operands of the first operation with this opcode.
    pub fn operands(&self, opcode: &str) -> Option<&[String]> {
        let found = self.operations.iter().find(|(name, _)| name == opcode);
        found.map(|(_, operands)| operands.as_slice())
    }

    /// The first operand of an operation.
    pub fn text(&self, opcode: &str) -> Option<&str> {
        self.operands(opcode)?.first().map(String::as_str)
    }
}

/// Whether a line of a file holds no record: empty, or a comment.
pub fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

/// The first `count` words and what follows them.
fn take_words(text: &str, count: usize) -> (Vec<&str>, &str) {
    let mut words = Vec::with_capacity(count);
    let mut rest = text.trim_start();
    while words.len() < count && !rest.is_empty() {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        words.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    (words, rest)
}

/// The two counters of a full FEN, if both are there.
fn take_counters(text: &str) -> (Option<[u32; 2]>, &str) {
    let (words, rest) = take_words(text, 2);
    let number = |i: usize| {
        words
            .get(i)
            .and_then(|word: &&str| word.trim_end_matches(';').parse().ok())
    };
    match (number(0), number(1)) {
        (Some(halfmoves), Some(fullmoves)) => (Some([halfmoves, fullmoves]), rest),
        _ => (None, text),
    }
}

/// Splits at the semicolons outside quotation marks, and each part at its white space.
fn parse_operations(text: &str) -> Vec<(String, Vec<String>)> {
    let mut operations = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for c in text.chars().chain([';']) {
        match c {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            c if quoted => word.get_or_insert_default().push(c),
            ';' => {
                words.extend(word.take());
                let mut parts = std::mem::take(&mut words).into_iter();
                operations.extend(parts.next().map(|opcode| (opcode, parts.collect())));
            }
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    operations
}

#[cfg(test)]
mod tests {
    use super::*;

    const POSITION: &str = "8/8/4k3/8/8/8/8/4K3 w - -";

    #[test]
    fn operations_respect_quotation_marks() {
        let line = format!("{POSITION} bm Ke2 Kd2; id \"a; b\";c0 \"f5=10, Be5+=2\"");
        let record = EpdRecord::parse(&line).expect("a record");
        assert_eq!(record.fen, format!("{POSITION} 0 1"));
        assert_eq!(record.operands("bm").map(<[_]>::len), Some(2));
        assert_eq!(record.text("id"), Some("a; b"));
        assert_eq!(record.text("c0"), Some("f5=10, Be5+=2"));
        assert_eq!(record.text("am"), None);
    }

    #[test]
    fn counters_come_from_fields_or_operations() {
        let fen = |tail: &str| {
            EpdRecord::parse(&format!("{POSITION}{tail}"))
                .map(|r| r.fen)
                .ok()
        };
        assert_eq!(fen(" 3 17"), Some(format!("{POSITION} 3 17")));
        assert_eq!(fen(" 3 17; id \"x\";"), Some(format!("{POSITION} 3 17")));
        assert_eq!(fen(" hmvc 60; fmvn 9;"), Some(format!("{POSITION} 60 9")));
        assert_eq!(fen(""), Some(format!("{POSITION} 0 1")));
    }

    #[test]
    fn junk_is_refused_or_harmless() {
        assert!(EpdRecord::parse("8/8/8 w -").is_err());
        assert!(EpdRecord::parse("").is_err());
        let odd = EpdRecord::parse(&format!("{POSITION} ;; id \"never closed")).expect("a record");
        assert_eq!(odd.operations.len(), 0);
        assert!(is_blank("  # comment") && is_blank(" ") && !is_blank(POSITION));
    }
}
