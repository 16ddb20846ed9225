//! Tests of the whole trainer: gradients against finite differences, training progress, and reproducibility.

use shakmaty::{Color, Square};

use super::optimiser::{Moments, OptimiserSettings};
use super::*;
use crate::data::Record;
use crate::nnue::features::attack_inputs::AttackInputs;
use crate::nnue::{Activation, Architecture};
use crate::train::integer::ExportReport;
use crate::train::model::parameters::{RowLayout, WEIGHTS};
use crate::train::model::shapes;
use crate::train::samples::positions;
use crate::util::rng::SplitMix64;

const SETTINGS: OptimiserSettings = OptimiserSettings {
    real_rate: 1.0,
    attack_rate: 1.0,
    real_decay: 0.0,
    factor_decay: 0.0,
    decay: 0.0,
    output_scale: 1.0,
};
const LOSS: Loss = Loss { lambda: 0.8, ..Loss::SQUARES };

/// Runs a check for every kind of shape.
fn for_each_shape(check: impl Fn(Architecture)) {
    shapes::for_tests().for_each(check);
}

fn trainer(threads: usize, architecture: Architecture) -> Trainer {
    // Squares and products of small sums have deltas too small to measure.
    let span = match architecture.activation {
        Activation::Crelu => 0.05,
        Activation::Screlu | Activation::Pairwise | Activation::WidePairwise => 0.15,
    };
    let mut model = Model::initial(&mut SplitMix64::new(5), architecture, span);
    // The labels are material, so initial piece values would already solve the task.
    model.dense.psqt.fill(0.0);
    let optimiser = Optimiser::new(SETTINGS, Moments::zeros(architecture));
    Trainer::new(model, optimiser, LOSS, TrainerSize { threads, batch: 256 }).unwrap()
}

/// Returns the records as samples without mirroring.
fn samples(records: &[Record]) -> Vec<Sample> {
    records.iter().copied().map(Sample::plain).collect()
}

/// Returns the mean loss, computed with the reference forward pass.
fn exact_loss(model: &Model, records: &[Record]) -> f32 {
    let dense = model.read_dense();
    let loss_of = |record: &Record| {
        let output = model.output(&dense, record);
        f64::from(LOSS.of(output, LOSS.target(record)).0)
    };
    (records.iter().map(loss_of).sum::<f64>() / records.len() as f64) as f32
}

/// Returns the central difference of the loss by one parameter.
fn difference(model: &mut Model, batch: &[Record], parameter: impl Fn(&mut Model) -> &mut f32) -> f32 {
    const STEP: f32 = 2.5e-4;
    let mut at = |shift: f32| {
        let before = *parameter(model);
        *parameter(model) = before + shift;
        let loss = exact_loss(model, batch);
        *parameter(model) = before;
        loss
    };
    (at(STEP) - at(-STEP)) / (2.0 * STEP)
}

/// Returns the index of the largest delta.
fn steepest(deltas: &[f32]) -> usize {
    (0..deltas.len()).max_by(|&a, &b| deltas[a].abs().total_cmp(&deltas[b].abs())).unwrap_or(0)
}

fn assert_near(name: &str, delta: f32, expected: f32) {
    // The tolerance allows for clipped units that change state within the step.
    let allowed = 2.5e-4 + 0.04 * expected.abs();
    assert!((delta - expected).abs() < allowed, "{name}: {delta} for {expected}");
}

#[test]
fn dense_gradient_equals_finite_difference() {
    for_each_shape(check_dense_gradients);
}

fn check_dense_gradients(architecture: Architecture) {
    let mut trainer = trainer(2, architecture);
    let batch = positions(64);
    let (_, gradient) = trainer.gradient(&samples(&batch));
    let mut largest = 0.0_f32;
    for (tensor, deltas) in gradient.tensors().into_iter().enumerate() {
        let Some(last) = deltas.len().checked_sub(1) else {
            continue;
        };
        // The steepest entry of each tensor, and three others.
        for entry in [steepest(deltas), 0, deltas.len() / 2, last] {
            let expected =
                difference(&mut trainer.model, &batch, |model| &mut model.dense.tensors_mut()[tensor][entry]);
            assert_near(&format!("{architecture:?}, tensor {tensor} entry {entry}"), deltas[entry], expected);
            largest = largest.max(expected.abs());
        }
    }
    assert!(largest > 5e-3, "the deltas are too small for a meaningful check: {largest}");
}

#[test]
fn transformer_gradient_equals_finite_difference() {
    for_each_shape(check_transformer_gradients);
}

fn check_transformer_gradients(architecture: Architecture) {
    let mut trainer = trainer(1, architecture);
    let batch = positions(64);
    trainer.gradient(&samples(&batch));
    // The own pawn on a2 with the own king on e1, and the factor row of that pawn.
    let set = architecture.features.set();
    let kings = set.kings;
    let king = set.view(Color::White, Square::E1).king.into();
    let piece_row = 8;
    assert!(trainer.shards[0].index.uses(set.piece_rows() * king + piece_row));
    let row_of = |king: usize| -> Vec<f32> {
        let row = set.piece_rows() * king + piece_row;
        trainer.transformer.row(row).flatten().copied().collect()
    };
    let (row, mut shared) = (row_of(king), vec![0.0; architecture.l1]);
    for king in 0..kings {
        shared.iter_mut().zip(row_of(king)).for_each(|(sum, term)| *sum += term);
    }
    let mut largest = 0.0_f32;
    let last = RowLayout::weights(architecture).has_factor.then_some((RowLayout::weights(architecture).kings, shared));
    for (block_row, deltas) in [(king, row)].into_iter().chain(last) {
        for unit in (0..architecture.l1).step_by(37).chain([steepest(&deltas)]) {
            let at = piece_row * RowLayout::weights(architecture).block() + block_row * architecture.l1 + unit;
            let expected = difference(&mut trainer.model, &batch, |model| &mut model.transformer[at]);
            assert_near(&format!("{architecture:?}, row {block_row} unit {unit}"), deltas[unit], expected);
            largest = largest.max(expected.abs());
        }
    }
    assert!(largest > 5e-4, "{architecture:?}: the deltas are too small for a meaningful check: {largest}");
    if architecture.attacks != AttackInputs::None {
        check_attack_gradients(&mut trainer, &batch);
    }
}

/// Checks the gradients of the weights and the piece-square values of the attack inputs that most positions use.
fn check_attack_gradients(trainer: &mut Trainer, batch: &[Record]) {
    let architecture = trainer.model.architecture;
    let (_, dense) = trainer.gradient(&samples(batch));
    let mut counts = vec![0; architecture.attacks.rows()];
    trainer.shards[0].index.attacks().for_each(|(attack, users)| counts[attack] += users.len());
    let mut rows: Vec<usize> = (0..counts.len()).collect();
    rows.sort_by_key(|&row| std::cmp::Reverse(counts[row]));
    let (table, psqt) = (RowLayout::weights(architecture), RowLayout::psqt(architecture));
    let mut largest = 0.0_f32;
    for &attack in &rows[..4] {
        let row: Vec<f32> = trainer.transformer.row(table.first_attack() + attack).flatten().copied().collect();
        for unit in [steepest(&row), 0, architecture.l1 - 1] {
            let at = table.blocks() + attack * architecture.l1 + unit;
            let expected = difference(&mut trainer.model, batch, |model| &mut model.transformer[at]);
            assert_near(&format!("{architecture}, attack input {attack} unit {unit}"), row[unit], expected);
            largest = largest.max(expected.abs());
        }
        let first = psqt.blocks() + attack * psqt.width;
        let at = first + steepest(&dense.psqt[first..][..psqt.width]);
        let expected = difference(&mut trainer.model, batch, |model| &mut model.dense.psqt[at]);
        assert_near(&format!("{architecture}, piece-square value of attack input {attack}"), dense.psqt[at], expected);
    }
    assert!(largest > 5e-4, "{architecture}: the deltas are too small for a meaningful check: {largest}");
}

#[test]
fn step_moves_used_attack_inputs_and_no_others() {
    let architecture = shapes::for_tests().find(|shape| shape.attacks != AttackInputs::None);
    let architecture = architecture.expect("a shape with attack inputs");
    let mut trainer = trainer(2, architecture);
    trainer.step(&samples(&positions(64)), 0.01);
    let table = RowLayout::weights(architecture);
    let rows = trainer.model.transformer[table.blocks()..].chunks_exact(table.width);
    let mut used = 0;
    for (attack, row) in rows.enumerate() {
        let uses = is_used(&trainer.shards, table.first_attack() + attack);
        assert_eq!(row.iter().any(|&weight| weight != 0.0), uses, "attack input {attack}");
        used += usize::from(uses);
    }
    assert!(used > 100 && used < architecture.attacks.rows(), "{used}");
}

#[test]
fn sparsity_penalty_affects_gradient_and_reduces_activation() {
    for_each_shape(check_penalty);
}

/// Returns the mean activation of the first dense layer's inputs.
fn mean_activation(model: &Model, records: &[Record]) -> f32 {
    let mean = |record: &Record| {
        let inputs = model.inputs(&model.dense.transformer_bias, record);
        inputs.iter().sum::<f32>() / inputs.len() as f32
    };
    records.iter().map(mean).sum::<f32>() / records.len() as f32
}

fn check_penalty(architecture: Architecture) {
    const SPARSITY: f32 = 2.0;
    let mut trainer = trainer(2, architecture);
    let batch = positions(64);
    let (loss, plain) = trainer.gradient(&samples(&batch));
    trainer.loss.sparsity = SPARSITY;
    let (same, gradient) = trainer.gradient(&samples(&batch));
    assert_eq!(loss, same, "the reported loss excludes the penalty");
    let added: Vec<f32> =
        gradient.transformer_bias.iter().zip(&plain.transformer_bias).map(|(with, without)| with - without).collect();
    for unit in [steepest(&added), 0, architecture.l1 - 1] {
        const STEP: f32 = 1e-3;
        let mut at = |shift: f32| {
            trainer.model.dense.transformer_bias[unit] += shift;
            let penalty = SPARSITY * mean_activation(&trainer.model, &batch);
            trainer.model.dense.transformer_bias[unit] -= shift;
            penalty
        };
        let expected = (at(STEP) - at(-STEP)) / (2.0 * STEP);
        let (delta, allowed) = (added[unit], 1e-4 + 0.06 * expected.abs());
        assert!((delta - expected).abs() < allowed, "{architecture:?}, unit {unit}: {delta} for {expected}");
    }
    let before = mean_activation(&trainer.model, &batch);
    for _ in 0..20 {
        trainer.step(&samples(&batch), 0.002);
    }
    let after = mean_activation(&trainer.model, &batch);
    assert!(after < 0.9 * before, "{before} -> {after}");
}

#[test]
fn weight_decay_affects_only_dense_weights() {
    const RATE: f32 = 0.01;
    let batch = samples(&positions(64));
    let stepped = |decay: f32| {
        let architecture = Architecture::HALF_KP;
        let settings = OptimiserSettings { decay, ..SETTINGS };
        let model = Model::initial(&mut SplitMix64::new(5), architecture, 0.05);
        let optimiser = Optimiser::new(settings, Moments::zeros(architecture));
        let mut trainer = Trainer::new(model, optimiser, LOSS, TrainerSize { threads: 1, batch: 64 }).unwrap();
        let before = trainer.model.dense.clone();
        trainer.step(&batch, RATE);
        (before, trainer.model)
    };
    let ((before, plain), (_, decayed)) = (stepped(0.0), stepped(0.5));
    assert!(plain.transformer[..] == decayed.transformer[..]);
    let tensors = plain.dense.tensors().into_iter().zip(decayed.dense.tensors());
    for (tensor, (before, (plain, decayed))) in before.tensors().iter().zip(tensors).enumerate() {
        let share = if WEIGHTS.contains(&tensor) { 0.5 * RATE } else { 0.0 };
        for (before, (plain, decayed)) in before.iter().zip(plain.iter().zip(decayed)) {
            assert!((plain - decayed - share * before).abs() < 1e-6, "tensor {tensor}");
        }
    }
}

#[test]
fn factor_decay_affects_only_factor_rows_in_use() {
    const RATE: f32 = 0.01;
    const DECAY: f32 = 0.5;
    let batch = samples(&positions(64));
    let architecture = Architecture::HALF_KP;
    let initial = || Model::initial(&mut SplitMix64::new(5), architecture, 0.05);
    let stepped = |factor_decay: f32| {
        let settings = OptimiserSettings { factor_decay, ..SETTINGS };
        let optimiser = Optimiser::new(settings, Moments::zeros(architecture));
        let mut trainer = Trainer::new(initial(), optimiser, LOSS, TrainerSize { threads: 1, batch: 64 }).unwrap();
        trainer.step(&batch, RATE);
        trainer.model
    };
    let (before, plain, decayed) = (initial(), stepped(0.0), stepped(DECAY));
    assert!(plain.dense.tensors() == decayed.dense.tensors());
    let layout = RowLayout::weights(architecture);
    let (size, first) = (layout.block(), layout.kings * layout.width);
    let mut used = 0;
    for piece_row in 0..plain.transformer.len() / size {
        let block = |model: &Model| model.transformer[piece_row * size..][..size].to_vec();
        let (before, plain, decayed) = (block(&before), block(&plain), block(&decayed));
        let in_use = plain[first..] != before[first..];
        used += usize::from(in_use);
        for (at, before) in before.iter().enumerate() {
            let shared = in_use && at >= first;
            let share = if shared { RATE * DECAY } else { 0.0 };
            assert!((plain[at] - decayed[at] - share * before).abs() < 1e-6, "row {piece_row}, weight {at}");
        }
    }
    assert!(used > 0);
}

#[test]
fn weights_of_attack_inputs_in_use_fit_into_bytes() {
    let shape = shapes::for_tests().find(|shape| shape.attacks != AttackInputs::None);
    let architecture = shape.expect("a shape with attack inputs");
    let mut trainer = trainer(1, architecture);
    let first = RowLayout::weights(architecture).blocks();
    trainer.model.transformer[first..].fill(3.0);
    trainer.step(&samples(&positions(100)), 0.001);
    let attacks = &trainer.model.transformer[first..];
    assert!(attacks.iter().all(|&weight| weight == 3.0 || weight == 1.0));
    assert!(attacks.contains(&1.0));
}

#[test]
fn validation_uses_mean_while_training_continues() {
    let records = positions(600);
    let mut trainer = trainer(2, Architecture::HALF_KP);
    let first = trainer.validate(&records);
    trainer.add_to_average();
    for batch in records.chunks(200) {
        trainer.step(&samples(batch), 0.004);
    }
    assert_eq!(trainer.validate(&records), first);
    trainer.add_to_average();
    let mean = trainer.validate(&records);
    assert!((exact_loss(trainer.result(), &records) - mean).abs() < 1e-4);
    // The trained weights are not replaced by the mean.
    trainer.average = None;
    let last = trainer.validate(&records);
    assert!(last < mean && mean < first, "{first} {mean} {last}");
}

#[test]
fn training_reduces_loss_and_export_matches() {
    for_each_shape(check_learning);
}

fn check_learning(architecture: Architecture) {
    let records = positions(5000);
    let mut trainer = trainer(2, architecture);
    let before = trainer.validate(&records);
    assert!((before - exact_loss(&trainer.model, &records)).abs() < 1e-4);
    for _ in 0..20 {
        for batch in records.chunks(250) {
            trainer.step(&samples(batch), 0.004);
        }
    }
    let after = trainer.validate(&records);
    assert!(after < before / 10.0, "{before} -> {after}");
    let net = crate::train::integer::quantise(&trainer.model, 0.6);
    let report = ExportReport::of(&trainer.model, 0.6, &net, &records, LOSS);
    eprintln!("{architecture:?}: {before} -> {after}\n{report}");
    // The rounding error grows with the root of the number of inputs. With five initial seeds it was 0.8 to 3.1 %.
    let max_mean = 0.04 * (architecture.l1 as f64 / 256.0).sqrt().max(1.0);
    // Products are truncated to integers, most products are small, and this export is not calibrated.
    let max_mean = max_mean * if architecture.activation == Activation::Pairwise { 1.3 } else { 1.0 };
    assert!(report.mean < max_mean * report.size, "{report}");
    assert!((report.losses[0] - f64::from(after)).abs() < 1e-4, "{report}");
    assert!(report.losses[1] < 2.0 * report.losses[0], "{report}");
    // With simulated quantisation, the model agrees better with the exported net.
    trainer.round(Some(Rounding { output_scale: 0.6 }));
    for batch in records.chunks(250) {
        trainer.step(&samples(batch), 0.001);
    }
    let rounded = trainer.validate(&records);
    assert!((rounded - exact_loss(&trainer.model, &records)).abs() < 1e-4);
    let net = crate::train::integer::quantise(&trainer.model, 0.6);
    let same = ExportReport::of(&trainer.model, 0.6, &net, &records, LOSS);
    eprintln!("rounded {rounded}\n{same}");
    assert!(same.mean < 0.5 * report.mean, "{same} {report}");
}

#[test]
fn training_is_deterministic_for_seed_and_threads() {
    let records = positions(600);
    let run = || {
        let mut trainer = trainer(2, Architecture::HALF_KP);
        records.chunks(200).for_each(|batch| {
            trainer.step(&samples(batch), 0.004);
        });
        (trainer.model.transformer.to_vec(), trainer.model.dense.l1_weight)
    };
    assert!(run() == run());
}

#[test]
fn every_instruction_set_reaches_same_loss() {
    for_each_shape(check_machines);
}

fn check_machines(architecture: Architecture) {
    let records = positions(1000);
    let trained_loss = |kernels: Kernels| {
        let mut trainer = trainer(2, architecture);
        trainer.kernels = kernels;
        for batch in records.chunks(250).cycle().take(12) {
            trainer.step(&samples(batch), 0.004);
        }
        trainer.validate(&records)
    };
    let expected = trained_loss(Kernels::portable());
    for kernels in Kernels::all() {
        let loss = trained_loss(kernels);
        assert!((loss / expected - 1.0).abs() < 0.01, "{architecture:?}, {kernels:?}: {loss} {expected}");
    }
}
