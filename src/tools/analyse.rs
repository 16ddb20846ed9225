//! Analyses positions and prints the results as text or JSON Lines.
//!
//! Scores are from White's view, as in a review. Ctrl-C stops the analysis and prints the result so far.

use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;

use super::args;
use super::args::{EngineArgs, LimitArgs, SelectionArgs, Subject, positions_help};
use super::variation::{fitted, numbered, san_moves, score};
use crate::board::{CastlingMode, Move, Position};
use crate::game::ending::{Cause, Ending, cut_at_end};
use crate::search::score::{Line, Outcome, Progress, Reporter, Score, ScoreBound};
use crate::search::{Controller, Limits, SearchOptions, ThreadPool};
use crate::util::atomic::AtomicFile;
use crate::util::console::{Interrupt, Interrupted, stdout_columns};
use crate::util::quantity::nodes_per_second;
use crate::util::sync::Mutex;
use crate::util::text::Shown as _;

/// Default search time of a position.
const DEFAULT_TIME: Duration = Duration::from_secs(5);

/// Arguments of `analyse`.
#[derive(clap::Args, Debug)]
#[command(after_help = concat!(
    positions_help!(),
    "\n\nWithout a limit, each position is searched for 5 seconds. Scores are from White's view: +1.00 is a pawn for \
     White, #-3 is mate in 3 by Black."
))]
pub struct AnalyseArgs {
    /// Positions or files; the initial position if absent
    #[arg(value_name = "POSITION|FILE")]
    pub positions: Vec<String>,
    /// Games and moves of PGN files.
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Limits of the search; five seconds if absent. Ctrl-C also stops it.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Search until Ctrl-C
    #[arg(long, conflicts_with_all = ["depth", "nodes", "movetime"])]
    pub infinite: bool,
    /// Number of best lines to show
    #[arg(
        long,
        visible_alias = "multipv",
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=256),
    )]
    pub lines: u16,
    /// Search only these moves, in SAN or coordinates, separated by commas
    #[arg(long, value_name = "MOVES", value_delimiter = ',')]
    pub searchmoves: Vec<String>,
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
/// Fails if no position could be read, a move to search is not legal, the network cannot be loaded, a directory has no
/// tablebases, the hash file is unusable, or a write fails; a failed write stops the search. After Ctrl-C, prints the
/// result so far, saves the table, and fails with [`Interrupted`]. Fails at the end if anything was skipped.
pub fn run(args: &AnalyseArgs, out: Box<dyn Write + Send>, err: &mut dyn Write) -> Result<()> {
    let mut problems = Vec::new();
    let positions = args::read(&args.positions, args.selection, &mut problems)?;
    args::report(&problems, err)?;
    analyse(args, positions, out, err)?;
    args::fail_with(&problems)
}

fn analyse(args: &AnalyseArgs, positions: Vec<Subject>, out: Box<dyn Write + Send>, err: &mut dyn Write) -> Result<()> {
    let moves: Result<Vec<_>> = positions.iter().map(|subject| search_moves(&args.searchmoves, subject)).collect();
    let moves = moves?;
    let mut pool = args.engine.pool(err)?;
    if let Some(file) = &args.hash_file {
        open_hash(&mut pool, file, err)?;
    }
    let limits =
        if args.infinite { Limits { infinite: true, ..Limits::default() } } else { args.limits.limits(DEFAULT_TIME) };
    let width = stdout_columns();
    let settings = SearchOptions { multi_pv: args.lines.into(), analyse_mode: true, ..SearchOptions::default() };
    let controller = pool.controller();
    let interrupt = Interrupt::listen(move || controller.stop());
    let sink = Arc::new(Mutex::new(Sink { out, failure: None }));
    let several = positions.len() > 1;
    for (number, (subject, search_moves)) in positions.into_iter().zip(moves).enumerate() {
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
        if let Some(cause) = drawn(&subject.position) {
            printer.report_draw(cause);
            continue;
        }
        let limits = Limits { search_moves, ..limits.clone() };
        pool.search(subject.position, limits, settings.clone(), printer);
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
    if interrupt.is_set() {
        return Err(Interrupted::error("interrupted: the results above are those found so far"));
    }
    Ok(())
}

/// The cause if the rules end the game in this position as a draw although there are legal moves.
fn drawn(position: &Position) -> Option<Cause> {
    let cause = Ending::by_rules(position).filter(|ending| ending.white == 0)?.cause;
    (cause != Cause::Stalemate).then_some(cause)
}

/// The moves to search in a position; `None` for all.
fn search_moves(words: &[String], subject: &Subject) -> Result<Option<Vec<Move>>> {
    let place = || match subject.title.as_str() {
        "" => "--searchmoves".to_owned(),
        title => format!("--searchmoves, {title}"),
    };
    let moves: Result<Vec<Move>> = words.iter().map(|word| subject.position.parse_move(word)).collect();
    let moves = moves.with_context(place)?;
    Ok((!moves.is_empty()).then_some(moves))
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
        self.print(&format!("{}\nScores are from White's view.\n", self.position.diagram()));
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
            self.score(line),
            progress.nodes,
            nodes_per_second(progress.nodes, progress.time) / 1000,
            progress.time.as_secs_f64(),
            if line.multipv > 1 { format!("[{}] ", line.multipv) } else { String::new() },
            numbered(&self.position, &line.pv),
        )
    }

    fn print_line(&self, line: &Line, progress: &Progress) {
        let line = &self.cut(line);
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
            score: self.white(line).0.into(),
            bound: bound_name(self.white(line).1),
            wdl: self.white_wdl(line.wdl),
            nodes: progress.nodes,
            nps: nodes_per_second(progress.nodes, progress.time),
            time_ms: progress.time.as_millis() as u64,
            hashfull: progress.hashfull,
            tbhits: progress.tb_hits,
            pv: self.uci_moves(&line.pv),
            san: san_moves(&self.position, &line.pv),
        }
    }

    /// Prints the result of a position in which the game is drawn by rule.
    fn report_draw(&self, cause: Cause) {
        if !self.json {
            return self.print(&format!("\nThe game is over: {}.", cause.draw_in_words()));
        }
        self.print_json(&AnalysisLine::Best {
            fen: self.position.fen(),
            san: None,
            best: None,
            ponder: None,
            score: Some(JsonScore::Cp(0)),
            bound: Some(bound_name(ScoreBound::Exact)),
            depth: Some(0),
            nodes: 0,
            time_ms: 0,
        });
    }

    /// A line that ends where the game ends.
    fn cut(&self, line: &Line) -> Line {
        let mut line = line.clone();
        cut_at_end(&self.position, &mut line.pv);
        line
    }

    fn readable_outcome(&self, outcome: &Outcome) -> String {
        let Some(best) = outcome.best else {
            let end = if self.position.in_check() { "checkmate" } else { "stalemate" };
            return format!("\nNo legal move: {end}.");
        };
        let verdict = outcome
            .line
            .as_ref()
            .map_or(String::new(), |line| format!(", {} at depth {}", self.verdict(line), line.depth));
        let san = numbered(&self.position, &[best]);
        let reply = outcome.ponder.map_or(String::new(), |reply| {
            let mut position = self.position.clone();
            position.do_move(best);
            format!(", expected reply {}", numbered(&position, &[reply]))
        });
        format!("\nBest move: {san} ({}){verdict}{reply}", self.uci(&self.position, best))
    }

    /// The score and bound of a line from White's view.
    fn white(&self, line: &Line) -> (Score, ScoreBound) {
        let turn = self.position.turn();
        (line.score.white_view(turn), line.bound.white_view(turn))
    }

    /// Permill of White's wins, draws and losses.
    fn white_wdl(&self, [win, draw, loss]: [u16; 3]) -> [u16; 3] {
        self.position.turn().fold_wb([win, draw, loss], [loss, draw, win])
    }

    /// The score of a line as text.
    fn score(&self, line: &Line) -> String {
        let (value, bound) = self.white(line);
        score(value, bound)
    }

    /// The score of the best line in words if the tablebases decide the game.
    fn verdict(&self, line: &Line) -> String {
        match self.white(line).0.tablebase() {
            Some(true) => "a tablebase win for White".to_owned(),
            Some(false) => "a tablebase win for Black".to_owned(),
            None => self.score(line),
        }
    }

    fn json_outcome(&self, outcome: &Outcome) -> AnalysisLine {
        let moves: Vec<Move> = outcome.best.into_iter().chain(outcome.ponder).collect();
        let mut uci = self.uci_moves(&moves).into_iter();
        AnalysisLine::Best {
            fen: self.position.fen(),
            san: outcome.best.map(|m| self.position.san(m)),
            best: uci.next(),
            ponder: uci.next(),
            score: outcome.line.as_ref().map(|line| self.white(line).0.into()),
            bound: outcome.line.as_ref().map(|line| bound_name(self.white(line).1)),
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

/// A score in JSON, from White's view: `{"cp": 31}` or `{"mate": -3}`.
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

/// One line of JSON; the field `type` names its kind. `analyse.schema.json` describes them.
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
