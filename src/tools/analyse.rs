//! Analyses positions and prints the results as text or JSON Lines.
//!
//! Scores are from the view of the side to move, as in UCI. Ctrl-C stops the analysis and prints the result so far.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;

use super::args::{EngineArgs, LimitArgs};
use super::subjects::{self, Subject};
use super::variation::{fitted, numbered, san_moves, score};
use crate::board::{CastlingMode, Move, Position};
use crate::search::report::{Line, Outcome, Progress, Reporter, Score, ScoreBound};
use crate::search::{Controller, SearchOptions, ThreadPool};
use crate::util::atomic::AtomicFile;
use crate::util::console::stdout_columns;
use crate::util::interrupt::Interrupt;
use crate::util::quantity::nodes_per_second;
use crate::util::sync::Mutex;
use crate::util::text::Shown as _;

/// Default search time of a position.
const DEFAULT_TIME: Duration = Duration::from_secs(5);

/// Arguments of `analyse`.
#[derive(clap::Args, Debug)]
pub struct AnalyseArgs {
    /// FENs with or without quotation marks, `startpos moves e2e4 ...`, EPD files, PGN files (final position of each
    /// game); the initial position if absent
    #[arg(value_name = "POSITION|FILE")]
    pub positions: Vec<String>,
    /// Limits of the search; five seconds if absent. Ctrl-C also stops it.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Number of principal variations
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub multipv: u16,
    /// File for saving the hash table: read at the start if it exists, written at the end and on Ctrl-C
    #[arg(long, value_name = "FILE")]
    pub hash_file: Option<PathBuf>,
    /// Threads, memory, tablebases and network.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Print JSON Lines: `line` messages, then one `best`; with several positions, each starts with a `position`
    #[arg(long)]
    pub json: bool,
}

/// Searches each position and prints each completed line, then the best move. Parts of files that cannot be read are
/// reported on `err` and skipped.
///
/// # Errors
/// Fails if no position could be read, the network cannot be loaded, a directory has no tablebases, the hash file is
/// unusable, or a write fails; a failed write stops the search. Fails at the end if anything was skipped.
pub fn run(args: &AnalyseArgs, out: Box<dyn Write + Send>, err: &mut dyn Write) -> Result<()> {
    let mut problems = Vec::new();
    let positions = subjects::read(&args.positions, &mut problems)?;
    subjects::report(&problems, err)?;
    analyse(args, positions, out, err)?;
    subjects::fail_with(&problems)
}

fn analyse(args: &AnalyseArgs, positions: Vec<Subject>, out: Box<dyn Write + Send>, err: &mut dyn Write) -> Result<()> {
    let mut pool = args.engine.pool(err)?;
    if let Some(file) = &args.hash_file {
        open_hash(&mut pool, file, err)?;
    }
    let (limits, width) = (args.limits.limits(DEFAULT_TIME), stdout_columns());
    let settings = SearchOptions { multi_pv: args.multipv.into(), analyse_mode: true, ..SearchOptions::default() };
    let controller = pool.controller();
    let interrupt = Interrupt::listen(move || controller.stop());
    let sink = Arc::new(Mutex::new(Sink { out, failure: None }));
    let several = positions.len() > 1;
    for (number, subject) in positions.into_iter().enumerate() {
        if number > 0 && args.hash_file.is_none() {
            pool.clear();
        }
        let printer = Arc::new(AnalysisPrinter {
            position: subject.position.clone(),
            json: args.json,
            width,
            controller: pool.controller(),
            interrupt: interrupt.clone(),
            last: Mutex::default(),
            sink: sink.clone(),
        });
        printer.introduce(&subject.title, several, number > 0);
        pool.search(subject.position, limits.clone(), settings.clone(), printer);
        if let Some(error) = sink.lock().failure.take() {
            return Err(error.into());
        }
        if interrupt.is_set() {
            break;
        }
    }
    if let Some(file) = &args.hash_file {
        let saved = pool.save_hash(file).context("--hash-file")?;
        let megabytes = saved.file_bytes as f64 / 1e6;
        writeln!(err, "{}: {megabytes:.1} MB written", file.shown())?;
    }
    Ok(())
}

/// Loads the table from `file`, if the file exists, and reports it on `err`. Checks now that the file can be written,
/// because the analysis can take hours.
fn open_hash(pool: &mut ThreadPool, file: &Path, err: &mut dyn Write) -> Result<()> {
    drop(AtomicFile::create(file).context("--hash-file")?);
    if file.exists() {
        let loaded = pool.load_hash(file).context("--hash-file")?;
        let megabytes = loaded.megabytes;
        writeln!(err, "{}: a table of {megabytes} MiB read", file.shown())?;
    }
    Ok(())
}

/// Output of the lines, and the first write error.
struct Sink {
    out: Box<dyn Write + Send>,
    failure: Option<io::Error>,
}

/// Prints the reports of the search, on the search's thread.
struct AnalysisPrinter {
    position: Position,
    json: bool,
    width: Option<usize>,
    controller: Controller,
    interrupt: Interrupt,
    /// The lines printed last, by rank.
    last: Mutex<Vec<Line>>,
    sink: Arc<Mutex<Sink>>,
}

impl AnalysisPrinter {
    /// Prints the header of a position.
    fn introduce(&self, title: &str, several: bool, later: bool) {
        if self.json {
            if several {
                let (title, fen) = (title.to_owned(), self.position.fen());
                self.print_json(&AnalysisLine::Position { title, fen });
            }
            return;
        }
        if later {
            self.print("");
        }
        if !title.is_empty() {
            self.print(&format!("{title}\n"));
        }
        self.print(&format!("{}\nScores are from the view of the side to move.\n", self.position.diagram()));
        self.print("  depth    score       nodes  kn/s     time  variation");
    }

    /// Writes a line. Stops the search after a write error, because nobody reads the result.
    fn print(&self, text: &str) {
        let mut sink = self.sink.lock();
        if sink.failure.is_some() {
            return;
        }
        let written = writeln!(sink.out, "{text}").and_then(|()| sink.out.flush());
        if let Err(error) = written {
            sink.failure = Some(error);
            self.controller.stop();
        }
    }

    /// Returns a move in coordinates, in the notation of the position's variant.
    fn uci(&self, position: &Position, m: Move) -> String {
        position.uci(m, position.castling_mode() == CastlingMode::Chess960)
    }

    /// Returns a variation in coordinates.
    fn uci_moves(&self, moves: &[Move]) -> Vec<String> {
        let mut position = self.position.clone();
        let mut play = |&m: &Move| {
            let text = self.uci(&position, m);
            position.do_move(m);
            text
        };
        moves.iter().map(&mut play).collect()
    }

    fn readable_line(&self, line: &Line, progress: &Progress) -> String {
        format!(
            "{:>3}/{:<3} {:>8}  {:>10} {:>5} {:>7.2}s  {}{}",
            line.depth,
            line.seldepth,
            score(line.score, line.bound),
            progress.nodes,
            nodes_per_second(progress.nodes, progress.time) / 1000,
            progress.time.as_secs_f64(),
            if line.multipv > 1 { format!("[{}] ", line.multipv) } else { String::new() },
            numbered(&self.position, &line.pv),
        )
    }

    fn print_line(&self, line: &Line, progress: &Progress) {
        if self.json {
            self.print_json(&self.json_line(line, progress));
        } else {
            self.print(&fitted(self.readable_line(line, progress), self.width));
        }
    }

    fn json_line(&self, line: &Line, progress: &Progress) -> AnalysisLine {
        AnalysisLine::Line {
            depth: line.depth,
            seldepth: line.seldepth,
            multipv: line.multipv,
            score: line.score.into(),
            bound: bound_name(line.bound),
            wdl: line.wdl,
            nodes: progress.nodes,
            nps: nodes_per_second(progress.nodes, progress.time),
            time_ms: progress.time.as_millis() as u64,
            hashfull: progress.hashfull,
            tbhits: progress.tb_hits,
            pv: self.uci_moves(&line.pv),
            san: san_moves(&self.position, &line.pv),
        }
    }

    fn readable_outcome(&self, outcome: &Outcome) -> String {
        let Some(best) = outcome.best else {
            let end = if self.position.in_check() { "checkmate" } else { "stalemate" };
            return format!("\nNo legal move: {end}.");
        };
        let line = outcome.line.as_ref();
        let verdict = line.map_or(String::new(), |l| format!(" {} at depth {}", score(l.score, l.bound), l.depth));
        let moves: Vec<Move> = outcome.best.into_iter().chain(outcome.ponder).collect();
        let uci = self.uci(&self.position, best);
        format!("\nBest move: {} ({uci}){verdict}", numbered(&self.position, &moves))
    }

    fn json_outcome(&self, outcome: &Outcome) -> AnalysisLine {
        let moves: Vec<Move> = outcome.best.into_iter().chain(outcome.ponder).collect();
        let mut uci = self.uci_moves(&moves).into_iter();
        AnalysisLine::Best {
            fen: self.position.fen(),
            san: outcome.best.map(|m| self.position.san(m)),
            best: uci.next(),
            ponder: uci.next(),
            score: outcome.line.as_ref().map(|line| line.score.into()),
            bound: outcome.line.as_ref().map(|line| bound_name(line.bound)),
            depth: outcome.line.as_ref().map(|line| line.depth),
            nodes: outcome.progress.nodes,
            time_ms: outcome.progress.time.as_millis() as u64,
        }
    }

    fn print_json(&self, message: &AnalysisLine) {
        match serde_json::to_string(message) {
            Ok(text) => self.print(&text),
            Err(error) => self.sink.lock().failure = Some(error.into()),
        }
    }
}

impl Reporter for AnalysisPrinter {
    fn line(&self, line: &Line, progress: &Progress) {
        if self.interrupt.is_set() {
            // The interrupt may precede the start of this search; `stop` had no effect then.
            self.controller.stop();
        }
        let mut last = self.last.lock();
        last.truncate(line.multipv.saturating_sub(1));
        last.push(line.clone());
        drop(last);
        self.print_line(line, progress);
    }

    fn message(&self, text: &str) {
        if self.json {
            self.print_json(&AnalysisLine::Note { text: text.to_owned() });
        } else {
            self.print(text);
        }
    }

    fn done(&self, outcome: &Outcome) {
        let known = std::mem::take(&mut *self.last.lock());
        if !outcome.lines().eq(&known) {
            let found = outcome.lines().filter(|line| line.depth > 0);
            found.for_each(|line| self.print_line(line, &outcome.progress));
        }
        if self.json {
            self.print_json(&self.json_outcome(outcome));
        } else {
            self.print(&self.readable_outcome(outcome));
        }
    }
}

/// A score in JSON: `{"cp": 31}` or `{"mate": -3}`.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum JsonScore {
    Cp(i32),
    Mate(i32),
}

impl From<Score> for JsonScore {
    fn from(score: Score) -> Self {
        match score {
            Score::Centipawns(cp) => Self::Cp(cp),
            Score::Mate(moves) => Self::Mate(moves),
        }
    }
}

/// Returns the name of a bound in JSON.
fn bound_name(bound: ScoreBound) -> &'static str {
    match bound {
        ScoreBound::Exact => "exact",
        ScoreBound::Lower => "lower",
        ScoreBound::Upper => "upper",
    }
}

/// One line of JSON; the field `type` names its kind.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum AnalysisLine {
    /// The position of the following messages, if there are several positions.
    Position { title: String, fen: String },
    /// A principal variation.
    Line {
        depth: i32,
        seldepth: i32,
        multipv: usize,
        score: JsonScore,
        bound: &'static str,
        wdl: [u16; 3],
        nodes: u64,
        nps: u64,
        time_ms: u64,
        hashfull: Option<u16>,
        tbhits: u64,
        pv: Vec<String>,
        san: Vec<String>,
    },
    /// The end of the search; `best` is null when there is no legal move.
    Best {
        fen: String,
        best: Option<String>,
        san: Option<String>,
        ponder: Option<String>,
        score: Option<JsonScore>,
        bound: Option<&'static str>,
        depth: Option<i32>,
        nodes: u64,
        time_ms: u64,
    },
    /// A message for the user.
    Note { text: String },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_score_names_its_unit() {
        let json = |score: Score| serde_json::to_string(&JsonScore::from(score)).unwrap_or_default();
        assert_eq!(json(Score::Centipawns(-12)), r#"{"cp":-12}"#);
        assert_eq!(json(Score::Mate(3)), r#"{"mate":3}"#);
    }
}
