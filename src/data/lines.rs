//! Text formats with a position per line: bullet's text, and EPD with scores.
//!
//! bullet's text is `FEN | score | result`, with score and result from White's view: `1.0` a win, `0.5` a draw, `0.0` a
//! loss of White. EPD has the score from the side to move's view in `ce`, in centipawns, and the result in a comment
//! operation such as `c9 "1-0"` or in brackets, `[0.5]`; the best move in `bm` or `pm`.
// CITE: bullet's text: the crate bulletformat (Jamie Whiting). EPD: S. Edwards's specification; results in c9:
// Zurichess (Alexandru Mosoi); in brackets: Ethereal (Andrew Grant).

use std::io::{BufRead, Read as _, Write};

use anyhow::{Context, Result, bail, ensure};

use super::entry::{Entry, NO_SCORE};
use super::plain;
use crate::board::{CastlingMode, Position};
use crate::notation::positions::{EpdRecord, is_blank};
use crate::util::files::{Kind, is_text, text_start};
use crate::util::text::without_mark;

/// Kind of a file of bullet's text.
pub const BULLET: Kind = Kind { name: "a text file of `FEN | score | result` lines", is: is_bullet };
/// Kind of an EPD file.
pub const EPD: Kind = Kind { name: "an EPD file", is: is_epd };
/// Largest length of a line in bytes.
const MAX_LINE: u64 = 1 << 12;
/// Largest |score| in centipawns or units; larger ones stand for mates.
const MAX_SCORE: i32 = 30_000;

/// First line of a text that is not empty.
fn first_line(head: &[u8]) -> Option<&str> {
    let text = text_start(head);
    let line = text.split(|byte| *byte == b'\n').next().filter(|line| !line.is_empty())?;
    std::str::from_utf8(line.trim_ascii_end()).ok().filter(|_| is_text(line))
}

fn is_bullet(head: &[u8]) -> bool {
    first_line(head).is_some_and(|line| line.matches('|').count() >= 2 && has_board(line))
}

fn is_epd(head: &[u8]) -> bool {
    first_line(head).is_some_and(|line| is_blank(line) || (!line.contains('|') && has_board(line)))
}

/// Whether a line starts like a FEN: eight ranks.
fn has_board(line: &str) -> bool {
    line.split_whitespace().next().is_some_and(|word| word.matches('/').count() == 7)
}

/// Calls `visit` with the entry of each line, in order; `parse` returns `None` for a line without an entry. Returns the
/// number of lines of an incomplete entry at the end.
///
/// # Errors
/// Fails on a read error, on an invalid line, and if `visit` fails.
pub fn for_each(
    mut source: impl BufRead,
    parse: fn(&str) -> Result<Option<Entry>>,
    mut visit: impl FnMut(&Entry) -> Result<()>,
) -> Result<usize> {
    let mut line = String::new();
    for number in 1_u64.. {
        line.clear();
        if source.by_ref().take(MAX_LINE).read_line(&mut line)? == 0 {
            break;
        }
        ensure!((line.len() as u64) < MAX_LINE, "line {number} is longer than {} KiB", MAX_LINE >> 10);
        match parse(without_mark(&line).trim()) {
            Ok(Some(entry)) => visit(&entry)?,
            Ok(None) => {}
            // A last line without a line break was truncated; its errors are not damage.
            Err(_) if !line.ends_with('\n') => return Ok(1),
            Err(error) => return Err(error.context(format!("line {number}"))),
        }
    }
    Ok(0)
}

/// Parses a line of bullet's text.
///
/// # Errors
/// Fails if the line is not `FEN | score | result`.
pub fn bullet(line: &str) -> Result<Option<Entry>> {
    if line.is_empty() {
        return Ok(None);
    }
    let mut parts = line.split('|').map(str::trim);
    let (Some(fen), Some(score), Some(result), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        bail!("expected `FEN | score | result`, found '{line}'");
    };
    let mut entry = Entry::of(&position(fen)?);
    let score: i32 = score.parse().with_context(|| format!("'{score}' is not a score; expected a whole number"))?;
    entry.score = side(&entry, score);
    entry.set_result(
        result_of(result)
            .with_context(|| format!("'{result}' is not a result; expected 1.0, 0.5 or 0.0, from White's view"))?,
    );
    Ok(Some(entry))
}

/// Parses a line of EPD. The score is in centipawns.
///
/// # Errors
/// Fails if the line has no position, or neither a score nor a result.
pub fn epd(line: &str) -> Result<Option<Entry>> {
    if is_blank(line) {
        return Ok(None);
    }
    let (line, bracket) = match line.split_once('[') {
        Some((line, rest)) if !line.contains('"') => (line, rest.split(']').next()),
        _ => (line, None),
    };
    let record = EpdRecord::parse(line)?;
    let position = position(&record.fen)?;
    let mut entry = Entry { score: NO_SCORE, score_alone: true, ..Entry::of(&position) };
    if let Some(text) = record.text("ce") {
        let score: i32 = text.parse().with_context(|| format!("'{text}' is not a score; `ce` has centipawns"))?;
        entry.score = score.clamp(-MAX_SCORE, MAX_SCORE) as i16;
    }
    let comments = (0..10).filter_map(|number| record.text(&format!("c{number}")));
    if let Some(result) = bracket.into_iter().chain(comments).chain(record.text("result")).find_map(result_of) {
        entry.set_result(result);
        entry.score_alone = false;
    }
    ensure!(
        entry.score != NO_SCORE || !entry.score_alone,
        "the position has neither a score (ce) nor a result (c9 \"1-0\")"
    );
    let best = record.text("pm").or_else(|| record.text("bm"));
    entry.m = best.and_then(|text| position.parse_san(text).or_else(|_| position.parse_uci(text)).ok());
    Ok(Some(entry))
}

/// Reads a FEN. The formats do not record the variant: K, Q, k and q stand for the outermost rooks.
fn position(fen: &str) -> Result<Position> {
    let fields = fen.split_whitespace().count();
    let counters = ["", " 0 1", " 1"];
    let missing = counters.get(match fields {
        4 => 1,
        5 => 2,
        _ => 0,
    });
    Position::from_fen(&format!("{fen}{}", missing.unwrap_or(&"")), CastlingMode::Chess960)
}

/// Converts a score between White's view and the side to move's.
fn side(entry: &Entry, score: i32) -> i16 {
    let score = score.clamp(-MAX_SCORE, MAX_SCORE) as i16;
    if entry.black_to_move { -score } else { score }
}

/// Parses a game result from White's view.
pub fn result_of(text: &str) -> Option<i8> {
    match text.trim() {
        "1.0" | "1" | "1-0" => Some(1),
        "0.5" | "1/2-1/2" | "1/2" => Some(0),
        "0.0" | "0" | "0-1" => Some(-1),
        _ => None,
    }
}

/// Writes an entry as bullet's text.
///
/// # Errors
/// Fails on a write error.
pub fn write_bullet(entry: &Entry, sink: &mut impl Write) -> Result<()> {
    let score = side(entry, entry.score.into());
    let white = if entry.black_to_move { -entry.result } else { entry.result };
    let result = ["0.0", "0.5", "1.0"][(white.signum() + 1) as usize];
    Ok(writeln!(sink, "{} | {score} | {result}", plain::fen(entry))?)
}

/// Writes an entry as EPD; the score must be in centipawns.
///
/// # Errors
/// Fails on a write error.
pub fn write_epd(entry: &Entry, sink: &mut impl Write) -> Result<()> {
    let fen = plain::fen(entry);
    let mut fields = fen.splitn(5, ' ');
    let board: Vec<&str> = fields.by_ref().take(4).collect();
    let (rule50, number) = fields.next().and_then(|rest| rest.split_once(' ')).unwrap_or(("0", "1"));
    write!(sink, "{} hmvc {rule50}; fmvn {number};", board.join(" "))?;
    if entry.score != NO_SCORE {
        write!(sink, " ce {};", entry.score)?;
    }
    if let Some(m) = entry.m {
        write!(sink, " pm {};", plain::uci(entry, m))?;
    }
    if !entry.score_alone {
        let white = if entry.black_to_move { -entry.result } else { entry.result };
        write!(sink, " c9 \"{}\";", ["0-1", "1/2-1/2", "1-0"][(white.signum() + 1) as usize])?;
    }
    Ok(writeln!(sink)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEN: &str = "4k3/8/8/3pP3/8/8/8/4K2R b K - 7 30";

    #[test]
    fn bullet_text_round_trips() {
        for (score, result, ours) in [(120, "1.0", (-120, -1)), (-5, "0.5", (5, 0)), (7, "0.0", (-7, 1))] {
            let line = format!("{FEN} | {score} | {result}");
            let entry = bullet(&line).expect("a line").expect("an entry");
            assert_eq!((entry.score, entry.result), ours);
            let mut text = Vec::new();
            write_bullet(&entry, &mut text).expect("writing to a vector");
            assert_eq!(String::from_utf8(text).expect("text"), line + "\n");
        }
        assert!(
            (BULLET.is)(format!("{FEN} | 1 | 0.5\n").as_bytes()) && !(EPD.is)(format!("{FEN} | 1 | 0.5").as_bytes())
        );
    }

    #[test]
    fn epd_reads_score_result_and_move() {
        let board = "4k3/8/8/3pP3/8/8/8/4K2R b K -";
        let read = |rest: &str| epd(&format!("{board} {rest}")).expect(rest).expect("an entry");
        let entry = read("ce -31; c9 \"1-0\"; bm Kd7;");
        assert_eq!((entry.score, entry.result, entry.score_alone), (-31, -1, false));
        assert_eq!(entry.m.map(|m| m.to().to_string()).as_deref(), Some("d7"));
        let alone = read("ce 12;");
        assert_eq!((alone.score, alone.result, alone.score_alone), (12, 0, true));
        let result = read("[0.0]");
        assert_eq!((result.score, result.result, result.score_alone), (NO_SCORE, 1, false));
        for entry in [entry, alone, result] {
            let mut text = Vec::new();
            write_epd(&entry, &mut text).expect("writing to a vector");
            let text = String::from_utf8(text).expect("text");
            assert_eq!(epd(text.trim()).expect("EPD"), Some(entry), "{text}");
        }
        assert!(epd("# a comment").expect("no entry").is_none());
    }

    #[test]
    fn errors_name_the_line() {
        let good = format!("{FEN} | 1 | 0.5\n");
        for (bad, why) in [
            ("hello", "line 2: expected `FEN | score | result`"),
            ("8/8 w - - | 1 | 0.5", "line 2"),
            (&format!("{FEN} | x | 0.5"), "line 2: 'x' is not a score"),
            (&format!("{FEN} | 1 | 2"), "line 2: '2' is not a result"),
        ] {
            let text = format!("{good}{bad}\n{good}");
            let error = format!("{:#}", for_each(text.as_bytes(), bullet, |_| Ok(())).expect_err(bad));
            assert!(error.starts_with(why), "'{error}' does not start with '{why}'");
        }
        let cut = format!("{good}{}", &good[..30]);
        let mut count = 0;
        let left = for_each(cut.as_bytes(), bullet, |_| {
            count += 1;
            Ok(())
        });
        assert_eq!((left.ok(), count), (Some(1), 1));
        let error = epd("4k3/8/8/8/8/8/8/4K3 w - - id \"x\";").expect_err("no label").to_string();
        assert!(error.contains("neither a score"), "{error}");
    }
}
