//! Positions as text: a FEN or the initial position, followed by moves; the lines of named openings; and EPD.

use std::io::Read;

use anyhow::{Result, bail};
use flate2::read::GzDecoder;

use super::moves::without_number;
use crate::board::{CastlingMode, Color, Move, Position};
use crate::util::text::excerpt;

/// The position of a FEN of four to six fields; an empty text is the initial position.
///
/// Tools have no `UCI_Chess960` option, and PGN files often lack the tag `Variant`. File letters (Shredder-FEN) in the
/// castling field mean Chess960 if they name a king or rook away from its standard square. K, Q, k and q mean Chess960
/// if they all name a king and a rook away from their standard squares that could have started there.
///
/// # Errors
/// Fails if the text is not a FEN; the message states the problem.
pub fn position_from_fen(fen: &str) -> Result<Position> {
    let standard = position_in_mode(fen, CastlingMode::Standard)?;
    if standard.castling_mode() == CastlingMode::Standard
        && let Some(named) = castling_letters(fen).filter(|&named| named > standard.castling_rights().count_ones())
        && let Ok(position) = Position::from_fen(fen, CastlingMode::Chess960)
        && position.castling_rights().count_ones() == named
        && kings_agree(&position)
    {
        return Ok(position);
    }
    Ok(standard)
}

/// Number of different letters in the castling field; `None` if they are not K, Q, k and q.
fn castling_letters(fen: &str) -> Option<u32> {
    let field = fen.split_whitespace().nth(2)?;
    let is_letter = |letter| matches!(letter, 'K' | 'Q' | 'k' | 'q');
    field.chars().all(is_letter).then(|| ['K', 'Q', 'k', 'q'].map(|c| u32::from(field.contains(c))).iter().sum())
}

/// Whether the kings that may castle stand on one file, as in every initial position of Chess960. In a position with
/// outdated rights they usually do not.
fn kings_agree(position: &Position) -> bool {
    let rights = position.castling_rights();
    let both_sides = rights & 0b0011 != 0 && rights & 0b1100 != 0;
    !both_sides || position.king(Color::White).file() == position.king(Color::Black).file()
}

/// Same as [`position_from_fen`], but with the castling mode from another source than the FEN.
///
/// # Errors
/// Fails if the text is not a FEN.
pub fn position_in_mode(fen: &str, mode: CastlingMode) -> Result<Position> {
    if fen.trim().is_empty() || fen.trim() == "startpos" {
        return Ok(Position::startpos());
    }
    Position::from_fen(fen, mode)
}

/// Whether a text begins with a position: `startpos`, a board (which has slashes), or the first move of a game (`1.
/// e4`).
pub fn begins_position(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or("");
    first.eq_ignore_ascii_case("startpos") || first.contains('/') || begins_game(first)
}

fn begins_game(word: &str) -> bool {
    word.strip_prefix("1.").is_some_and(|move_text| !move_text.starts_with('.'))
}

/// The position after `startpos` or a FEN, followed by the word `moves` and moves; or after the moves of a game from
/// the initial position (`1. e4 e5 2. Nf3`). The moves may have numbers.
///
/// # Errors
/// Fails if the FEN or a move is invalid; the message names it.
pub fn position_with_moves(text: &str) -> Result<Position> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let first = *words.first().unwrap_or(&"");
    if begins_game(first) {
        return after_moves(Position::startpos(), &words);
    }
    let is_moves = |word: &&str| word.eq_ignore_ascii_case("moves");
    let end = words.iter().position(is_moves).unwrap_or(words.len());
    let start = if first.eq_ignore_ascii_case("startpos") {
        if end > 1 {
            bail!("unexpected '{}' after 'startpos'; expected the word 'moves'", excerpt(words[1]));
        }
        Position::startpos()
    } else {
        position_from_fen(&words[..end].join(" "))?
    };
    after_moves(start, words.get(end + 1..).unwrap_or_default())
}

/// The position after moves, which may have numbers.
fn after_moves(mut position: Position, words: &[&str]) -> Result<Position> {
    for word in words {
        if !word.is_empty() && without_number(word).is_empty() {
            continue;
        }
        let m = position.parse_move(word)?;
        position.do_move(m);
    }
    Ok(position)
}

// The lines of named openings, from Lichess's table.

/// Tab-separated lines of ECO code, name and moves; `openings.md` has the origin and the licence.
const TABLE: &[u8] = include_bytes!("openings.tsv.gz");

/// The decompressed table.
pub(crate) fn table() -> String {
    let mut table = String::new();
    // This cannot fail: a test decompresses the whole table.
    let _ = GzDecoder::new(TABLE).read_to_string(&mut table);
    table
}

/// The moves of a line of the table, in the form `1. e4 e5 2. Nf3`.
pub(crate) fn moves_of(line: &str) -> &str {
    line.trim_end().rsplit('\t').next().unwrap_or_default()
}

/// Plays the lines in sequence. Neighbouring lines share their first moves, so only the moves that differ are undone.
pub(crate) struct Walker {
    position: Position,
    words: Vec<String>,
    moves: Vec<Move>,
}

impl Default for Walker {
    fn default() -> Self {
        Self { position: Position::startpos(), words: Vec::new(), moves: Vec::new() }
    }
}

impl Walker {
    /// Plays the moves of a line from the initial position; `None` if one of them is illegal.
    pub(crate) fn play(&mut self, moves: &str) -> Option<&Position> {
        let words = || moves.split(' ').filter(|word| !word.ends_with('.'));
        let same = words().zip(&self.words).take_while(|(a, b)| a == b).count();
        while self.moves.len() > same {
            self.position.undo_move();
            self.moves.pop();
            self.words.pop();
        }
        for word in words().skip(same) {
            let m = self.position.parse_san(word).ok()?;
            self.position.do_move(m);
            self.moves.push(m);
            self.words.push(word.to_owned());
        }
        Some(&self.position)
    }

    /// The moves of the last line.
    pub(crate) fn moves(&self) -> &[Move] {
        &self.moves
    }
}

// EPD.

// CITE: S. Edwards, "Portable Game Notation Specification and Implementation Guide", section 16.2.

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

    #[test]
    fn castling_field_determines_the_variant() {
        let mode = |fen| position_from_fen(fen).expect(fen).castling_mode();
        for (fen, expected) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", CastlingMode::Standard),
            ("8/8/4k3/8/8/8/8/4K3 w - - 0 1", CastlingMode::Standard),
            ("q1rnbkrb/pppp1p1p/2n3p1/4p3/8/2N1P1P1/PPPP1P1P/QNR1BKRB w GCgc - 0 4", CastlingMode::Chess960),
            ("q1rnbkrb/pppp1p1p/2n3p1/4p3/8/2N1P1P1/PPPP1P1P/QNR1BKRB w KQkq - 0 4", CastlingMode::Chess960),
            ("qbrnbkrn/pppppppp/8/8/8/8/PPPPPPPP/QBRNBKRN w KQkq - 0 1", CastlingMode::Chess960),
            ("r2k3r/8/8/8/8/8/8/R2K3R w KQkq - 0 1", CastlingMode::Chess960),
            ("q5kr/8/8/8/8/8/8/5RK1 b k - 0 1", CastlingMode::Chess960),
            // Outdated rights: the king has moved, or a rook is missing.
            ("r3k2r/8/8/8/8/8/8/R4K1R w KQkq - 0 1", CastlingMode::Standard),
            ("8/p1r1rk1p/2R1pb2/P4p2/1N4p1/1Pp1P1P1/5P1P/2R3K1 w KQkq - 0 1", CastlingMode::Standard),
            ("4k3/8/8/8/8/8/8/4K2R w KQ - 0 1", CastlingMode::Standard),
        ] {
            assert_eq!(mode(fen), expected, "{fen}");
        }
    }

    #[test]
    fn empty_fen_is_the_initial_position() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        assert_eq!(position_from_fen("").map(|p| p.fen()).ok().as_deref(), Some(start));
        assert!(position_from_fen("rubbish").is_err());
    }

    #[test]
    fn moves_are_accepted_in_every_spelling_with_and_without_numbers() {
        let expected = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3";
        for text in [
            "startpos moves e2e4 e7e5 g1f3 b8c6",
            "startpos moves e4 e5 Nf3 Nc6",
            "startpos MOVES e2-e4 e7-e5 nf3 ♞c6!",
            "startpos moves 1. e4 e5 2. Nf3 Nc6",
            "1. e4 e5 2. Nf3 Nc6",
            "1.e4 e5 2.nf3 2...nc6",
        ] {
            assert_eq!(position_with_moves(text).expect(text).fen(), expected, "{text}");
        }
        let castled = position_with_moves("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1 moves 0-0 0–0–0").expect("legal");
        assert_eq!(castled.fen(), "2kr3r/8/8/8/8/8/8/R4RK1 w - - 2 2");
    }

    #[test]
    fn errors_name_the_wrong_word() {
        let error = |text| format!("{:#}", position_with_moves(text).expect_err(text));
        assert!(error("startpos e2e4").contains("unexpected 'e2e4' after 'startpos'"));
        assert!(error("startpos moves e2e5").contains("'e2e5' is not a legal move"));
        assert!(error("startpos moves e4 Sf6").contains("'Sf6' is not a move"));
        assert!(error("1. e4 e5 2. Ke3").contains("'Ke3' is not a legal move"));
        assert!(error("8/8/8/8 w moves e4").contains("bad FEN"));
    }
}

#[cfg(test)]
mod epd_tests {
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
