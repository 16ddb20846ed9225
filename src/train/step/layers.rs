//! Forward and backward passes of a group of positions through the layers, and the accumulated gradient.

use super::layout::{Deltas, GROUP, Hidden, Inputs, LANES, Row, Tile};
use super::loss::Loss;
use super::simd::{FirstLayerGradient, Kernels, Units};
use super::snapshot::Snapshot;
use super::upper::{UpperActivations, UpperGradient};
use crate::nnue::architecture::Topology;
use crate::nnue::{Activation, Architecture};
use crate::train::model::dense::DenseParameters;
use crate::train::model::scales::HIDDEN;
use crate::train::samples::active::Active;

/// Context shared by all shards of a batch.
#[derive(Clone, Copy)]
pub struct StepContext<'a, const L1: usize> {
    /// The model.
    pub snapshot: &'a Snapshot<L1>,
    /// The loss to minimise.
    pub loss: Loss,
    /// The kernels.
    pub kernels: Kernels,
}

/// Buffers for the passes of a group. The inputs are aligned to a cache line for the kernels' vectors.
#[repr(C, align(64))]
pub struct Buffers<const L1: usize> {
    inputs: [Inputs<L1>; GROUP],
    /// Number of positions of the group.
    count: usize,
    /// With pairwise products: the clipped accumulators, and the deltas of the products.
    clipped: [Inputs<L1>; GROUP],
    product_deltas: [Row<L1>; GROUP],
    /// Deltas of the accumulators. With pairwise products only the first entry is used, by one position at a time.
    accumulator_deltas: [Deltas<L1>; GROUP],
    sums: [Hidden; GROUP],
    deltas: [Hidden; GROUP],
    upper: [UpperActivations; GROUP],
}

/// Gradients summed over a shard, in the layouts of the kernels.
#[repr(C, align(64))]
pub struct Gradient<const L1: usize> {
    architecture: Architecture,
    /// Deltas of the accumulators. The sum over both sides is the gradient of the transformer's bias.
    accumulators: Inputs<L1>,
    stacks: Vec<StackGradient>,
}

/// Gradient of one layer stack.
struct StackGradient {
    l1: Vec<Tile>,
    upper: UpperGradient,
}

impl StackGradient {
    fn zeros(architecture: Architecture) -> Self {
        Self { l1: vec![Tile::ZERO; Tile::count(architecture.inputs())], upper: UpperGradient::default() }
    }

    /// Adds this gradient to stack `number` of `total`.
    fn add_to(&self, architecture: Architecture, number: usize, total: &mut DenseParameters) {
        let [first, second, _] = architecture.layers();
        let units = first.outputs * number..first.outputs * (number + 1);
        let weights = &mut total.l1_weight[first.inputs * units.start..first.inputs * units.end];
        for (output, sums) in weights.chunks_exact_mut(first.inputs).enumerate() {
            for (sums, tile) in sums.chunks_exact_mut(LANES).zip(&self.l1) {
                add(sums, &tile.0[output]);
            }
        }
        add(&mut total.l1_bias[units], &self.upper.l1_bias);
        let units = HIDDEN * number..HIDDEN * (number + 1);
        let weights = &mut total.l2_weight[second.inputs * units.start..second.inputs * units.end];
        let rows = weights.chunks_exact_mut(second.inputs);
        rows.zip(&self.upper.l2_weight).for_each(|(sums, row)| add(sums, row));
        add(&mut total.l2_bias[units.clone()], &self.upper.l2_bias);
        add(&mut total.output_weight[units], &self.upper.output_weight);
        total.output_bias[number] += self.upper.output_bias;
    }
}

impl<const L1: usize> Buffers<L1> {
    pub fn zeros() -> Self {
        Self {
            inputs: [[[0.0; L1]; 2]; GROUP],
            count: 0,
            clipped: [[[0.0; L1]; 2]; GROUP],
            product_deltas: [[0.0; L1]; GROUP],
            accumulator_deltas: [[[0.0; L1]; 2]; GROUP],
            sums: [[0.0; HIDDEN]; GROUP],
            deltas: [[0.0; HIDDEN]; GROUP],
            upper: [UpperActivations::default(); GROUP],
        }
    }

    /// Returns the layers' output for position `at` of the group.
    pub fn output(&self, at: usize) -> f32 {
        self.upper[at].output
    }

    /// Runs the forward pass from features to outputs through stack `stack`. Entries of the group beyond `actives` keep
    /// stale values, which are not used.
    pub fn forward<'a>(
        &mut self,
        context: StepContext<L1>,
        stack: usize,
        actives: impl ExactSizeIterator<Item = Active<'a>>,
    ) {
        let (snapshot, kernels) = (context.snapshot, context.kernels);
        let architecture = snapshot.architecture;
        let activation = architecture.activation;
        self.count = actives.len();
        let are_products = activation == Activation::Pairwise;
        let clipped = if are_products { &mut self.clipped } else { &mut self.inputs };
        for (active, inputs) in actives.zip(clipped) {
            for (side, half) in inputs.iter_mut().enumerate() {
                let (bias, rows) = (&snapshot.bias, &snapshot.rows);
                kernels.accumulate(activation, bias, rows, active.side(side), half);
            }
        }
        let truncate = snapshot.is_rounded;
        if are_products {
            let pairs = self.clipped.iter().zip(&mut self.inputs);
            let pairs = pairs.take(self.count);
            pairs.for_each(|(clipped, inputs)| kernels.products(clipped, truncate, &mut inputs[0]));
        }
        let weights = &snapshot.stacks[stack];
        let outputs = architecture.layers()[0].outputs;
        kernels.first_layer(outputs, &self.inputs, &weights.l1, &weights.l1_bias, &mut self.sums);
        match architecture.topology {
            Topology::Skip { .. } => {
                kernels.upper_skip(&weights.upper, &self.sums, &mut self.upper);
            }
            _ => kernels.upper(&weights.upper, &self.sums, &mut self.upper),
        }
    }

    /// Runs the backward pass from the outputs' deltas, which must be zero for unused entries of the group. `penalty`
    /// is the derivative of the sparsity term by each input of the first layer. Calls `store` with each position of the
    /// group and the deltas of its accumulators.
    pub fn backward(
        &mut self,
        context: StepContext<L1>,
        stack: usize,
        penalty: f32,
        deltas: &[f32; GROUP],
        gradient: &mut Gradient<L1>,
        mut store: impl FnMut(usize, &Deltas<L1>),
    ) {
        let Gradient { accumulators, stacks, .. } = gradient;
        let (kernels, architecture) = (context.kernels, context.snapshot.architecture);
        let (weights, sums) = (&context.snapshot.stacks[stack], &mut stacks[stack]);
        let (upper, out) = (&weights.upper, &mut self.deltas);
        match architecture.topology {
            Topology::Skip { .. } => {
                kernels.upper_skip_backward(upper, &self.upper, deltas, &mut sums.upper, out);
            }
            _ => kernels.upper_backward(upper, &self.upper, deltas, &mut sums.upper, out),
        }
        let (inputs, deltas, tiles) = (&self.inputs, &self.deltas, &weights.l1_tiles);
        let outputs = architecture.layers()[0].outputs;
        let units = Units { activation: architecture.activation, outputs, penalty };
        if architecture.activation != Activation::Pairwise {
            let totals = FirstLayerGradient { weights: &mut sums.l1, accumulators };
            let out = &mut self.accumulator_deltas[..self.count];
            kernels.first_layer_backward(units, inputs, deltas, tiles, totals, out);
            out.iter().enumerate().for_each(|(at, deltas)| store(at, deltas));
            return;
        }
        let products = &mut self.product_deltas;
        kernels.first_layer_deltas(units, inputs, deltas, tiles, &mut sums.l1, products);
        // One buffer for all positions, so that it stays in the first-level cache.
        let out = &mut self.accumulator_deltas[0];
        for (at, (clipped, deltas)) in self.clipped.iter().zip(products).take(self.count).enumerate() {
            kernels.products_backward(clipped, deltas, accumulators, out);
            store(at, out);
        }
    }
}

impl<const L1: usize> Gradient<L1> {
    pub fn zeros(architecture: Architecture) -> Self {
        let stacks = (0..architecture.buckets).map(|_| StackGradient::zeros(architecture));
        Self { architecture, accumulators: [[0.0; L1]; 2], stacks: stacks.collect() }
    }

    /// Adds this gradient to `total`.
    pub fn add_to(&self, total: &mut DenseParameters) {
        for half in &self.accumulators {
            add(&mut total.transformer_bias, half);
        }
        for (number, stack) in self.stacks.iter().enumerate() {
            stack.add_to(self.architecture, number, total);
        }
    }

    /// Sets the gradient to zero in place.
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
