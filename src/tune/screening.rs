//! A run of a screening: matches for the processes that play, and a state file that a killed run goes on from.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use super::duel::{self, DuelArgs, MatchRequest};
use super::players::Players;
use super::screen::{Factor, Screen};
use super::state::{self, positive, tunable};
use crate::search::params::Parameter;
use crate::util::progress::ProgressLine;
use crate::util::quantity::short_time;

/// Arguments of a run.
#[derive(clap::Args, Clone, Debug)]
pub struct ScreenArgs {
    /// File that keeps the state, written after every match; a run goes on from what it holds
    #[arg(long, value_name = "FILE")]
    pub state: PathBuf,
    /// Games of the whole run; may be more than before when a run goes on
    #[arg(long, value_name = "N", default_value_t = 4000)]
    pub games: u64,
    /// Pairs of games in a match
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    pub pairs: u32,
    /// Processes that play; one for each core if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub processes: Option<u16>,
    /// Names of the parameters, or beginnings of names, each perhaps with its levels; all if absent
    #[arg(long, value_name = "NAME[=LOW..HIGH],...", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Levels are so many of a parameter's steps below and above its value
    #[arg(long, value_name = "FACTOR", default_value_t = 2.0, value_parser = positive)]
    pub shake: f64,
    /// Seed of everything random; a run that goes on keeps its own
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How games are played.
    #[command(flatten)]
    pub duel: DuelArgs,
}

/// Plays to the last game, then prints what each parameter's high level is worth against its low one.
///
/// # Errors
/// When the state file is unusable, or a process that plays fails.
pub fn run(args: &ScreenArgs, mut out: impl Write) -> Result<()> {
    if args.duel.serve {
        return duel::serve_on_a_large_stack(&args.duel);
    }
    let mut screen = load(args)?;
    play(args, &mut screen)?;
    for effect in screen.effects() {
        let Factor {
            name, low, high, ..
        } = effect.factor;
        let (elo, error) = (effect.elo, effect.error);
        writeln!(out, "{name} {high} against {low}: {elo:+.1} +- {error:.1}")?;
    }
    Ok(())
}

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
        let matches: Vec<MatchRequest> = numbers
            .clone()
            .map(|number| request(screen, number, args.pairs))
            .collect();
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
    let (players, seed) = screen.deal(number);
    MatchRequest {
        names: screen.factors.iter().map(|f| f.name.clone()).collect(),
        plus: players.plus,
        minus: players.minus,
        pairs,
        seed,
    }
}

/// The state of the file, or a new one.
fn load(args: &ScreenArgs) -> Result<Screen> {
    let factors = factors(&args.only, args.shake)?;
    let Some(screen) = state::load::<Screen>(&args.state, "screening")? else {
        return Ok(Screen::new(factors, args.seed));
    };
    let levels = |f: &Factor| (f.name.clone(), f.low, f.high);
    ensure!(
        screen
            .factors
            .iter()
            .map(levels)
            .eq(factors.iter().map(levels)),
        "{} is of a run with other parameters or levels; what both have counted cannot be added",
        args.state.display()
    );
    Ok(screen)
}

/// The parameters that are asked for, with their levels.
fn factors(only: &[String], shake: f64) -> Result<Vec<Factor>> {
    if only.is_empty() {
        return Ok(tunable().map(|p| shaken(p, shake)).collect());
    }
    let mut chosen = Vec::new();
    for word in only {
        match word.split_once('=') {
            Some((name, levels)) => chosen.push(with_levels(name, levels)?),
            None => {
                let named = tunable().filter(|p| p.name.starts_with(word.as_str()));
                let count = chosen.len();
                chosen.extend(named.map(|p| shaken(p, shake)));
                ensure!(
                    chosen.len() > count,
                    "no parameter's name begins with {word}"
                );
            }
        }
    }
    for (i, factor) in chosen.iter().enumerate() {
        if chosen[..i].iter().any(|other| other.name == factor.name) {
            bail!("{} is asked for twice", factor.name);
        }
    }
    Ok(chosen)
}

/// A parameter some steps below and above its value, as far as its range goes.
fn shaken(p: &Parameter, shake: f64) -> Factor {
    let by = ((shake * f64::from(p.step)).round() as i32).max(1);
    let level = |value: i32| value.clamp(p.min, p.max);
    Factor::new(
        p.name,
        level(p.default.saturating_sub(by)),
        level(p.default.saturating_add(by)),
    )
}

/// `NAME=LOW..HIGH`.
fn with_levels(name: &str, levels: &str) -> Result<Factor> {
    let p = tunable()
        .find(|p| p.name == name)
        .with_context(|| format!("there is no parameter {name} that games say something of"))?;
    let ends = levels.split_once("..");
    let ends = ends.and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    let Some((low, high)) = ends else {
        bail!("{name}={levels}: levels look like {}..{}", p.min, p.max);
    };
    let range = p.min..=p.max;
    ensure!(
        range.contains(&low) && range.contains(&high) && low != high,
        "{name}={levels}: two different levels of {} to {}, please",
        p.min,
        p.max
    );
    Ok(Factor::new(name, low, high))
}

fn line(screen: &Screen, before: u64, all: u64, seconds: f64) -> String {
    let rate = (screen.games - before) as f64 / seconds.max(1e-9);
    let left = short_time(all.saturating_sub(screen.games) as f64 / rate);
    let surest = screen.effects().into_iter().next();
    let surest = surest.map_or_else(String::new, |e| {
        format!(", {} {:+.1} +- {:.1}", e.factor.name, e.elo, e.error)
    });
    format!("{} of {all} games{surest}, {left} left", screen.games)
}
