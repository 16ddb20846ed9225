//! One step of training on all cores, and the validation loss.
//!
//! A batch is divided into shards, one per thread ([`shard`]). The active rows of the transformer are indexed
//! ([`row_index`]). [`layers`] copies them from the model, together with all other parameters of the passes, and runs
//! the forward and backward passes with the kernels in [`simd`]. [`loss`] compares outputs with labels, [`transformer`]
//! adds the piece-square values and sums the transformer's gradient, and [`optimiser`] updates the parameters.
//! [`stepper`] is the interface that other devices implement too.

mod layers;
pub(super) mod loss;
pub(super) mod optimiser;
mod row_index;
mod shard;
mod simd;
pub(super) mod stepper;
mod transformer;

use anyhow::{Context, Result};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use layers::Snapshot;
use layers::StepContext;
use loss::Loss;
use optimiser::Optimiser;
use shard::Shard;
use simd::Kernels;
use stepper::{ParametersRef, Stepper};
use transformer::TransformerGradient;

use super::model::Model;
use super::model::average::Average;
use super::model::dense::DenseParameters;
use super::model::rounding::Rounding;
use super::samples::Sample;
use crate::data::Record;
use crate::nnue::Architecture;
use crate::train::model::rows::layout;
use crate::util::sync;

/// Size of a trainer.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrainerSize {
    /// Number of threads.
    pub threads: usize,
    /// Maximum number of positions of a batch.
    pub batch: usize,
}

/// A model, its optimiser, and the buffers for a batch.
///
/// A step has five parallel phases. The threads find the features of their shards; the active rows are folded; the
/// threads run their shards forward and backward; the gradients of the rows are summed; the optimiser updates the rows.
/// Gradients are summed shard by shard, so the result depends on the number of threads, but not on their timing.
pub(super) struct Trainer {
    /// The current model.
    pub model: Model,
    /// The optimiser with its moments.
    pub optimiser: Optimiser,
    /// The mean over the last part of the run, once that part has started.
    pub average: Option<Average>,
    /// The loss to minimise; it can change between steps.
    pub loss: Loss,
    kernels: Kernels,
    pool: ThreadPool,
    snapshot: Snapshot,
    shards: Vec<Shard>,
    transformer: TransformerGradient,
    /// Maximum number of positions of a batch.
    batch: usize,
}

impl Trainer {
    /// Creates a trainer of `model`.
    ///
    /// # Errors
    /// Fails if the threads cannot be started.
    pub fn new(model: Model, optimiser: Optimiser, loss: Loss, size: TrainerSize) -> Result<Self> {
        let architecture = model.architecture;
        Ok(Self {
            snapshot: Snapshot::new(&model),
            model,
            optimiser,
            average: None,
            loss,
            kernels: Kernels::detect(),
            pool: thread_pool(size.threads)?,
            shards: (0..size.threads.max(1)).map(|_| Shard::new(architecture)).collect(),
            transformer: TransformerGradient::zeros(architecture),
            batch: size.batch,
        })
    }

    /// Trains on a batch and returns its mean loss before the step.
    pub fn step(&mut self, batch: &[Sample], rate: f32) -> f32 {
        let (loss, dense) = self.gradient(batch);
        let (optimiser, model, kernels) = (&mut self.optimiser, &mut self.model, self.kernels);
        let (shards, transformer) = (&self.shards, &self.transformer);
        let uses = |row| is_used(shards, row);
        self.pool.install(|| optimiser.step(kernels, model, rate, &dense, transformer, uses));
        loss
    }

    /// Sets the rounding of the parameters for later passes.
    pub fn round(&mut self, rounding: Option<Rounding>) {
        self.model.rounding = rounding;
        if let Some(average) = &mut self.average {
            average.model.rounding = rounding;
        }
    }

    /// Adds the current model to the mean.
    pub fn add_to_average(&mut self) {
        let (average, model) = (&mut self.average, &self.model);
        self.pool.install(|| match average {
            Some(average) => average.add(model),
            None => *average = Some(Average::of(model)),
        });
    }

    /// Returns the resulting model: the mean, or the current model if there is no mean.
    #[cfg(test)]
    pub fn result(&self) -> &Model {
        result(&self.model, self.average.as_ref())
    }

    /// Runs a batch forward and backward and returns the mean loss and the dense gradient. `transformer` then contains
    /// the gradient of the rows.
    fn gradient(&mut self, batch: &[Sample]) -> (f32, DenseParameters) {
        let batch = &batch[..batch.len().min(self.batch)];
        let count = batch.len();
        let size = count.div_ceil(self.shards.len()).max(1);
        let (kernels, model, snapshot) = (self.kernels, &self.model, &mut self.snapshot);
        let (shards, transformer) = (&mut self.shards, &mut self.transformer);
        let loss = self.loss;
        self.pool.install(|| {
            shards.par_iter_mut().enumerate().for_each(|(at, shard)| {
                let first = (at * size).min(count);
                let samples = &batch[first..(first + size).min(count)];
                shard.prepare(model.architecture, samples);
            });
            snapshot.take(kernels, model, |row| is_used(shards, row));
            let context = StepContext { snapshot, loss, kernels };
            let weight = 1.0 / count.max(1) as f32;
            shards.par_iter_mut().for_each(|shard| shard.backpropagate(context, weight));
            let shards: Vec<_> = shards.iter().map(|shard| (&shard.index, &shard.deltas)).collect();
            transformer.sum(kernels, &shards);
        });
        let mut dense = DenseParameters::zeros(self.model.architecture);
        let loss: f64 = self.shards.iter().map(|s| s.collect(&mut dense)).sum();
        (loss as f32, dense)
    }

    /// Returns the mean loss of the resulting model on held-out positions.
    pub fn validate(&mut self, held_out: &[Record]) -> f32 {
        let model = result(&self.model, self.average.as_ref());
        let (kernels, snapshot) = (self.kernels, &mut self.snapshot);
        let size = held_out.len().div_ceil(self.shards.len()).max(1);
        let (shards, loss) = (&mut self.shards, self.loss);
        let sum: f64 = self.pool.install(|| {
            snapshot.take(kernels, model, |_| true);
            let context = StepContext { snapshot, loss, kernels };
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

impl Stepper for Trainer {
    fn step(&mut self, batch: &[Sample], rate: f32) -> Result<Vec<f32>> {
        Ok(vec![self.step(batch, rate)])
    }

    fn sync(&mut self) -> Result<Vec<f32>> {
        Ok(Vec::new())
    }

    fn set_loss(&mut self, loss: Loss) {
        self.loss = loss;
    }

    fn round(&mut self, rounding: Option<Rounding>) {
        self.round(rounding);
    }

    fn add_to_average(&mut self) {
        self.add_to_average();
    }

    fn validate(&mut self, held_out: &[Record]) -> Result<f32> {
        Ok(self.validate(held_out))
    }

    fn parameters(&self) -> ParametersRef<'_> {
        ParametersRef { model: &self.model, moments: &self.optimiser.moments, average: self.average.as_ref() }
    }
}

fn result<'a>(model: &'a Model, average: Option<&'a Average>) -> &'a Model {
    average.map_or(model, |average| &average.model)
}

/// Whether a position of the batch uses a row of the transformer.
fn is_used(shards: &[Shard], row: usize) -> bool {
    shards.iter().any(|shard| shard.index.uses(row))
}

/// Approximate memory of a run in bytes, without its positions: weights, their mean if `averaged`, optimiser moments, a
/// batch, and the export.
pub(super) fn trainer_bytes(architecture: Architecture, averaged: bool, batch: usize) -> usize {
    let layout = layout(architecture);
    let tables = (3 + usize::from(averaged)) * size_of::<f32>() * layout.len();
    let fixed = size_of::<i16>() * layout.active_rows() * architecture.l1;
    let position = 2 * size_of::<u16>() * architecture.l1 + 8 * size_of::<Sample>() + 512;
    let gradient = size_of::<f32>() * layout.active_rows() * architecture.l1;
    // The snapshot, the net, its bytes, and the bytes of the previous net.
    tables + gradient + 4 * fixed + batch * position
}

/// Creates a thread pool with the configured number of threads.
fn thread_pool(threads: usize) -> Result<ThreadPool> {
    let pool = ThreadPoolBuilder::new();
    let pool =
        if sync::THREADS_EXIST { pool.num_threads(threads.max(1)) } else { pool.num_threads(1).use_current_thread() };
    pool.build().context("cannot start the threads")
}

/// Returns the sum of the losses of `records`.
fn measure(shard: &mut Shard, context: StepContext, records: &[Record]) -> f64 {
    /// Number of positions in a shard at a time.
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
