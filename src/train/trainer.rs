//! One step of training on all cores, and the loss on positions held out.

use super::dense::Dense;
use super::features::Active;
use super::loss::Loss;
use super::model::Model;
use super::optimiser::{Optimiser, RowIndex, Settings};
use super::quantised::L1;
use super::simd::Kernels;
use crate::data::Record;
use crate::util::rng::SplitMix64;

/// A model, its optimiser, and the room that a batch needs.
pub struct Trainer {
    /// The model as it stands.
    pub model: Model,
    optimiser: Optimiser,
    loss: Loss,
    kernels: Kernels,
    threads: usize,
    actives: Vec<Active>,
    rows: Vec<u16>,
}

impl Trainer {
    /// A trainer of `model`.
    pub fn new(model: Model, settings: Settings, loss: Loss, threads: usize) -> Self {
        Self {
            model,
            optimiser: Optimiser::new(settings),
            loss,
            kernels: Kernels::detect(),
            threads: threads.max(1),
            actives: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Learns from a batch and returns its mean loss before the step. Positions without castling rights are mirrored
    /// left to right by a coin of `rng`. The result depends on the number of threads only by rounding.
    pub fn step(&mut self, batch: &[Record], rate: f32, rng: &mut SplitMix64) -> f32 {
        let (loss, gradient) = self.gradient(batch, rng);
        let index = RowIndex::of(&self.actives);
        let machine = (self.kernels, self.threads);
        self.optimiser.step(
            machine,
            &mut self.model,
            rate,
            &gradient,
            (&index, &self.rows),
        );
        loss
    }

    /// Forward and back over a batch: the mean loss and the dense gradient; the accumulators' slopes stay in `rows`.
    fn gradient(&mut self, batch: &[Record], rng: &mut SplitMix64) -> (f32, Dense) {
        self.actives.clear();
        self.actives.extend(batch.iter().map(|record| {
            let coin = rng.next_u64() >> 63 == 1;
            let mirrored = coin && !record.can_castle();
            Active::of(record, mirrored)
        }));
        self.rows.resize(batch.len() * 2 * L1, 0);
        let share = batch.len().div_ceil(self.threads).max(1);
        let slices = batch
            .chunks(share)
            .zip(self.actives.chunks(share))
            .zip(self.rows.chunks_mut(share * 2 * L1));
        let pass = Pass {
            model: &self.model,
            loss: self.loss,
            kernels: self.kernels,
            weight: 1.0 / batch.len().max(1) as f32,
        };
        let pass = &pass;
        let parts: Vec<(f32, Dense)> = std::thread::scope(|scope| {
            let handles: Vec<_> = slices
                .map(|((records, actives), rows)| {
                    scope.spawn(move || pass.run(records, actives, rows))
                })
                .collect();
            handles.into_iter().map(join).collect()
        });
        let mut total = (0.0, Dense::zeros());
        for (loss, gradient) in &parts {
            total.0 += loss;
            total.1.add(gradient);
        }
        total
    }

    /// The mean loss on records, which are not learnt from.
    pub fn validate(&self, records: &[Record]) -> f32 {
        let share = records.len().div_ceil(self.threads).max(1);
        let sum_of = |records: &[Record]| -> f64 {
            let loss_of = |record: &Record| {
                let output = self
                    .model
                    .forward(self.kernels, &Active::of(record, false))
                    .output;
                f64::from(self.loss.of(output, self.loss.target(record)).0)
            };
            records.iter().map(loss_of).sum()
        };
        let sum_of = &sum_of;
        let sum: f64 = std::thread::scope(|scope| {
            let handles: Vec<_> = records
                .chunks(share)
                .map(|part| scope.spawn(move || sum_of(part)))
                .collect();
            handles.into_iter().map(join).sum()
        });
        (sum / records.len().max(1) as f64) as f32
    }
}

/// The result of a thread; its panic is ours.
fn join<T>(handle: std::thread::ScopedJoinHandle<'_, T>) -> T {
    handle
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// What every thread of a batch knows.
struct Pass<'a> {
    model: &'a Model,
    loss: Loss,
    kernels: Kernels,
    weight: f32,
}

impl Pass<'_> {
    fn run(&self, records: &[Record], actives: &[Active], rows: &mut [u16]) -> (f32, Dense) {
        let mut gradient = Dense::zeros();
        let mut total = 0.0;
        let rows = rows.as_chunks_mut::<{ 2 * L1 }>().0;
        for ((record, active), rows) in records.iter().zip(actives).zip(rows) {
            let at = self.model.forward(self.kernels, active);
            let (loss, slope) = self.loss.of(at.output, self.loss.target(record));
            total += loss * self.weight;
            self.model
                .backward(self.kernels, &at, slope * self.weight, &mut gradient, rows);
            for half in rows.as_chunks::<L1>().0 {
                for (sum, &slope) in gradient.transformer_bias.iter_mut().zip(half) {
                    *sum += f32::from_bits(u32::from(slope) << 16);
                }
            }
        }
        (total, gradient)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::features::record_of;
    use crate::train::optimiser::RowIndex;
    use crate::train::transformer::{BLOCK, FACTOR};
    use shakmaty::{Chess, Position};

    const SETTINGS: Settings = Settings {
        real_rate: 1.0,
        real_decay: 0.0,
    };
    const LOSS: Loss = Loss {
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

    fn trainer(threads: usize) -> Trainer {
        let model = Model::initial(&mut SplitMix64::new(5), 0.05);
        Trainer::new(model, SETTINGS, LOSS, threads)
    }

    /// The central difference of the loss by one parameter.
    fn difference(
        trainer: &mut Trainer,
        batch: &[Record],
        parameter: impl Fn(&mut Model) -> &mut f32,
    ) -> f32 {
        const STEP: f32 = 1e-3;
        let mut at = |shift: f32| {
            let before = *parameter(&mut trainer.model);
            *parameter(&mut trainer.model) = before + shift;
            trainer.model.refresh();
            let loss = trainer.validate(batch);
            *parameter(&mut trainer.model) = before;
            trainer.model.refresh();
            loss
        };
        (at(STEP) - at(-STEP)) / (2.0 * STEP)
    }

    fn assert_near(name: &str, slope: f32, wanted: f32) {
        // A position that crosses a corner of a clipped unit within the step is no error.
        let allowed = 2.5e-4 + 0.04 * wanted.abs();
        assert!(
            (slope - wanted).abs() < allowed,
            "{name}: {slope} for {wanted}"
        );
    }

    #[test]
    fn dense_gradients_are_the_derivatives() {
        let mut trainer = trainer(2);
        let batch = positions(64);
        let (_, gradient) = trainer.gradient(&batch, &mut SplitMix64::new(0));
        let mut largest = 0.0_f32;
        for (tensor, slopes) in gradient.tensors().into_iter().enumerate() {
            // The steepest entry of each tensor, and a few others.
            let steepest = (0..slopes.len())
                .max_by(|&a, &b| slopes[a].abs().total_cmp(&slopes[b].abs()))
                .unwrap_or(0);
            for entry in [steepest, 0, slopes.len() / 2, slopes.len() - 1] {
                let wanted = difference(&mut trainer, &batch, |model| {
                    &mut model.dense.tensors_mut()[tensor][entry]
                });
                assert_near(
                    &format!("tensor {tensor} entry {entry}"),
                    slopes[entry],
                    wanted,
                );
                largest = largest.max(wanted.abs());
            }
        }
        assert!(largest > 1e-2, "the check must see real slopes");
    }

    #[test]
    fn transformer_gradients_are_the_derivatives() {
        let mut trainer = trainer(1);
        let batch = positions(64);
        trainer.gradient(&batch, &mut SplitMix64::new(0));
        let index = RowIndex::of(&trainer.actives);
        let mut row = [0.0; L1];
        // The own pawn on a2 with the own king on e1, and the factor row of that pawn.
        let (piece_row, king) = (8, 4);
        let users = index.users(64 * piece_row + king).to_vec();
        assert!(!users.is_empty());
        trainer.kernels.sum_rows(&trainer.rows, &users, &mut row);
        let factor_users: Vec<u32> = (0..64)
            .flat_map(|king| index.users(64 * piece_row + king).to_vec())
            .collect();
        let mut factor = [0.0; L1];
        trainer
            .kernels
            .sum_rows(&trainer.rows, &factor_users, &mut factor);
        for (block_row, slopes) in [(king, row), (FACTOR, factor)] {
            for unit in (0..L1).step_by(37) {
                let at = piece_row * BLOCK + block_row * L1 + unit;
                let wanted = difference(&mut trainer, &batch, |model| &mut model.transformer[at]);
                assert_near(
                    &format!("row {block_row} unit {unit}"),
                    slopes[unit],
                    wanted,
                );
            }
        }
    }

    #[test]
    fn the_loss_falls_and_the_export_agrees() {
        let records = positions(5000);
        let mut trainer = trainer(2);
        let mut rng = SplitMix64::new(1);
        let before = trainer.validate(&records);
        for _ in 0..20 {
            for batch in records.chunks(250) {
                trainer.step(batch, 0.004, &mut rng);
            }
        }
        let after = trainer.validate(&records);
        assert!(after < before / 10.0, "{before} -> {after}");
        let net = crate::train::export::quantise(&trainer.model, 0.6);
        let parity = crate::train::export::parity((&trainer.model, 0.6), &net, &records);
        eprintln!("{parity}");
        assert!(parity.mean < 0.02 * parity.size, "{parity}");
    }

    #[test]
    fn a_seed_and_a_thread_count_give_one_result() {
        let records = positions(600);
        let run = || {
            let mut trainer = trainer(2);
            let mut rng = SplitMix64::new(1);
            records.chunks(200).for_each(|batch| {
                trainer.step(batch, 0.004, &mut rng);
            });
            (trainer.model.transformer, trainer.model.dense.l1_weight)
        };
        assert!(run() == run());
    }
}
