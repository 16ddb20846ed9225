//! Screening run: matches for the game processes, and a state file from which a killed run is resumed.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use super::duel::{DuelArgs, MatchRequest, Players};
use super::screen::{Factor, MatchPlan, Screen};
use super::state::{positive, screenable, tunable};
use super::{duel, state};
use crate::search::params::Parameter;
use crate::util::console::ProgressLine;
use crate::util::quantity::short_time;
use crate::util::text::Shown as _;

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
pub fn run(args: &ScreenArgs, mut out: impl Write) -> Result<()> {
    if args.duel.serve {
        return duel::serve_on_a_large_stack(&args.duel);
    }
    let mut screen = load(args)?;
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
        state::save(&args.state, screen)?;
        progress.tick(|seconds| line(screen, before, args.games, seconds));
    }
    progress.finish(&line(screen, before, args.games, progress.seconds()));
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
fn load(args: &ScreenArgs) -> Result<Screen> {
    let factors = factors(&args.only, args.shake)?;
    let Some(screen) = state::load::<Screen>(&args.state, "screening")? else {
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
fn factors(only: &[String], shake: f64) -> Result<Vec<Factor>> {
    if only.is_empty() {
        return Ok(tunable().map(|p| default_levels(p, shake)).collect());
    }
    let mut chosen = Vec::new();
    for word in only {
        match word.split_once('=') {
            Some((name, levels)) => chosen.push(with_levels(name, levels)?),
            None => {
                let named = screenable().filter(|p| p.name.starts_with(word.as_str()));
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
fn with_levels(name: &str, levels: &str) -> Result<Factor> {
    let p = screenable().find(|p| p.name == name).with_context(|| format!("{name} is not a tunable parameter"))?;
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
fn line(screen: &Screen, before: u64, all: u64, seconds: f64) -> String {
    let rate = (screen.games - before) as f64 / seconds.max(1e-9);
    let left = short_time(all.saturating_sub(screen.games) as f64 / rate);
    let largest = screen.effects().into_iter().next();
    let largest = largest.map_or_else(String::new, |e| format!(", {} {:+.1} +- {:.1}", e.factor.name, e.elo, e.error));
    format!("{} of {all} games{largest}, {left} left", screen.games)
}
