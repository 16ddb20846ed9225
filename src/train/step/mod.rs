//! One step of training on all cores, and the loss on positions held out.
//!
//! A batch is cut into shards, one for each thread ([`shard`]). The active rows of the transformer are indexed
//! ([`row_index`]) and copied out of the model with everything else that the passes read ([`snapshot`]); the layers go
//! forward and backward ([`layers`], and [`upper`] for those above the first one) by the loops in [`simd`], beside them
//! piece-square values ([`psqt`]); [`loss`] compares outputs with labels, and [`optimiser`] takes the step.

mod layers;
mod layout;
pub(super) mod loss;
pub(super) mod optimiser;
mod psqt;
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
use super::model::average::Average;
use super::model::dense::DenseParameters;
use super::model::rounding::Rounding;
use super::model::transformer::block;
use super::samples::Sample;
use crate::data::Record;
use crate::nnue::Architecture;
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
    /// The mean of the run's last part, once that has begun.
    pub average: Option<Average>,
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
            average: None,
            loss,
            backend: Backend::detect(),
            pool: thread_pool(threads)?,
            shards: (0..threads.max(1))
                .map(|_| Shard::new(architecture))
                .collect(),
            deltas: zeroed_slice_or_abort(batch),
        })
    }

    /// Learns from a batch, and returns its mean loss before the step.
    pub fn step(&mut self, batch: &[Sample], rate: f32) -> f32 {
        let (loss, dense) = self.gradient(batch);
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

    /// From now on the parameters are read so.
    pub fn round(&mut self, rounding: Option<Rounding>) {
        self.model.rounding = rounding;
        if let Some(average) = &mut self.average {
            average.model.rounding = rounding;
        }
    }

    /// Takes the model as it is into the mean.
    pub fn take_moment(&mut self) {
        let (average, model) = (&mut self.average, &self.model);
        self.pool.install(|| match average {
            Some(average) => average.add(model),
            None => *average = Some(Average::of(model)),
        });
    }

    /// What the run has made: the mean, or the model where there is none.
    pub fn result(&self) -> &Model {
        result(&self.model, self.average.as_ref())
    }

    /// Forward and backward over a batch: the mean loss and the dense gradient; those of the accumulators stay in
    /// `deltas`.
    fn gradient(&mut self, batch: &[Sample]) -> (f32, DenseParameters) {
        let batch = &batch[..batch.len().min(self.deltas.len())];
        let count = batch.len();
        let size = count.div_ceil(self.shards.len()).max(1);
        let (backend, model, snapshot) = (self.backend, &self.model, &mut self.snapshot);
        let (shards, deltas) = (&mut self.shards, &mut self.deltas);
        let loss = self.loss;
        self.pool.install(|| {
            shards.par_iter_mut().enumerate().for_each(|(at, shard)| {
                let first = (at * size).min(count);
                let samples = &batch[first..(first + size).min(count)];
                shard.prepare(model.architecture, samples, first);
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

    /// The mean loss of the run's result on positions that are not learnt from.
    pub fn validate(&mut self, held_out: &[Record]) -> f32 {
        let model = result(&self.model, self.average.as_ref());
        let (backend, snapshot) = (self.backend, &mut self.snapshot);
        let size = held_out.len().div_ceil(self.shards.len()).max(1);
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
                .zip(held_out.par_chunks(size))
                .map(|(shard, records)| measure(shard, context, records))
                .collect();
            sums.iter().sum()
        });
        (sum / held_out.len().max(1) as f64) as f32
    }
}

fn result<'a>(model: &'a Model, average: Option<&'a Average>) -> &'a Model {
    average.map_or(model, |average| &average.model)
}

/// Bytes that a run needs about, beside its positions: weights, their mean if it is `averaged`, and moments; a batch on
/// its way; and what an export makes.
pub(super) fn trainer_bytes(architecture: Architecture, averaged: bool, batch: usize) -> usize {
    let set = architecture.features.set();
    let tables =
        (3 + usize::from(averaged)) * size_of::<f32>() * set.piece_rows() * block(architecture);
    let fixed = size_of::<i16>() * set.active_rows() * architecture.l1;
    let position = 2 * size_of::<u16>() * architecture.l1 + 8 * size_of::<Sample>() + 512;
    // The snapshot, the net, its bytes, and those of the net before.
    tables + 4 * fixed + batch * position
}

/// Threads of our own, so that their number is the one that was asked for.
fn thread_pool(threads: usize) -> Result<ThreadPool> {
    let pool = ThreadPoolBuilder::new();
    let pool = if threads::EXIST {
        pool.num_threads(threads.max(1))
    } else {
        pool.num_threads(1).use_current_thread()
    };
    pool.build().context("cannot start the threads")
}

/// The sum of the losses of positions.
fn measure<const L1: usize>(
    shard: &mut Shard<L1>,
    context: StepContext<L1>,
    records: &[Record],
) -> f64 {
    /// Positions that a shard holds at a time.
    const RUN: usize = 4096;
    let runs = records.chunks(RUN).map(|run| {
        shard.samples.clear();
        let samples = run.iter().copied().map(Sample::plain);
        shard.samples.extend(samples);
        shard.measure(context)
    });
    runs.sum()
}

#[cfg(test)]
mod tests;
