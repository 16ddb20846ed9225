//! A run of SPSA: matches for the processes that play, and a state file that a killed run goes on from.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use super::duel::{self, DuelArgs, MatchRequest, Tally};
use super::spsa::{Spsa, Tuned};
use crate::search::params::{self, LAST_RATE};
use crate::util::atomic::write_atomically;
use crate::util::cores;
use crate::util::progress::ProgressLine;
use crate::util::quantity::short_time;
use crate::util::rng::SplitMix64;

/// Beginnings of the names of parameters that games on one thread, at a fixed number of nodes and without tablebases,
/// say nothing of.
const NOT_TUNED: [&str; 3] = ["time_", "vote_", "tb_"];

/// Arguments of a run.
#[derive(clap::Args, Clone, Debug)]
pub struct SpsaArgs {
    /// File that keeps the state, written after every iteration; a run goes on from what it holds
    #[arg(long, value_name = "FILE")]
    pub state: PathBuf,
    /// Iterations of the whole run
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(1..))]
    pub iterations: u64,
    /// Pairs of games in an iteration, for each process
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    pub pairs: u32,
    /// Processes that play; one for each core if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub processes: Option<u16>,
    /// Names of the parameters, or beginnings of names; all if absent
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Factor of every parameter's step; a run that goes on keeps its own
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = positive)]
    pub shake: f64,
    /// Learning rate of the last iteration (R_end); a run that goes on keeps its own
    #[arg(long, value_name = "RATE", default_value_t = LAST_RATE, value_parser = positive)]
    pub rate: f64,
    /// Seed of everything random; a run that goes on keeps its own
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Play the matches that are asked for on standard input
    #[arg(long, hide = true)]
    pub serve: bool,
    /// How games are played.
    #[command(flatten)]
    pub duel: DuelArgs,
}

/// A number above zero, from the command line.
fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if x > 0.0 && f64::is_finite(x) => Ok(x),
        _ => Err("it must be a number above zero".into()),
    }
}

/// Runs to the last iteration, then prints each parameter's new value.
///
/// # Errors
/// When the state file is unusable, or a process that plays fails.
pub fn run(args: &SpsaArgs, mut out: impl Write) -> Result<()> {
    if args.serve {
        return duel::serve_on_a_large_stack(&args.duel);
    }
    let mut spsa = load(args)?;
    let mut playing = start_processes(args)?;
    let mut progress = ProgressLine::new();
    let (before, mut all) = (spsa.done, Tally::default());
    while spsa.done < spsa.iterations {
        let tally = contest(&spsa, args.pairs, &mut playing)?;
        spsa.learn(f64::from(tally.won) - f64::from(tally.lost));
        all.add(tally);
        save(&args.state, &spsa)?;
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

/// The state of the file, or a new one.
fn load(args: &SpsaArgs) -> Result<Spsa> {
    if !args.state.exists() {
        let parameters = chosen(&args.only, args.shake)?;
        let spsa = Spsa::new(parameters, args.iterations, args.rate, args.seed);
        return Ok(spsa);
    }
    let text = fs::read_to_string(&args.state);
    let text = text.with_context(|| format!("cannot read {}", args.state.display()))?;
    let spsa: Spsa = serde_json::from_str(&text)
        .with_context(|| format!("{} is no state of a run", args.state.display()))?;
    ensure!(
        spsa.iterations == args.iterations,
        "{} is of a run of {} iterations, not {}; its schedule depends on them",
        args.state.display(),
        spsa.iterations,
        args.iterations
    );
    Ok(spsa)
}

/// The parameters whose names begin with one of `only`.
fn chosen(only: &[String], shake: f64) -> Result<Vec<Tuned>> {
    let wanted = |name: &str| only.is_empty() || only.iter().any(|o| name.starts_with(o.as_str()));
    let tunable = |name: &str| !NOT_TUNED.iter().any(|other| name.starts_with(other));
    let chosen: Vec<Tuned> = params::TABLE
        .iter()
        .filter(|p| tunable(p.name) && wanted(p.name))
        .map(|p| Tuned::new(p, shake))
        .collect();
    if chosen.is_empty() {
        bail!("no parameter's name begins with {}", only.join(" or "));
    }
    Ok(chosen)
}

fn save(path: &Path, spsa: &Spsa) -> Result<()> {
    let text = serde_json::to_string_pretty(spsa)?;
    write_atomically(path, |file| file.write_all(text.as_bytes()))
}

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

/// A process that plays. It ends when its input does.
struct GameProcess {
    child: Child,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
}

/// This very program, with the same arguments and the one that makes it play.
fn start_processes(args: &SpsaArgs) -> Result<Vec<GameProcess>> {
    let processes = args.processes.map_or_else(cores, usize::from);
    (0..processes).map(|_| start_process()).collect()
}

fn start_process() -> Result<GameProcess> {
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    let mut child = Command::new(program)
        .args(std::env::args_os().skip(1))
        .arg("--serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start a process that plays")?;
    let requests = child.stdin.take().context("a process without input")?;
    let replies = child.stdout.take().context("a process without output")?;
    Ok(GameProcess {
        child,
        requests,
        replies: BufReader::new(replies),
    })
}

/// The games of an iteration: `--pairs` for every process, each with openings of its own.
fn contest(spsa: &Spsa, pairs: u32, playing: &mut [GameProcess]) -> Result<Tally> {
    let contest = spsa.contest();
    let mut seeds = SplitMix64::new(spsa.seed.rotate_left(32) ^ spsa.done);
    for process in playing.iter_mut() {
        let request = MatchRequest {
            names: spsa.parameters.iter().map(|t| t.name.clone()).collect(),
            plus: contest.plus.clone(),
            minus: contest.minus.clone(),
            pairs,
            seed: seeds.next_u64(),
        };
        writeln!(process.requests, "{}", serde_json::to_string(&request)?)
            .context("a process that plays has ended")?;
    }
    let mut sum = Tally::default();
    for process in playing {
        let mut text = String::new();
        process.replies.read_line(&mut text)?;
        if text.is_empty() {
            let status = process.child.wait()?;
            bail!("a process that plays has ended with {status}");
        }
        sum.add(serde_json::from_str(&text).context("a process that plays answers nonsense")?);
    }
    Ok(sum)
}
