//! One step of training on all cores, and the loss on positions held out.

use anyhow::{Context, Result, ensure};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::dataset::Dataset;
use super::dense::Dense;
use super::index::RowIndex;
use super::loss::Loss;
use super::model::Model;
use super::optimiser::{Optimiser, SparseGradient};
use super::pass::{Pass, Sample, Share};
use super::simd::{Kernels, Slopes};
use super::snapshot::Snapshot;
use crate::util::memory::{Zeroed, zeroed_slice_or_abort};

/// A model, its optimiser, and the room that a batch needs.
///
/// A step has four phases, each in parallel: the threads find the features of their shares; the rows that are used are
/// folded; the threads take their shares forward and back; the optimiser goes over the rows. The dense gradient is
/// summed share by share, so that the result depends on the number of threads, but on nothing else.
pub struct Trainer<const L1: usize> {
    /// The model as it stands.
    pub model: Model,
    /// What steps, and what it remembers.
    pub optimiser: Optimiser,
    /// What to minimise; it may change from step to step.
    pub loss: Loss,
    kernels: Kernels,
    pool: ThreadPool,
    snapshot: Snapshot<L1>,
    shares: Vec<Share<L1>>,
    slopes: Zeroed<Slopes<L1>>,
}

impl<const L1: usize> Trainer<L1> {
    /// A trainer of `model`, for batches of at most `batch` positions.
    ///
    /// # Errors
    /// When the model has another width, or there are no threads to be had.
    pub fn new(
        model: Model,
        optimiser: Optimiser,
        loss: Loss,
        (threads, batch): (usize, usize),
    ) -> Result<Self> {
        ensure!(
            model.architecture.l1 == L1,
            "the model is {} wide, but the trainer {L1}",
            model.architecture.l1
        );
        let architecture = model.architecture;
        Ok(Self {
            snapshot: Snapshot::new(&model),
            model,
            optimiser,
            loss,
            kernels: Kernels::detect(),
            pool: thread_pool(threads)?,
            shares: (0..threads.max(1))
                .map(|_| Share::new(architecture))
                .collect(),
            slopes: zeroed_slice_or_abort(batch),
        })
    }

    /// Learns from `count` positions, of which `show(first, count, room)` gives any run, and returns their mean loss
    /// before the step.
    pub fn step(
        &mut self,
        count: usize,
        show: &(dyn Fn(usize, usize, &mut Vec<Sample>) + Sync),
        rate: f32,
    ) -> f32 {
        let (loss, dense) = self.gradient(count, show);
        let indices: Vec<&RowIndex> = self.shares.iter().map(|share| &share.index).collect();
        let sparse = SparseGradient {
            slopes: &self.slopes,
            indices: &indices,
        };
        let (optimiser, model, kernels) = (&mut self.optimiser, &mut self.model, self.kernels);
        self.pool
            .install(|| optimiser.step(kernels, model, rate, &dense, sparse));
        loss
    }

    /// Forward and back over a batch: the mean loss and the dense gradient; the accumulators' slopes stay in `slopes`.
    fn gradient(
        &mut self,
        count: usize,
        show: &(dyn Fn(usize, usize, &mut Vec<Sample>) + Sync),
    ) -> (f32, Dense) {
        let count = count.min(self.slopes.len());
        let size = count.div_ceil(self.shares.len()).max(1);
        let (kernels, model, snapshot) = (self.kernels, &self.model, &mut self.snapshot);
        let (shares, slopes) = (&mut self.shares, &mut self.slopes);
        let loss = self.loss;
        self.pool.install(|| {
            shares.par_iter_mut().enumerate().for_each(|(at, share)| {
                let first = (at * size).min(count);
                show(first, size.min(count - first), &mut share.samples);
                share.prepare(model.architecture, first);
            });
            let indices: Vec<_> = shares.iter().map(|share| &share.index).collect();
            snapshot.take_used(kernels, model, &indices);
            let pass = Pass {
                snapshot,
                loss,
                kernels,
            };
            let weight = 1.0 / count.max(1) as f32;
            let rows = slopes.par_chunks_mut(size);
            shares
                .par_iter_mut()
                .zip(rows)
                .for_each(|(share, rows)| share.learn(pass, weight, rows));
        });
        let mut dense = Dense::zeros(self.model.architecture);
        let loss: f64 = self.shares.iter().map(|s| s.collect(&mut dense)).sum();
        (loss as f32, dense)
    }

    /// The mean loss on positions that are not learnt from.
    pub fn validate(&mut self, held_out: &Dataset) -> f32 {
        let (kernels, model, snapshot) = (self.kernels, &self.model, &mut self.snapshot);
        let size = held_out.len().div_ceil(self.shares.len() as u64).max(1);
        let (shares, loss) = (&mut self.shares, self.loss);
        let sum: f64 = self.pool.install(|| {
            snapshot.take(kernels, model, |_| true);
            let pass = Pass {
                snapshot,
                loss,
                kernels,
            };
            let sums: Vec<f64> = shares
                .par_iter_mut()
                .enumerate()
                .map(|(at, share)| measure(share, pass, held_out, at as u64 * size, size))
                .collect();
            sums.iter().sum()
        });
        (sum / held_out.len().max(1) as f64) as f32
    }
}

/// Threads of our own, so that their number is the one that was asked for.
pub fn thread_pool(threads: usize) -> Result<ThreadPool> {
    ThreadPoolBuilder::new()
        .num_threads(threads.max(1))
        .build()
        .context("cannot start the threads")
}

/// The sum of the losses of positions `first..first + size`, as far as there are any.
fn measure<const L1: usize>(
    share: &mut Share<L1>,
    pass: Pass<L1>,
    data: &Dataset,
    first: u64,
    size: u64,
) -> f64 {
    /// Positions that a share holds at a time.
    const RUN: u64 = 4096;
    let end = (first + size).min(data.len());
    let mut total = 0.0;
    let mut next = first;
    while next < end {
        let stop = (next + RUN).min(end);
        share.samples.clear();
        share.samples.extend((next..stop).map(|number| Sample {
            record: *data.get(number),
            mirrored: false,
        }));
        total += share.measure(pass);
        next = stop;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Record;
    use crate::nnue::{Activation, Architecture};
    use crate::train::config::LossKind;
    use crate::train::features::record_of;
    use crate::train::optimiser::{Moments, Settings};
    use crate::train::report::ExportReport;
    use crate::train::shapes::{self, of_width};
    use crate::train::transformer::{block, factor};
    use crate::util::rng::SplitMix64;
    use shakmaty::{Chess, Color, Position, Square};

    const SETTINGS: Settings = Settings {
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
        // Squares of sums that are small have slopes that are too small to be seen.
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

    /// Shows the records one after the other, as they are.
    fn plainly(records: &[Record]) -> impl Fn(usize, usize, &mut Vec<Sample>) + Sync {
        |first, count, out| {
            out.clear();
            out.extend(records[first..first + count].iter().map(|&record| Sample {
                record,
                mirrored: false,
            }));
        }
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

    /// Where the largest slope is.
    fn steepest(slopes: &[f32]) -> usize {
        (0..slopes.len())
            .max_by(|&a, &b| slopes[a].abs().total_cmp(&slopes[b].abs()))
            .unwrap_or(0)
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
        for_each_width(|shape| {
            of_width!(check_dense_gradients, shape)(shape);
            Ok(())
        });
    }

    fn check_dense_gradients<const L1: usize>(architecture: Architecture) {
        let mut trainer = trainer::<L1>(2, architecture);
        let batch = positions(64);
        let (_, gradient) = trainer.gradient(batch.len(), &plainly(&batch));
        let mut largest = 0.0_f32;
        for (tensor, slopes) in gradient.tensors().into_iter().enumerate() {
            // The steepest entry of each tensor, and a few others.
            for entry in [steepest(slopes), 0, slopes.len() / 2, slopes.len() - 1] {
                let wanted = difference(&mut trainer.model, &batch, |model| {
                    &mut model.dense.tensors_mut()[tensor][entry]
                });
                assert_near(
                    &format!("{architecture:?}, tensor {tensor} entry {entry}"),
                    slopes[entry],
                    wanted,
                );
                largest = largest.max(wanted.abs());
            }
        }
        assert!(largest > 5e-3, "the check must see real slopes: {largest}");
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
        trainer.gradient(batch.len(), &plainly(&batch));
        let index = &trainer.shares[0].index;
        let mut row = [0.0; L1];
        // The own pawn on a2 with the own king on e1, and the factor row of that pawn.
        let set = architecture.features.set();
        let kings = set.kings;
        let king = set.view(Color::White, Square::E1).king.into();
        let piece_row = 8;
        let users = index.users(kings * piece_row + king).to_vec();
        assert!(!users.is_empty());
        let slopes = trainer.slopes.as_flattened().as_flattened();
        trainer.kernels.add_rows(slopes, &users, &mut row);
        let factor_users: Vec<u32> = (0..kings)
            .flat_map(|king| index.users(kings * piece_row + king).to_vec())
            .collect();
        let mut shared = [0.0; L1];
        trainer.kernels.add_rows(slopes, &factor_users, &mut shared);
        let mut largest = 0.0_f32;
        for (block_row, slopes) in [(king, row), (factor(architecture.features), shared)] {
            for unit in (0..L1).step_by(37).chain([steepest(&slopes)]) {
                let at = piece_row * block(architecture) + block_row * L1 + unit;
                let wanted = difference(&mut trainer.model, &batch, |model| {
                    &mut model.transformer[at]
                });
                assert_near(
                    &format!("{architecture:?}, row {block_row} unit {unit}"),
                    slopes[unit],
                    wanted,
                );
                largest = largest.max(wanted.abs());
            }
        }
        assert!(
            largest > 5e-4,
            "{architecture:?}: the check must see real slopes: {largest}"
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
        let held_out = Dataset::new(vec![records.clone()]);
        let before = trainer.validate(&held_out);
        assert!((before - exact_loss(&trainer.model, &records)).abs() < 1e-4);
        for _ in 0..20 {
            for batch in records.chunks(250) {
                trainer.step(batch.len(), &plainly(batch), 0.004);
            }
        }
        let after = trainer.validate(&held_out);
        assert!(after < before / 10.0, "{before} -> {after}");
        let net = crate::train::export::quantise(&trainer.model, 0.6);
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
                trainer.step(batch.len(), &plainly(batch), 0.004);
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
        let learnt = |kernels: Kernels| {
            let mut trainer = trainer::<L1>(2, architecture);
            trainer.kernels = kernels;
            for batch in records.chunks(250).cycle().take(12) {
                trainer.step(batch.len(), &plainly(batch), 0.004);
            }
            trainer.validate(&Dataset::new(vec![records.clone()]))
        };
        let wanted = learnt(Kernels::portable());
        for kernels in Kernels::all() {
            let loss = learnt(kernels);
            assert!(
                (loss / wanted - 1.0).abs() < 0.01,
                "{architecture:?}, {kernels:?}: {loss} {wanted}"
            );
        }
    }
}
