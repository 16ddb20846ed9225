//! `zoothera gpu`: a list of the cards, and the test of one: its gradient and its labels against the processor's, and
//! its speed.

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::GpuArgs;
use super::sizes::{RECORD, supported};
use super::trainer::GpuTrainer;
use crate::data::Record;
use crate::gpu::card::{Card, cards, choose};
use crate::gpu::evaluator::Evaluator;
use crate::gpu::{CardChoice, PackedPosition};
use crate::nnue::features::attack_inputs::AttackInputs;
use crate::nnue::{AccumulatorStack, Architecture, Board, Network};
use crate::train::model::Model;
use crate::train::model::parameters::RowLayout;
use crate::train::model::shapes::Rounding;
use crate::train::samples::Sample;
use crate::train::samples::positions;
use crate::train::step::layers::{Loss, LossKind};
use crate::train::step::optimiser::{Moments, Optimiser, OptimiserSettings};
use crate::train::step::{Parameters, Stepper, Trainer, TrainerSize};
use crate::util::rng::SplitMix64;

/// Largest relative difference of a gradient between card and processor.
pub const TOLERANCE: f64 = 1e-2;
/// Positions of the comparison.
pub const COMPARED: usize = 1024;
/// Span of the initial weights. A smaller span gives deltas of products that are too small to compare.
const SPAN: f32 = 0.15;

/// The loss of the test.
pub const LOSS: Loss = Loss { kind: LossKind::Power, lambda: 0.8, scale: 361.0, exponent: 2.5, sparsity: 0.1 };
/// The optimiser of the test.
pub const SETTINGS: OptimiserSettings = OptimiserSettings {
    real_rate: 1.0,
    attack_rate: 1.0,
    real_decay: 0.0,
    factor_decay: 0.0,
    decay: 0.0,
    output_scale: 0.8,
};

/// The speed of training on a card.
pub struct Speed {
    /// Positions trained on per second.
    pub positions: f64,
    /// Seconds of a step.
    pub step: f64,
    /// Memory of the card's buffers in bytes.
    pub bytes: u64,
}

/// Returns the shapes of the test: eight king buckets and a width of 1024, with and without attack inputs.
///
/// # Errors
/// Fails if this program was built without these shapes.
fn shapes() -> Result<[Architecture; 2]> {
    let shape = |attacks: AttackInputs| {
        let is_wanted =
            |shape: &Architecture| shape.l1 == 1024 && shape.features.set().kings == 8 && shape.attacks == attacks;
        supported().find(is_wanted).context("no shape for the self-test")
    };
    Ok([shape(AttackInputs::None)?, shape(AttackInputs::ToEnemy)?])
}

/// Returns an untrained model.
pub fn parameters(architecture: Architecture) -> Parameters {
    let mut model = Model::initial(&mut SplitMix64::new(5), architecture, SPAN);
    // The labels are material, so with initial piece values the untrained net would already fit them.
    model.dense.psqt.fill(0.0);
    Parameters { model, moments: Moments::zeros(architecture), average: None }
}

/// Returns positions of random games, every third one mirrored.
pub fn samples(records: &[Record]) -> Vec<Sample> {
    let sample = |(at, &record): (usize, &Record)| Sample { record, mirrored: at % 3 == 0 };
    records.iter().enumerate().map(sample).collect()
}

/// Returns the largest relative difference of the card's gradients from the processor's, over all tensors, without and
/// with rounding.
///
/// # Errors
/// Fails if the card fails.
pub fn gradient_difference(card: &Card, architecture: Architecture) -> Result<f64> {
    let batch = samples(&positions(COMPARED));
    let mut worst = 0.0_f64;
    for rounding in [None, Some(Rounding { output_scale: SETTINGS.output_scale })] {
        let mut trainer = GpuTrainer::new(card, SETTINGS, LOSS, COMPARED, parameters(architecture))?;
        let expected = gradient(architecture, &batch, rounding)?;
        let found = first_moments(&mut trainer, &batch, rounding)?;
        let tensors = found.iter().zip(&expected);
        worst = tensors.map(|(found, expected)| difference(found, expected)).fold(worst, f64::max);
    }
    Ok(worst)
}

/// Returns the gradients of all tensors on the processor, up to a constant factor.
fn gradient(architecture: Architecture, batch: &[Sample], rounding: Option<Rounding>) -> Result<Vec<Vec<f32>>> {
    let Parameters { model, moments, .. } = parameters(architecture);
    let size = TrainerSize { threads: crate::util::cores(), batch: batch.len() };
    let mut trainer = Trainer::new(model, Optimiser::new(SETTINGS, moments), LOSS, size)?;
    first_moments(&mut trainer, batch, rounding)
}

/// Returns the first moments after one step of rate 0: the gradients times a constant. Those of attack inputs, which
/// are small beside the others, come apart: last are their weights and their piece-square values.
fn first_moments(trainer: &mut dyn Stepper, batch: &[Sample], rounding: Option<Rounding>) -> Result<Vec<Vec<f32>>> {
    trainer.round(rounding);
    trainer.step(batch, 0.0)?;
    trainer.sync()?;
    let (table, dense) = &trainer.parameters().moments.first;
    let architecture = trainer.parameters().model.architecture;
    let mut tensors = vec![table.to_vec()];
    tensors.extend(dense.tensors().map(<[f32]>::to_vec));
    if architecture.attacks != AttackInputs::None {
        let (rows, psqt) = (RowLayout::weights(architecture), RowLayout::psqt(architecture));
        let attacks = [table[rows.blocks()..].to_vec(), dense.psqt[psqt.blocks()..].to_vec()];
        tensors.extend(attacks);
    }
    Ok(tensors)
}

/// Returns the norm of the difference relative to the norm of `expected`; infinite for a gradient of zeros.
pub fn difference(found: &[f32], expected: &[f32]) -> f64 {
    let square = |sum: f64, x: f64| sum + x * x;
    let pairs = found.iter().zip(expected);
    let apart = pairs.map(|(found, expected)| f64::from(*found) - f64::from(*expected)).fold(0.0, square);
    let size = expected.iter().map(|&x| f64::from(x)).fold(0.0, square);
    if size > 0.0 { (apart / size).sqrt() } else { f64::INFINITY }
}

/// Trains for about `time` and returns the speed.
///
/// # Errors
/// Fails if the card fails.
pub fn speed(card: &Card, architecture: Architecture, batch: usize, time: Duration) -> Result<Speed> {
    let mut trainer = GpuTrainer::new(card, SETTINGS, LOSS, batch, parameters(architecture))?;
    let batch = samples(&positions(batch));
    trainer.step(&batch, 0.001)?;
    trainer.sync()?;
    let (started, mut steps) = (Instant::now(), 0);
    while steps == 0 || started.elapsed() < time {
        trainer.step(&batch, 0.001)?;
        steps += 1;
    }
    trainer.sync()?;
    let step = started.elapsed().as_secs_f64() / f64::from(steps);
    Ok(Speed { positions: batch.len() as f64 / step, step, bytes: trainer.bytes() })
}

/// Evaluates random positions with the embedded net for about `time`. Returns the positions per second.
///
/// # Errors
/// Fails if the card fails, or if a value differs from the processor's.
pub fn label_speed(card: &Card, batch: usize, time: Duration) -> Result<f64> {
    let network = Network::embedded();
    let records = positions(batch);
    let packed: Vec<PackedPosition> = records.iter().map(|record| bytemuck::cast(*record)).collect();
    let mut evaluator = Evaluator::new(card, [&*network])?;
    let flight = evaluator.submit(&packed)?;
    let values = evaluator.complete(flight)?;
    let mut stack = AccumulatorStack::new(network);
    for (record, value) in records.iter().zip(values).take(COMPARED) {
        stack.reset();
        let expected = stack.evaluate(Board::from(record)).value();
        ensure!(
            value == expected,
            "the card evaluates a position as {value}, the processor as {expected}: update the driver of {}, or use \
             --device cpu",
            card.name()
        );
    }
    let (started, mut count) = (Instant::now(), 0);
    let mut before = evaluator.submit(&packed)?;
    while count == 0 || started.elapsed() < time {
        let next = evaluator.submit(&packed)?;
        evaluator.complete(before)?;
        before = next;
        count += packed.len();
    }
    evaluator.complete(before)?;
    Ok((count + packed.len()) as f64 / started.elapsed().as_secs_f64())
}

// The command.

/// Positions per step of the speed test on a software device.
const SOFTWARE_BATCH: usize = 1024;

/// Lists the cards, and tests the chosen one.
///
/// # Errors
/// Fails if the machine has no card, or if the test fails.
pub fn run(args: &GpuArgs, out: &mut impl Write) -> Result<()> {
    for (number, card) in (1..).zip(cards()) {
        list(number, &card, out)?;
    }
    if args.list {
        return Ok(());
    }
    let card = choose(&CardChoice::of(args.card.as_deref()))?;
    let [shape, with_attacks] = shapes()?;
    writeln!(out, "\nself-test of {} with {shape}", card.name())?;
    for (shape, note) in [(shape, ""), (with_attacks, ", with attack inputs")] {
        let worst = gradient_difference(&card, shape)?;
        ensure!(
            worst <= TOLERANCE,
            "the gradient of {shape} differs from the processor's by {worst:.4} of its size, more than {TOLERANCE}: \
             update the driver of {}, or use --device cpu",
            card.name()
        );
        writeln!(
            out,
            "  gradient  differs from the processor's by {worst:.4} of its size (limit {TOLERANCE}){note}: passed"
        )?;
    }
    let batch = args.batch as usize;
    let batch = if card.is_software() { batch.min(SOFTWARE_BATCH) } else { batch };
    let speed = speed(&card, shape, batch, Duration::from_secs(args.seconds.into()))?;
    let upload = speed.positions * (4 * RECORD) as f64;
    writeln!(out, "  memory    {} MB", speed.bytes.div_ceil(1_000_000))?;
    writeln!(
        out,
        "  speed     {:.0} positions a second, {:.2} ms a step of {batch}, upload {:.1} MB a second",
        speed.positions,
        1e3 * speed.step,
        upload / 1e6
    )?;
    let labels = label_speed(&card, batch, Duration::from_secs(args.seconds.div_ceil(3).into()))?;
    writeln!(out, "  labels    {labels:.0} positions a second by the embedded net, equal to the processor's")?;
    Ok(())
}

/// Prints a card and its limits.
fn list(number: usize, card: &Card, out: &mut impl Write) -> Result<()> {
    let limits = card.limits();
    let megabytes = |bytes: u64| bytes / 1_000_000;
    writeln!(out, "{number:>3}  {}", card.describe())?;
    writeln!(
        out,
        "     {}, buffers of {} MB at most ({} MB for a shader)",
        card.kind(),
        megabytes(limits.max_buffer_size),
        megabytes(limits.max_storage_buffer_binding_size)
    )?;
    Ok(())
}
