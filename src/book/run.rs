//! The commands of `zoothera book`.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::polyglot::KIND;
use super::{Book, BookBuilder, BuildOptions};
use crate::board::Position;
use crate::notation::pgn::{self, Games};
use crate::tools::args::SelectionArgs;
use crate::tools::subjects;
use crate::util::atomic::{AtomicFile, write_over};
use crate::util::identity::check_distinct;
use crate::util::quantity::counted;
use crate::util::text::Shown as _;

/// The subcommands of `book`.
#[derive(clap::Subcommand, Debug)]
pub enum BookCommand {
    /// Build a book from games: a move's weight is 2 for each win and 1 for each draw of the side that played it
    Build {
        /// PGN files, or - for standard input
        #[arg(required = true, value_name = "GAMES")]
        files: Vec<PathBuf>,
        /// Book file to write
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// Number of plies to use from each game
        #[arg(long, value_name = "PLIES", default_value_t = 40, value_parser = clap::value_parser!(u16).range(1..))]
        max_ply: u16,
        /// Skip moves that were played in fewer games
        #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
        min_games: u32,
    },
    /// Show a book's moves for a position
    Show {
        /// Position, with or without quotation marks, or `startpos moves e2e4 ...`; the initial position if absent
        #[arg(value_name = "FEN")]
        position: Vec<String>,
        /// Book file
        #[arg(long, value_name = "FILE")]
        book: PathBuf,
    },
}

/// Runs the commands of `book`.
///
/// # Errors
/// Fails if files or positions cannot be read, the book cannot be written, or a sink fails.
pub fn run(command: &BookCommand, out: &mut dyn Write, err: &mut dyn Write) -> Result<()> {
    match command {
        BookCommand::Build { files, out: file, max_ply, min_games } => {
            let options = BuildOptions { max_ply: usize::from(*max_ply), min_games: *min_games };
            make(files, file, options, out, err)
        }
        BookCommand::Show { position, book } => {
            let book = Book::open(book)?;
            let mut problems = Vec::new();
            for subject in subjects::read(position, SelectionArgs::default(), &mut problems)? {
                show(&book, &subject.position, out)?;
            }
            subjects::report(&problems, err)?;
            subjects::fail_with(&problems)
        }
    }
}

/// Builds the book `out` from the games in `files` (`-` is standard input). Games with a mistake are skipped and
/// reported on `err`.
///
/// # Errors
/// Fails if a file cannot be read, no move is left, or the book cannot be written; `out` is then unchanged. Also fails
/// after writing the book if games were skipped or cut.
fn make(files: &[PathBuf], out: &Path, options: BuildOptions, said: &mut dyn Write, err: &mut dyn Write) -> Result<()> {
    let inputs: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    check_distinct(&[out], &inputs)?;
    // Reading the games can take minutes, so the output file is checked first.
    drop(AtomicFile::create_over(out, &KIND)?);
    let mut builder = BookBuilder::default();
    let (mut used, mut broken) = (0, 0);
    for file in files {
        let name = file.shown();
        let unreadable = || format!("cannot read {name}");
        let mut games = Games::new(pgn::open(file).with_context(unreadable)?);
        while let Some(game) = games.next_game().with_context(unreadable)? {
            let game = match game {
                Ok(game) => game,
                Err(error) => {
                    broken += 1;
                    writeln!(err, "skipped: {}: {}", name, error.message)?;
                    continue;
                }
            };
            if let Some(cut) = &game.cut {
                broken += 1;
                writeln!(err, "cut: {name}: {}", cut)?;
            }
            used += 1;
            builder.add(&game, options.max_ply);
        }
    }
    let entries = builder.entries(options.min_games);
    if entries.is_empty() {
        bail!("no move was played in at least {} of the {used} games; use a smaller --min-games", options.min_games);
    }
    write_over(out, &KIND, |file| {
        let mut bytes = entries.iter().map(|entry| entry.to_bytes());
        bytes.try_for_each(|bytes| file.write_all(&bytes))
    })?;
    let positions = entries.chunk_by(|a, b| a.key == b.key).count();
    writeln!(
        said,
        "{}: {} moves of {positions} positions, from {}",
        out.shown(),
        entries.len(),
        counted(used, "game", "games")
    )?;
    if broken > 0 {
        bail!("{} skipped or cut; the book was written without them", counted(broken, "game was", "games were"));
    }
    Ok(())
}

/// Prints the book moves of a position: weight, share, move.
///
/// # Errors
/// Fails on an error of `out`.
fn show(book: &Book, position: &Position, out: &mut dyn Write) -> Result<()> {
    let moves = book.moves(position);
    if moves.is_empty() {
        writeln!(out, "the book has no move for {}", position.fen())?;
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
