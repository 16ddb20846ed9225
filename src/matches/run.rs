//! Runs a match.

use std::io::{IsTerminal, Write, stderr};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use chrono::Utc;

use super::plan::{MatchArgs, Plan};
use super::report::{self, Report, State};
use super::score::{Score, Sprt};
use super::table::{PlayedGame, Searches, Table};
use crate::game::play::{self, Event};
use crate::util::atomic::AppendFile;
use crate::util::console::{Interrupt, Interrupted, ProgressLine};
use crate::util::cores;
use crate::util::quantity::{short_number, short_time};
use crate::util::text::Shown as _;

/// Minimum time between two writes of the state file.
const SAVE_PERIOD: Duration = Duration::from_millis(250);

/// Plays the match and writes its result to `out` and notes to `err`.
///
/// # Errors
/// Fails if arguments or files cannot be used, and with [`Interrupted`] after Ctrl-C.
pub fn run(args: &MatchArgs, out: &mut impl Write, err: &mut impl Write) -> Result<()> {
    let interrupt = Interrupt::shared();
    let plan = Plan::new(args)?;
    for remark in remarks(&plan, args) {
        writeln!(err, "note: {remark}")?;
    }
    let mut records = Records::open(&plan, args.pgn.as_deref(), args.state.as_deref())?;
    if records.state.games > 0 {
        writeln!(err, "continuing after {} games", records.state.games)?;
    }
    play(&plan, args, &mut records, &interrupt)?;
    let interrupted = interrupt.is_set() && !is_over(&plan, &records.state);
    let report = Report::new(&plan, &records.state, interrupted);
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&report)?)?;
    } else {
        write!(out, "{}", report.text())?;
    }
    if interrupted {
        let games = records.state.games;
        let hint = match &args.state {
            Some(path) => format!("the same command continues from {}", path.shown()),
            None => "without --state it cannot be continued".to_owned(),
        };
        return Err(Interrupted::error(format!("interrupted after {games} games; {hint}")));
    }
    Ok(())
}

/// Plays the match, or the rest of it, and returns player A's results.
///
/// # Errors
/// Fails if arguments or files are unusable, or with [`Interrupted`] after Ctrl-C.
pub fn results(args: &MatchArgs) -> Result<Score> {
    let interrupt = Interrupt::shared();
    let plan = Plan::new(args)?;
    let mut records = Records::open(&plan, args.pgn.as_deref(), args.state.as_deref())?;
    play(&plan, args, &mut records, &interrupt)?;
    if interrupt.is_set() && !is_over(&plan, &records.state) {
        return Err(Interrupted::error(format!("interrupted after {} games", records.state.games)));
    }
    Ok(records.state.score)
}

/// Warnings to print before the first game.
fn remarks(plan: &Plan, args: &MatchArgs) -> Vec<String> {
    let mut remarks = Vec::new();
    if plan.is_mirror() {
        remarks.push("both players have the same net and options: the match measures chance only".to_owned());
    }
    if let Some(skipped) = plan.book.skipped() {
        remarks.push(format!(
            "{} lines of {} were skipped; the first is line {}: {}",
            skipped.count,
            args.book.shown(),
            skipped.line,
            skipped.reason
        ));
    }
    let deterministic = !plan.depends_on_speed() && plan.sides.iter().all(|side| side.is_deterministic());
    if plan.games > plan.fresh_games() && deterministic && plan.sprt.is_none() {
        remarks.push(format!(
            "the book has {} openings: after {} games the same games are repeated, so the printed errors are too small",
            plan.book.len(),
            plan.fresh_games()
        ));
    }
    remarks
}

/// State and files of a match.
struct Records<'a> {
    state: State,
    path: Option<&'a Path>,
    pgn: Option<AppendFile>,
    saved: Instant,
    /// Start time of this process.
    started: Instant,
    /// Seconds of play before this process.
    seconds_before: f64,
}

impl<'a> Records<'a> {
    /// Reads the state file if there is one, and opens the files.
    ///
    /// # Errors
    /// Fails if the state file belongs to another match, or a file cannot be written.
    fn open(plan: &Plan, pgn: Option<&Path>, path: Option<&'a Path>) -> Result<Self> {
        let settings = plan.settings(pgn);
        let loaded = path.map(|path| State::load(path, &settings)).transpose()?;
        let continued = loaded.flatten();
        if let (None, Some(pgn)) = (&continued, pgn) {
            ensure!(!pgn.exists(), "{} exists: remove it, or use another name for --pgn", pgn.shown());
        }
        let date = || Utc::now().format("%Y.%m.%d").to_string();
        let state = continued.unwrap_or_else(|| State::new(settings, date()));
        let pgn = pgn.map(|path| open_pgn(path, &state)).transpose()?;
        let now = Instant::now();
        let records = Self { started: now, seconds_before: state.seconds, state, path, pgn, saved: now };
        records.save()?;
        Ok(records)
    }

    /// Records the next game. Returns whether it completes a pair.
    fn add(&mut self, game: &PlayedGame) -> Result<bool> {
        if let (Some(file), Some(text)) = (&mut self.pgn, &game.pgn) {
            file.append(text.as_bytes())?;
            self.state.pgn_bytes = file.bytes();
            self.state.pgn_crc = Some(file.crc());
        }
        let complete = self.state.count(game);
        self.state.seconds = self.seconds_before + self.started.elapsed().as_secs_f64();
        if self.saved.elapsed() >= SAVE_PERIOD {
            self.save()?;
            self.saved = Instant::now();
        }
        Ok(complete)
    }

    fn save(&self) -> Result<()> {
        self.path.map_or(Ok(()), |path| self.state.save(path))
    }

    /// Writes everything to the disk.
    fn finish(&mut self) -> Result<()> {
        if let Some(file) = &self.pgn {
            file.sync()?;
        }
        self.save()
    }
}

/// Opens the PGN file, to append after the games that the state counts.
fn open_pgn(path: &Path, state: &State) -> Result<AppendFile> {
    let mut file = AppendFile::open(path).with_context(|| path.shown())?;
    let continued = file.continue_at(state.pgn_bytes, state.pgn_crc);
    continued.with_context(|| path.shown())?;
    Ok(file)
}

/// Plays until the match ends or is interrupted.
fn play(plan: &Plan, args: &MatchArgs, records: &mut Records, interrupt: &Interrupt) -> Result<()> {
    if is_over(plan, &records.state) {
        return Ok(());
    }
    let searches = Searches::default();
    let date = records.pgn.is_some().then(|| records.state.date.clone());
    let date = date.as_deref();
    let numbers = records.state.games..plan.games;
    let threads = concurrency(plan, args).min((numbers.end - numbers.start) as usize);
    // Progress is shown on terminals only.
    let mut progress = stderr().is_terminal().then(ProgressLine::new);
    let before = numbers.start;
    let receive = |event| {
        if let Event::Game(game) = event {
            let complete = records.add(&game)?;
            if complete && is_over(plan, &records.state) {
                return Ok(ControlFlow::Break(()));
            }
            if let Some(progress) = &mut progress {
                progress.tick(|seconds| line(plan, &records.state, before, seconds));
            }
        }
        Ok(if interrupt.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    };
    let new_table = || Table::new(plan, date, &searches);
    let halt = || searches.lock().iter().for_each(|search| search.stop());
    let played = play::play_numbered(threads, numbers, new_table, receive, halt);
    if let Some(progress) = &mut progress {
        progress.finish(&line(plan, &records.state, before, progress.seconds()));
    }
    played.and(records.finish())
}

/// Whether all games are played or the test has decided.
fn is_over(plan: &Plan, state: &State) -> bool {
    let decided = |test: Sprt| Sprt::decision(test.llr(state.score.pairs)).is_some();
    state.games >= plan.games || plan.sprt.is_some_and(decided)
}

/// Number of games at the same time.
fn concurrency(plan: &Plan, args: &MatchArgs) -> usize {
    // Only one player of a game is searching at any time.
    let threads = plan.sides.iter().map(|side| side.threads()).max();
    let free = || cores() / threads.unwrap_or(1);
    args.concurrency.map_or_else(free, usize::from).max(1)
}

/// The progress line. `before` is the number of games played before this process.
fn line(plan: &Plan, state: &State, before: u64, seconds: f64) -> String {
    let rate = (state.games - before) as f64 / seconds.max(1e-9);
    let left = (plan.games - state.games) as f64 / rate;
    let left = if plan.sprt.is_some() {
        format!("at most {} left", short_time(left))
    } else {
        format!("{} left", short_time(left))
    };
    format!(
        "{} of {} games, {}, {} games/min, {left}",
        state.games,
        plan.games,
        report::short(&state.score, plan.sprt),
        short_number(60.0 * rate),
    )
}
