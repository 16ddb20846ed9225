//! One step of training on all cores, and the validation loss.
//!
//! A batch is divided into shards, one per thread ([`Shard`]). The active rows of the transformer are indexed
//! ([`transformer`]). [`layers`] copies them from the model, together with all other parameters of the passes, and runs
//! the forward and backward passes with the kernels in [`simd`], with the loss ([`layers::Loss`]) between them.
//! [`transformer`] adds the piece-square values and sums the transformer's gradient, and [`optimiser`] updates the
//! parameters.
//! [`Stepper`] is the interface that other devices implement too.

pub(super) mod layers;
pub(super) mod optimiser;
mod simd;
mod transformer;

use std::ops::Range;

use anyhow::{Context, Result};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::data::Record;
use crate::nnue::Architecture;
use crate::train::model::parameters::{DenseParameters, RowLayout};
use crate::train::model::shapes::Rounding;
use crate::train::model::{Average, Model};
use crate::train::samples::{ActiveRows, Sample, king_buckets};
use crate::util::sync;
use layers::{Buffers, Gradient, Loss, Snapshot, StepContext};
use optimiser::{Moments, Optimiser};
use simd::{GROUP, Kernels};
use transformer::{PackedDeltas, PsqtRows, RowIndex, TransformerGradient};

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
    let layout = RowLayout::weights(architecture);
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

// The interface of a training step, which is the same on the processor and on a graphics card.

/// Parameters of a run: all that a checkpoint stores of the trainer.
pub struct Parameters {
    /// The weights.
    pub model: Model,
    /// The optimiser's moments.
    pub moments: Moments,
    /// The mean of the weights, if there is one.
    pub average: Option<Average>,
}

impl Parameters {
    /// Returns the resulting model: the mean, or the weights if there is no mean.
    pub fn into_result(self) -> Model {
        self.average.map_or(self.model, |average| average.model)
    }
}

/// Borrowed [`Parameters`].
#[derive(Clone, Copy)]
pub struct ParametersRef<'a> {
    /// The weights.
    pub model: &'a Model,
    /// The optimiser's moments.
    pub moments: &'a Moments,
    /// The mean of the weights, if there is one.
    pub average: Option<&'a Average>,
}

impl<'a> ParametersRef<'a> {
    /// Returns the resulting model: the mean, or the weights if there is no mean.
    pub fn result(self) -> &'a Model {
        self.average.map_or(self.model, |average| &average.model)
    }
}

/// Takes steps on a device. A device with its own memory may still be computing when [`Self::step`] returns.
///
/// After an error the device can no longer be used; [`Self::parameters`] then still returns the parameters of the last
/// [`Self::sync`].
pub trait Stepper {
    /// Trains on a batch. Returns the mean losses, before their steps, of the batches that were completed since the
    /// last call of this function or of [`Self::sync`], in order.
    ///
    /// # Errors
    /// Fails if the device fails.
    fn step(&mut self, batch: &[Sample], rate: f32) -> Result<Vec<f32>>;

    /// Completes all steps and copies the parameters to the host. Returns the losses of the batches that were
    /// completed.
    ///
    /// # Errors
    /// Fails if the device fails.
    fn sync(&mut self) -> Result<Vec<f32>>;

    /// Sets the loss to minimise.
    fn set_loss(&mut self, loss: Loss);

    /// Sets the rounding of the parameters for later passes.
    fn round(&mut self, rounding: Option<Rounding>);

    /// Adds the parameters of the last [`Self::sync`] to the mean.
    fn add_to_average(&mut self);

    /// Returns the mean loss of the resulting model of the last [`Self::sync`] on held-out positions.
    ///
    /// # Errors
    /// Fails if the device fails.
    fn validate(&mut self, held_out: &[Record]) -> Result<f32>;

    /// Returns the parameters of the last [`Self::sync`], or the initial ones.
    fn parameters(&self) -> ParametersRef<'_>;
}

// The work of one thread on its shard of a batch: forward pass, loss, and backward pass.

/// A shard of a batch, and its buffers.
pub struct Shard {
    /// The positions.
    pub samples: Vec<Sample>,
    /// Index of the rows that the positions use.
    pub index: RowIndex,
    /// Deltas of the positions' accumulators.
    pub deltas: PackedDeltas,
    actives: ActiveRows,
    /// End of the positions of each layer stack.
    ends: Vec<usize>,
    buffers: Buffers,
    gradient: Gradient,
    psqt_gradient: PsqtRows,
    loss: f64,
}

impl Shard {
    /// Creates an empty shard for nets of `architecture`.
    pub fn new(architecture: Architecture) -> Self {
        Self {
            samples: Vec::new(),
            index: RowIndex::new(architecture),
            deltas: PackedDeltas::empty(),
            actives: ActiveRows::default(),
            ends: Vec::new(),
            buffers: Buffers::zeros(architecture),
            gradient: Gradient::zeros(architecture),
            psqt_gradient: PsqtRows::zeros(architecture),
            loss: 0.0,
        }
    }

    /// Copies the samples, sorts them, and finds their features.
    pub fn prepare(&mut self, architecture: Architecture, samples: &[Sample]) {
        self.samples.clear();
        self.samples.extend_from_slice(samples);
        self.activate(architecture);
        self.index.fill(&self.actives);
        self.deltas.resize(architecture.l1, 2 * samples.len());
    }

    /// Sorts the samples by stack, because a group shares one stack, and finds their features. Within a stack they are
    /// sorted by king buckets, so that the rows of the last positions, which are in the cache, are used again.
    fn activate(&mut self, architecture: Architecture) {
        let features = architecture.features;
        let bucket = |sample: &Sample| architecture.bucket(sample.record.piece_count() as usize);
        let kings = |sample: &Sample| king_buckets(features, &sample.record, sample.mirrored);
        self.samples.sort_by_cached_key(|sample| (bucket(sample), kings(sample)));
        let end = |number| self.samples.partition_point(|sample| bucket(sample) <= number);
        self.ends.clear();
        self.ends.extend((0..architecture.buckets).map(end));
        self.actives.clear();
        for sample in &self.samples {
            self.actives.push(architecture, &sample.record, sample.mirrored);
        }
    }

    /// Returns the groups of positions that are processed together, each with its stack.
    fn groups(&self) -> Vec<(usize, Range<usize>)> {
        let mut start = 0;
        let mut groups = Vec::new();
        for (stack, &end) in self.ends.iter().enumerate() {
            let group = |first: usize| (stack, first..(first + GROUP).min(end));
            groups.extend((start..end).step_by(GROUP).map(group));
            start = end;
        }
        groups
    }

    /// Runs the passes forward and backward. Stores the accumulators' deltas, the loss and the dense gradient in the
    /// shard. `weight` is the weight of each position.
    pub fn backpropagate(&mut self, context: StepContext, weight: f32) {
        self.gradient.clear();
        self.psqt_gradient.clear();
        self.loss = 0.0;
        let inputs = context.snapshot.architecture.inputs();
        let penalty = weight * context.loss.sparsity / inputs as f32;
        for (stack, group) in self.groups() {
            self.buffers.forward(context, stack, self.actives.range(group.clone()));
            let mut deltas = [0.0; GROUP];
            for (at, sample) in self.samples[group.clone()].iter().enumerate() {
                let active = self.actives.get(group.start + at);
                let psqt = context.snapshot.psqt.output(active, stack);
                let output = self.buffers.output(at) + psqt;
                let (loss, delta) = context.loss.of(output, context.loss.target(&sample.record));
                self.loss += f64::from(loss * weight);
                deltas[at] = delta * weight;
                self.psqt_gradient.add_gradient(active, stack, deltas[at]);
            }
            let Self { buffers, gradient, index, deltas: packed, .. } = self;
            let store = |at: usize, deltas: &[f32]| {
                packed.store(context.kernels, index.numbers(group.start + at), deltas);
            };
            buffers.backward(context, stack, penalty, &deltas, gradient, store);
        }
    }

    /// Returns the sum of the samples' losses.
    pub fn measure(&mut self, context: StepContext) -> f64 {
        self.activate(context.snapshot.architecture);
        let mut total = 0.0;
        for (stack, group) in self.groups() {
            self.buffers.forward(context, stack, self.actives.range(group.clone()));
            for (at, sample) in self.samples[group.clone()].iter().enumerate() {
                let target = context.loss.target(&sample.record);
                let psqt = context.snapshot.psqt.output(self.actives.get(group.start + at), stack);
                total += f64::from(context.loss.of(self.buffers.output(at) + psqt, target).0);
            }
        }
        total
    }

    /// Adds the dense gradient of the last [`Self::backpropagate`] to `total`, and returns the loss.
    pub fn collect(&self, total: &mut DenseParameters) -> f64 {
        self.gradient.add_to(total);
        self.psqt_gradient.add_to(total);
        self.loss
    }
}

#[cfg(test)]
mod tests;
