//! A group of positions on its way through the layers, forward and backward, and the gradient that adds up on the way.

use super::layout::{Deltas, GROUP, Hidden, Inputs, LANES, Tile};
use super::loss::Loss;
use super::simd::{Backend, Units};
use super::snapshot::Snapshot;
use super::upper::{UpperActivations, UpperGradient};
use crate::train::model::dense::DenseParameters;
use crate::train::model::scales::HIDDEN;
use crate::train::samples::active::Active;

/// What all shards of a batch are computed with.
#[derive(Clone, Copy)]
pub struct StepContext<'a, const L1: usize> {
    /// The model.
    pub snapshot: &'a Snapshot<L1>,
    /// What to minimise.
    pub loss: Loss,
    /// How to compute.
    pub backend: Backend,
}

/// What a group of positions needs on its way. The inputs begin with a cache line, as the vectors of the kernels do.
#[repr(C, align(64))]
pub struct Buffers<const L1: usize> {
    inputs: [Inputs<L1>; GROUP],
    sums: [Hidden; GROUP],
    deltas: [Hidden; GROUP],
    upper: [UpperActivations; GROUP],
}

/// Gradients summed over a shard, in the layouts of the kernels.
#[repr(C, align(64))]
pub struct Gradient<const L1: usize> {
    /// Deltas of the accumulators: both sides together are the gradient of the transformer's bias.
    accumulators: Inputs<L1>,
    stacks: Vec<StackGradient>,
}

/// What belongs to one stack of layers.
struct StackGradient {
    l1: Vec<Tile>,
    upper: UpperGradient,
}

impl StackGradient {
    fn zeros(l1: usize) -> Self {
        Self {
            l1: vec![Tile::ZERO; Tile::count(l1)],
            upper: UpperGradient::default(),
        }
    }

    /// Adds it to what `total` has for the stack of that number.
    fn add_to<const L1: usize>(&self, number: usize, total: &mut DenseParameters) {
        let units = HIDDEN * number..HIDDEN * (number + 1);
        let first = &mut total.l1_weight[2 * L1 * units.start..2 * L1 * units.end];
        for (output, sums) in first.chunks_exact_mut(2 * L1).enumerate() {
            for (sums, tile) in sums.chunks_exact_mut(LANES).zip(&self.l1) {
                add(sums, &tile.0[output]);
            }
        }
        let second = &mut total.l2_weight[HIDDEN * units.start..HIDDEN * units.end];
        add(second, self.upper.l2_weight.as_flattened());
        add(&mut total.l1_bias[units.clone()], &self.upper.l1_bias);
        add(&mut total.l2_bias[units.clone()], &self.upper.l2_bias);
        add(&mut total.output_weight[units], &self.upper.output_weight);
        total.output_bias[number] += self.upper.output_bias;
    }
}

impl<const L1: usize> Buffers<L1> {
    pub fn zeros() -> Self {
        Self {
            inputs: [[[0.0; L1]; 2]; GROUP],
            sums: [[0.0; HIDDEN]; GROUP],
            deltas: [[0.0; HIDDEN]; GROUP],
            upper: [UpperActivations::default(); GROUP],
        }
    }

    /// What the net said of a position of the group.
    pub fn output(&self, at: usize) -> f32 {
        self.upper[at].output
    }

    /// From features to outputs, through the stack of that number. Places of the group beyond `actives` keep what was
    /// there, which is harmless.
    pub fn forward(&mut self, context: StepContext<L1>, stack: usize, actives: &[Active]) {
        let snapshot = context.snapshot;
        for (active, inputs) in actives.iter().zip(&mut self.inputs) {
            for (side, half) in inputs.iter_mut().enumerate() {
                context.backend.accumulate(
                    snapshot.architecture.activation,
                    &snapshot.bias,
                    &snapshot.rows,
                    active.side(side),
                    half,
                );
            }
        }
        let stack = &snapshot.stacks[stack];
        context
            .backend
            .first_layer(&self.inputs, &stack.l1, &stack.l1_bias, &mut self.sums);
        context
            .backend
            .upper(&stack.upper, &self.sums, &mut self.upper);
    }

    /// From the outputs' deltas, zero for empty places, to those of everything else. `penalty` is what each input of the
    /// first layer costs.
    pub fn backward(
        &mut self,
        context: StepContext<L1>,
        (stack, penalty): (usize, f32),
        deltas: &[f32; GROUP],
        gradient: &mut Gradient<L1>,
        rows: &mut [Deltas<L1>],
    ) {
        let Gradient {
            accumulators,
            stacks,
        } = gradient;
        let units = Units {
            activation: context.snapshot.architecture.activation,
            penalty,
        };
        let (weights, sums) = (&context.snapshot.stacks[stack], &mut stacks[stack]);
        context.backend.upper_backward(
            &weights.upper,
            &self.upper,
            deltas,
            &mut sums.upper,
            &mut self.deltas,
        );
        context.backend.first_layer_backward(
            units,
            &self.inputs,
            &self.deltas,
            &weights.l1_tiles,
            (&mut sums.l1, accumulators),
            rows,
        );
    }
}

impl<const L1: usize> Gradient<L1> {
    pub fn zeros(buckets: usize) -> Self {
        Self {
            accumulators: [[0.0; L1]; 2],
            stacks: (0..buckets).map(|_| StackGradient::zeros(L1)).collect(),
        }
    }

    /// Adds it to `total`.
    pub fn add_to(&self, total: &mut DenseParameters) {
        for half in &self.accumulators {
            add(&mut total.transformer_bias, half);
        }
        for (number, stack) in self.stacks.iter().enumerate() {
            stack.add_to::<L1>(number, total);
        }
    }

    /// Makes everything zero again, in its place.
    pub fn clear(&mut self) {
        self.accumulators = [[0.0; L1]; 2];
        for stack in &mut self.stacks {
            stack.l1.fill(Tile::ZERO);
            stack.upper = UpperGradient::default();
        }
    }
}

fn add(sums: &mut [f32], terms: &[f32]) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += term;
    }
}
