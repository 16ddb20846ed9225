//! Reviews the games of a file, or a game just played, and writes the requested outputs. Each file is written
//! completely or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use chrono::Utc;

use super::analyst::Analyst;
use super::annotate::annotated;
use super::page::page;
use super::phase::OpeningNames;
use super::picture::{BoardView, picture};
use super::report::{PlaySummary, Review};
pub use super::study::Detail;
use super::study::{Wishes, parts, review};
use crate::board::Color;
use crate::notation::pgn::{self, Broken, Game, Games, Token};
use crate::notation::positions::position_from_fen;
use crate::tools::args::{EngineArgs, LimitArgs};
use crate::tools::play::{PlayArgs, PlayedGame};
use crate::util::atomic::{AtomicFile, unused_path};
use crate::util::console::{Interrupted, ProgressLine};
use crate::util::files::{Kind, check_distinct, is_text, text_start};
use crate::util::quantity::{counted, short_time};
use crate::util::text::Shown as _;

/// Width of the progress bar in columns.
const BAR: usize = 20;

/// Default search time of a position. A game of 40 moves takes less than a minute.
const DEFAULT_TIME: Duration = Duration::from_millis(400);

/// Arguments of `review`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Without a limit, each position is searched for 0.4 seconds. Scores are from White's view.")]
pub struct ReviewArgs {
    /// PGN file, or - for standard input
    #[arg(value_name = "GAMES", required_unless_present = "svg")]
    pub file: Option<PathBuf>,
    /// Limits of the search of each position; 0.4 seconds if absent.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Number of better lines to show
    #[arg(
        long,
        visible_alias = "multipv",
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=10),
    )]
    pub lines: u16,
    /// Review the moves of one side only
    #[arg(long, value_name = "SIDE", value_parser = ["white", "black"])]
    pub side: Option<String>,
    /// How detailed the comments are
    #[arg(long, value_enum, value_name = "LEVEL", default_value = "normal")]
    pub detail: Detail,
    /// Write annotated PGN to a file; without any output option it goes to standard output
    #[arg(long, value_name = "FILE")]
    pub pgn: Option<PathBuf>,
    /// Write an HTML page with board, graph and reasons
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print JSON Lines, one line per game
    #[arg(long)]
    pub json: bool,
    /// Print an SVG picture of a position and exit
    #[arg(long, value_name = "FEN", conflicts_with_all = ["file", "pgn", "html", "json"])]
    pub svg: Option<String>,
    /// Threads, memory, tablebases and network.
    #[command(flatten)]
    pub engine: EngineArgs,
}

/// Reviews all games. After an interrupt, the finished games and the reviewed part of the current game are kept in
/// files next to the outputs, which stay unchanged.
///
/// # Errors
/// Fails if no game can be read, if an output is also an input or cannot be written, and after an interrupt. If games
/// were cut or skipped, fails after all outputs are written.
pub fn run(args: &ReviewArgs, out: &mut dyn Write, err: &mut dyn Write) -> Result<()> {
    if let Some(fen) = &args.svg {
        let position = position_from_fen(fen)?;
        return Ok(writeln!(out, "{}", picture(&position, &BoardView::default()))?);
    }
    let file = args.file.as_deref().unwrap_or(Path::new("-"));
    check_outputs(args, file)?;
    let ReadGames { games, broken } = read(file, err)?;
    let mut outputs = Outputs::create(args, out)?;
    let mut analyst = Analyst::new(args.engine.pool(err)?, args.limits.limits(DEFAULT_TIME), args.lines.into());
    let openings = OpeningNames::load();
    let side = args.side.as_deref().map(|side| Color::from_white(side == "white"));
    let wishes = Wishes { side, detail: args.detail, retry: args.html.is_some() };
    let mut progress = ReviewProgress::new(&games);
    for (i, game) in games.iter().enumerate() {
        if i > 0 {
            analyst.forget();
        }
        let review = review(game, &mut analyst, &openings, wishes, &mut |done| progress.tick(i, done));
        progress.line.clear();
        let seen = review.moves.iter().any(|played| played.evaluation.is_some());
        if seen || review.complete {
            outputs.add(game, review)?;
        }
        if analyst.is_interrupted() {
            break;
        }
        progress.ended(game);
    }
    let (done, all) = (outputs.reviewed, games.len());
    progress.finish(done);
    if analyst.is_interrupted() {
        let parts = outputs.keep_parts()?;
        return Err(Interrupted::error(format!(
            "interrupted: {done} of {} reviewed, the last of them perhaps only in part{parts}",
            counted(all, "game", "games")
        )));
    }
    outputs.finish()?;
    if broken > 0 {
        bail!("{} cut or skipped because of mistakes", counted(broken, "game was", "games were"));
    }
    Ok(())
}

/// Checks that no output is an input.
fn check_outputs(args: &ReviewArgs, file: &Path) -> Result<()> {
    let standard = Path::new("-");
    let to_standard = args.json || (args.pgn.is_none() && args.html.is_none());
    let outputs = [args.pgn.as_deref(), args.html.as_deref()];
    let mut outputs: Vec<&Path> = outputs.into_iter().flatten().collect();
    if to_standard && !outputs.contains(&standard) {
        outputs.push(standard);
    }
    let mut inputs = vec![file];
    inputs.extend(args.engine.net.as_deref());
    check_distinct(&outputs, &inputs)
}

/// The games of a file.
struct ReadGames {
    games: Vec<Game>,
    /// Number of games with a mistake.
    broken: usize,
}

/// Reads the games of a file. A game with a mistake ends before the mistake, with the message as its last comment,
/// and is reported on `err`. If no move precedes the mistake, the game is skipped.
fn read(file: &Path, err: &mut dyn Write) -> Result<ReadGames> {
    let name = file.shown();
    let unreadable = || format!("cannot read {name}");
    let mut read = Games::new(pgn::open(file).with_context(unreadable)?);
    let mut games = Vec::new();
    let mut broken = 0;
    while let Some(game) = read.next_game().with_context(unreadable)? {
        let (game, why) = match game {
            Ok(game) => {
                let why = game.cut.clone();
                (Some(game), why)
            }
            Err(Broken { message, part }) => {
                (part.map(|part| *part).filter(|part| !part.moves.is_empty()), Some(message))
            }
        };
        if let Some(why) = &why {
            broken += 1;
            let action = if game.is_some() { "cut" } else { "skipped" };
            writeln!(err, "{action}: {name}: {why}")?;
        }
        games.extend(game.map(|game| with_last_comment(game, why)));
    }
    match (games.is_empty(), broken) {
        (true, 0) => bail!("{name} has no games"),
        (true, _) => bail!("{name} has no game that can be read"),
        _ => Ok(ReadGames { games, broken }),
    }
}

/// The game with a comment added at its end.
fn with_last_comment(mut game: Game, comment: Option<String>) -> Game {
    if let Some(remarks) = game.remarks.last_mut() {
        remarks.texts.extend(comment.map(Token::Comment));
    }
    game
}
/// Kind of file that annotated games may replace.
const PGN: Kind = Kind {
    name: "a PGN file",
    is: |head| {
        let begins = |byte: &u8| b"[;%{(".contains(byte) || byte.is_ascii_digit();
        is_text(head) && text_start(head).first().is_none_or(begins)
    },
};
/// Kind of file that a page may replace.
const PAGE: Kind = Kind {
    name: "an HTML page",
    is: |head| {
        let start = text_start(head).to_ascii_lowercase();
        start.starts_with(b"<!doctype html") || start.starts_with(b"<html")
    },
};

/// Destination of the annotated games.
enum PgnOutput {
    Nowhere,
    Standard,
    File(AtomicFile),
}

/// Unfinished outputs. They are opened before the first search, so that an unusable name is reported at once.
struct Outputs<'a> {
    out: &'a mut dyn Write,
    pgn: PgnOutput,
    html: Option<AtomicFile>,
    /// Games and reviews of the page.
    shown: Vec<(Game, Review)>,
    json: bool,
    /// Whether a summary is printed on standard output.
    summary: bool,
    reviewed: usize,
}

impl<'a> Outputs<'a> {
    fn create(args: &ReviewArgs, out: &'a mut dyn Write) -> Result<Self> {
        let standard = Path::new("-");
        let nothing = args.pgn.is_none() && args.html.is_none() && !args.json;
        let pgn = match args.pgn.as_deref() {
            Some(path) if path == standard => PgnOutput::Standard,
            Some(path) => PgnOutput::File(AtomicFile::create_over(path, &PGN)?),
            None if nothing => PgnOutput::Standard,
            None => PgnOutput::Nowhere,
        };
        if args.json && matches!(pgn, PgnOutput::Standard) {
            bail!("--json and --pgn - both write to standard output; give --pgn a file");
        }
        Ok(Self {
            out,
            html: args.html.as_deref().map(|path| AtomicFile::create_over(path, &PAGE)).transpose()?,
            shown: Vec::new(),
            summary: !args.json && !matches!(pgn, PgnOutput::Standard),
            pgn,
            json: args.json,
            reviewed: 0,
        })
    }

    fn add(&mut self, game: &Game, review: Review) -> Result<()> {
        self.reviewed += 1;
        match &mut self.pgn {
            PgnOutput::Nowhere => {}
            PgnOutput::Standard => self.out.write_all(annotated(game, &review).as_bytes())?,
            PgnOutput::File(file) => {
                file.write_all(annotated(game, &review).as_bytes()).context("cannot write the annotated PGN")?
            }
        }
        if self.json {
            writeln!(self.out, "{}", serde_json::to_string(&review)?)?;
        }
        if self.summary {
            writeln!(self.out, "{}\n{}", game.title(), summaries(&review))?;
        }
        self.out.flush()?;
        if self.html.is_some() {
            self.shown.push((game.clone(), review));
        }
        Ok(())
    }

    fn finish(self) -> Result<()> {
        self.into_files()?.into_iter().try_for_each(AtomicFile::commit)
    }

    /// Keeps the unfinished outputs under other names. Returns the part of the message that lists the names.
    fn keep_parts(self) -> Result<String> {
        if self.reviewed == 0 {
            return Ok(String::new());
        }
        let parts = self.into_files()?.into_iter().map(AtomicFile::keep_part);
        let parts: Vec<String> = parts.map(|part| Ok(part?.shown())).collect::<Result<_>>()?;
        if parts.is_empty() {
            return Ok(String::new());
        }
        Ok(format!("; kept in {}", parts.join(" and ")))
    }

    /// The files with their complete content, not committed yet.
    fn into_files(self) -> Result<Vec<AtomicFile>> {
        let mut files = Vec::new();
        if let Some(mut file) = self.html {
            let page = page(&self.shown);
            file.write_all(page.as_bytes()).context("cannot write the page")?;
            files.push(file);
        }
        if let PgnOutput::File(file) = self.pgn {
            files.push(file);
        }
        Ok(files)
    }
}

/// Two lines of text with the accuracy and the errors of each side.
fn summaries(review: &Review) -> String {
    let line = |name: &str, side: &PlaySummary| match side.accuracy {
        Some(accuracy) => format!("  {name}: accuracy {accuracy:5.1} %, {}", errors(side)),
        None => format!("  {name}: not judged"),
    };
    let white = line("White", &review.white.whole);
    let black = line("Black", &review.black.whole);
    format!("{white}\n{black}")
}

/// The numbers of a side's errors as text.
fn errors(side: &PlaySummary) -> String {
    let counts = [
        counted(side.inaccuracies, "inaccuracy", "inaccuracies"),
        counted(side.mistakes, "mistake", "mistakes"),
        counted(side.blunders, "blunder", "blunders"),
    ];
    counts.join(", ")
}

/// Progress bar and remaining time.
struct ReviewProgress {
    line: ProgressLine,
    games: usize,
    /// Number of parts in all games; `before` is the number in the finished games.
    all: usize,
    before: usize,
}

impl ReviewProgress {
    fn new(games: &[Game]) -> Self {
        Self { line: ProgressLine::new(), games: games.len(), all: games.iter().map(parts).sum(), before: 0 }
    }

    fn tick(&mut self, game: usize, done: usize) {
        let (games, part) = (self.games, (self.before + done) as f64 / self.all.max(1) as f64);
        self.line.tick(|seconds| {
            let full = (part * BAR as f64) as usize;
            let bar = "#".repeat(full) + &".".repeat(BAR.saturating_sub(full));
            let left = short_time(seconds / part.max(1e-6) * (1.0 - part));
            format!("[{bar}] {:3.0} %, game {} of {games}, {left} left", part * 100.0, game + 1)
        });
    }

    fn ended(&mut self, game: &Game) {
        self.before += parts(game);
    }

    fn finish(&mut self, games: usize) {
        let time = short_time(self.line.seconds());
        let games = counted(games, "game", "games");
        self.line.finish(&format!("{games} in {time}"));
    }
}

// The review of a game that was just played at the terminal.

/// Size of the transposition table in MiB.
const HASH_MB: u32 = 64;

/// Reviews a game: a page in a new file, next to the game's own file if there is one, and a summary on `out`.
///
/// # Errors
/// As [`run`], and if no file can be created.
pub fn run_after_play(game: &PlayedGame, played: &PlayArgs, out: &mut dyn Write, err: &mut dyn Write) -> Result<()> {
    let mut input = tempfile::NamedTempFile::new().context("cannot create a temporary file")?;
    input.write_all(game.pgn.as_bytes())?;
    let folder = played.pgn.as_deref().and_then(Path::parent).map(Path::to_path_buf).unwrap_or_default();
    let page = unused_path(&folder, &Utc::now().format("zoothera-review-%Y%m%d-%H%M%S").to_string(), "html")?;
    let args = ReviewArgs {
        file: Some(input.path().to_path_buf()),
        limits: LimitArgs::default(),
        lines: 1,
        side: None,
        detail: Detail::Normal,
        pgn: None,
        html: Some(page.clone()),
        json: false,
        svg: None,
        engine: EngineArgs { threads: 1, hash: HASH_MB, syzygy: None, net: played.net.clone() },
    };
    run(&args, out, err)?;
    Ok(writeln!(out, "The review is in {}; open it in a browser.", page.shown())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_counted_as_people_say_it() {
        let mut side = PlaySummary { inaccuracies: 1, mistakes: 2, ..PlaySummary::default() };
        assert_eq!(errors(&side), "1 inaccuracy, 2 mistakes, 0 blunders");
        (side.inaccuracies, side.mistakes, side.blunders) = (3, 1, 1);
        assert_eq!(errors(&side), "3 inaccuracies, 1 mistake, 1 blunder");
    }
}
