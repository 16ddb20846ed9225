//! Stockfish's `.plain`: six lines of text for a position, for people and scripts.
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
//! Score and result are from the side to move's view. Where there is no move the text is `(none)`.
// CITE: Stockfish's tools branch and nodchip's learner (2020).

use std::fmt::Write as _;
use std::io::{BufRead, Read as _, Write};

use anyhow::{Context, Result, bail, ensure};

use super::entry::Entry;
use crate::board::{CastlingMode, File, Move, Position, Role, Square};
use crate::util::encoding::without_mark;
use crate::util::kind::{Kind, text_start};

/// Files of this format begin with a FEN.
pub const KIND: Kind = Kind {
    name: "a .plain of positions",
    is: |head| text_start(head).starts_with(b"fen "),
};
/// Bytes of a line at most; the longest FEN takes a hundred.
const LONGEST_LINE: u64 = 1 << 12;
/// Text of no move.
const NONE: &str = "(none)";

/// Calls `visit` with every entry, in order. Returns how many lines of an unfinished entry are at the end.
///
/// # Errors
/// When reading fails, a line is damaged, or `visit` says so.
pub fn for_each(
    mut source: impl BufRead,
    mut visit: impl FnMut(&Entry) -> Result<()>,
) -> Result<usize> {
    let mut line = String::new();
    let mut draft: Option<Draft> = None;
    let mut open = 0;
    for number in 1_u64.. {
        line.clear();
        if source.by_ref().take(LONGEST_LINE).read_line(&mut line)? == 0 {
            break;
        }
        ensure!(
            (line.len() as u64) < LONGEST_LINE,
            "line {number}: it is longer than {} KiB; this is no .plain of positions",
            LONGEST_LINE >> 10
        );
        let text = without_mark(&line).trim();
        if text.is_empty() {
            continue;
        }
        open += 1;
        if text == "e" {
            let entry = draft
                .take()
                .with_context(|| format!("line {number}: no fen"))?;
            visit(&entry.entry)?;
            open = 0;
            continue;
        }
        let (key, value) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        // A file that ends inside a line was cut off there.
        let whole = line.ends_with('\n');
        match Draft::take_line(&mut draft, key, value.trim()) {
            Err(error) if whole => return Err(error.context(format!("line {number}"))),
            _ => {}
        }
    }
    Ok(open)
}

/// An entry that is being read, and its position.
struct Draft {
    position: Position,
    entry: Entry,
}

impl Draft {
    fn take_line(draft: &mut Option<Self>, key: &str, value: &str) -> Result<()> {
        if key == "fen" {
            // The format tells no variant: K, Q, k and q mean the outermost rooks.
            let position = Position::from_fen(value, CastlingMode::Chess960)?;
            let entry = Entry::of(&position);
            *draft = Some(Self { position, entry });
            return Ok(());
        }
        let draft = draft.as_mut().context("it comes before the fen")?;
        let entry = &mut draft.entry;
        let number = || format!("'{value}' is no {key}");
        match key {
            "move" => entry.m = parse_move(&draft.position, value)?,
            "score" => entry.score = value.parse().with_context(number)?,
            "ply" => entry.ply = value.parse().with_context(number)?,
            "result" => entry.result = value.parse().with_context(number)?,
            _ => bail!("'{key}' is none of fen, move, score, ply, result, e"),
        }
        if !(-1..=1).contains(&entry.result) {
            bail!("'{value}' is no result: -1, 0 or 1");
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
/// When the sink fails.
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

/// Six-field FEN of an entry; the rooks of castling rights are the outermost, as X-FEN has it.
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
            text.push(if piece.colour == 0 {
                letter.to_ascii_uppercase()
            } else {
                letter
            });
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

/// UCI text of a move; castling as e1g1 where king and rook stand on their classical squares, else king takes rook.
fn uci(entry: &Entry, m: Move) -> String {
    let (from, mut to) = (m.from(), m.to());
    let classical = from.file() == File::E && matches!(to.file(), File::A | File::H);
    if classical && entry.kind_of(m) == super::entry::MoveKind::Castling {
        let file = if to > from { File::G } else { File::C };
        to = Square::from_coords(file, to.rank());
    }
    let promotion = m
        .promotion()
        .map_or(String::new(), |role| role.char().to_string());
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
    fn text_comes_back() {
        for (fen, m) in [
            (
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
                "e2e4",
            ),
            ("r3k2r/8/8/8/8/8/8/R3K2R b Kq - 99 321", "e8c8"),
            ("4k3/1P6/8/3pP3/8/8/8/K6R w - d6 0 70", "b7b8n"),
            ("1r2k1r1/8/8/8/8/8/8/1R2K1R1 w KQkq - 0 1", "e1b1"),
            ("k7/8/8/8/8/8/8/7K w - - 64 1", "(none)"),
        ] {
            let text = format!("fen {fen}\nmove {m}\nscore -7\nply 11\nresult -1\ne\n");
            let (entries, left) = read(&text).expect(fen);
            assert_eq!((entries.len(), left), (1, 0));
            let mut again = Vec::new();
            write(&entries[0], &mut again).expect("a vector");
            let again = String::from_utf8(again).expect("text");
            let move_number = fen.rsplit(' ').next().unwrap_or_default().len();
            let wanted = text.replacen(
                fen,
                &format!("{} 6", &fen[..fen.len() - move_number - 1]),
                1,
            );
            assert_eq!(again, wanted);
        }
    }

    #[test]
    fn damage_is_told_with_its_line() {
        for (text, why) in [
            ("move e2e4\n", "line 1: it comes before the fen"),
            ("fen rubbish\n", "line 1"),
            (
                "fen 4k3/8/8/8/8/8/8/4K3 w - - 0 1\nscore x\n",
                "line 2: 'x' is no score",
            ),
            (
                "fen 4k3/8/8/8/8/8/8/4K3 w - - 0 1\nresult 2\n",
                "line 2: '2' is no result",
            ),
            ("fen 4k3/8/8/8/8/8/8/4K3 w - - 0 1\nmove e1e3\n", "line 2"),
            ("hello world\n", "line 1"),
            ("e\n", "line 1: no fen"),
        ] {
            let error = format!("{:#}", read(text).expect_err(text));
            assert!(error.starts_with(why), "'{error}' is not '{why}'");
        }
        let cut = "fen 4k3/8/8/8/8/8/8/4K3 w - - 0 1\nsco";
        assert_eq!(
            read(cut).ok().map(|(e, left)| (e.len(), left)),
            Some((0, 2))
        );
    }
}
