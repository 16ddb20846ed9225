//! `zoothera train`: from files of positions to a `.nnue` file.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::dataset::{self, Dataset, Selection};
use super::export::{parity, quantise};
use super::loss::Loss;
use super::model::Model;
use super::optimiser::Settings;
use super::schedule::Cosine;
use super::trainer::{Trainer, thread_pool};
use crate::data::{Filter, Record};
use crate::util::rng::SplitMix64;

/// Train a HalfKP 256x2-32-32-1 net on labelled positions.
#[derive(clap::Args, Clone, Debug)]
pub struct TrainArgs {
    /// The files to learn from: `.bin`, `.binpack` or `.plain`.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Where the net goes; written at every validation, so that a run may be ended at any time.
    #[arg(long, default_value = "trained.nnue")]
    pub out: PathBuf,
    /// Positions to show the net, in millions, repetitions counted.
    #[arg(long, default_value_t = 100.0)]
    pub millions: f64,
    /// End after so many minutes at the latest; the learning rate then falls by the clock.
    #[arg(long)]
    pub minutes: Option<f64>,
    /// Positions of a step.
    #[arg(long, default_value_t = 16_384)]
    pub batch: usize,
    /// Learning rate at the start; a cosine brings it down to a hundredth.
    #[arg(long, default_value_t = 0.004)]
    pub rate: f32,
    /// Learning rate of the king-dependent rows, relative to the rest.
    #[arg(long, default_value_t = 1.0)]
    pub real_rate: f32,
    /// Weight decay of the king-dependent rows.
    #[arg(long, default_value_t = 0.0)]
    pub real_decay: f32,
    /// Weight of the search score against the game's result.
    #[arg(long, default_value_t = 0.8)]
    pub lambda: f32,
    /// Engine units at which the expected result is 73 %.
    #[arg(long, default_value_t = 361.0)]
    pub scale: f32,
    /// Multiplies what the written net says, where the labels' units are not the engine's.
    #[arg(long, default_value_t = 1.0)]
    pub output_scale: f32,
    /// Largest |score| to learn from, in engine units.
    #[arg(long, default_value_t = 3000)]
    pub max_score: i16,
    /// Learn also from positions in check and those whose best move captures or promotes: for static labels.
    #[arg(long)]
    pub any_position: bool,
    /// Learn from one in two positions beyond this |score|.
    #[arg(long, default_value_t = i16::MAX)]
    pub thin_beyond: i16,
    /// Share of every file, at its end, that is kept for validation.
    #[arg(long, default_value_t = 0.02)]
    pub holdout: f64,
    /// Millions of positions between validations.
    #[arg(long, default_value_t = 5.0)]
    pub every: f64,
    /// Threads.
    #[arg(long, default_value_t = 2)]
    pub threads: usize,
    /// Seed of everything random.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Span of the factor rows at the start.
const INITIAL_SPAN: f32 = 0.03;
/// Most positions held out: more say nothing more, and measuring on them takes time.
const HOLDOUT_LIMIT: usize = 300_000;
/// Positions that the export is checked on.
const PARITY_POSITIONS: usize = 10_000;

/// Trains, and writes the net.
pub fn run(args: &TrainArgs) -> Result<()> {
    let (training, held_out) = load(args)?;
    let loss = Loss {
        lambda: args.lambda,
        scale: args.scale,
    };
    let settings = Settings {
        real_rate: args.real_rate,
        real_decay: args.real_decay,
    };
    let model = Model::initial(&mut SplitMix64::new(args.seed), INITIAL_SPAN);
    let mut trainer = Trainer::new(model, settings, loss, (args.threads, args.batch))?;
    let mut progress = Progress::new(args);
    while progress.done() < 1.0 {
        let rate = progress.schedule.rate(progress.done());
        let first = progress.shown;
        let show = |at: usize, count: usize, out: &mut _| {
            training.show(args.seed, first + at as u64, count, out);
        };
        let loss = trainer.step(args.batch, &show, rate);
        if progress.add(args.batch, loss) {
            progress.report(trainer.validate(&held_out));
            write_net(&trainer.model, args)?;
        }
    }
    if progress.recent.1 > 0 {
        progress.report(trainer.validate(&held_out));
    }
    let net = write_net(&trainer.model, args)?;
    let checked: Vec<&Record> = held_out.records().take(PARITY_POSITIONS).collect();
    eprintln!(
        "{}",
        parity((&trainer.model, args.output_scale), &net, &checked)
    );
    Ok(())
}

/// The positions to learn from and those held out, as the arguments say.
fn load(args: &TrainArgs) -> Result<(Dataset, Dataset)> {
    if args.batch == 0 {
        bail!("--batch must be at least 1");
    }
    let selection = Selection {
        filter: Filter {
            max_score: args.max_score,
            quiet: !args.any_position,
            ..Filter::default()
        },
        thin_beyond: args.thin_beyond.unsigned_abs(),
        holdout: args.holdout,
        holdout_limit: HOLDOUT_LIMIT,
        seed: args.seed,
    };
    let pool = thread_pool(args.threads)?;
    let (training, held_out) = pool.install(|| dataset::load(&args.files, &selection))?;
    eprintln!(
        "{} positions to learn from, {} held out",
        training.len(),
        held_out.len()
    );
    Ok((training, held_out))
}

/// Quantises and writes the net beside its name first, so that a reader never sees half of it.
fn write_net(model: &Model, args: &TrainArgs) -> Result<super::quantised::QuantisedNet> {
    let path = &args.out;
    let net = quantise(model, args.output_scale);
    let beside = path.with_extension("nnue.tmp");
    let write = || -> std::io::Result<()> {
        let mut file = std::fs::File::create(&beside)?;
        file.write_all(&net.to_bytes())?;
        file.sync_all()?;
        std::fs::rename(&beside, path)
    };
    write().with_context(|| format!("cannot write {}", path.display()))?;
    Ok(net)
}

/// How far the run has come.
struct Progress {
    started: Instant,
    limit: Option<Duration>,
    wanted: f64,
    shown: u64,
    every: f64,
    next_report: f64,
    schedule: Cosine,
    recent: (f64, u32),
}

impl Progress {
    fn new(args: &TrainArgs) -> Self {
        Self {
            started: Instant::now(),
            limit: args
                .minutes
                .map(|minutes| Duration::from_secs_f64(60.0 * minutes.max(0.0))),
            wanted: (args.millions * 1e6).max(1.0),
            shown: 0,
            every: (args.every * 1e6).max(1.0),
            next_report: (args.every * 1e6).max(1.0),
            schedule: Cosine {
                first: args.rate,
                floor: 0.01,
            },
            recent: (0.0, 0),
        }
    }

    /// Share of the run that has passed, by positions or by the clock, whichever is further.
    fn done(&self) -> f32 {
        let by_clock = self.limit.map_or(0.0, |limit| {
            self.started.elapsed().as_secs_f64() / limit.as_secs_f64().max(1e-9)
        });
        (self.shown as f64 / self.wanted).max(by_clock) as f32
    }

    /// Counts a batch; says whether a report is due.
    fn add(&mut self, positions: usize, loss: f32) -> bool {
        self.shown += positions as u64;
        self.recent = (self.recent.0 + f64::from(loss), self.recent.1 + 1);
        let due = self.shown as f64 >= self.next_report;
        if due {
            self.next_report += self.every;
        }
        due
    }

    fn report(&mut self, validation: f32) {
        let seconds = self.started.elapsed().as_secs_f64();
        let done = f64::from(self.done());
        eprintln!(
            "{:7.1} M  {:5.1} %  train {:.6}  held out {validation:.6}  rate {:.6}  {:6.1} k/s  {:5.0} s left",
            self.shown as f64 / 1e6,
            100.0 * done,
            self.recent.0 / f64::from(self.recent.1.max(1)),
            self.schedule.rate(done as f32),
            self.shown as f64 / 1e3 / seconds,
            seconds * (1.0 - done).max(0.0) / done.max(1e-9),
        );
        self.recent = (0.0, 0);
    }
}
