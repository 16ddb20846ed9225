//! `zoothera train`: from files of positions to a `.nnue` file.

mod architecture;
mod checkpoint;
pub(crate) mod config;
mod display;
pub(crate) mod measure;
pub(crate) mod outputs;
pub(crate) mod plot;
mod schedule;
mod session;
pub(crate) mod shape;
mod start;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::data::Filter;
use crate::data::reader::Format;
use crate::data::stream::{Options, Source, Stream};
use crate::gpu::Device;
use crate::nnue::Architecture;
use crate::train::gpu;
use crate::train::step::optimiser::{Optimiser, OptimiserSettings};
use crate::train::step::{Stepper, Trainer, TrainerSize};
use crate::util::files::Lock;
use crate::util::text::Shown as _;
use checkpoint::{Parameters, RunState};
use config::{Config, Overrides};
use measure::LossArgs;
use outputs::{ExportArgs, PlotArgs, beside};
use session::{Positions, Session};
use start::Initial;

/// Train a network on files of labelled positions.
///
/// The net is written at every validation, with a log (`.tsv`) and a plot (`.svg`) next to it. A checkpoint
/// (`.checkpoint`) is written at intervals; `--resume` continues exactly from it, even after a crash. With `--resume`,
/// other settings than the shape and the choice of positions can change, for example to extend a finished run. Without
/// it, the files of an earlier run with the same `--out` are renamed.
#[derive(clap::Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct TrainArgs {
    /// Subcommand; trains if absent.
    #[command(subcommand)]
    pub command: Option<TrainCommand>,
    /// TOML file with settings named like the options below, and `files`; the command line overrides it
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Resume from the checkpoint next to the output, if there is one
    #[arg(long)]
    pub resume: bool,
    /// Initialise weights from this net or checkpoint (fine-tune with a lower `--rate`). With a smaller `--l1` than its
    /// own it keeps the units that matter most in the first file, with fewer `--king-buckets` their mean weights
    #[arg(long, value_name = "FILE")]
    pub init: Option<PathBuf>,
    /// Mix the weights of this net or checkpoint into those of `--init`. The mean of the weights of two nets from one
    /// line is often a better start than either
    #[arg(long, value_name = "FILE", requires = "init")]
    pub mix: Option<PathBuf>,
    /// Share of `--mix` in the initial weights, from 0 to 1
    #[arg(long, value_name = "SHARE", requires = "mix", default_value_t = 0.5)]
    pub mix_share: f32,
    /// Device that trains: cpu; gpu, the first graphics card of `zoothera gpu`; or auto, a graphics card if there is
    /// one. gpu:NAME and auto:NAME choose a card by a part of its name or by its number in `zoothera gpu`. Checkpoints
    /// do not depend on it
    #[arg(long, value_name = "cpu|gpu|auto[:NAME]", default_value = "cpu")]
    pub device: Device,
    /// The settings.
    #[command(flatten)]
    pub settings: Overrides,
    /// Whether nothing but the moving line on a terminal is printed.
    #[arg(skip)]
    pub quiet: bool,
}

/// The subcommands of `train`.
#[derive(clap::Subcommand, Clone, Debug)]
pub enum TrainCommand {
    /// Export a net from a checkpoint and report the quantisation error
    Export(ExportArgs),
    /// Print the loss of nets on files of labelled positions
    Loss(LossArgs),
    /// Draw the loss curves of several runs in one picture
    Plot(PlotArgs),
}

impl TrainArgs {
    /// The files of the initial weights; `None` for random ones.
    ///
    /// # Errors
    /// Fails if the share of a mixed file is not from 0 to 1, or if moments are to be kept.
    fn initial<'a>(&'a self, config: &Config, sources: &'a [Source]) -> Result<Option<Initial<'a>>> {
        let share = self.mix_share;
        ensure!(
            self.mix.is_none() || !config.keep_moments,
            "--keep-moments cannot be used with --mix: the moments of a checkpoint belong to its own weights"
        );
        ensure!((0.0..=1.0).contains(&share), "--mix-share {share}: must be from 0 to 1");
        let mix = self.mix.as_deref().map(|path| (path, share));
        Ok(self.init.as_deref().map(|path| Initial { path, mix, sources }))
    }
}

/// Maximum number of held-out positions. More would hardly improve the estimate, and validation takes time.
const HOLDOUT_LIMIT: usize = 300_000;

/// Runs `train` or its subcommand.
///
/// # Errors
/// Fails if settings or files are invalid, or on an I/O error.
pub fn run(args: TrainArgs) -> Result<()> {
    match &args.command {
        Some(TrainCommand::Export(export)) => return outputs::run(export),
        Some(TrainCommand::Loss(loss)) => return measure::run(loss, &mut std::io::stdout()),
        Some(TrainCommand::Plot(plot)) => return outputs::compare(plot),
        None => {}
    }
    let (sources, config) = settings(&args)?;
    if sources.is_empty() {
        bail!("no training data: give at least one file of positions");
    }
    let checkpoint = beside(&config.out, "checkpoint");
    let lock = Lock::of(&checkpoint);
    let lock = lock.with_context(|| format!("cannot write {}", config.out.shown()))?;
    let Some(_lock) = lock else {
        bail!(
            "another run writes to {} and {}: wait for it to finish, or use another --out",
            config.out.shown(),
            checkpoint.shown()
        );
    };
    let mut inputs: Vec<&Path> = sources.iter().map(|source| source.path.as_path()).collect();
    inputs.extend([&args.init, &args.mix].into_iter().filter_map(Option::as_deref));
    inputs.extend(args.config.as_deref());
    outputs::check_outputs(&config, &inputs, args.resume)?;
    if !args.quiet {
        eprintln!("{}", config.lines());
    }
    let (state, parameters) = start::start(&config, args.resume, args.initial(&config, &sources)?)?;
    let memory = state.stream_memory.map_or_else(|| start::stream_memory(&config), Ok)?;
    let options = options(sources, &config, memory);
    let trainer = args.device.stepper(&config, parameters)?;
    let is_warm = args.init.is_some() && state.shown == 0;
    train(state, trainer, &options, Report { quiet: args.quiet, initial_loss: is_warm })
}

/// Returns the files and the checked settings of the command line and of its file.
fn settings(args: &TrainArgs) -> Result<(Vec<Source>, Config)> {
    let settings = args.settings.clone();
    let settings = match &args.config {
        Some(path) => settings.or(Overrides::from_file(path)?),
        None => settings,
    };
    let shape = architecture::base(&settings, args.resume, args.init.as_deref())?;
    let config = settings.resolved(shape);
    config.check()?;
    let sources = sources(&settings);
    let all_sampled = !sources.is_empty() && sources.iter().all(|source| source.sampled);
    settings.check_contradictions(&config, all_sampled)?;
    args.device.check(config.architecture()?)?;
    Ok((sources, config))
}

/// Checks settings, initial net and outputs of a run without its data.
///
/// # Errors
/// As [`run`], except for the data.
pub fn check(args: &TrainArgs) -> Result<()> {
    let (_, config) = settings(args)?;
    outputs::check_outputs(&config, &[], false)?;
    start::start(&config, false, args.initial(&config, &[])?).map(drop)
}

/// What a run prints.
#[derive(Clone, Copy)]
struct Report {
    /// Whether nothing but the moving line on a terminal is printed.
    quiet: bool,
    /// Whether the held-out loss is printed before the first step.
    initial_loss: bool,
}

/// Runs the training.
fn train(state: RunState, trainer: Box<dyn Stepper>, options: &Options, report: Report) -> Result<()> {
    let positions = open(options, &state, report.quiet)?;
    let mut session = Session::begin(state, trainer, positions);
    session.display.quiet = report.quiet;
    if report.initial_loss && !report.quiet {
        session.report_initial_loss()?;
    }
    session.train()?;
    session.finish()
}

/// Returns the files named in the settings, sampled ones first.
fn sources(settings: &Overrides) -> Vec<Source> {
    let of = |paths: &[PathBuf], sampled| {
        // A .tree has samples only, whichever option names it.
        let is_tree = |path: &Path| Format::of(path).is_ok_and(|format| format == Format::Tree);
        let source = |path: &PathBuf| Source { path: path.clone(), sampled: sampled || is_tree(path) };
        paths.iter().map(source).collect::<Vec<_>>()
    };
    [of(&settings.sampled, true), of(&settings.files, false)].concat()
}

/// Returns the options of the stream of training positions.
fn options(sources: Vec<Source>, config: &Config, memory: usize) -> Options {
    Options {
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
        memory,
        threads: config.threads,
    }
}

/// Opens the stream of training positions, at its start or at a bookmark, and reads the held-out positions.
fn open(options: &Options, state: &RunState, quiet: bool) -> Result<Positions> {
    let started = Instant::now();
    let checkpoint = beside(&state.config.out, "checkpoint");
    let stream = match &state.bookmark {
        Some(bookmark) => Stream::open_after(options, bookmark, state.shown)
            .with_context(|| format!("cannot resume from {}", checkpoint.shown()))?,
        None => Stream::open(options)?,
    };
    let held_out = stream.held_out()?;
    let (all, window) = (stream.estimated_len(), stream.window_len());
    let shown = if stream.is_resident() {
        format!("{all} training positions")
    } else {
        format!("about {all} training positions, {window} of them in memory at a time")
    };
    if !quiet {
        let held_out = match held_out.len() {
            0 => "none".to_owned(),
            count => count.to_string(),
        };
        eprintln!("{:6.1} s  {shown}, {held_out} held out", started.elapsed().as_secs_f64());
    }
    Ok(Positions { stream, held_out })
}

// The trainer on the chosen device.

impl Device {
    /// Checks that the device can train nets of this shape.
    ///
    /// # Errors
    /// Fails if the device cannot train this shape. The error lists the supported shapes.
    pub(super) fn check(&self, architecture: Architecture) -> Result<()> {
        match self {
            Self::Gpu(_) => gpu::check_shape(architecture),
            Self::Cpu | Self::Auto(_) => Ok(()),
        }
    }

    /// Returns the trainer on this device, and prints the device unless it is the processor by choice.
    ///
    /// # Errors
    /// Fails if there is no such device, or if it cannot train the net of the settings.
    pub(super) fn stepper(&self, config: &Config, parameters: Parameters) -> Result<Box<dyn Stepper>> {
        let architecture = parameters.model.architecture;
        let choice = match self {
            Self::Cpu => return cpu(config, parameters),
            Self::Gpu(choice) => choice,
            Self::Auto(choice) => match gpu::check_usable(choice, architecture, config.batch) {
                Ok(()) => choice,
                Err(error) => {
                    eprintln!("training on the processor: {error:#}");
                    return cpu(config, parameters);
                }
            },
        };
        let (card, trainer) =
            gpu::stepper(choice, optimiser_settings(config), config.last_loss(), config.batch, parameters)?;
        eprintln!("training on {card}; the same card, driver and program give the same net");
        Ok(trainer)
    }
}

/// Returns the trainer on the processor.
fn cpu(config: &Config, parameters: Parameters) -> Result<Box<dyn Stepper>> {
    let optimiser = Optimiser::new(optimiser_settings(config), parameters.moments);
    let size = TrainerSize { threads: config.threads, batch: config.batch };
    let mut trainer = Trainer::new(parameters.model, optimiser, config.last_loss(), size)?;
    trainer.average = parameters.average;
    Ok(Box::new(trainer))
}

/// Returns the settings of the optimiser.
fn optimiser_settings(config: &Config) -> OptimiserSettings {
    OptimiserSettings {
        real_rate: config.real_rate,
        attack_rate: config.attack_rate,
        real_decay: config.real_decay,
        factor_decay: config.factor_decay,
        decay: config.decay,
        output_scale: config.output_scale,
    }
}
