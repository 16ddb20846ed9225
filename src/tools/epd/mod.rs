//! Runs test suites of best-move and avoid-move positions, and of scored moves as in STS.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use serde::Serialize;

use super::args::{EngineArgs, LimitArgs};
use crate::board::{Move, Position};
use crate::notation::moves::without_number;
use crate::notation::position_from_fen;
use crate::notation::positions::{EpdRecord, is_blank};
use crate::search::SearchOptions;
use crate::search::score::{Line, Outcome, Progress, Reporter, Score};
use crate::util::files::check_distinct;
use crate::util::quantity::counted;
use crate::util::reason;
use crate::util::sync::Mutex;
use crate::util::text::{Shown as _, excerpt, printable, read_text};

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

// Test positions: the moves that solve a position, and the points of each move.

/// A test position with its expected solution.
pub struct TestPosition {
    /// The position.
    pub position: Position,
    /// Identifier in the suite, if any.
    pub id: Option<String>,
    /// Moves that solve the position (`bm`).
    pub best: Vec<Move>,
    /// Distance in moves to a mate that solves the position (`bm #5`, `dm 5`); negative if the side to move is mated.
    pub mate: Option<i32>,
    /// Moves that fail the position (`am`).
    pub avoid: Vec<Move>,
    /// Points of moves (`c0 "f5=10, Be5+=2"`); empty if the suite gives none.
    pub points: Vec<(Move, u32)>,
    /// Moves of the suite that are illegal in the position.
    pub warnings: Vec<String>,
}

impl TestPosition {
    /// Parses a line of a suite. Fails if the position is invalid or the line names no goal.
    pub fn parse(line: &str) -> Result<Self> {
        let record = EpdRecord::parse(line)?;
        let position = position_from_fen(&record.fen)?;
        let mut warnings = Vec::new();
        let best = named_moves(&position, &record, "bm", &mut warnings);
        let avoid = named_moves(&position, &record, "am", &mut warnings);
        let mate = record
            .all("bm")
            .flatten()
            .find_map(|text| parse_mate(text))
            .or_else(|| record.text("dm")?.parse().ok().filter(|moves| *moves > 0));
        let points = scored_moves(&position, record.text("c0").unwrap_or(""), &mut warnings);
        if best.is_empty() && mate.is_none() && avoid.is_empty() && points.is_empty() {
            match warnings.first() {
                Some(warning) => bail!("{warning}"),
                None => bail!("no goal: expected bm, dm, am or scored moves in c0"),
            }
        }
        let id = record.text("id").map(|id| printable(id).into_owned());
        Ok(Self { position, id, best, mate, avoid, points, warnings })
    }

    /// Whether move `m` with score `score` solves the position. A mate solves it if the right side mates in at most
    /// the required number of moves.
    pub fn is_solved_by(&self, m: Move, score: Option<Score>) -> bool {
        if self.avoid.contains(&m) {
            return false;
        }
        if self.best.contains(&m) {
            return true;
        }
        if let Some(wanted) = self.mate {
            return matches!(score, Some(Score::Mate(found))
                if found.signum() == wanted.signum() && found.abs() <= wanted.abs());
        }
        if !self.best.is_empty() {
            return false;
        }
        self.points.is_empty() || self.points_of(m) == self.max_points()
    }

    /// Returns the points of move `m`.
    pub fn points_of(&self, m: Move) -> u32 {
        let found = self.points.iter().find(|(scored, _)| *scored == m);
        found.map_or(0, |(_, points)| *points)
    }

    /// Returns the points of the best move; 0 for a position without points.
    pub fn max_points(&self) -> u32 {
        self.points.iter().map(|(_, points)| *points).max().unwrap_or(0)
    }

    /// Returns the goal in the notation of the suite: `bm Qg6` or `am Kb1`.
    pub fn goal(&self) -> String {
        let list = |opcode: &str, moves: &[Move]| {
            let names: Vec<_> = moves.iter().map(|&m| self.position.san(m)).collect();
            if names.is_empty() { String::new() } else { format!("{opcode} {}", names.join(" ")) }
        };
        let mate = self.mate.map(|moves| format!("bm #{moves}")).unwrap_or_default();
        let goals = [list("bm", &self.best), mate, list("am", &self.avoid)];
        goals.iter().filter(|goal| !goal.is_empty()).cloned().collect::<Vec<_>>().join(", ")
    }
}

/// Parses the moves of `bm` or `am`; skips move numbers and mate distances.
fn named_moves(position: &Position, record: &EpdRecord, opcode: &str, warnings: &mut Vec<String>) -> Vec<Move> {
    let is_move = |text: &&String| {
        let word = without_number(text).trim_start_matches(',');
        !word.is_empty() && parse_mate(text).is_none()
    };
    let parse = |text: &String| {
        let parsed = position.parse_move(text);
        let warn =
            |error: anyhow::Error| warnings.push(format!("{opcode} {}: {}", excerpt(text), reason::chain(&error)));
        parsed.map_err(warn).ok()
    };
    record.all(opcode).flatten().filter(is_move).filter_map(parse).collect()
}

/// Parses a mate distance in moves: `#5`, or `#-6` if the side to move is mated.
fn parse_mate(text: &str) -> Option<i32> {
    let moves = text.strip_prefix('#')?.trim_end_matches([',', '+']);
    moves.parse().ok().filter(|moves| *moves != 0)
}

/// Parses the moves of `f5=10, Be5+=2`. Other comments have no points.
fn scored_moves(position: &Position, comment: &str, warnings: &mut Vec<String>) -> Vec<(Move, u32)> {
    let entries: Option<Vec<(&str, u32)>> = comment
        .split(',')
        .map(|entry| {
            // The last `=`, because a promotion contains another one.
            let (name, points) = entry.rsplit_once('=')?;
            Some((name.trim(), points.trim().parse().ok()?))
        })
        .collect();
    let mut scored = Vec::new();
    for (name, points) in entries.unwrap_or_default() {
        match position.parse_move(name) {
            Ok(m) => scored.push((m, points)),
            Err(error) => warnings.push(format!("c0 {}: {}", excerpt(name), reason::chain(&error))),
        }
    }
    scored
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

#[cfg(test)]
mod test_position_tests {
    use super::*;

    #[test]
    fn scored_position_parses_with_points() {
        let line = "1kr5/3n4/q3p2p/p2n2p1/PppB1P2/5BP1/1P2Q2P/3R2K1 w - - bm f5; id \"Undermine.001\"; \
                    c0 \"f5=10, Be5+=2, Bf2=3, Bg4=2\";";
        let tested = TestPosition::parse(line).expect("a valid line");
        let m = |uci| tested.position.parse_uci(uci).expect("a legal move");
        assert_eq!(tested.id.as_deref(), Some("Undermine.001"));
        assert!(tested.is_solved_by(m("f4f5"), None) && !tested.is_solved_by(m("d4e5"), None));
        assert_eq!((tested.points_of(m("d4e5")), tested.max_points()), (2, 10));
        assert_eq!(tested.points_of(m("h2h3")), 0);
        assert_eq!(tested.goal(), "bm f5");
        assert!(tested.warnings.is_empty());
    }

    #[test]
    fn avoided_move_fails_position() {
        let tested =
            TestPosition::parse("8/8/4k3/8/8/8/8/4K3 w - - am Ke2; c0 \"a comment, x=y\";").expect("a valid line");
        let m = |uci| tested.position.parse_uci(uci).expect("a legal move");
        assert!(!tested.is_solved_by(m("e1e2"), None) && tested.is_solved_by(m("e1d2"), None));
        assert_eq!(tested.max_points(), 0);
    }

    #[test]
    fn best_moves_parse_in_every_notation() {
        for (line, moves) in [
            ("4k3/8/8/8/8/8/8/4K2R w K - bm 0-0;", &["O-O"][..]),
            ("4k3/P7/8/8/8/8/8/4K3 w - - bm a8Q;", &["a8=Q+"]),
            ("4k3/P7/8/8/8/8/8/4K3 w - - bm 1. a8/Q+!, a7a8r;", &["a8=Q+", "a8=R+"]),
            ("4k3/8/8/8/8/5N2/8/4K3 w - - - bm nd4 ♘e5;", &["Nd4", "Ne5"]),
        ] {
            let tested = TestPosition::parse(line).expect(line);
            let best: Vec<String> = tested.best.iter().map(|&m| tested.position.san(m)).collect();
            assert_eq!(best, moves, "{line}");
            assert!(tested.warnings.is_empty(), "{:?}", tested.warnings);
        }
    }

    #[test]
    fn mate_distance_solves_position() {
        let tested = TestPosition::parse("7k/8/5K2/6Q1/8/8/8/8 w - - bm #2;").expect("a valid line");
        let m = tested.position.parse_uci("g5g7").expect("a legal move");
        let solved = |score| tested.is_solved_by(m, Some(score));
        assert!(solved(Score::Mate(2)) && solved(Score::Mate(1)));
        assert!(!solved(Score::Mate(3)) && !solved(Score::Mate(-1)) && !solved(Score::Centipawns(9999)));
        assert_eq!(tested.goal(), "bm #2");
        let direct = TestPosition::parse("7k/8/5K2/6Q1/8/8/8/8 w - - dm 2;").expect("a valid line");
        assert_eq!(direct.mate, Some(2));
        let tested = TestPosition::parse("7k/8/5K2/8/8/8/8/6Q1 b - - bm #-6;").expect("a valid line");
        let m = tested.position.parse_uci("h8h7").expect("a legal move");
        assert!(tested.is_solved_by(m, Some(Score::Mate(-5))) && !tested.is_solved_by(m, Some(Score::Mate(5))));
    }

    #[test]
    fn id_control_characters_are_removed() {
        let tested = TestPosition::parse("8/8/4k3/8/8/8/8/4K3 w - - bm Ke2; id \"\u{1b}[2Jx\u{202e}y\";");
        assert_eq!(tested.expect("a valid line").id.as_deref(), Some(" [2Jxy"));
    }

    #[test]
    fn parse_error_names_the_cause() {
        let error = |line| TestPosition::parse(line).err().map(|e| format!("{e:#}")).unwrap_or_default();
        assert!(error("8/8/4k3/8/8/8/8/4K3 w - - id \"x\";").contains("expected bm, dm, am"));
        assert!(error("8/8/4k3/8/8/8/8/4K3 w - - bm Qh5;").contains("Qh5"));
        assert!(error("8/8/8/8 w - -").contains("bad FEN"));
        let tested = TestPosition::parse("8/8/4k3/8/8/8/8/4K3 w - - bm Qh5 Ke2;").expect("one good move");
        assert_eq!(tested.warnings.len(), 1);
    }
}
