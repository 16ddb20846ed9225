//! The commands of `zoothera book`.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::{Book, BuildOptions, build};
use crate::board::Position;
use crate::tools::pgn::{self, Game};
use crate::util::atomic::write_atomically;
use crate::util::reason;

/// Makes the book `out` of the games in `files` (`-` is standard input), and tells on `err` which were left out.
///
/// # Errors
/// When a file cannot be read, no move is left, or the book cannot be written; `out` is as it was then.
pub fn make(
    files: &[PathBuf],
    out: &Path,
    options: BuildOptions,
    said: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<()> {
    let mut games: Vec<Game> = Vec::new();
    for file in files {
        let name = file.display();
        let read = pgn::read(open(file)?).with_context(|| format!("cannot read {name}"))?;
        for game in read {
            match game {
                Ok(game) => games.push(game),
                Err(error) => writeln!(err, "left out: {name}: {}", reason::chain(&error))?,
            }
        }
    }
    let entries = build(games.iter(), options);
    if entries.is_empty() {
        bail!(
            "no move was played in {} of the {} games; try a smaller --min-games",
            options.min_games,
            games.len()
        );
    }
    write_atomically(out, |file| {
        let mut bytes = entries.iter().map(|entry| entry.to_bytes());
        bytes.try_for_each(|bytes| file.write_all(&bytes))
    })?;
    let positions = entries.chunk_by(|a, b| a.key == b.key).count();
    writeln!(
        said,
        "{}: {} moves of {positions} positions, from {} games",
        out.display(),
        entries.len(),
        games.len()
    )?;
    Ok(())
}

fn open(file: &Path) -> Result<Box<dyn Read>> {
    if file == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    let opened = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(Box::new(BufReader::new(opened)))
}

/// Prints the moves that a book has for a position: weight, share, move.
///
/// # Errors
/// When `out` fails.
pub fn show(book: &Book, position: &Position, out: &mut dyn Write) -> Result<()> {
    let moves = book.moves(position);
    if moves.is_empty() {
        writeln!(out, "The book has no move for {}", position.fen())?;
        return Ok(());
    }
    let total: u32 = moves.iter().map(|found| u32::from(found.weight)).sum();
    writeln!(out, "{}\n\nweight   share  move", position.fen())?;
    for found in moves {
        let share = 100.0 * f64::from(found.weight) / f64::from(total.max(1));
        let (san, uci) = (position.san(found.m), position.uci(found.m, false));
        writeln!(out, "{:>6}  {share:>5.1}%  {san} ({uci})", found.weight)?;
    }
    Ok(())
}
