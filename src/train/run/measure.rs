//! `zoothera train loss`: the loss of nets and checkpoints on files of labelled positions.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};

use super::checkpoint;
use crate::data::entry::{NO_SCORE, board_of_entry};
use crate::data::label::{Judge, LabelNet, Labeller, label_in_parallel};
use crate::data::{Entry, Record, reader};
use crate::nnue::{Board, Network};
use crate::train::model::Model;
use crate::train::model::parameters::DenseParameters;
use crate::train::model::shapes::UNITS;
use crate::train::step::layers::{Loss, LossKind};
use crate::util::text::Shown as _;
use crate::util::{cores, sync};

/// Positions evaluated at once.
const BATCH: usize = 1 << 16;

/// Arguments of `train loss`.
#[derive(clap::Args, Clone, Debug)]
pub struct LossArgs {
    /// Files of labelled positions, of any format (see `data convert`)
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Network or checkpoint of a training run to measure, with an optional factor for its values; the embedded net if
    /// absent. Several are compared. The values of a checkpoint are those of the floating-point model, without its
    /// --output-scale
    #[arg(long, value_name = "FILE[@FACTOR]")]
    pub net: Vec<LabelNet>,
    /// Engine units of score at which the expected result is 73 %
    #[arg(long, default_value_t = 340.0)]
    pub scale: f32,
    /// Weight of the score relative to the game result
    #[arg(long, default_value_t = 1.0)]
    pub lambda: f32,
    /// Largest |score| of a measured position, in engine units
    #[arg(long, value_name = "UNITS", default_value_t = 10_000)]
    pub max_score: i16,
    /// Also print the loss by the number of pieces on the board
    #[arg(long)]
    pub by_pieces: bool,
    /// Threads; all cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// Prints a line for each file and net: the mean loss of expected results in millionths, and the mean absolute
/// difference from the score in engine units.
///
/// # Errors
/// Fails if a net or a file cannot be read, or a file has no position to measure. The error names the file.
pub fn run(args: &LossArgs, out: &mut impl Write) -> Result<()> {
    ensure!(args.scale > 0.0 && args.scale.is_finite(), "scale is {}, but must be more than 0", args.scale);
    ensure!((0.0..=1.0).contains(&args.lambda), "lambda is {}, but must be between 0 and 1", args.lambda);
    let loss = Loss { kind: LossKind::Mse, lambda: args.lambda, scale: args.scale, exponent: 2.0, sparsity: 0.0 };
    let mut nets = nets(&args.net, args.threads)?;
    writeln!(out, "{:>12} {:>12} {:>10}  net, file", "positions", "loss / 1e-6", "units")?;
    for path in &args.files {
        for net in &mut nets {
            net.clear();
        }
        measure(path, args.max_score, &loss, &mut nets)?;
        for net in &nets {
            net.write(path, out)?;
            if args.by_pieces {
                net.write_by_pieces(out)?;
            }
        }
    }
    Ok(())
}

/// Returns the mean loss of a net on the samples of a file at `scale`, by their scores alone.
///
/// # Errors
/// Fails if the net or the file cannot be read, or the file has no sample.
pub fn mean_loss(net: &LabelNet, file: &Path, scale: f32, threads: u16) -> Result<f64> {
    let loss = Loss { kind: LossKind::Mse, lambda: 1.0, scale, exponent: 2.0, sparsity: 0.0 };
    let mut nets = nets(std::slice::from_ref(net), Some(threads))?;
    measure(file, i16::MAX - 1000, &loss, &mut nets)?;
    let total = nets.iter().map(Measured::total).fold(Sum::default(), Sum::plus);
    ensure!(total.positions > 0, "{} has no positions", file.shown());
    Ok(total.loss / total.positions as f64)
}

/// Loads the nets of the arguments, or the embedded one.
fn nets(labels: &[LabelNet], threads: Option<u16>) -> Result<Vec<Measured>> {
    let threads = match threads {
        _ if !sync::THREADS_EXIST => 1,
        Some(threads) => threads.into(),
        None => cores(),
    };
    if labels.is_empty() {
        let judge = Judge::of(Network::embedded());
        return Ok(vec![Measured::new("<default>".into(), &judge, threads)]);
    }
    let measured = |label: &LabelNet| {
        let file = label.file();
        let name = file.shown();
        if checkpoint::is_checkpoint(file)? {
            let model = checkpoint::read(file)?.parameters.into_result();
            return Ok(Measured::of_model(name, model, label.factor(), threads));
        }
        let network = Network::from_file(file).with_context(|| format!("cannot use {name}"))?;
        Ok(Measured::new(name, &label.judge(Arc::new(network)), threads))
    };
    labels.iter().map(measured).collect()
}

/// Number of pieces in a group of the losses by pieces, as in the layer stacks.
const GROUP: usize = 4;

/// A net, and the sums of its losses and differences on the current file.
struct Measured {
    name: String,
    evaluator: Evaluator,
    /// By the number of pieces on the board, in groups of [`GROUP`].
    sums: [Sum; 32 / GROUP],
}

/// Sums over positions.
#[derive(Clone, Copy, Default)]
struct Sum {
    positions: u64,
    loss: f64,
    difference: f64,
}

impl Sum {
    fn plus(self, other: Self) -> Self {
        Self {
            positions: self.positions + other.positions,
            loss: self.loss + other.loss,
            difference: self.difference + other.difference,
        }
    }
}

/// What computes the values.
enum Evaluator {
    /// A net in the engine's integers, one copy for each thread.
    Net(Vec<Labeller>),
    /// A model in floating point.
    Model { model: Box<Model>, dense: Box<DenseParameters>, factor: f32, threads: usize },
}

impl Evaluator {
    /// Returns the values of a batch in engine units.
    fn values(&mut self, batch: &Batch) -> Vec<f32> {
        match self {
            Self::Net(labellers) => {
                label_in_parallel(labellers, &batch.boards).into_iter().map(|value| value as f32).collect()
            }
            Self::Model { model, dense, factor, threads } => {
                let (model, dense, factor) = (&**model, &**dense, *factor * UNITS);
                let share = batch.records.len().div_ceil(*threads).max(1);
                let value = move |record: &Record| factor * model.output(dense, record);
                let jobs = batch.records.chunks(share);
                sync::in_parallel(jobs.map(|records| move || records.iter().map(value).collect()))
            }
        }
    }
}

impl Measured {
    fn new(name: String, judge: &Judge, threads: usize) -> Self {
        let judges = std::slice::from_ref(judge);
        let labellers = (0..threads).filter_map(|_| Labeller::new(judges)).collect();
        Self { name, evaluator: Evaluator::Net(labellers), sums: Default::default() }
    }

    fn of_model(name: String, model: Model, factor: f64, threads: usize) -> Self {
        let dense = Box::new(model.read_dense().into_owned());
        let evaluator = Evaluator::Model { model: Box::new(model), dense, factor: factor as f32, threads };
        Self { name, evaluator, sums: Default::default() }
    }

    fn clear(&mut self) {
        self.sums = Default::default();
    }

    fn total(&self) -> Sum {
        self.sums.iter().copied().fold(Sum::default(), Sum::plus)
    }

    /// Adds the losses of a batch.
    fn add(&mut self, batch: &Batch, loss: &Loss) {
        let values = self.evaluator.values(batch);
        for (value, record) in values.into_iter().zip(&batch.records) {
            let (lost, _) = loss.of(value / UNITS, loss.target(record));
            let group = (record.piece_count() as usize).clamp(1, 32).div_ceil(GROUP) - 1;
            self.sums[group] = self.sums[group].plus(Sum {
                positions: 1,
                loss: lost.into(),
                difference: f64::from(value - f32::from(record.score)).abs(),
            });
        }
    }

    fn write(&self, path: &Path, out: &mut impl Write) -> Result<()> {
        let Sum { positions, loss, difference } = self.total();
        ensure!(positions > 0, "{} has no positions with a score within --max-score", path.shown());
        let mean = |sum: f64| sum / positions as f64;
        writeln!(
            out,
            "{:>12} {:>12.1} {:>10.2}  {}, {}",
            positions,
            1e6 * mean(loss),
            mean(difference),
            self.name,
            path.shown()
        )?;
        Ok(())
    }

    /// Writes the losses by the number of pieces: the largest number of a group, its loss, and its positions.
    fn write_by_pieces(&self, out: &mut impl Write) -> Result<()> {
        write!(out, "{:>12}", "pieces")?;
        for (group, sum) in self.sums.iter().enumerate().filter(|(_, sum)| sum.positions > 0) {
            let last = GROUP * (group + 1);
            write!(
                out,
                "  {}-{last}: {:.0} ({})",
                last + 1 - GROUP,
                1e6 * sum.loss / sum.positions as f64,
                sum.positions
            )?;
        }
        writeln!(out)?;
        Ok(())
    }
}

/// Positions with their labels, evaluated together.
#[derive(Default)]
struct Batch {
    boards: Vec<Board>,
    records: Vec<Record>,
}

impl Batch {
    fn push(&mut self, entry: &Entry) -> Result<()> {
        self.boards.push(board_of_entry(entry)?);
        self.records.push(entry.record());
        Ok(())
    }

    /// Adds the losses of this batch to all nets and empties the batch.
    fn measure(&mut self, loss: &Loss, nets: &mut [Measured]) {
        for net in nets {
            net.add(self, loss);
        }
        self.boards.clear();
        self.records.clear();
    }
}

/// Adds the losses of all nets on the positions of a file.
fn measure(path: &Path, max_score: i16, loss: &Loss, nets: &mut [Measured]) -> Result<()> {
    let mut batch = Batch::default();
    reader::for_each(path, |entry| {
        if entry.score == NO_SCORE || entry.score.unsigned_abs() > max_score.unsigned_abs() {
            return Ok(());
        }
        if entry.score_alone && loss.lambda < 1.0 {
            bail!("the results of its positions are no labels, because they are samples: leave out --lambda");
        }
        batch.push(entry)?;
        if batch.records.len() == BATCH {
            batch.measure(loss, nets);
        }
        Ok(())
    })?;
    batch.measure(loss, nets);
    Ok(())
}
