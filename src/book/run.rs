//! The commands of `zoothera book`, and the building of a book from games.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::Book;
use super::polyglot::{Entry, KIND, code_of};
use crate::board::{Color, Position};
use crate::notation::pgn::{self, Game, Games};
use crate::tools::args::{self, SelectionArgs};
use crate::util::atomic::{AtomicFile, write_over};
use crate::util::files::check_distinct;
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
            for subject in args::read(position, SelectionArgs::default(), &mut problems)? {
                show(&book, &subject.position, out)?;
            }
            args::report(&problems, err)?;
            args::fail_with(&problems)
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

// Builds a book from games: the moves played in each position, and their results.

/// Selection of the moves of the games.
#[derive(Clone, Copy, Debug)]
pub struct BuildOptions {
    /// Maximum number of plies of each game.
    pub max_ply: usize,
    /// Minimum number of games in which a move was played.
    pub min_games: u32,
}

/// Statistics of a move.
#[derive(Clone, Copy, Default)]
struct Record {
    games: u32,
    /// Two points for each win of the side that moved, one for each draw or unknown result.
    points: u64,
}

/// Collects the moves of games.
#[derive(Default)]
pub struct BookBuilder {
    records: HashMap<(u64, u16), Record>,
}

impl BookBuilder {
    /// Adds the moves of a game. A move of a position counts once, even if the game repeats the position.
    pub fn add(&mut self, game: &Game, max_ply: usize) {
        let mut position = game.start.clone();
        let mut seen = HashSet::new();
        for &m in game.moves.iter().take(max_ply) {
            let place = (position.polyglot_key(), code_of(m));
            if seen.insert(place) {
                let record = self.records.entry(place).or_default();
                record.games += 1;
                record.points += points(game.result, position.turn());
            }
            position.do_move(m);
        }
    }

    /// The entries of the book, in the order of a file. The weight of a move is its success: two points for each win
    /// of its side, one for each draw or unknown result. Moves without points are omitted, as are moves of fewer
    /// than `min_games` games. If a position's points exceed the range of the format, the points of all its moves are
    /// divided by the same factor.
    // CITE: the weights are those of Polyglot's `make-book` (Fabien Letouzey).
    pub fn entries(mut self, min_games: u32) -> Vec<Entry> {
        self.records.retain(|_, record| record.games >= min_games && record.points > 0);
        let mut max_points: HashMap<u64, u64> = HashMap::new();
        for (&(key, _), record) in &self.records {
            let max_points = max_points.entry(key).or_default();
            *max_points = record.points.max(*max_points);
        }
        let mut entries: Vec<Entry> = self
            .records
            .into_iter()
            .map(|((key, code), record)| Entry { key, code, weight: scaled(record.points, max_points[&key]) })
            .collect();
        entries.sort_by_key(|entry| (entry.key, std::cmp::Reverse(entry.weight), entry.code));
        entries
    }
}

/// Points of a game's result for a side.
fn points(result: &str, side: Color) -> u64 {
    match (result, side) {
        ("1-0", Color::White) | ("0-1", Color::Black) => 2,
        ("1-0", Color::Black) | ("0-1", Color::White) => 0,
        _ => 1,
    }
}

/// The weight for `points` if the best move of the position has `max_points`; at least 1.
fn scaled(points: u64, max_points: u64) -> u16 {
    let divisor = max_points.div_ceil(u64::from(u16::MAX)).max(1);
    (points / divisor).max(1) as u16
}

#[cfg(test)]
mod build_tests {
    use super::*;
    use crate::board::Position;
    use crate::book::{Book, BookMove};
    use crate::notation::pgn;

    const GAMES: &str = "[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n\
        [Result \"0-1\"]\n\n1. e4 c5 0-1\n\n\
        [Result \"1/2-1/2\"]\n\n1. d4 Nf6 2. Nf3 Ng8 3. Ng1 Nf6 4. Nf3 Ng8 5. Ng1 1/2-1/2\n\n\
        [Result \"0-1\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n";

    fn book(options: BuildOptions) -> Book {
        let games = pgn::read(GAMES.as_bytes()).expect("text");
        assert_eq!(games.len(), 4);
        let mut builder = BookBuilder::default();
        for game in games {
            builder.add(&game.expect("legal"), options.max_ply);
        }
        let entries = builder.entries(options.min_games);
        let bytes = entries.iter().flat_map(|entry| entry.to_bytes()).collect();
        Book::from_bytes(bytes).expect("a book")
    }

    /// The book's moves after these moves, with their weights.
    fn after(book: &Book, moves: &[&str]) -> Vec<(String, u16)> {
        let mut position = Position::startpos();
        for text in moves {
            position.do_move(position.parse_san(text).expect("legal"));
        }
        let written = |found: &BookMove| (position.san(found.m), found.weight);
        book.moves(&position).iter().map(written).collect()
    }

    #[test]
    fn weight_is_success_and_losing_moves_are_omitted() {
        let book = book(BuildOptions { max_ply: 100, min_games: 1 });
        let named = |moves: &[(&str, u16)]| -> Vec<(String, u16)> {
            moves.iter().map(|(san, w)| ((*san).to_owned(), *w)).collect()
        };
        // e4 won once and lost once, d4 drew, f3 lost.
        assert_eq!(after(&book, &[]), named(&[("e4", 2), ("d4", 1)]));
        assert_eq!(after(&book, &["e4"]), named(&[("c5", 2)]));
        // Counts as one game, although it reached the position twice.
        assert_eq!(after(&book, &["d4"]), named(&[("Nf6", 1)]));
        assert_eq!(after(&book, &["f3", "e5", "g4"]), named(&[("Qh4#", 2)]));
    }

    #[test]
    fn entries_respect_limits_of_plies_and_games() {
        let short = book(BuildOptions { max_ply: 1, min_games: 1 });
        assert_eq!(short.len(), 2);
        let often = book(BuildOptions { max_ply: 100, min_games: 2 });
        assert_eq!(after(&often, &[]), [("e4".to_owned(), 2)]);
        assert_eq!(often.len(), 1);
    }

    #[test]
    fn points_beyond_the_format_are_scaled_down() {
        assert_eq!(scaled(65_535, 65_535), 65_535);
        assert_eq!(scaled(131_072, 131_072), 43_690);
        assert_eq!(scaled(1, 1 << 40), 1);
    }
}
