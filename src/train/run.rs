//! `zoothera train`: from game files to a `.nnue` file.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::export::{parity, quantise};
use super::loss::Loss;
use super::model::Model;
use super::optimiser::Settings;
use super::schedule::Cosine;
use super::trainer::Trainer;
use crate::data::{Filter, Record, read_records};
use crate::util::rng::SplitMix64;

/// Train a HalfKP 256x2-32-32-1 net on search-labelled games.
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
/// Positions that the export is checked on.
const PARITY_POSITIONS: usize = 10_000;

/// Trains, and writes the net.
pub fn run(args: &TrainArgs) -> Result<()> {
    let mut rng = SplitMix64::new(args.seed);
    let (mut training, validation) = load(args, &mut rng)?;
    eprintln!(
        "{} positions to learn from, {} held out",
        training.len(),
        validation.len()
    );
    let loss = Loss {
        lambda: args.lambda,
        scale: args.scale,
    };
    let settings = Settings {
        real_rate: args.real_rate,
        real_decay: args.real_decay,
    };
    let model = Model::initial(&mut rng, INITIAL_SPAN);
    let mut trainer = Trainer::new(model, settings, loss, args.threads);
    let mut progress = Progress::new(args);
    while progress.done() < 1.0 {
        shuffle(&mut training, &mut rng);
        for batch in training.chunks(args.batch) {
            let done = progress.done();
            if done >= 1.0 {
                break;
            }
            let loss = trainer.step(batch, progress.schedule.rate(done), &mut rng);
            if progress.add(batch.len(), loss) {
                progress.report(trainer.validate(&validation));
                write_net(&trainer.model, args)?;
            }
        }
    }
    if progress.recent.1 > 0 {
        progress.report(trainer.validate(&validation));
    }
    let net = write_net(&trainer.model, args)?;
    let checked = &validation[..validation.len().min(PARITY_POSITIONS)];
    eprintln!(
        "{}",
        parity((&trainer.model, args.output_scale), &net, checked)
    );
    Ok(())
}

/// The records to learn from and those held out: whole games from the end of every file.
fn load(args: &TrainArgs, rng: &mut SplitMix64) -> Result<(Vec<Record>, Vec<Record>)> {
    let filter = Filter {
        max_score: args.max_score,
        ..Filter::default()
    };
    let (mut training, mut validation) = (Vec::new(), Vec::new());
    for path in &args.files {
        let mut records = read_records(path, &filter)?;
        let kept = records.len() - (records.len() as f64 * args.holdout.clamp(0.0, 1.0)) as usize;
        validation.extend(records.drain(kept..));
        let limit = args.thin_beyond.unsigned_abs();
        records.retain(|record| record.score.unsigned_abs() <= limit || rng.below(2) == 0);
        training.extend(records);
    }
    if training.is_empty() {
        bail!("no position is left to learn from");
    }
    Ok((training, validation))
}

/// Fisher and Yates.
fn shuffle(records: &mut [Record], rng: &mut SplitMix64) {
    for last in (1..records.len()).rev() {
        records.swap(last, rng.below(last + 1));
    }
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
    shown: f64,
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
            shown: 0.0,
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
        (self.shown / self.wanted).max(by_clock) as f32
    }

    /// Counts a batch; says whether a report is due.
    fn add(&mut self, positions: usize, loss: f32) -> bool {
        self.shown += positions as f64;
        self.recent = (self.recent.0 + f64::from(loss), self.recent.1 + 1);
        let due = self.shown >= self.next_report;
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
            self.shown / 1e6,
            100.0 * done,
            self.recent.0 / f64::from(self.recent.1.max(1)),
            self.schedule.rate(done as f32),
            self.shown / 1e3 / seconds,
            seconds * (1.0 - done).max(0.0) / done.max(1e-9),
        );
        self.recent = (0.0, 0);
    }
}
