//! The trainer as a whole: gradients against differences, learning, and the same everywhere.

use super::*;
use crate::data::Record;
use crate::nnue::{Activation, Architecture};
use crate::train::integer::ExportReport;
use crate::train::model::shapes::{self, of_width};
use crate::train::model::transformer::{block, factor};
use crate::train::samples::active::record_of;
use crate::train::step::loss::LossKind;
use crate::train::step::optimiser::{Moments, OptimiserSettings};
use crate::util::rng::SplitMix64;
use shakmaty::{Chess, Color, Position, Square};

const SETTINGS: OptimiserSettings = OptimiserSettings {
    real_rate: 1.0,
    real_decay: 0.0,
    output_scale: 1.0,
};
const LOSS: Loss = Loss {
    kind: LossKind::Mse,
    lambda: 0.8,
    scale: 361.0,
};

/// Positions of random games of a hundred plies, labelled with their material.
fn positions(count: usize) -> Vec<Record> {
    let mut rng = SplitMix64::new(11);
    let mut game = Chess::default();
    let mut records = Vec::new();
    while records.len() < count {
        let moves = game.legal_moves();
        if moves.is_empty() || game.fullmoves().get() > 50 {
            game = Chess::default();
            continue;
        }
        game.play_unchecked(moves[rng.below(moves.len())]);
        let score = material(&game);
        let mut record = record_of(game.board(), game.turn().is_black());
        record.score = score.clamp(-3000, 3000) as i16;
        record.result = score.signum() as i8;
        records.push(record);
    }
    records
}

/// The balance from the side to move's view.
fn material(game: &Chess) -> i32 {
    let value = |piece: shakmaty::Piece| {
        let size = [0, 200, 800, 850, 1300, 2500, 0][piece.role as usize];
        if piece.color == game.turn() {
            size
        } else {
            -size
        }
    };
    game.board().iter().map(|(_, piece)| value(piece)).sum()
}

/// Checks both feature sets and activations at every width, half of them with eight stacks.
fn for_each_width(check: impl Fn(Architecture) -> Result<()>) {
    for shape in shapes::all() {
        let stacks = if shape.activation == Activation::Screlu {
            1
        } else {
            8
        };
        if shape.buckets == stacks {
            check(shape).expect("a width that is trained");
        }
    }
}

fn trainer<const L1: usize>(threads: usize, architecture: Architecture) -> Trainer<L1> {
    // Squares of sums that are small have deltas that are too small to be seen.
    let span = match architecture.activation {
        Activation::Crelu => 0.05,
        Activation::Screlu | Activation::Pairwise | Activation::WidePairwise => 0.15,
    };
    let model = Model::initial(&mut SplitMix64::new(5), architecture, span);
    Trainer::new(
        model,
        Optimiser::new(SETTINGS, Moments::zeros(architecture)),
        LOSS,
        (threads, 256),
    )
    .unwrap()
}

/// A batch of the records as they are.
fn samples(records: &[Record]) -> Vec<Sample> {
    records.iter().copied().map(Sample::plain).collect()
}

/// The mean loss by the plain forward pass.
fn exact_loss(model: &Model, records: &[Record]) -> f32 {
    let loss_of = |record: &Record| {
        let output = model.output(record);
        f64::from(LOSS.of(output, LOSS.target(record)).0)
    };
    (records.iter().map(loss_of).sum::<f64>() / records.len() as f64) as f32
}

/// The central difference of the loss by one parameter.
fn difference(
    model: &mut Model,
    batch: &[Record],
    parameter: impl Fn(&mut Model) -> &mut f32,
) -> f32 {
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

/// Where the largest delta is.
fn steepest(deltas: &[f32]) -> usize {
    (0..deltas.len())
        .max_by(|&a, &b| deltas[a].abs().total_cmp(&deltas[b].abs()))
        .unwrap_or(0)
}

fn assert_near(name: &str, delta: f32, wanted: f32) {
    // A position that crosses a corner of a clipped unit within the step is no error.
    let allowed = 2.5e-4 + 0.04 * wanted.abs();
    assert!(
        (delta - wanted).abs() < allowed,
        "{name}: {delta} for {wanted}"
    );
}

#[test]
fn dense_gradients_are_the_derivatives() {
    for_each_width(|shape| {
        of_width!(check_dense_gradients, shape)(shape);
        Ok(())
    });
}

fn check_dense_gradients<const L1: usize>(architecture: Architecture) {
    let mut trainer = trainer::<L1>(2, architecture);
    let batch = positions(64);
    let (_, gradient) = trainer.gradient(&samples(&batch));
    let mut largest = 0.0_f32;
    for (tensor, deltas) in gradient.tensors().into_iter().enumerate() {
        // The steepest entry of each tensor, and a few others.
        for entry in [steepest(deltas), 0, deltas.len() / 2, deltas.len() - 1] {
            let wanted = difference(&mut trainer.model, &batch, |model| {
                &mut model.dense.tensors_mut()[tensor][entry]
            });
            assert_near(
                &format!("{architecture:?}, tensor {tensor} entry {entry}"),
                deltas[entry],
                wanted,
            );
            largest = largest.max(wanted.abs());
        }
    }
    assert!(largest > 5e-3, "the check must see real deltas: {largest}");
}

#[test]
fn transformer_gradients_are_the_derivatives() {
    for_each_width(|shape| {
        of_width!(check_transformer_gradients, shape)(shape);
        Ok(())
    });
}

fn check_transformer_gradients<const L1: usize>(architecture: Architecture) {
    let mut trainer = trainer::<L1>(1, architecture);
    let batch = positions(64);
    trainer.gradient(&samples(&batch));
    let index = &trainer.shards[0].index;
    let mut row = [0.0; L1];
    // The own pawn on a2 with the own king on e1, and the factor row of that pawn.
    let set = architecture.features.set();
    let kings = set.kings;
    let king = set.view(Color::White, Square::E1).king.into();
    let piece_row = 8;
    let users = index.users(kings * piece_row + king).to_vec();
    assert!(!users.is_empty());
    let deltas = trainer.deltas.as_flattened().as_flattened();
    trainer.backend.add_rows(deltas, &users, &mut row);
    let factor_users: Vec<u32> = (0..kings)
        .flat_map(|king| index.users(kings * piece_row + king).to_vec())
        .collect();
    let mut shared = [0.0; L1];
    trainer.backend.add_rows(deltas, &factor_users, &mut shared);
    let mut largest = 0.0_f32;
    for (block_row, deltas) in [(king, row), (factor(architecture.features), shared)] {
        for unit in (0..L1).step_by(37).chain([steepest(&deltas)]) {
            let at = piece_row * block(architecture) + block_row * L1 + unit;
            let wanted = difference(&mut trainer.model, &batch, |model| {
                &mut model.transformer[at]
            });
            assert_near(
                &format!("{architecture:?}, row {block_row} unit {unit}"),
                deltas[unit],
                wanted,
            );
            largest = largest.max(wanted.abs());
        }
    }
    assert!(
        largest > 5e-4,
        "{architecture:?}: the check must see real deltas: {largest}"
    );
}

#[test]
fn a_model_of_another_width_is_refused() {
    let architecture = shapes::all().next().expect("a shape of width 128");
    let model = Model::initial(&mut SplitMix64::new(5), architecture, 0.05);
    let optimiser = Optimiser::new(SETTINGS, Moments::zeros(architecture));
    assert!(Trainer::<256>::new(model, optimiser, LOSS, (1, 256)).is_err());
}

#[test]
fn the_loss_falls_and_the_export_agrees() {
    for_each_width(|shape| {
        of_width!(check_learning, shape)(shape);
        Ok(())
    });
}

fn check_learning<const L1: usize>(architecture: Architecture) {
    let records = positions(5000);
    let mut trainer = trainer::<L1>(2, architecture);
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
    let report = ExportReport::of((&trainer.model, 0.6), &net, &records);
    eprintln!("{architecture:?}: {before} -> {after}\n{report}");
    // The roundings of more inputs add up to more.
    let most = 0.02 * (L1 as f64 / 256.0).sqrt().max(1.0);
    assert!(report.mean < most * report.size, "{report}");
}

#[test]
fn a_seed_and_a_thread_count_give_one_result() {
    let records = positions(600);
    let run = || {
        let mut trainer = trainer::<256>(2, Architecture::HALF_KP);
        records.chunks(200).for_each(|batch| {
            trainer.step(&samples(batch), 0.004);
        });
        (
            trainer.model.transformer.to_vec(),
            trainer.model.dense.l1_weight,
        )
    };
    assert!(run() == run());
}

#[test]
fn every_kind_of_machine_learns_the_same() {
    for_each_width(|shape| {
        of_width!(check_machines, shape)(shape);
        Ok(())
    });
}

fn check_machines<const L1: usize>(architecture: Architecture) {
    let records = positions(1000);
    let learnt = |backend: Backend| {
        let mut trainer = trainer::<L1>(2, architecture);
        trainer.backend = backend;
        for batch in records.chunks(250).cycle().take(12) {
            trainer.step(&samples(batch), 0.004);
        }
        trainer.validate(&records)
    };
    let wanted = learnt(Backend::portable());
    for backend in Backend::all() {
        let loss = learnt(backend);
        assert!(
            (loss / wanted - 1.0).abs() < 0.01,
            "{architecture:?}, {backend:?}: {loss} {wanted}"
        );
    }
}
