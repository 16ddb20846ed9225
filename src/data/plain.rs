//! Stockfish's `.plain` format: six lines of text per position, readable by people and scripts.
//!
//! ```text
//! fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1
//! move e2e4
//! score 23
//! ply 0
//! result 1
//! e
//! ```
//!
//! Score and result are from the side to move's view. A missing move is written as `(none)`.
// CITE: Stockfish's tools branch and nodchip's learner (2020).

use std::fmt::Write as _;
use std::io::{BufRead, Read as _, Write};

use anyhow::{Context, Result, bail, ensure};

use super::entry::Entry;
use crate::board::{CastlingMode, File, Move, Position, Role, Square};
use crate::util::files::{Kind, text_start};
use crate::util::text::without_mark;

/// Kind of a `.plain` file: it starts with a FEN line.
pub const KIND: Kind = Kind { name: "a .plain file of positions", is: |head| text_start(head).starts_with(b"fen ") };
/// Largest length of a line in bytes; the longest FEN has about 100.
const MAX_LINE: u64 = 1 << 12;
/// Text of a missing move.
const NONE: &str = "(none)";

/// Calls `visit` with every entry, in order. Returns the number of lines of an incomplete entry at the end.
///
/// # Errors
/// Fails on a read error, on an invalid line, and if `visit` fails.
pub fn for_each(mut source: impl BufRead, mut visit: impl FnMut(&Entry) -> Result<()>) -> Result<usize> {
    let mut line = String::new();
    let mut draft: Option<Draft> = None;
    let mut open_lines = 0;
    for number in 1_u64.. {
        line.clear();
        if source.by_ref().take(MAX_LINE).read_line(&mut line)? == 0 {
            break;
        }
        ensure!(
            (line.len() as u64) < MAX_LINE,
            "line {number} is longer than {} KiB; this is not a .plain file of positions",
            MAX_LINE >> 10
        );
        let text = without_mark(&line).trim();
        if text.is_empty() {
            continue;
        }
        open_lines += 1;
        if text == "e" {
            let entry = draft.take().with_context(|| format!("line {number}: the entry ends without a fen line"))?;
            visit(&entry.entry)?;
            open_lines = 0;
            continue;
        }
        let (key, value) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        // A last line without a line break was truncated; its errors are not damage.
        let is_complete = line.ends_with('\n');
        match Draft::take_line(&mut draft, key, value.trim()) {
            Err(error) if is_complete => return Err(error.context(format!("line {number}"))),
            _ => {}
        }
    }
    Ok(open_lines)
}

/// A partly read entry and its position.
struct Draft {
    position: Position,
    entry: Entry,
}

impl Draft {
    fn take_line(draft: &mut Option<Self>, key: &str, value: &str) -> Result<()> {
        if key == "fen" {
            // The format does not record the variant: K, Q, k and q stand for the outermost rooks.
            let position = Position::from_fen(value, CastlingMode::Chess960)?;
            let entry = Entry::of(&position);
            *draft = Some(Self { position, entry });
            return Ok(());
        }
        let draft = draft.as_mut().with_context(|| format!("'{key}' before the fen line of its entry"))?;
        let entry = &mut draft.entry;
        let number = || format!("'{value}' is not a valid {key}");
        match key {
            "move" => entry.m = parse_move(&draft.position, value)?,
            "score" => entry.score = value.parse().with_context(number)?,
            "ply" => entry.ply = value.parse().with_context(number)?,
            "result" => entry.result = value.parse().with_context(number)?,
            _ => bail!("unknown keyword '{key}'; expected fen, move, score, ply, result or e"),
        }
        if !(-1..=1).contains(&entry.result) {
            bail!("'{value}' is not a valid result; expected -1, 0 or 1");
        }
        Ok(())
    }
}

fn parse_move(position: &Position, text: &str) -> Result<Option<Move>> {
    match text {
        NONE | "none" | "0000" => Ok(None),
        _ => position.parse_uci(text).map(Some),
    }
}

/// Writes an entry.
///
/// # Errors
/// Fails on a write error.
pub fn write(entry: &Entry, sink: &mut impl Write) -> Result<()> {
    let m = entry.m.map_or_else(|| NONE.to_owned(), |m| uci(entry, m));
    writeln!(sink, "fen {}", fen(entry))?;
    writeln!(sink, "move {m}")?;
    writeln!(sink, "score {}", entry.score)?;
    writeln!(sink, "ply {}", entry.ply)?;
    writeln!(sink, "result {}", entry.result)?;
    writeln!(sink, "e")?;
    Ok(())
}

/// Six-field FEN of an entry. As in X-FEN, castling rights refer to the outermost rooks.
pub fn fen(entry: &Entry) -> String {
    let mut text = String::with_capacity(90);
    for rank in (0..8).rev() {
        let mut empty = 0;
        for file in 0..8 {
            let square = Square::new(8 * rank + file);
            let Some(piece) = entry.board.piece_at(square) else {
                empty += 1;
                continue;
            };
            push_count(&mut text, &mut empty);
            let letter = piece.role().map_or('?', Role::char);
            text.push(if piece.colour == 0 { letter.to_ascii_uppercase() } else { letter });
        }
        push_count(&mut text, &mut empty);
        if rank > 0 {
            text.push('/');
        }
    }
    text.push_str(if entry.black_to_move { " b " } else { " w " });
    for (i, right) in ['K', 'Q', 'k', 'q'].into_iter().enumerate() {
        if entry.castling >> i & 1 == 1 {
            text.push(right);
        }
    }
    if entry.castling & 15 == 0 {
        text.push('-');
    }
    let ep = entry.ep.map_or_else(|| "-".to_owned(), |ep| ep.to_string());
    // Writing to a string does not fail.
    let _ = write!(text, " {ep} {} {}", entry.rule50, entry.ply / 2 + 1);
    text
}

fn push_count(text: &mut String, empty: &mut u8) {
    if *empty > 0 {
        text.push(char::from(b'0' + *empty));
    }
    *empty = 0;
}

/// UCI notation of a move. Castling is e1g1 from the classical squares, otherwise king takes rook.
pub fn uci(entry: &Entry, m: Move) -> String {
    let (from, mut to) = (m.from(), m.to());
    let classical = from.file() == File::E && matches!(to.file(), File::A | File::H);
    if classical && entry.kind_of(m) == super::entry::MoveKind::Castling {
        let file = if to > from { File::G } else { File::C };
        to = Square::from_coords(file, to.rank());
    }
    let promotion = m.promotion().map_or(String::new(), |role| role.char().to_string());
    format!("{from}{to}{promotion}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Vec<Entry>, usize)> {
        let mut entries = Vec::new();
        let left = for_each(text.as_bytes(), |entry| {
            entries.push(*entry);
            Ok(())
        })?;
        Ok((entries, left))
    }

    #[test]
    fn entries_round_trip() {
        for (fen, m) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "e2e4"),
            ("r3k2r/8/8/8/8/8/8/R3K2R b Kq - 99 321", "e8c8"),
            ("4k3/1P6/8/3pP3/8/8/8/K6R w - d6 0 70", "b7b8n"),
            ("1r2k1r1/8/8/8/8/8/8/1R2K1R1 w KQkq - 0 1", "e1b1"),
            ("k7/8/8/8/8/8/8/7K w - - 64 1", "(none)"),
        ] {
            let text = format!("fen {fen}\nmove {m}\nscore -7\nply 11\nresult -1\ne\n");
            let (entries, left) = read(&text).expect(fen);
            assert_eq!((entries.len(), left), (1, 0));
            let mut again = Vec::new();
            write(&entries[0], &mut again).expect("writing to a vector");
            let again = String::from_utf8(again).expect("text");
            let move_number = fen.rsplit(' ').next().unwrap_or_default().len();
            let wanted = text.replacen(fen, &format!("{} 6", &fen[..fen.len() - move_number - 1]), 1);
            assert_eq!(again, wanted);
        }
    }

    #[test]
    fn errors_name_the_line() {
        for (text, why) in [
            ("move e2e4\n", "line 1: 'move' before the fen line"),
            ("fen rubbish\n", "line 1"),
            ("fen 4k3/8/8/8/8/8/8/4K3 w - - 0 1\nscore x\n", "line 2: 'x' is not a valid score"),
            ("fen 4k3/8/8/8/8/8/8/4K3 w - - 0 1\nresult 2\n", "line 2: '2' is not a valid result"),
            ("fen 4k3/8/8/8/8/8/8/4K3 w - - 0 1\nmove e1e3\n", "line 2"),
            ("hello world\n", "line 1"),
            ("e\n", "line 1: the entry ends without a fen line"),
        ] {
            let error = format!("{:#}", read(text).expect_err(text));
            assert!(error.starts_with(why), "'{error}' does not start with '{why}'");
        }
        let cut = "fen 4k3/8/8/8/8/8/8/4K3 w - - 0 1\nsco";
        assert_eq!(read(cut).ok().map(|(e, left)| (e.len(), left)), Some((0, 2)));
    }
}
