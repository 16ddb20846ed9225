//! Tests of the trainer on a card, against the trainer on the processor. They use the first card of any kind,
//! including a software device, and are skipped with a notice if there is none.

use std::io::Write as _;

use super::self_test::{COMPARED, LOSS, SETTINGS, TOLERANCE, difference, gradient_difference, parameters, samples};
use super::sizes::{Sizes, supported};
use super::trainer::GpuTrainer;
use crate::gpu::card::{Card, cards};
use crate::nnue::Architecture;
use crate::nnue::features::attack_inputs::AttackInputs;
use crate::train::model::shapes::Rounding;
use crate::train::samples::{ActiveRows, positions, record_of};
use crate::train::step::layers::{Loss, LossKind};
use crate::train::step::optimiser::{Optimiser, OptimiserSettings};
use crate::train::step::{Parameters, Stepper};
use crate::train::step::{Trainer, TrainerSize};

/// Positions per step.
const BATCH: usize = 256;

/// Returns the card for tests, or prints that the test is skipped.
fn card() -> Option<Card> {
    let card = cards().into_iter().next();
    if card.is_none() {
        // The test harness would show the output of `eprintln!` only for failed tests.
        let _ = writeln!(std::io::stderr(), "SKIPPED: no Vulkan, Metal or DX12 device (install mesa-vulkan-drivers)");
    }
    card
}

/// Returns the shape of width 256 with `kings` king buckets, without attack inputs.
fn narrow(kings: usize) -> Architecture {
    with_attacks(kings, AttackInputs::None)
}

/// Returns the shape of width 256 with `kings` king buckets and these attack inputs.
fn with_attacks(kings: usize, attacks: AttackInputs) -> Architecture {
    let wanted =
        |shape: &Architecture| shape.l1 == 256 && shape.features.set().kings == kings && shape.attacks == attacks;
    supported().find(wanted).expect("a shape of width 256")
}

#[test]
fn gradient_of_every_shape_equals_that_of_the_processor() {
    let Some(card) = card() else { return };
    let mut count = 0;
    // The tables of king buckets differ only in size, so one of them is enough for the wide nets and for attack inputs.
    let is_tested = |shape: &Architecture| match (shape.attacks, shape.features.set().kings) {
        (AttackInputs::None, kings) => shape.l1 == 256 || [8, 32].contains(&kings),
        (AttackInputs::ToEnemy, kings) => kings == 8,
    };
    for shape in supported().filter(is_tested) {
        // The software device allows buffers of 128 MiB; the table of the largest net is larger.
        let fits = Sizes::of(shape, COMPARED).and_then(|sizes| sizes.check(&card.limits(), &card.name()));
        if let Err(error) = fits {
            let _ = writeln!(std::io::stderr(), "SKIPPED: {shape}: {error:#}");
            continue;
        }
        let worst = gradient_difference(&card, shape).expect("the card works");
        eprintln!("{shape}: {worst:.5}");
        assert!(worst < TOLERANCE, "{shape}: {worst}");
        count += 1;
    }
    assert!(count >= 13, "only {count} shapes");
}

#[test]
fn position_with_too_many_attacks_has_no_weight() {
    let Some(card) = card() else { return };
    // A chequerboard of queens, each of which attacks its neighbours in files and ranks.
    let board = "k7/8/QqQqQqQq/qQqQqQqQ/QqQqQqQq/8/8/7K";
    let board = shakmaty::Board::from_ascii_board_fen(board.as_bytes()).expect("a board");
    let crowded = record_of(&board, false);
    let shape = with_attacks(1, AttackInputs::ToEnemy);
    let rows = ActiveRows::of(shape, &crowded);
    assert!(rows.get(0).parts(0).1.len() > 64);
    let mut trainer = GpuTrainer::new(&card, SETTINGS, LOSS, BATCH, parameters(shape)).expect("the card works");
    assert_eq!(trainer.validate(&[crowded]).expect("the card works"), 0.0);
    assert!(trainer.validate(&positions(1)).expect("the card works") > 0.0);
}

/// The rate at a step. It rises slowly, because Adam's first steps have the same size for all gradients, even small
/// and inexact ones.
fn rate(step: usize) -> f32 {
    0.001 * (step.min(20) as f32 / 20.0)
}

/// Trains for 50 steps. Returns the mean loss of the last ten, and the validation loss.
fn train(trainer: &mut dyn Stepper) -> (f32, f32) {
    let records = positions(8 * BATCH);
    let mut losses = Vec::new();
    for (step, records) in records.chunks(BATCH).cycle().take(50).enumerate() {
        if step == 40 {
            trainer.round(Some(Rounding { output_scale: SETTINGS.output_scale }));
        }
        losses.extend(trainer.step(&samples(records), rate(step)).expect("the device works"));
        if [35, 45].contains(&step) {
            losses.extend(trainer.sync().expect("the device works"));
            trainer.add_to_average();
        }
    }
    losses.extend(trainer.sync().expect("the device works"));
    assert_eq!(losses.len(), 50);
    (losses[40..].iter().sum::<f32>() / 10.0, trainer.validate(&records).expect("the device works"))
}

fn on_processor(start: Parameters, settings: OptimiserSettings, loss: Loss) -> anyhow::Result<(f32, f32)> {
    let optimiser = Optimiser::new(settings, start.moments);
    let mut trainer = Trainer::new(start.model, optimiser, loss, TrainerSize { threads: 2, batch: BATCH })?;
    Ok(train(&mut trainer))
}

#[test]
fn losses_after_fifty_steps_equal_those_of_the_processor() {
    let Some(card) = card() else { return };
    let decaying = OptimiserSettings { real_rate: 0.5, real_decay: 0.3, factor_decay: 0.2, decay: 0.1, ..SETTINGS };
    let runs = [
        (narrow(4), SETTINGS, LossKind::Mse, 0.0),
        (narrow(1), decaying, LossKind::Power, 0.05),
        (narrow(4), SETTINGS, LossKind::Bce, 0.0),
        (with_attacks(4, AttackInputs::ToEnemy), SETTINGS, LossKind::Power, 0.0),
    ];
    for (shape, settings, kind, sparsity) in runs {
        let loss = Loss { kind, sparsity, ..LOSS };
        let expected = on_processor(parameters(shape), settings, loss).expect("a trainable shape");
        let trainer = GpuTrainer::new(&card, settings, loss, BATCH, parameters(shape));
        let found = train(&mut trainer.expect("the card works"));
        eprintln!("{shape} {kind:?}: {found:?} for {expected:?}");
        for (found, expected) in [(found.0, expected.0), (found.1, expected.1)] {
            assert!((found / expected - 1.0).abs() < 0.01, "{shape} {kind:?}: {found} for {expected}");
        }
    }
}

/// Returns the changes of all tensors by three steps.
fn changes(trainer: &mut dyn Stepper) -> Vec<Vec<f32>> {
    let records = positions(3 * BATCH);
    let before = tensors(trainer);
    for records in records.chunks(BATCH) {
        trainer.step(&samples(records), 0.002).expect("the device works");
    }
    trainer.sync().expect("the device works");
    let change = |(after, before): (Vec<f32>, Vec<f32>)| after.iter().zip(&before).map(|(a, b)| a - b).collect();
    tensors(trainer).into_iter().zip(before).map(change).collect()
}

/// Returns all weights.
fn tensors(trainer: &dyn Stepper) -> Vec<Vec<f32>> {
    let model = trainer.parameters().model;
    let dense = model.dense.tensors().into_iter().map(<[f32]>::to_vec);
    std::iter::once(model.transformer.to_vec()).chain(dense).collect()
}

fn changes_on_processor(start: Parameters, settings: OptimiserSettings) -> anyhow::Result<Vec<Vec<f32>>> {
    let optimiser = Optimiser::new(settings, start.moments);
    Ok(changes(&mut Trainer::new(start.model, optimiser, LOSS, TrainerSize { threads: 2, batch: BATCH })?))
}

#[test]
fn decay_and_limits_equal_those_of_the_processor() {
    let Some(card) = card() else { return };
    let shape = with_attacks(4, AttackInputs::ToEnemy);
    // The decays are so strong that an error in one of them would dominate the change. The scale limits output
    // weights.
    let settings = OptimiserSettings {
        real_rate: 0.5,
        attack_rate: 2.0,
        real_decay: 90.0,
        factor_decay: 60.0,
        decay: 30.0,
        output_scale: 4.0,
    };
    let expected = changes_on_processor(parameters(shape), settings).expect("a trainable shape");
    let trainer = GpuTrainer::new(&card, settings, LOSS, BATCH, parameters(shape));
    let found = changes(&mut trainer.expect("the card works"));
    for (tensor, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let apart = difference(found, expected);
        eprintln!("tensor {tensor}: {apart:.4}");
        assert!(apart < 0.05, "tensor {tensor}: {apart}");
    }
}

#[test]
fn runs_are_equal_and_synchronising_changes_nothing() {
    let Some(card) = card() else { return };
    let shape = with_attacks(4, AttackInputs::ToEnemy);
    let records = positions(4 * BATCH);
    let run = |syncs: bool| {
        let mut trainer = GpuTrainer::new(&card, SETTINGS, LOSS, BATCH, parameters(shape)).expect("the card works");
        for records in records.chunks(BATCH).cycle().take(6) {
            trainer.step(&samples(records), 0.002).expect("the card works");
            if syncs {
                trainer.sync().expect("the card works");
                trainer.validate(&records[..100]).expect("the card works");
            }
        }
        trainer.sync().expect("the card works");
        let ParametersBits { weights, moments } = ParametersBits::of(&trainer);
        (weights, moments)
    };
    let first = run(false);
    assert!(first == run(false), "two runs differ");
    assert!(first == run(true), "synchronising changes the result");
}

/// Weights and moments of a trainer.
struct ParametersBits {
    weights: Vec<f32>,
    moments: Vec<f32>,
}

impl ParametersBits {
    fn of(trainer: &GpuTrainer) -> Self {
        let held = trainer.parameters();
        let weights = [&held.model.transformer[..], &held.model.dense.tensors().concat()].concat();
        let (first, second) = (&held.moments.first, &held.moments.second);
        let small = [first.1.tensors().concat(), second.1.tensors().concat()].concat();
        Self { weights, moments: [&first.0[..], &second.0[..], &small].concat() }
    }
}
