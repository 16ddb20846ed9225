//! Reviews the games of a file and writes what is asked for, each file whole or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};

use super::analyst::Analyst;
use super::annotate::annotated;
use super::opening::OpeningNames;
use super::page::page;
use super::report::{PlaySummary, Review};
use super::study::{Wishes, parts, review};
use crate::board::Color;
use crate::nnue::Network;
use crate::notation::pgn::{self, Broken, Game, Games};
use crate::search::ThreadPool;
use crate::search::limits::Limits;
use crate::tools::open_tables;
use crate::util::atomic::AtomicFile;
use crate::util::identity::check_distinct;
use crate::util::kind::{Kind, is_text, text_start};
use crate::util::progress::ProgressLine;
use crate::util::quantity::{counted, short_time};
use crate::util::text::Shown as _;

pub use super::study::Detail;

/// Columns of the bar that shows the progress.
const BAR: usize = 20;

/// What the searches may use and spend.
pub struct EngineOptions {
    /// What the search of each position may spend.
    pub limits: Limits,
    /// Number of better lines.
    pub lines: usize,
    /// Search threads.
    pub threads: usize,
    /// Size of the transposition table in MiB.
    pub hash_mb: usize,
    /// Directories of Syzygy tablebases.
    pub syzygy: Option<String>,
}

impl EngineOptions {
    /// The engine, with its tablebases open.
    pub(super) fn analyst(&self, network: Arc<Network>, err: &mut dyn Write) -> Result<Analyst> {
        let mut pool = ThreadPool::new(network, self.threads, self.hash_mb);
        if let Some(path) = &self.syzygy {
            open_tables(&mut pool, path, err)?;
        }
        Ok(Analyst::new(pool, self.limits.clone(), self.lines))
    }
}

/// What to review, and what to write.
pub struct ReviewOptions {
    /// The games; `-` is standard input.
    pub file: PathBuf,
    /// The searches.
    pub engine: EngineOptions,
    /// Network that searches, if it is not the embedded one.
    pub net: Option<PathBuf>,
    /// Whose moves are judged; both sides' if absent.
    pub side: Option<Color>,
    /// How much is said.
    pub detail: Detail,
    /// Where the annotated PGN goes; `-` is standard output.
    pub pgn: Option<PathBuf>,
    /// Where the page goes.
    pub html: Option<PathBuf>,
    /// JSON Lines on standard output, a game each.
    pub json: bool,
}

/// Reviews all games. After a request to end, the games that are done and the one in progress, as far as it has come,
/// are kept beside the outputs, which stay as they were.
///
/// # Errors
/// Fails if no game can be read, an output is also an input or cannot be written, and after a request to end. If games
/// were cut or skipped, fails after all outputs were written.
pub fn run(options: &ReviewOptions, network: Arc<Network>, out: &mut dyn Write, err: &mut dyn Write) -> Result<()> {
    check_outputs(options)?;
    let (games, broken) = read(&options.file, err)?;
    let mut outputs = Outputs::create(options, out)?;
    let mut analyst = options.engine.analyst(network, err)?;
    let openings = OpeningNames::load();
    let wishes = Wishes { side: options.side, detail: options.detail, retry: options.html.is_some() };
    let mut progress = ReviewProgress::new(&games);
    for (i, game) in games.iter().enumerate() {
        if i > 0 {
            analyst.forget();
        }
        let review = review(game, &mut analyst, &openings, wishes, &mut |done| progress.tick(i, done));
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
        bail!(
            "interrupted: {done} of {} reviewed, the last of them perhaps only in part{parts}",
            counted(all, "game", "games")
        );
    }
    outputs.finish()?;
    if broken > 0 {
        bail!("{} cut or skipped because of mistakes", counted(broken, "game was", "games were"));
    }
    Ok(())
}

/// Checks that no output is an input.
fn check_outputs(options: &ReviewOptions) -> Result<()> {
    let standard = Path::new("-");
    let to_standard = options.json || (options.pgn.is_none() && options.html.is_none());
    let outputs = [options.pgn.as_deref(), options.html.as_deref()];
    let mut outputs: Vec<&Path> = outputs.into_iter().flatten().collect();
    if to_standard && !outputs.contains(&standard) {
        outputs.push(standard);
    }
    let mut inputs = vec![options.file.as_path()];
    inputs.extend(options.net.as_deref());
    check_distinct(&outputs, &inputs)
}

/// The games of a file. Those with a mistake are kept as far as it, with the message as their last comment, and named
/// on `err`; those without a move before it are skipped. The second value is the number of both.
fn read(file: &Path, err: &mut dyn Write) -> Result<(Vec<Game>, usize)> {
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
        _ => Ok((games, broken)),
    }
}

/// The game with one more comment at its end.
fn with_last_comment(mut game: Game, comment: Option<String>) -> Game {
    if let Some(remarks) = game.remarks.last_mut() {
        remarks.comments.extend(comment);
    }
    game
}
/// What annotated games may replace.
const PGN: Kind = Kind {
    name: "a PGN file",
    is: |head| {
        let begins = |byte: &u8| b"[;%{(".contains(byte) || byte.is_ascii_digit();
        is_text(head) && text_start(head).first().is_none_or(begins)
    },
};
/// What a page may replace.
const PAGE: Kind = Kind {
    name: "an HTML page",
    is: |head| {
        let start = text_start(head).to_ascii_lowercase();
        start.starts_with(b"<!doctype html") || start.starts_with(b"<html")
    },
};

/// Where the annotated games go.
enum PgnOutput {
    Nowhere,
    Standard,
    File(AtomicFile),
}

/// The outputs in the making. They are opened before the first search, so that a name that will not do is known at
/// once.
struct Outputs<'a> {
    out: &'a mut dyn Write,
    pgn: PgnOutput,
    html: Option<AtomicFile>,
    /// What the page will show.
    shown: Vec<(Game, Review)>,
    json: bool,
    /// Whether standard output is free for a summary.
    summary: bool,
    reviewed: usize,
}

impl<'a> Outputs<'a> {
    fn create(options: &ReviewOptions, out: &'a mut dyn Write) -> Result<Self> {
        let standard = Path::new("-");
        let nothing = options.pgn.is_none() && options.html.is_none() && !options.json;
        let pgn = match options.pgn.as_deref() {
            Some(path) if path == standard => PgnOutput::Standard,
            Some(path) => PgnOutput::File(AtomicFile::create_over(path, &PGN)?),
            None if nothing => PgnOutput::Standard,
            None => PgnOutput::Nowhere,
        };
        if options.json && matches!(pgn, PgnOutput::Standard) {
            bail!("--json and --pgn - both want standard output: give --pgn a file");
        }
        Ok(Self {
            out,
            html: options.html.as_deref().map(|path| AtomicFile::create_over(path, &PAGE)).transpose()?,
            shown: Vec::new(),
            summary: !options.json && !matches!(pgn, PgnOutput::Standard),
            pgn,
            json: options.json,
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

    /// Keeps what there is under other names than the outputs', and says where.
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

    /// The files, whole.
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

/// Two lines for people: how each side played.
fn summaries(review: &Review) -> String {
    let line = |name: &str, side: &PlaySummary| match side.accuracy {
        Some(accuracy) => format!("  {name}: accuracy {accuracy:5.1} %, {}", errors(side)),
        None => format!("  {name}: not judged"),
    };
    let white = line("White", &review.white.whole);
    let black = line("Black", &review.black.whole);
    format!("{white}\n{black}")
}

/// The errors of a side in words.
fn errors(side: &PlaySummary) -> String {
    let counts = [
        counted(side.inaccuracies, "inaccuracy", "inaccuracies"),
        counted(side.mistakes, "mistake", "mistakes"),
        counted(side.blunders, "blunder", "blunders"),
    ];
    counts.join(", ")
}

/// The bar and the time left.
struct ReviewProgress {
    line: ProgressLine,
    games: usize,
    /// Parts of all games, and of those that are done.
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
