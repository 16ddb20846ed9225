//! SPSA run: matches for the game processes, and a state file from which a killed run is resumed.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, bail, ensure};

use super::duel::{DuelArgs, MatchRequest, Players};
use super::spsa::{Spsa, Tuned};
use super::state::{positive, tunable};
use super::{duel, state};
use crate::game::referee::Tally;
use crate::search::params;
use crate::search::params::LAST_RATE;
use crate::util::console::ProgressLine;
use crate::util::quantity::short_time;
use crate::util::rng::SplitMix64;
use crate::util::text::Shown as _;

/// Arguments of a run.
#[derive(clap::Args, Clone, Debug)]
pub struct SpsaArgs {
    /// State file, written after every iteration; an existing one is resumed
    #[arg(long, value_name = "FILE")]
    pub state: PathBuf,
    /// Total number of iterations
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(1..))]
    pub iterations: u64,
    /// Pairs of games per iteration and process
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    pub pairs: u32,
    /// Number of game processes; one per core if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub processes: Option<u16>,
    /// Names or prefixes of names of the parameters; all if absent
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Factor for the step of every parameter; a resumed run keeps its own
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = positive)]
    pub shake: f64,
    /// Learning rate of the last iteration (R_end); a resumed run keeps its own
    #[arg(long, value_name = "RATE", default_value_t = LAST_RATE, value_parser = positive)]
    pub rate: f64,
    /// Random seed; a resumed run keeps its own
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Arguments for the games.
    #[command(flatten)]
    pub duel: DuelArgs,
}

/// Runs to the last iteration, then prints the new value of each parameter.
///
/// # Errors
/// Fails if the state file cannot be used, and if a game process fails.
pub fn run(args: &SpsaArgs, mut out: impl Write) -> Result<()> {
    if args.duel.serve {
        return duel::serve_on_a_large_stack(&args.duel);
    }
    let mut spsa = load(args)?;
    let mut players = Players::start(args.processes)?;
    let mut progress = ProgressLine::new();
    let (before, mut all) = (spsa.done, Tally::default());
    while spsa.done < spsa.iterations {
        let tally = contest(&spsa, args.pairs, &mut players)?;
        spsa.learn(f64::from(tally.won) - f64::from(tally.lost));
        all.add(tally);
        state::save(&args.state, &spsa)?;
        progress.tick(|seconds| line(&spsa, before, &all, seconds));
    }
    progress.finish(&line(&spsa, before, &all, progress.seconds()));
    for t in &spsa.parameters {
        let default = params::TABLE.iter().find(|p| p.name == t.name);
        let default = default.map_or(0, |p| p.default);
        writeln!(out, "{} {:.0} (was {default})", t.name, t.value)?;
    }
    Ok(())
}

/// Loads the state file, or creates a new state if there is no file.
fn load(args: &SpsaArgs) -> Result<Spsa> {
    let Some(spsa) = state::load::<Spsa>(&args.state, "run")? else {
        let parameters = chosen(&args.only, args.shake)?;
        let spsa = Spsa::new(parameters, args.iterations, args.rate, args.seed);
        return Ok(spsa);
    };
    ensure!(
        spsa.iterations == args.iterations,
        "{}: the state is of a run of {} iterations, not {}; use the same number or another state file",
        args.state.shown(),
        spsa.iterations,
        args.iterations
    );
    Ok(spsa)
}

/// The parameters whose names start with one of `only`.
fn chosen(only: &[String], shake: f64) -> Result<Vec<Tuned>> {
    let wanted = |name: &str| only.is_empty() || only.iter().any(|o| name.starts_with(o.as_str()));
    let chosen: Vec<Tuned> = tunable().filter(|p| wanted(p.name)).map(|p| Tuned::new(p, shake)).collect();
    if chosen.is_empty() {
        bail!("no parameter name starts with {}", only.join(" or "));
    }
    Ok(chosen)
}

/// The progress line.
fn line(spsa: &Spsa, before: u64, all: &Tally, seconds: f64) -> String {
    let rate = (spsa.done - before) as f64 / seconds.max(1e-9);
    let left = (spsa.iterations - spsa.done) as f64 / rate;
    format!(
        "iteration {} of {}, games +{} ={} -{}, {} left",
        spsa.done,
        spsa.iterations,
        all.won,
        all.drawn,
        all.lost,
        short_time(left)
    )
}

/// Plays the games of an iteration: `--pairs` in every process, with different openings.
fn contest(spsa: &Spsa, pairs: u32, players: &mut Players) -> Result<Tally> {
    let contest = spsa.contest();
    let names: Vec<String> = spsa.parameters.iter().map(|t| t.name.clone()).collect();
    let mut seeds = SplitMix64::new(spsa.seed.rotate_left(32) ^ spsa.done);
    let matches: Vec<MatchRequest> = (0..players.count())
        .map(|_| MatchRequest {
            names: names.clone(),
            plus: contest.plus.clone(),
            minus: contest.minus.clone(),
            pairs,
            seed: seeds.next_u64(),
        })
        .collect();
    let mut sum = Tally::default();
    for tally in players.play(&matches)? {
        sum.add(tally);
    }
    Ok(sum)
}
