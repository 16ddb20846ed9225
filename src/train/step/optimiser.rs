//! Adam: dense for the small tensors, sparse for the transformer. Rows that no position of the batch uses keep their
//! weights and moments, so the cost of a step depends on the batch and not on the ten million parameters.

use rayon::prelude::*;

use super::simd::{AdamStep, COLUMNS, Kernels};
use super::transformer::TransformerGradient;
use crate::nnue::Architecture;
use crate::train::model::Model;
use crate::train::model::parameters::{self, DenseParameters, RowLayout, Table, WEIGHTS};
use crate::train::model::shapes::ACTIVATION_ONE;

// CITE: Adam: Kingma and Ba (2015); decoupled weight decay: Loshchilov and Hutter (2019).

/// Settings that are constant during a run.
#[derive(Clone, Copy, Debug)]
pub struct OptimiserSettings {
    /// Learning rate of the real rows, relative to the rate of the other parameters.
    pub real_rate: f32,
    /// Learning rate of the rows of attack inputs, relative to the rate of the other parameters.
    pub attack_rate: f32,
    /// Decoupled weight decay of the real rows, relative to the learning rate.
    pub real_decay: f32,
    /// Decoupled weight decay of the factor rows and of the rows of attack inputs, relative to the learning rate.
    pub factor_decay: f32,
    /// Decoupled weight decay of the dense layers' weights, relative to the learning rate.
    pub decay: f32,
    /// Factor by which the export multiplies the output. The scaled weights must fit into the file's bytes.
    pub output_scale: f32,
}

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// The largest weight of an attack input: 127 in the net file.
const BYTE_MAX: f32 = 127.0 / ACTIVATION_ONE;

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
        let zeros = || (parameters::zeros(architecture), DenseParameters::zeros(architecture));
        Self { first: zeros(), second: zeros(), steps: 0 }
    }
}

/// Adam.
pub struct Optimiser {
    settings: OptimiserSettings,
    /// Moments of the parameters.
    pub moments: Moments,
}

impl Optimiser {
    /// Creates an optimiser that continues from `moments`.
    pub fn new(settings: OptimiserSettings, moments: Moments) -> Self {
        Self { settings, moments }
    }

    /// Takes one step on a batch's gradient, in parallel in the current thread pool. `uses` tells whether a position of
    /// the batch uses a row of the transformer.
    pub fn step(
        &mut self,
        kernels: Kernels,
        model: &mut Model,
        rate: f32,
        dense: &DenseParameters,
        transformer: &TransformerGradient,
        uses: impl Fn(usize) -> bool + Sync,
    ) {
        self.moments.steps += 1;
        let step = adam_step(self.moments.steps, rate, 0.0);
        let decayed = adam_step(self.moments.steps, rate, rate * self.settings.decay);
        self.step_dense(kernels, [&step, &decayed], model, dense);
        let real_rate = rate * self.settings.real_rate;
        let attack_rate = rate * self.settings.attack_rate;
        let layout = RowLayout::weights(model.architecture);
        // A row without a factor row moves as far as both together. MEASURED: with `rate` alone, the held-out loss of
        // Chess768 128x2-1 after a million positions is 3 % higher.
        let shared_rate = if layout.has_factor { rate } else { rate + real_rate };
        let block_step = BlockStep {
            kernels,
            architecture: model.architecture,
            real: adam_step(self.moments.steps, real_rate, real_rate * self.settings.real_decay),
            factor: adam_step(self.moments.steps, shared_rate, rate * self.settings.factor_decay),
            attack: adam_step(self.moments.steps, attack_rate, attack_rate * self.settings.factor_decay),
            gradient: transformer,
            uses,
        };
        let tables = [&mut model.transformer, &mut self.moments.first.0, &mut self.moments.second.0];
        let [weights, first, second] = tables.map(|table| table.split_at_mut(layout.blocks()));
        let size = layout.block();
        let first_blocks = weights.0.par_chunks_exact_mut(size).zip(first.0.par_chunks_exact_mut(size));
        let blocks = first_blocks.zip(second.0.par_chunks_exact_mut(size)).enumerate();
        blocks.for_each(|(piece_row, ((weights, first), second))| block_step.run(piece_row, weights, first, second));
        let size = layout.width;
        let first_rows = weights.1.par_chunks_exact_mut(size).zip(first.1.par_chunks_exact_mut(size));
        let rows = first_rows.zip(second.1.par_chunks_exact_mut(size)).enumerate();
        rows.for_each(|(attack, ((weights, first), second))| block_step.run_attack(attack, weights, first, second));
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

/// Update of the rows that share a factor row, and of those of attack inputs.
struct BlockStep<'a, Uses> {
    kernels: Kernels,
    architecture: Architecture,
    real: AdamStep,
    factor: AdamStep,
    attack: AdamStep,
    gradient: &'a TransformerGradient,
    uses: Uses,
}

impl<Uses: Fn(usize) -> bool> BlockStep<'_, Uses> {
    fn run(&self, piece_row: usize, weights: &mut [f32], first: &mut [f32], second: &mut [f32]) {
        let (layout, l1) = (RowLayout::weights(self.architecture), self.architecture.l1);
        let mut adam = |step: &AdamStep, row: usize, block: usize, gradient: &[f32]| {
            let start = row * l1 + block * COLUMNS;
            let range = start..start + gradient.len();
            let moments = (&mut first[range.clone()], &mut second[range.clone()]);
            self.kernels.adam(step, &mut weights[range], moments.0, moments.1, gradient);
        };
        // A row that is not for one king bucket among several learns like a factor row.
        let of_king = if layout.has_factor { &self.real } else { &self.factor };
        let mut totals = vec![0.0; l1];
        let mut touched = false;
        for king in 0..layout.kings {
            let row = layout.piece_rows * king + piece_row;
            if !(self.uses)(row) {
                continue;
            }
            touched = true;
            for (block, (gradient, total)) in self.gradient.row(row).zip(totals.chunks_mut(COLUMNS)).enumerate() {
                adam(of_king, king, block, gradient);
                total.iter_mut().zip(gradient).for_each(|(sum, term)| *sum += term);
            }
        }
        if touched && layout.has_factor {
            for (block, total) in totals.chunks(COLUMNS).enumerate() {
                adam(&self.factor, layout.kings, block, total);
            }
        }
    }

    /// Updates the row of an attack input, which is shared by all kings like a factor row. Its weights stay within the
    /// bytes for which the engine has a fast layout.
    fn run_attack(&self, attack: usize, weights: &mut [f32], first: &mut [f32], second: &mut [f32]) {
        let row = self.architecture.features.set().active_rows() + attack;
        if !(self.uses)(row) {
            return;
        }
        for (block, gradient) in self.gradient.row(row).enumerate() {
            let range = block * COLUMNS..block * COLUMNS + gradient.len();
            let moments = (&mut first[range.clone()], &mut second[range.clone()]);
            let weights = &mut weights[range];
            self.kernels.adam(&self.attack, weights, moments.0, moments.1, gradient);
            weights.iter_mut().for_each(|weight| *weight = weight.clamp(-BYTE_MAX, BYTE_MAX));
        }
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
