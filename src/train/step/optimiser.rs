//! Adam: dense for the small tensors, sparse for the transformer. Rows that no position of the batch uses keep their
//! weights and moments, so the cost of a step depends on the batch and not on the ten million parameters.
// CITE: Adam: Kingma and Ba (2015); decoupled weight decay: Loshchilov and Hutter (2019).

use std::ops::Range;

use rayon::prelude::*;

use crate::nnue::Architecture;
use crate::train::model::Model;
use crate::train::model::dense::{DenseParameters, WEIGHTS};
use crate::train::model::transformer::{self, Table, block, factor};
use crate::train::step::layout::Deltas;
use crate::train::step::row_index::RowIndex;
use crate::train::step::simd::{AdamStep, Kernels};

/// Settings that are constant during a run.
#[derive(Clone, Copy, Debug)]
pub struct OptimiserSettings {
    /// Learning rate of the real rows, relative to the rate of the other parameters.
    pub real_rate: f32,
    /// Decoupled weight decay of the real rows, relative to the learning rate.
    pub real_decay: f32,
    /// Decoupled weight decay of the factor rows, relative to the learning rate.
    pub factor_decay: f32,
    /// Decoupled weight decay of the dense layers' weights, relative to the learning rate.
    pub decay: f32,
    /// Factor by which the export multiplies the output. The scaled weights must fit into the file's bytes.
    pub output_scale: f32,
}

/// Transformer columns processed at a time. The deltas of a position are read once for each of its pieces, so these
/// columns of a whole batch should fit into the cache.
const COLUMNS: usize = 128;

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// First and second moments of every parameter, and the number of steps.
pub struct Moments {
    /// Running means of the gradient.
    pub first: (Table, DenseParameters),
    /// Running means of the squared gradient.
    pub second: (Table, DenseParameters),
    /// Steps taken.
    pub steps: u32,
}

impl Moments {
    /// Returns the moments of a new run.
    pub fn zeros(architecture: Architecture) -> Self {
        let zeros = || (transformer::zeros(architecture), DenseParameters::zeros(architecture));
        Self { first: zeros(), second: zeros(), steps: 0 }
    }
}

/// Adam.
pub struct Optimiser {
    settings: OptimiserSettings,
    /// Moments of the parameters.
    pub moments: Moments,
}

/// Gradient of the transformer before summation: the deltas of a batch's accumulators, two per position, and the index
/// of the accumulators that use each row.
#[derive(Clone, Copy)]
pub struct SparseGradient<'a, const L1: usize> {
    /// Deltas of every position's accumulators.
    pub deltas: &'a [Deltas<L1>],
    /// The index of each shard of the batch, in order.
    pub indices: &'a [&'a RowIndex],
}

impl Optimiser {
    /// Creates an optimiser that continues from `moments`.
    pub fn new(settings: OptimiserSettings, moments: Moments) -> Self {
        Self { settings, moments }
    }

    /// Takes one step on a batch's gradient, in parallel in the current thread pool.
    pub fn step<const L1: usize>(
        &mut self,
        kernels: Kernels,
        model: &mut Model,
        rate: f32,
        dense: &DenseParameters,
        sparse: SparseGradient<L1>,
    ) {
        self.moments.steps += 1;
        let step = adam_step(self.moments.steps, rate, 0.0);
        let decayed = adam_step(self.moments.steps, rate, rate * self.settings.decay);
        self.step_dense(kernels, [&step, &decayed], model, dense);
        let real_rate = rate * self.settings.real_rate;
        let size = block(model.architecture);
        let block_step = BlockStep {
            kernels,
            architecture: model.architecture,
            real: adam_step(self.moments.steps, real_rate, real_rate * self.settings.real_decay),
            factor: adam_step(self.moments.steps, rate, rate * self.settings.factor_decay),
            sparse,
        };
        for first_column in (0..L1).step_by(COLUMNS) {
            let columns = first_column..(first_column + COLUMNS).min(L1);
            // The assignment of blocks to threads does not affect the result: each row has a fixed order of summation.
            model
                .transformer
                .par_chunks_exact_mut(size)
                .zip(self.moments.first.0.par_chunks_exact_mut(size))
                .zip(self.moments.second.0.par_chunks_exact_mut(size))
                .enumerate()
                .for_each(|(piece_row, ((weights, first), second))| {
                    block_step.run(piece_row, columns.clone(), weights, first, second);
                });
        }
    }

    /// Updates the dense tensors. `steps` has the constants for biases, then for weights.
    fn step_dense(&mut self, kernels: Kernels, steps: [&AdamStep; 2], model: &mut Model, dense: &DenseParameters) {
        let first = self.moments.first.1.tensors_mut().into_iter();
        let moments = first.zip(self.moments.second.1.tensors_mut());
        let tensors = model.dense.tensors_mut().into_iter().zip(dense.tensors());
        for (tensor, ((weights, gradient), (first, second))) in tensors.zip(moments).enumerate() {
            let step = steps[usize::from(WEIGHTS.contains(&tensor))];
            kernels.adam(step, weights, first, second, gradient);
        }
        model.dense.clip(model.architecture, self.settings.output_scale);
    }
}

/// Update of the rows that share a factor row.
struct BlockStep<'a, const L1: usize> {
    kernels: Kernels,
    architecture: Architecture,
    real: AdamStep,
    factor: AdamStep,
    sparse: SparseGradient<'a, L1>,
}

impl<const L1: usize> BlockStep<'_, L1> {
    /// Updates the columns `columns` of the rows.
    fn run(&self, piece_row: usize, columns: Range<usize>, weights: &mut [f32], first: &mut [f32], second: &mut [f32]) {
        let (mut total, mut gradient) = ([0.0; COLUMNS], [0.0; COLUMNS]);
        let (total, gradient) = (&mut total[..columns.len()], &mut gradient[..columns.len()]);
        let mut touched = false;
        let mut adam = |step: &AdamStep, row: usize, gradient: &[f32]| {
            let range = row * L1 + columns.start..row * L1 + columns.end;
            let moments = (&mut first[range.clone()], &mut second[range.clone()]);
            self.kernels.adam(step, &mut weights[range], moments.0, moments.1, gradient);
        };
        let features = self.architecture.features;
        for king in 0..features.set().kings {
            let row = features.set().kings * piece_row + king;
            if !self.sum(row, columns.start, gradient) {
                continue;
            }
            touched = true;
            adam(&self.real, king, gradient);
            total.iter_mut().zip(&*gradient).for_each(|(sum, term)| *sum += term);
        }
        if touched {
            adam(&self.factor, factor(features), total);
        }
    }

    /// Sums the gradient of a row, for the columns from `first` on. Returns whether any position uses the row.
    fn sum(&self, row: usize, first: usize, gradient: &mut [f32]) -> bool {
        let deltas = self.sparse.deltas.as_flattened().as_flattened();
        let mut used = false;
        for index in self.sparse.indices {
            let users = index.users(row);
            if users.is_empty() {
                continue;
            }
            if !used {
                gradient.fill(0.0);
            }
            used = true;
            self.kernels.add_rows::<L1>(deltas, users, first, gradient);
        }
        used
    }
}

/// Returns the constants of step `steps`, with Adam's bias corrections included in rate and epsilon.
pub fn adam_step(steps: u32, rate: f32, decay: f32) -> AdamStep {
    let steps = i32::try_from(steps).unwrap_or(i32::MAX);
    let root = (1.0 - BETA2.powi(steps)).sqrt();
    AdamStep {
        rate: rate * root / (1.0 - BETA1.powi(steps)),
        beta1: BETA1,
        beta2: BETA2,
        epsilon: EPSILON * root,
        decay,
    }
}
