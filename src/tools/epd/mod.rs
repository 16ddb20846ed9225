//! Runs test suites of best-move and avoid-move positions, and of scored moves as in STS.

pub mod test_position;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use serde::Serialize;

use super::args::{EngineArgs, LimitArgs};
use crate::board::Move;
use crate::notation::epd::is_blank;
use crate::search::SearchOptions;
use crate::search::report::{Line, Outcome, Progress, Reporter, Score};
use crate::util::encoding::read_text;
use crate::util::identity::check_distinct;
use crate::util::quantity::counted;
use crate::util::reason;
use crate::util::sync::Mutex;
use crate::util::text::Shown as _;
use test_position::TestPosition;

/// Default search time of a position.
const DEFAULT_TIME: Duration = Duration::from_secs(1);

/// Arguments of `epd`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Without a limit, each position is searched for 1 second.")]
pub struct EpdArgs {
    /// EPD files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Limits of the search of each position; one second if absent.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Threads, memory, tablebases and network.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Print JSON Lines: one `position` each, then a `summary`
    #[arg(long)]
    pub json: bool,
}

/// Result of a run of test suites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SuiteSummary {
    /// Positions searched.
    pub positions: usize,
    /// Positions solved.
    pub solved: usize,
    /// Points scored.
    pub points: u32,
    /// Maximum number of points.
    pub max_points: u32,
    /// Lines that could not be parsed, and files that could not be read.
    pub malformed: usize,
}

/// Best move, and the depth and time at which it was found.
#[derive(Clone, Copy, Default)]
struct Settled {
    best: Option<Move>,
    score: Option<Score>,
    depth: i32,
    time: Duration,
}

/// Records when the best move last changed.
#[derive(Default)]
struct Watcher(Mutex<Settled>);

impl Reporter for Watcher {
    fn line(&self, line: &Line, progress: &Progress) {
        let mut settled = self.0.lock();
        let best = line.pv.first().copied();
        if line.multipv == 1 {
            settled.score = Some(line.score);
        }
        if line.multipv == 1 && best.is_some() && best != settled.best {
            *settled = Settled { best, score: settled.score, depth: line.depth, time: progress.time };
        }
    }

    fn done(&self, outcome: &Outcome) {
        // With several threads, the thread vote may choose a move that no line reported.
        let mut settled = self.0.lock();
        if let Some(line) = &outcome.line {
            settled.score = Some(line.score);
        }
        if outcome.best != settled.best {
            let depth = outcome.line.as_ref().map_or(0, |line| line.depth);
            *settled = Settled { best: outcome.best, score: settled.score, depth, time: outcome.progress.time };
        }
    }
}

/// Searches every position of the suites and prints a line for each on `out`, then a summary. Lines that cannot be
/// parsed are reported on `err` and skipped.
///
/// # Errors
/// Fails if no position could be read, the engine cannot be set up, or a write fails; and at the end if anything was
/// skipped.
pub fn run(args: &EpdArgs, out: &mut dyn Write, err: &mut dyn Write) -> Result<()> {
    let suites: Vec<&Path> = args.files.iter().map(PathBuf::as_path).collect();
    check_distinct(&[Path::new("-")], &suites)?;
    let mut summary = SuiteSummary::default();
    let mut positions = Vec::new();
    for file in &args.files {
        positions.extend(read_suite(file, &mut summary, err)?);
    }
    if positions.is_empty() {
        bail!("no position could be read");
    }
    let (mut pool, limits) = (args.engine.pool(err)?, args.limits.limits(DEFAULT_TIME));
    for tested in &positions {
        // With a cleared table, the result of a position does not depend on the order of the suite.
        pool.clear();
        let watcher = Arc::new(Watcher::default());
        pool.search(tested.position.clone(), limits.clone(), SearchOptions::default(), watcher.clone());
        let settled = *watcher.0.lock();
        count(tested, settled, &mut summary);
        let line = if args.json {
            serde_json::to_string(&SuiteLine::position(tested, settled, summary.positions))?
        } else {
            describe(tested, settled, summary.positions)
        };
        writeln!(out, "{line}")?;
        out.flush()?;
    }
    let line = if args.json { serde_json::to_string(&SuiteLine::Summary(summary))? } else { summary.describe() };
    writeln!(out, "{line}")?;
    if summary.malformed > 0 {
        bail!("{} skipped", counted(summary.malformed, "line or file was", "lines or files were"));
    }
    Ok(())
}

/// Reads the positions of a file and reports lines that cannot be parsed on `err`.
fn read_suite(path: &Path, summary: &mut SuiteSummary, err: &mut dyn Write) -> Result<Vec<TestPosition>> {
    let mut positions = Vec::new();
    let text = match read_text(path) {
        Ok(text) => text,
        Err(error) => {
            writeln!(err, "{}: {}", path.shown(), reason::of(&error))?;
            summary.malformed += 1;
            return Ok(positions);
        }
    };
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !is_blank(line)) {
        let place = format!("{}:{}", path.shown(), i + 1);
        match TestPosition::parse(line) {
            Ok(tested) => {
                for warning in &tested.warnings {
                    writeln!(err, "{place}: ignored {warning}")?;
                }
                positions.push(tested);
            }
            Err(error) => {
                summary.malformed += 1;
                writeln!(err, "{place}: {}", reason::chain(&error))?;
            }
        }
    }
    Ok(positions)
}

/// Adds a finished position to the summary.
fn count(tested: &TestPosition, settled: Settled, summary: &mut SuiteSummary) {
    summary.positions += 1;
    summary.max_points += tested.max_points();
    if let Some(m) = settled.best {
        summary.solved += usize::from(tested.is_solved_by(m, settled.score));
        summary.points += tested.points_of(m);
    }
}

/// One line of JSON; the field `type` names its kind.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum SuiteLine {
    /// A finished position. Moves are in SAN; `depth` and `time_ms` are those of the last change of the best move.
    Position {
        index: usize,
        id: Option<String>,
        fen: String,
        found: Option<String>,
        wanted: String,
        solved: bool,
        points: u32,
        max_points: u32,
        depth: i32,
        time_ms: u64,
    },
    /// The totals.
    Summary(SuiteSummary),
}

impl SuiteLine {
    fn position(tested: &TestPosition, settled: Settled, index: usize) -> Self {
        Self::Position {
            index,
            id: tested.id.clone(),
            fen: tested.position.fen(),
            found: settled.best.map(|m| tested.position.san(m)),
            wanted: tested.goal(),
            solved: settled.best.is_some_and(|m| tested.is_solved_by(m, settled.score)),
            points: settled.best.map_or(0, |m| tested.points_of(m)),
            max_points: tested.max_points(),
            depth: settled.depth,
            time_ms: settled.time.as_millis() as u64,
        }
    }
}

/// Returns the text line of a finished position.
fn describe(tested: &TestPosition, settled: Settled, index: usize) -> String {
    let solved = settled.best.is_some_and(|m| tested.is_solved_by(m, settled.score));
    let found = settled.best.map_or("(none)".to_owned(), |m| tested.position.san(m));
    let mut text = format!(
        "{index:>4}  {:<20} {:<4}  {found:<8} depth {:>2} {:>8.3} s",
        tested.id.as_deref().unwrap_or("-"),
        if solved { "ok" } else { "fail" },
        settled.depth,
        settled.time.as_secs_f64(),
    );
    if tested.max_points() > 0 {
        let points = settled.best.map_or(0, |m| tested.points_of(m));
        text += &format!("  {points:>2}/{} points", tested.max_points());
    }
    if !solved {
        text += &format!("  wanted {}", tested.goal());
    }
    text
}

impl SuiteSummary {
    /// Returns the summary as one line of text.
    pub fn describe(&self) -> String {
        let percent = |part: f64, whole: f64| 100.0 * part / whole.max(1.0);
        let mut text = format!(
            "Solved {} of {} ({:.1} %)",
            self.solved,
            self.positions,
            percent(self.solved as f64, self.positions as f64)
        );
        if self.max_points > 0 {
            let share = percent(f64::from(self.points), f64::from(self.max_points));
            text += &format!(", {} of {} points ({share:.1} %)", self.points, self.max_points);
        }
        if self.malformed > 0 {
            text += &format!(", {} skipped as unreadable", self.malformed);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_counts_solved_points_and_skipped() {
        let summary = SuiteSummary { positions: 4, solved: 3, points: 27, max_points: 40, malformed: 1 };
        let text = "Solved 3 of 4 (75.0 %), 27 of 40 points (67.5 %), 1 skipped as unreadable";
        assert_eq!(summary.describe(), text);
        assert_eq!(SuiteSummary::default().describe(), "Solved 0 of 0 (0.0 %)");
    }

    #[test]
    fn watcher_records_best_move_of_outcome() {
        let best = Move::from_bits(0o1434);
        let watcher = Watcher::default();
        watcher.done(&Outcome::without_search(best));
        assert_eq!(watcher.0.lock().best, best);
    }
}
