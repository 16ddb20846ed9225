//! `zoothera train`: from files of positions to a `.nnue` file.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::checkpoint::{self, Contents, Parameters, Report, State};
use super::config::{Config, Overrides};
use super::dataset::{self, Dataset, Selection, Source};
use super::display::{self, Moment};
use super::export::{ExportArgs, export};
use super::import::model_of;
use super::loss::Loss;
use super::model::Model;
use super::optimiser::{Moments, Optimiser, Settings};
use super::picture;
use super::plot;
use super::report::ExportReport;
use super::schedule::{self, Place};
use super::shapes::of_width;
use super::trainer::{Trainer, thread_pool};
use crate::data::{Filter, Record};
use crate::nnue::{Architecture, Network};
use crate::util::atomic::write_atomically;
use crate::util::rng::SplitMix64;

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

/// Span of the factor rows at the start.
const INITIAL_SPAN: f32 = 0.03;
/// Most positions held out: more say nothing more, and measuring on them takes time.
const HOLDOUT_LIMIT: usize = 300_000;
/// Positions that an export is checked on.
const CHECK_POSITIONS: usize = 10_000;

/// Does what the arguments say.
///
/// # Errors
/// When settings or files are not what they should be, or the disk fails.
pub fn run(args: TrainArgs) -> Result<()> {
    if let Some(TrainCommand::Export(export)) = &args.command {
        return super::export::run(export);
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
    let data = load(&sources, &config)?;
    let architecture = config.architecture()?;
    let train = of_width!(train, architecture);
    train(config, data, args.resume, args.init.as_deref())
}

/// The whole of a run whose width is settled.
fn train<const L1: usize>(
    config: Config,
    data: (Dataset, Dataset),
    resume: bool,
    init: Option<&Path>,
) -> Result<()> {
    let mut run = Run::<L1>::begin(config, data, resume, init)?;
    run.learn()?;
    run.finish()
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

/// The positions to learn from and those held out, as the settings say.
fn load(sources: &[Source], config: &Config) -> Result<(Dataset, Dataset)> {
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

/// A run: data, trainer, and where it stands.
struct Run<const L1: usize> {
    training: Dataset,
    held_out: Dataset,
    /// Some of the held-out positions, which checkpoints carry to check exports on.
    checked: Vec<Record>,
    trainer: Trainer<L1>,
    state: State,
    display: display::Display,
    started: Instant,
    /// Positions that this process has shown.
    shown_here: u64,
    /// Seconds of work before this process.
    seconds_before: f64,
}

impl<const L1: usize> Run<L1> {
    /// A run from the beginning, from another net, or from where it was left.
    fn begin(
        config: Config,
        (training, held_out): (Dataset, Dataset),
        resume: bool,
        init: Option<&Path>,
    ) -> Result<Self> {
        let path = beside(&config.out, "checkpoint");
        let (state, parameters) = if resume && path.exists() {
            let found = resumed(&path, &config, training.len())?;
            eprintln!("going on after {:.1} M positions", millions(found.0.shown));
            found
        } else {
            if resume {
                eprintln!("there is no {} yet: a new run", path.display());
            }
            keep_old(&path)?;
            (
                new_state(&config, training.len()),
                new_parameters(&config, init)?,
            )
        };
        let settings = Settings {
            real_rate: config.real_rate,
            real_decay: config.real_decay,
            output_scale: config.output_scale,
        };
        let optimiser = Optimiser::new(settings, parameters.moments);
        let size = (config.threads, config.batch);
        let loss = Loss {
            kind: config.loss,
            lambda: config.lambda,
            scale: config.scale,
        };
        let checked = held_out.records().take(CHECK_POSITIONS).copied().collect();
        Ok(Self {
            trainer: Trainer::new(parameters.model, optimiser, loss, size)?,
            training,
            held_out,
            checked,
            seconds_before: state.seconds,
            state,
            display: display::Display::new(),
            started: Instant::now(),
            shown_here: 0,
        })
    }

    /// Shows batch after batch until the end.
    fn learn(&mut self) -> Result<()> {
        while self.place().done < 1.0 {
            let before = self.state.shown;
            let loss = self.step();
            self.display.tick(moment(
                &self.state,
                self.place(),
                (self.started, self.shown_here),
                loss,
            ));
            let passed = |period: f64| {
                let periods = |shown: u64| (millions(shown) / period) as u64;
                period > 0.0 && periods(before) != periods(self.state.shown)
            };
            let (validate, keep) = (
                passed(self.state.config.every),
                passed(self.state.config.checkpoint_every),
            );
            if validate {
                self.validate()?;
            }
            if keep {
                self.keep()?;
            }
        }
        Ok(())
    }

    /// One batch.
    fn step(&mut self) -> f32 {
        let (config, at) = (&self.state.config, self.place());
        let rate = schedule::rate(config, at);
        self.trainer.loss.lambda = schedule::lambda(config, at);
        let (training, seed, first) = (&self.training, config.seed, self.state.shown);
        let show = |at: usize, count: usize, out: &mut _| {
            training.show(seed, first + at as u64, count, out);
        };
        let batch = config.batch;
        let loss = self.trainer.step(batch, &show, rate);
        self.state.shown += batch as u64;
        self.shown_here += batch as u64;
        self.state.recent.0 += f64::from(loss);
        self.state.recent.1 += 1;
        self.state.seconds = self.seconds_before + self.started.elapsed().as_secs_f64();
        loss
    }

    /// Where the run stands, by positions or by the clock, whichever is further.
    fn place(&self) -> Place {
        let config = &self.state.config;
        let by_clock = if config.minutes > 0.0 {
            self.state.seconds / (60.0 * config.minutes)
        } else {
            0.0
        };
        let millions = millions(self.state.shown);
        Place {
            done: (millions / config.millions).max(by_clock) as f32,
            millions,
        }
    }

    /// Measures on what was held out, and writes net, log and plot.
    fn validate(&mut self) -> Result<()> {
        let (place, state) = (self.place(), &mut self.state);
        self.trainer.loss.lambda = schedule::last_lambda(&state.config);
        let (sum, count) = std::mem::take(&mut state.recent);
        let report = Report {
            shown: state.shown,
            train: sum / f64::from(count.max(1)),
            held_out: self.trainer.validate(&self.held_out),
            rate: schedule::rate(&state.config, place),
            lambda: schedule::lambda(&state.config, place),
            seconds: state.seconds,
        };
        state.history.push(report);
        let loss = report.train as f32;
        let moment = moment(&self.state, place, (self.started, self.shown_here), loss);
        self.display.report(&report, moment);
        self.write_net()?;
        self.write_curves()
    }

    fn write_net(&self) -> Result<Network> {
        let config = &self.state.config;
        let net = export(&self.trainer.model, config.output_scale, &self.checked);
        let bytes = net.to_bytes();
        write_atomically(&config.out, |file| std::io::Write::write_all(file, &bytes))?;
        Ok(net)
    }

    fn write_curves(&self) -> Result<()> {
        let (out, history) = (&self.state.config.out, &self.state.history);
        for (extension, text) in [
            ("tsv", log_of(history)),
            ("svg", picture::svg(&picture_title(out), history)),
        ] {
            write_atomically(&beside(out, extension), |file| {
                std::io::Write::write_all(file, text.as_bytes())
            })?;
        }
        Ok(())
    }

    /// Writes the checkpoint.
    fn keep(&self) -> Result<()> {
        let contents = Contents {
            state: &self.state,
            model: &self.trainer.model,
            moments: &self.trainer.optimiser.moments,
            records: &self.checked,
        };
        checkpoint::write(&beside(&self.state.config.out, "checkpoint"), contents)
    }

    /// The last validation, the last checkpoint, and what the net is like.
    fn finish(&mut self) -> Result<()> {
        if self.state.recent.1 > 0 {
            self.validate()?;
        }
        self.keep()?;
        let net = self.write_net()?;
        let scale = self.state.config.output_scale;
        let report = ExportReport::of((&self.trainer.model, scale), &net, &self.checked);
        self.display.say(&format!(
            "{}{report}\nwrote {}",
            plot::text(&self.state.history),
            self.state.config.out.display()
        ));
        Ok(())
    }
}

fn millions(positions: u64) -> f64 {
    positions as f64 / 1e6
}

/// The file beside the net that has this extension.
fn beside(out: &Path, extension: &str) -> PathBuf {
    out.with_extension(extension)
}

/// The state of a run that begins.
fn new_state(config: &Config, positions: u64) -> State {
    State {
        config: config.clone(),
        positions,
        shown: 0,
        recent: (0.0, 0),
        seconds: 0.0,
        history: Vec::new(),
    }
}

/// The parameters of a run that begins, random or from a file.
fn new_parameters(config: &Config, init: Option<&Path>) -> Result<Parameters> {
    let told = config.architecture()?;
    let model = match init {
        Some(path) => model_of(path, config.output_scale)?,
        None => Model::initial(&mut SplitMix64::new(config.seed), told, INITIAL_SPAN),
    };
    if let Some(difference) = difference(model.architecture, told) {
        bail!("the net to begin with has {difference}");
    }
    Ok(Parameters {
        model,
        moments: Moments::zeros(told),
    })
}

/// How the shape of the net to begin with is not what the run was told, and how to tell it.
fn difference(found: Architecture, told: Architecture) -> Option<String> {
    let part = |what: &str, found: &dyn Display, told: &dyn Display, option: &str| {
        format!("{what} {found}, but the run was told {told}: give `--{option}`")
    };
    if found.activation != told.activation {
        let option = format!("activation {}", found.activation);
        return Some(part(
            "the activation",
            &found.activation,
            &told.activation,
            &option,
        ));
    }
    if found.l1 != told.l1 {
        let option = format!("l1 {}", found.l1);
        return Some(part("accumulators of width", &found.l1, &told.l1, &option));
    }
    if found.features != told.features {
        return Some(part(
            "the features",
            &found.features,
            &told.features,
            "features",
        ));
    }
    if found.buckets != told.buckets {
        let option = format!("buckets {}", found.buckets);
        return Some(part(
            "stacks in the number of",
            &found.buckets,
            &told.buckets,
            &option,
        ));
    }
    None
}

/// Reads the checkpoint of a run, which must be the one that `config` and the data describe.
fn resumed(path: &Path, config: &Config, positions: u64) -> Result<(State, Parameters)> {
    let (mut state, parameters, _) = checkpoint::read(path)?;
    if let Some(difference) = config.difference(&state.config) {
        bail!(
            "{} belongs to another run: {difference} (here and there). Give the same settings, or begin a new run \
             with --init",
            path.display()
        );
    }
    if state.positions != positions {
        bail!(
            "{} belongs to a run on {} positions, but the files hold {positions}",
            path.display(),
            state.positions
        );
    }
    state.config = config.clone();
    Ok((state, parameters))
}

/// A new run does not throw away what an older one has left: its checkpoint gets another name.
fn keep_old(path: &Path) -> Result<()> {
    if !path.exists() {
        return Ok(());
    }
    let old = beside(path, "checkpoint.old");
    eprintln!(
        "{} is there from another run (--resume would go on from it): kept as {}",
        path.display(),
        old.display()
    );
    std::fs::rename(path, &old).with_context(|| format!("cannot rename {}", path.display()))
}

/// Names the net, but not the folder where it happens to lie.
pub fn picture_title(net: &Path) -> String {
    let name = net.file_name().unwrap_or_default();
    format!("{}: loss by positions shown", name.display())
}

/// What the display needs to know.
fn moment<'a>(
    state: &'a State,
    place: Place,
    (started, shown_here): (Instant, u64),
    loss: f32,
) -> Moment<'a> {
    let done = f64::from(place.done);
    let here = started.elapsed().as_secs_f64();
    Moment {
        done,
        shown: state.shown,
        speed: shown_here as f64 / here.max(1e-9),
        left: state.seconds * (1.0 - done).max(0.0) / done.max(1e-9),
        loss: f64::from(loss),
        history: &state.history,
    }
}

/// The log: a line per validation.
fn log_of(history: &[Report]) -> String {
    let header = "positions\ttrain\theld_out\trate\tlambda\tseconds\n".to_owned();
    history.iter().fold(header, |log, report| {
        log + &format!(
            "{}\t{:.8}\t{:.8}\t{:.8}\t{:.4}\t{:.1}\n",
            report.shown, report.train, report.held_out, report.rate, report.lambda, report.seconds
        )
    })
}
