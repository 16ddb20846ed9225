//! One step of training on all cores, and the loss on positions held out.
//!
//! A batch is cut into shards, one for each thread ([`shard`]). The active rows of the transformer are indexed
//! ([`row_index`]) and copied out of the model with everything else that the passes read ([`snapshot`]); the layers go
//! forward and backward ([`layers`], and [`upper`] for those above the first one) by the loops in [`simd`]; [`loss`]
//! compares outputs with labels, and [`optimiser`] takes the step.

mod layers;
mod layout;
pub(super) mod loss;
pub(super) mod optimiser;
mod row_index;
mod shard;
mod simd;
mod snapshot;
mod upper;

use anyhow::{Context, Result, ensure};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use layers::StepContext;
use layout::Deltas;
use loss::Loss;
use optimiser::{Optimiser, SparseGradient};
use row_index::RowIndex;
use shard::Shard;
use simd::Backend;
use snapshot::Snapshot;

use super::model::Model;
use super::model::dense::DenseParameters;
use super::samples::dataset::Dataset;
use super::samples::{Sample, SampleSource};
use crate::util::memory::{Zeroed, zeroed_slice_or_abort};
use crate::util::threads;

/// A model, its optimiser, and the room that a batch needs.
///
/// A step has four phases, each in parallel: the threads find the features of their shards; the rows that are used are
/// folded; the threads take their shards forward and backward; the optimiser goes over the rows. The dense gradient is
/// summed shard by shard, so that the result depends on the number of threads, but on nothing else.
pub(super) struct Trainer<const L1: usize> {
    /// The model as it stands.
    pub model: Model,
    /// What steps, and what it remembers.
    pub optimiser: Optimiser,
    /// What to minimise; it may change from step to step.
    pub loss: Loss,
    backend: Backend,
    pool: ThreadPool,
    snapshot: Snapshot<L1>,
    shards: Vec<Shard<L1>>,
    deltas: Zeroed<Deltas<L1>>,
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
            backend: Backend::detect(),
            pool: thread_pool(threads)?,
            shards: (0..threads.max(1))
                .map(|_| Shard::new(architecture))
                .collect(),
            deltas: zeroed_slice_or_abort(batch),
        })
    }

    /// Learns from the first `count` samples of a batch, and returns their mean loss before the step.
    pub fn step(&mut self, count: usize, batch: &dyn SampleSource, rate: f32) -> f32 {
        let (loss, dense) = self.gradient(count, batch);
        let indices: Vec<&RowIndex> = self.shards.iter().map(|shard| &shard.index).collect();
        let sparse = SparseGradient {
            deltas: &self.deltas,
            indices: &indices,
        };
        let (optimiser, model, backend) = (&mut self.optimiser, &mut self.model, self.backend);
        self.pool
            .install(|| optimiser.step(backend, model, rate, &dense, sparse));
        loss
    }

    /// Forward and backward over a batch: the mean loss and the dense gradient; those of the accumulators stay in
    /// `deltas`.
    fn gradient(&mut self, count: usize, batch: &dyn SampleSource) -> (f32, DenseParameters) {
        let count = count.min(self.deltas.len());
        let size = count.div_ceil(self.shards.len()).max(1);
        let (backend, model, snapshot) = (self.backend, &self.model, &mut self.snapshot);
        let (shards, deltas) = (&mut self.shards, &mut self.deltas);
        let loss = self.loss;
        self.pool.install(|| {
            shards.par_iter_mut().enumerate().for_each(|(at, shard)| {
                let first = (at * size).min(count);
                batch.fill(first, size.min(count - first), &mut shard.samples);
                shard.prepare(model.architecture, first);
            });
            let indices: Vec<_> = shards.iter().map(|shard| &shard.index).collect();
            snapshot.take_used(backend, model, &indices);
            let context = StepContext {
                snapshot,
                loss,
                backend,
            };
            let weight = 1.0 / count.max(1) as f32;
            let rows = deltas.par_chunks_mut(size);
            shards
                .par_iter_mut()
                .zip(rows)
                .for_each(|(shard, rows)| shard.learn(context, weight, rows));
        });
        let mut dense = DenseParameters::zeros(self.model.architecture);
        let loss: f64 = self.shards.iter().map(|s| s.collect(&mut dense)).sum();
        (loss as f32, dense)
    }

    /// The mean loss on positions that are not learnt from.
    pub fn validate(&mut self, held_out: &Dataset) -> f32 {
        let (backend, model, snapshot) = (self.backend, &self.model, &mut self.snapshot);
        let size = held_out.len().div_ceil(self.shards.len() as u64).max(1);
        let (shards, loss) = (&mut self.shards, self.loss);
        let sum: f64 = self.pool.install(|| {
            snapshot.take(backend, model, |_| true);
            let context = StepContext {
                snapshot,
                loss,
                backend,
            };
            let sums: Vec<f64> = shards
                .par_iter_mut()
                .enumerate()
                .map(|(at, shard)| measure(shard, context, held_out, at as u64 * size, size))
                .collect();
            sums.iter().sum()
        });
        (sum / held_out.len().max(1) as f64) as f32
    }
}

/// Threads of our own, so that their number is the one that was asked for.
pub(super) fn thread_pool(threads: usize) -> Result<ThreadPool> {
    let pool = ThreadPoolBuilder::new();
    let pool = if threads::EXIST {
        pool.num_threads(threads.max(1))
    } else {
        pool.num_threads(1).use_current_thread()
    };
    pool.build().context("cannot start the threads")
}

/// The sum of the losses of positions `first..first + size`, as far as there are any.
fn measure<const L1: usize>(
    shard: &mut Shard<L1>,
    context: StepContext<L1>,
    data: &Dataset,
    first: u64,
    size: u64,
) -> f64 {
    /// Positions that a shard holds at a time.
    const RUN: u64 = 4096;
    let end = (first + size).min(data.len());
    let mut total = 0.0;
    let mut next = first;
    while next < end {
        let stop = (next + RUN).min(end);
        shard.samples.clear();
        let samples = (next..stop).map(|number| Sample::plain(*data.get(number)));
        shard.samples.extend(samples);
        total += shard.measure(context);
        next = stop;
    }
    total
}

#[cfg(test)]
mod tests;
