//! `zoothera train`: from files of positions to a `.nnue` file.

mod checkpoint;
mod config;
mod display;
mod export;
mod outputs;
mod picture;
mod plot;
mod schedule;
mod session;
mod start;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use config::{Config, Overrides};
use export::ExportArgs;
use session::Session;

use super::model::shapes::of_width;
use super::samples::dataset::{self, Dataset, PositionFile, Selection};
use super::step::thread_pool;
use crate::data::Filter;

/// Train a net on labelled positions: HalfKP 256x2-32-32-1, or one of another width, with squared ReLUs, with
/// HalfKAv2_hm features, or with eight stacks of layers.
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
}

/// Most positions held out: more say nothing more, and measuring on them takes time.
const HOLDOUT_LIMIT: usize = 300_000;

/// Does what the arguments say.
///
/// # Errors
/// When settings or files are not what they should be, or the disk fails.
pub fn run(args: TrainArgs) -> Result<()> {
    if let Some(TrainCommand::Export(export)) = &args.command {
        return export::run(export);
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
    let data = load(&sources, &config)?;
    train(config, data, args.resume, args.init.as_deref())
}

/// The whole of a run whose width is settled.
fn train<const L1: usize>(
    config: Config,
    data: (Dataset, Dataset),
    resume: bool,
    init: Option<&Path>,
) -> Result<()> {
    let mut session = Session::<L1>::begin(config, data, resume, init)?;
    session.learn()?;
    session.finish()
}

/// The files that the settings name, of either kind.
fn sources(settings: &Overrides) -> Vec<PositionFile> {
    let of = |paths: &[PathBuf], sampled| {
        let source = |path: &PathBuf| PositionFile {
            path: path.clone(),
            sampled,
        };
        paths.iter().map(source).collect::<Vec<_>>()
    };
    [of(&settings.sampled, true), of(&settings.files, false)].concat()
}

/// The positions to learn from and those held out, as the settings say.
fn load(sources: &[PositionFile], config: &Config) -> Result<(Dataset, Dataset)> {
    let selection = Selection {
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
    };
    let pool = thread_pool(config.threads)?;
    let (training, held_out) = pool.install(|| dataset::load(sources, &selection))?;
    eprintln!(
        "{} positions to learn from, {} held out",
        training.len(),
        held_out.len()
    );
    Ok((training, held_out))
}
