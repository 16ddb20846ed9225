//! The syntax of EPD: four FEN fields, then operations terminated by semicolons.
// CITE: S. Edwards, "Portable Game Notation Specification and Implementation Guide", section 16.2.

use anyhow::{Result, bail};

/// One line of an EPD file, split into its parts but not interpreted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpdRecord {
    /// The position as a FEN of six fields; the counters come from the fields or from `hmvc` and `fmvn`.
    pub fen: String,
    /// The operations: an opcode and its operands.
    pub operations: Vec<(String, Vec<String>)>,
}

impl EpdRecord {
    /// Splits a line into its parts.
    ///
    /// # Errors
    /// Fails if there are fewer than four fields.
    pub fn parse(line: &str) -> Result<Self> {
        let (fields, rest) = take_words(line.trim_start_matches('\u{feff}'), 4);
        let Ok(fields) = <[&str; 4]>::try_from(fields) else {
            bail!("expected the four fields of a position, found fewer");
        };
        // Some files have an additional dash.
        let (counters, rest) = take_counters(without_dashes(rest));
        let rest = without_dashes(rest);
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
        self.all(opcode).next()
    }

    /// The operands of each operation with this opcode.
    pub fn all(&self, opcode: &str) -> impl Iterator<Item = &[String]> {
        self.operations.iter().filter(move |(name, _)| name == opcode).map(|(_, operands)| operands.as_slice())
    }

    /// The first operand of an operation.
    pub fn text(&self, opcode: &str) -> Option<&str> {
        self.operands(opcode)?.first().map(String::as_str)
    }
}

/// Whether a line of a file has no record: it is empty or a comment.
pub fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with(['#', '%', ';'])
}

/// The first `count` words, and the rest. A semicolon ends a word and is not consumed.
fn take_words(text: &str, count: usize) -> (Vec<&str>, &str) {
    let mut words = Vec::with_capacity(count);
    let mut rest = text.trim_start();
    while words.len() < count && !rest.is_empty() {
        let end = rest.find(|c: char| c.is_whitespace() || c == ';').unwrap_or(rest.len());
        if end == 0 {
            break;
        }
        words.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    (words, rest)
}

/// The text without leading dashes and empty operations.
fn without_dashes(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let after = rest.strip_prefix(['-', ';']).unwrap_or(rest);
        // A dash directly before other characters is part of the word.
        if after.len() == rest.len() || !(after.is_empty() || after.starts_with([' ', '\t', ';', '-'])) {
            return rest.trim_start_matches(';').trim_start();
        }
        rest = after.trim_start();
    }
}

/// The two counters of a full FEN, if both are present.
fn take_counters(text: &str) -> (Option<[u32; 2]>, &str) {
    let (words, rest) = take_words(text, 2);
    let number = |i: usize| words.get(i).and_then(|word: &&str| word.parse().ok());
    match (number(0), number(1)) {
        (Some(halfmoves), Some(fullmoves)) => (Some([halfmoves, fullmoves]), rest),
        _ => (None, text),
    }
}

/// Opcodes that cannot be moves. One of them ends the moves of `bm` or `am` where the semicolon is missing.
const OPCODES: [&str; 18] = [
    "acd", "acn", "acs", "am", "bm", "c0", "ce", "dm", "eco", "fmvn", "hmvc", "id", "nic", "pm", "pv", "rc", "sm",
    "tcgs",
];

/// Whether `word` begins an operation although no semicolon ends the moves before it.
fn is_unseparated_opcode(words: &[String], word: &str) -> bool {
    words.len() > 1 && matches!(words[0].as_str(), "bm" | "am") && OPCODES.contains(&word)
}

/// Splits the text at semicolons outside quotation marks, and each part at white space.
fn parse_operations(text: &str) -> Vec<(String, Vec<String>)> {
    let mut operations = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    let mut chars = text.chars().chain([';']).peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if quoted && matches!(chars.peek(), Some('"' | '\\')) => {
                word.get_or_insert_default().extend(chars.next());
            }
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
            c if c.is_whitespace() => {
                if word.as_deref().is_some_and(|word| is_unseparated_opcode(&words, word)) {
                    let mut parts = std::mem::take(&mut words).into_iter();
                    operations.extend(parts.next().map(|opcode| (opcode, parts.collect())));
                }
                words.extend(word.take());
            }
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
    fn parser_respects_quotation_marks() {
        let line = format!("{POSITION} bm Ke2 Kd2; id \"a; b\";c0 \"f5=10, Be5+=2\"");
        let record = EpdRecord::parse(&line).expect("a record");
        assert_eq!(record.fen, format!("{POSITION} 0 1"));
        assert_eq!(record.operands("bm").map(<[_]>::len), Some(2));
        assert_eq!(record.text("id"), Some("a; b"));
        assert_eq!(record.text("c0"), Some("f5=10, Be5+=2"));
        assert_eq!(record.text("am"), None);
    }

    #[test]
    fn parser_reads_escaped_quotation_marks() {
        let record = EpdRecord::parse(&format!(r#"{POSITION} id "a \"b\" \\"; bm Ke2;"#)).expect("a record");
        assert_eq!((record.text("id"), record.text("bm")), (Some(r#"a "b" \"#), Some("Ke2")));
    }

    #[test]
    fn parser_ends_moves_at_an_opcode_without_a_semicolon() {
        let record = EpdRecord::parse(&format!("{POSITION} bm Ke2 Kd2 am Kf2 id \"bm x\";")).expect("a record");
        assert_eq!(record.operands("bm").map(<[_]>::len), Some(2));
        assert_eq!((record.text("am"), record.text("id")), (Some("Kf2"), Some("bm x")));
    }

    #[test]
    fn parser_reads_counters_from_fields_or_operations() {
        let fen = |tail: &str| EpdRecord::parse(&format!("{POSITION}{tail}")).map(|r| r.fen).ok();
        assert_eq!(fen(" 3 17"), Some(format!("{POSITION} 3 17")));
        assert_eq!(fen(" 3 17; id \"x\";"), Some(format!("{POSITION} 3 17")));
        assert_eq!(fen(" hmvc 60; fmvn 9;"), Some(format!("{POSITION} 60 9")));
        assert_eq!(fen(""), Some(format!("{POSITION} 0 1")));
    }

    #[test]
    fn parser_skips_dashes_and_semicolons_after_the_fields() {
        for tail in [" bm Ke2;", " - bm Ke2;", "; bm Ke2;", " ; bm Ke2;", " - - bm Ke2;", ";bm Ke2", " - ; bm Ke2"] {
            let record = EpdRecord::parse(&format!("{POSITION}{tail}")).expect(tail);
            assert_eq!((record.fen.as_str(), record.text("bm")), (format!("{POSITION} 0 1").as_str(), Some("Ke2")));
        }
        let record = EpdRecord::parse(&format!("{POSITION}; ce -20; acd 3;")).expect("a record");
        assert_eq!((record.text("ce"), record.text("acd")), (Some("-20"), Some("3")));
        let record = EpdRecord::parse(&format!("\u{feff}{POSITION} - 3 17 ; bm Ke2;")).expect("a record");
        assert_eq!(record.fen, format!("{POSITION} 3 17"));
    }

    #[test]
    fn parser_rejects_missing_fields_and_accepts_open_quotation() {
        assert!(EpdRecord::parse("8/8/8 w -").is_err());
        assert!(EpdRecord::parse("").is_err());
        let odd = EpdRecord::parse(&format!("{POSITION} ;; id \"never closed")).expect("a record");
        assert_eq!(odd.operations.len(), 0);
        assert!(is_blank("  # comment") && is_blank(" ") && !is_blank(POSITION));
    }
}
