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
            let mirrored = rng.next_u64() >> 63 == 1 && !record.can_castle();
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
