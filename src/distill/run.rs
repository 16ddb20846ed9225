//! The rounds of a run.

use std::fs;
use std::io::Write;
use std::time::Instant;

use anyhow::{Context, Result};

use super::args::DistillArgs;
use super::folder::{Played, Round, State};
use super::report::{self, Pace};
use super::setup::Setup;
use crate::tools::net;
use crate::train::run::outputs;
use crate::util::console::{Interrupt, Interrupted};
use crate::util::quantity::{short_number, short_time};
use crate::util::text::Shown as _;

/// Runs rounds until a limit is reached. Prints a line per round to `err` and the summary to `out`.
///
/// # Errors
/// Fails if an input is unusable, on an I/O error, or with [`Interrupted`] after Ctrl-C. The same command resumes the
/// run.
pub fn run(args: &DistillArgs, out: &mut impl Write, err: &mut impl Write) -> Result<()> {
    let interrupt = Interrupt::shared();
    let mut setup = Setup::new(args)?;
    setup.check_phases()?;
    let mut state = setup.state()?;
    publish(&setup, &state)?;
    if let Some(last) = state.rounds.last() {
        writeln!(err, "continuing after round {}, {} positions", last.number, state.positions())?;
    }
    let started = Instant::now();
    let before = (state.seconds, state.rounds.len());
    let folder = setup.folder.path().shown();
    let resumable = |error: anyhow::Error, state: &State| {
        if error.is::<Interrupted>() {
            return Interrupted::error(format!(
                "interrupted in round {}; the same command continues the run in {folder}",
                state.next()
            ));
        }
        error.context(format!("round {}", state.next()))
    };
    let speed = setup.prepare_held_out(&mut state, err).map_err(|error| resumable(error, &state))?;
    setup.scale_block(&mut state, started.elapsed().as_secs_f64(), speed)?;
    let args = &setup.args.clone();
    loop {
        state.seconds = before.0 + started.elapsed().as_secs_f64();
        if is_over(args, &state) {
            break;
        }
        if interrupt.is_set() {
            return Err(resumable(Interrupted::error(""), &state));
        }
        let round = play_round(&setup, &state, err).map_err(|error| resumable(error, &state))?;
        state.seconds = before.0 + started.elapsed().as_secs_f64();
        record(&setup, &mut state, round)?;
        let here = state.rounds.len() - before.1;
        let pace = Pace { rounds: here, seconds: started.elapsed().as_secs_f64() };
        writeln!(err, "{}", report::line(args, &state, pace))?;
    }
    writeln!(out, "{}", report::summary(&setup.folder, &state))?;
    Ok(())
}

/// Whether a limit is reached.
fn is_over(args: &DistillArgs, state: &State) -> bool {
    // The next round takes about as long as the last one.
    let next = state.rounds.last().map_or(0.0, |last| last.seconds.iter().sum());
    // A run makes a net, however short its time is.
    let is_late = |hours: f64| !state.rounds.is_empty() && state.seconds + next >= 3600.0 * hours;
    args.hours.is_some_and(is_late) || args.millions.is_some_and(|millions| state.positions() as f64 >= 1e6 * millions)
}

/// Runs the phases of the next round; completed phases return at once.
fn play_round(setup: &Setup, state: &State, err: &mut impl Write) -> Result<Round> {
    let number = state.next();
    let started = Instant::now();
    let phase = |what: &str, positions: f64, seconds: f64| {
        let left = setup.args.hours.map_or_else(String::new, |hours| {
            format!(", {} left", short_time((3600.0 * hours - state.seconds - seconds).max(0.0)))
        });
        format!("  round {number}, {what} {} positions{left}", short_number(positions))
    };
    let block = setup.args.block_positions() as f64;
    writeln!(err, "{}", phase("sampling", block, 0.0))?;
    let positions = setup.sample(number).context("sampling")?;
    let sampled = started.elapsed().as_secs_f64();
    setup.folder.prune_blocks(number, setup.disk_bytes(), setup.learning.window)?;
    let blocks = setup.choose_blocks(number)?;
    writeln!(err, "{}", phase("training on", block * setup.learning.presentations, sampled))?;
    setup.train(number, &blocks).context("training")?;
    let trained = started.elapsed().as_secs_f64() - sampled;
    let results = outputs::results(&setup.folder.checkpoint(number), &setup.folder.net(number))?;
    let held_out = setup.held_out_loss(number)?;
    Ok(Round {
        number,
        positions,
        rate: setup.learning.rate_of(number),
        training: results.training,
        held_out,
        quantisation: results.quantisation,
        dead: results.dead,
        played: play_match(setup, state, number).context("match")?,
        seconds: [sampled, trained],
    })
}

/// Plays the match of a round, if one is due.
fn play_match(setup: &Setup, state: &State, round: u64) -> Result<Option<Played>> {
    let every = u64::from(setup.args.match_every());
    let (Some(best), true) = (state.best, every > 0 && round.is_multiple_of(every)) else {
        return Ok(None);
    };
    let score = setup.play(round)?;
    let elo = score.by_pairs().elo;
    let elo = (elo.value.is_finite() && elo.error.is_finite()).then_some((elo.value, elo.error));
    Ok(Some(Played {
        against: best,
        games: score.games.games(),
        elo,
        total: state.total_of(best) + elo.map_or(0.0, |(value, _)| value),
        won: score.share() > 0.5,
    }))
}

/// Records a round and makes its net available.
fn record(setup: &Setup, state: &mut State, round: Round) -> Result<()> {
    let is_first = state.best.is_none();
    let is_best = is_first || setup.args.match_every() == 0 || round.played.is_some_and(|played| played.won);
    if is_best {
        state.best = Some(round.number);
    }
    state.rounds.push(round);
    // Saves the record first: if the process is killed afterwards, the next start writes the files again.
    state.save(&setup.folder.state())?;
    publish(setup, state)
}

/// Writes the newest and the best net, the table and the plot, and removes files of older rounds.
fn publish(setup: &Setup, state: &State) -> Result<()> {
    let folder = &setup.folder;
    let Some(last) = state.rounds.last() else {
        return Ok(());
    };
    let newest = folder.net(last.number);
    let bytes = fs::read(&newest).with_context(|| format!("cannot read {}", newest.shown()))?;
    net::write(&folder.newest(), &bytes)?;
    if state.best == Some(last.number) {
        net::write(&folder.best(), &bytes)?;
    }
    report::write(folder, state)?;
    folder.prune_nets(state.next())
}
