//! Runs of the tuner: matches for the game processes, by SPSA or as a screening, and the state file from which a killed
//! run is resumed.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::duel::{self, DuelArgs, MatchRequest, Players};
use super::methods::{Factor, MatchPlan, Screen, Spsa, Tuned};
use crate::game::play::Tally;
use crate::search::params::{self, LAST_RATE, Parameter};
use crate::search::rules;
use crate::util::atomic::write_atomically;
use crate::util::console::ProgressLine;
use crate::util::quantity::short_time;
use crate::util::rng::SplitMix64;
use crate::util::text::Shown as _;

// State file and selection of parameters.

/// Prefixes of the names of parameters that have no effect in games on one thread and without tablebases.
const NOT_TUNED: [&str; 2] = ["vote_", "tb_"];
/// Prefix of the names of parameters that have an effect only with a clock.
const OF_CLOCK: &str = "time_";

/// The parameters that have an effect in the games of these arguments.
pub(super) fn tunable(games: &DuelArgs) -> impl Iterator<Item = &'static Parameter> {
    let has_clock = games.tc.is_some();
    let is_tunable = move |name: &str| {
        !NOT_TUNED.iter().any(|other| name.starts_with(other)) && (has_clock || !name.starts_with(OF_CLOCK))
    };
    params::TABLE.iter().filter(move |p| is_tunable(p.name))
}

/// The parameters that have an effect in the games, and the switches of rules.
pub(super) fn screenable(games: &DuelArgs) -> impl Iterator<Item = &'static Parameter> {
    tunable(games).chain(rules::SWITCHES)
}

/// Parses a number above 0 on the command line.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if x > 0.0 && f64::is_finite(x) => Ok(x),
        _ => Err("expected a number above 0".into()),
    }
}

/// Reads a state file of a run of this `kind`; `None` if there is no file.
pub(super) fn load<T: DeserializeOwned>(path: &Path, kind: &str) -> Result<Option<T>> {
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(path);
    let text = text.with_context(|| format!("cannot read {}", path.shown()))?;
    let state =
        serde_json::from_str(&text).with_context(|| format!("{} is not the state file of a {kind}", path.shown()))?;
    Ok(Some(state))
}

/// Writes the state file atomically.
pub(super) fn save(path: &Path, state: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(state)?;
    write_atomically(path, |file| file.write_all(text.as_bytes()))
}

// SPSA.

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
pub fn run_spsa(args: &SpsaArgs, mut out: impl Write) -> Result<()> {
    if args.duel.serve {
        return duel::serve_on_a_large_stack(&args.duel);
    }
    let mut spsa = load_spsa(args)?;
    let mut players = Players::start(args.processes)?;
    let mut progress = ProgressLine::new();
    let (before, mut all) = (spsa.done, Tally::default());
    while spsa.done < spsa.iterations {
        let tally = contest(&spsa, args.pairs, &mut players)?;
        spsa.learn(f64::from(tally.won) - f64::from(tally.lost));
        all.add(tally);
        save(&args.state, &spsa)?;
        progress.tick(|seconds| spsa_line(&spsa, before, &all, seconds));
    }
    progress.finish(&spsa_line(&spsa, before, &all, progress.seconds()));
    for t in &spsa.parameters {
        let default = params::TABLE.iter().find(|p| p.name == t.name);
        let default = default.map_or(0, |p| p.default);
        writeln!(out, "{} {:.0} (was {default})", t.name, t.value)?;
    }
    Ok(())
}

/// Loads the state file, or creates a new state if there is no file.
fn load_spsa(args: &SpsaArgs) -> Result<Spsa> {
    let Some(spsa) = load::<Spsa>(&args.state, "run")? else {
        let parameters = chosen(&args.only, args.shake, &args.duel)?;
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
fn chosen(only: &[String], shake: f64, games: &DuelArgs) -> Result<Vec<Tuned>> {
    let wanted = |name: &str| only.is_empty() || only.iter().any(|o| name.starts_with(o.as_str()));
    let chosen: Vec<Tuned> = tunable(games).filter(|p| wanted(p.name)).map(|p| Tuned::new(p, shake)).collect();
    if chosen.is_empty() {
        bail!("no parameter name starts with {}", only.join(" or "));
    }
    Ok(chosen)
}

/// The progress line.
fn spsa_line(spsa: &Spsa, before: u64, all: &Tally, seconds: f64) -> String {
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

// Screening.

/// Arguments of a run.
#[derive(clap::Args, Clone, Debug)]
pub struct ScreenArgs {
    /// State file, written after every round of matches; an existing one is resumed
    #[arg(long, value_name = "FILE")]
    pub state: PathBuf,
    /// Total number of games; a resumed run may have more than before
    #[arg(long, value_name = "N", default_value_t = 4000)]
    pub games: u64,
    /// Pairs of games per match
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    pub pairs: u32,
    /// Number of game processes; one per core if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub processes: Option<u16>,
    /// Names or prefixes of names of the parameters, optionally a name with its levels; all parameters if absent.
    /// rule_ is the prefix of the switches of whole rules, whose levels are 0 (off) and 1 (on)
    #[arg(long, value_name = "NAME[=LOW..HIGH],...", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Distance of the levels from the default value, in steps of the parameter
    #[arg(long, value_name = "FACTOR", default_value_t = 2.0, value_parser = positive)]
    pub shake: f64,
    /// Random seed; a resumed run keeps its own
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Arguments for the games.
    #[command(flatten)]
    pub duel: DuelArgs,
}

/// Plays all games, then prints the effect in Elo of each parameter's high level against its low one.
///
/// # Errors
/// Fails if the state file cannot be used, and if a game process fails.
pub fn run_screening(args: &ScreenArgs, mut out: impl Write) -> Result<()> {
    if args.duel.serve {
        return duel::serve_on_a_large_stack(&args.duel);
    }
    let mut screen = load_screen(args)?;
    play(args, &mut screen)?;
    for effect in screen.effects() {
        let Factor { name, low, high, .. } = effect.factor;
        let (elo, error) = (effect.elo, effect.error);
        writeln!(out, "{name} {high} against {low}: {elo:+.1} +- {error:.1}")?;
    }
    Ok(())
}

/// Plays the remaining games and saves the state after each round of matches.
fn play(args: &ScreenArgs, screen: &mut Screen) -> Result<()> {
    if screen.games >= args.games {
        return Ok(());
    }
    let mut players = Players::start(args.processes)?;
    let mut progress = ProgressLine::new();
    let before = screen.games;
    while screen.games < args.games {
        let first = screen.matches;
        let numbers = first..first + players.count() as u64;
        let matches: Vec<MatchRequest> = numbers.clone().map(|number| request(screen, number, args.pairs)).collect();
        for (number, tally) in numbers.zip(players.play(&matches)?) {
            let result = f64::from(tally.won) - f64::from(tally.lost);
            screen.count(number, 2 * u64::from(args.pairs), result);
        }
        save(&args.state, screen)?;
        progress.tick(|seconds| screening_line(screen, before, args.games, seconds));
    }
    progress.finish(&screening_line(screen, before, args.games, progress.seconds()));
    Ok(())
}

fn request(screen: &Screen, number: u64, pairs: u32) -> MatchRequest {
    let MatchPlan { players, seed } = screen.assign(number);
    MatchRequest {
        names: screen.factors.iter().map(|f| f.name.clone()).collect(),
        plus: players.plus,
        minus: players.minus,
        pairs,
        seed,
    }
}

/// Loads the state file, or creates a new state if there is no file.
fn load_screen(args: &ScreenArgs) -> Result<Screen> {
    let factors = factors(&args.only, args.shake, &args.duel)?;
    let Some(screen) = load::<Screen>(&args.state, "screening")? else {
        return Ok(Screen::new(factors, args.seed));
    };
    let levels = |f: &Factor| (f.name.clone(), f.low, f.high);
    ensure!(
        screen.factors.iter().map(levels).eq(factors.iter().map(levels)),
        "{}: the state is of a screening with other parameters or levels; use the same ones or another state file",
        args.state.shown()
    );
    Ok(screen)
}

/// The parameters of `--only` with their levels; all if it is empty.
fn factors(only: &[String], shake: f64, games: &DuelArgs) -> Result<Vec<Factor>> {
    if only.is_empty() {
        return Ok(tunable(games).map(|p| default_levels(p, shake)).collect());
    }
    let mut chosen = Vec::new();
    for word in only {
        match word.split_once('=') {
            Some((name, levels)) => chosen.push(with_levels(name, levels, games)?),
            None => {
                let named = screenable(games).filter(|p| p.name.starts_with(word.as_str()));
                let count = chosen.len();
                chosen.extend(named.map(|p| default_levels(p, shake)));
                ensure!(chosen.len() > count, "no parameter name starts with {word}");
            }
        }
    }
    for (i, factor) in chosen.iter().enumerate() {
        if chosen[..i].iter().any(|other| other.name == factor.name) {
            bail!("{} is given twice", factor.name);
        }
    }
    Ok(chosen)
}

/// A parameter with levels `shake` steps below and above its default, clamped to its range.
fn default_levels(p: &Parameter, shake: f64) -> Factor {
    let by = ((shake * f64::from(p.step)).round() as i32).max(1);
    let level = |value: i32| value.clamp(p.min, p.max);
    Factor::new(p.name, level(p.default.saturating_sub(by)), level(p.default.saturating_add(by)))
}

/// Parses the levels of `NAME=LOW..HIGH`.
fn with_levels(name: &str, levels: &str, games: &DuelArgs) -> Result<Factor> {
    let p = screenable(games).find(|p| p.name == name);
    let without = if games.tc.is_none() && name.starts_with(OF_CLOCK) { " without a clock (--tc)" } else { "" };
    let p = p.with_context(|| format!("{name} is not a tunable parameter{without}"))?;
    let ends = levels.split_once("..");
    let ends = ends.and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    let Some((low, high)) = ends else {
        bail!("{name}={levels}: expected LOW..HIGH, such as {}..{}", p.min, p.max);
    };
    let range = p.min..=p.max;
    ensure!(
        range.contains(&low) && range.contains(&high) && low != high,
        "{name}={levels}: expected two different levels between {} and {}",
        p.min,
        p.max
    );
    Ok(Factor::new(name, low, high))
}

/// The progress line.
fn screening_line(screen: &Screen, before: u64, all: u64, seconds: f64) -> String {
    let rate = (screen.games - before) as f64 / seconds.max(1e-9);
    let left = short_time(all.saturating_sub(screen.games) as f64 / rate);
    let largest = screen.effects().into_iter().next();
    let largest = largest.map_or_else(String::new, |e| format!(", {} {:+.1} +- {:.1}", e.factor.name, e.elo, e.error));
    format!("{} of {all} games{largest}, {left} left", screen.games)
}
