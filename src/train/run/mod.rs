//! `zoothera train`: from files of positions to a `.nnue` file.

mod checkpoint;
mod checks;
mod config;
mod display;
mod export;
mod measure;
mod outputs;
mod picture;
mod plot;
mod schedule;
mod session;
mod start;
mod watch;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use checkpoint::{Parameters, RunState};
use config::{Config, Overrides};
use export::ExportArgs;
use measure::LossArgs;
use outputs::beside;
use session::Session;

use super::model::shapes::of_width;
use super::step::trainer_bytes;
use crate::data::stream::{self, Options, Source, Stream};
use crate::data::{Filter, Record};
use crate::util::claim::Lock;

/// Train a net on labelled positions: HalfKP 256x2-32-32-1, or one of another width, with squared ReLUs or products of
/// halves, with HalfKAv2_hm features, or with eight stacks of layers.
///
/// The net is written at every validation, with a log (`.tsv`) and a plot (`.svg`) beside it. A checkpoint
/// (`.checkpoint`) is written now and then; `--resume` goes on from it exactly, after whatever end.
#[derive(clap::Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct TrainArgs {
    /// What to do instead of training.
    #[command(subcommand)]
    pub command: Option<TrainCommand>,
    /// TOML file with settings by the names of the options below, and `files`; the command line goes before it
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Go on from the checkpoint beside the output, if it is there
    #[arg(long)]
    pub resume: bool,
    /// Begin with this net or checkpoint (its weights; fine-tune with a lower `--rate`)
    #[arg(long, value_name = "FILE")]
    pub init: Option<PathBuf>,
    /// The settings.
    #[command(flatten)]
    pub settings: Overrides,
}

/// What `train` can do beside training.
#[derive(clap::Subcommand, Clone, Debug)]
pub enum TrainCommand {
    /// Make a net of a checkpoint, and tell what the rounding cost
    Export(ExportArgs),
    /// Print the loss of nets on files of labelled positions
    Loss(LossArgs),
}

/// Most positions held out: more say nothing more, and measuring on them takes time.
const HOLDOUT_LIMIT: usize = 300_000;

/// Does what the arguments say.
///
/// # Errors
/// When settings or files are not what they should be, or the disk fails.
pub fn run(args: TrainArgs) -> Result<()> {
    match &args.command {
        Some(TrainCommand::Export(export)) => return export::run(export),
        Some(TrainCommand::Loss(loss)) => return measure::run(loss, &mut std::io::stdout()),
        None => {}
    }
    let settings = match &args.config {
        Some(path) => args.settings.or(Overrides::from_file(path)?),
        None => args.settings,
    };
    let sources = sources(&settings);
    if sources.is_empty() {
        bail!("there is nothing to learn from: name files of positions");
    }
    let config = settings.resolved();
    config.check()?;
    let architecture = config.architecture()?;
    let train = of_width!(train, architecture);
    let checkpoint = beside(&config.out, "checkpoint");
    let lock = Lock::of(&checkpoint);
    let lock = lock.with_context(|| format!("cannot write {}", config.out.display()))?;
    let Some(_lock) = lock else {
        bail!(
            "another run writes to {} and {}: wait for its end, or give another --out",
            config.out.display(),
            checkpoint.display()
        );
    };
    let mut inputs: Vec<&Path> = sources.iter().map(|source| source.path.as_path()).collect();
    inputs.extend(args.init.as_deref());
    inputs.extend(args.config.as_deref());
    checks::check_outputs(&config, &inputs, args.resume)?;
    let start = start::start(&config, args.resume, args.init.as_deref())?;
    train(start, options(sources, &config)?)
}

/// The whole of a run whose width is settled.
fn train<const L1: usize>(start: (RunState, Parameters), options: Options) -> Result<()> {
    let (stream, held_out) = open(&options, &start.0)?;
    let mut session = Session::<L1>::begin(start, stream, held_out)?;
    session.learn()?;
    session.finish()
}

/// The files that the settings name, of either kind.
fn sources(settings: &Overrides) -> Vec<Source> {
    let of = |paths: &[PathBuf], sampled| {
        let source = |path: &PathBuf| Source {
            path: path.clone(),
            sampled,
        };
        paths.iter().map(source).collect::<Vec<_>>()
    };
    [of(&settings.sampled, true), of(&settings.files, false)].concat()
}

/// What is learned from, as the settings say.
fn options(sources: Vec<Source>, config: &Config) -> Result<Options> {
    let memory = (1e9 * config.memory) as usize;
    let own = trainer_bytes(config.architecture()?, config.average > 0.0, config.batch);
    let least = own + stream::MIN_MEMORY;
    if memory < least {
        let least = least as f64 / 1e9;
        bail!(
            "memory is {} GB, but training a net of this shape takes {least:.3} at least",
            config.memory
        );
    }
    Ok(Options {
        sources,
        filter: Filter {
            max_score: config.max_score,
            min_ply: config.min_ply,
            quiet: !config.any_position,
            ..Filter::default()
        },
        thin_beyond: config.thin_beyond.unsigned_abs(),
        holdout: config.holdout,
        holdout_limit: HOLDOUT_LIMIT,
        seed: config.seed,
        memory: memory - own,
        threads: config.threads,
    })
}

/// The stream of positions to learn from, at the beginning or where an earlier run was, and those held out.
fn open(options: &Options, state: &RunState) -> Result<(Stream, Vec<Record>)> {
    let started = Instant::now();
    let checkpoint = beside(&state.config.out, "checkpoint");
    let stream = match &state.bookmark {
        Some(bookmark) => Stream::open_after(options, bookmark, state.shown)
            .with_context(|| format!("cannot go on from {}", checkpoint.display()))?,
        None => Stream::open(options)?,
    };
    let held_out = stream.held_out()?;
    let (all, window) = (stream.estimated_len(), stream.window_len());
    let shown = if stream.is_resident() {
        format!("{all} positions to learn from")
    } else {
        format!("some {all} positions to learn from, {window} of them in memory at a time")
    };
    eprintln!(
        "{:6.1} s  {shown}, {} held out",
        started.elapsed().as_secs_f64(),
        held_out.len()
    );
    Ok((stream, held_out))
}
