//! Forward and backward passes of a group of positions through the layers, the loss between them, and the accumulated
//! gradient.

use clap::ValueEnum;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::simd::{
    Aligned, FIXED_ONE, FirstLayerGradient, GROUP, Hidden, Kernels, LANES, Tile, Units, UpperActivations,
    UpperGradient, UpperWeights,
};
use super::transformer::PsqtRows;
use crate::data::Record;
use crate::nnue::architecture::Topology;
use crate::nnue::{Activation, Architecture};
use crate::train::model::Model;
use crate::train::model::parameters::{DenseParameters, RowLayout};
use crate::train::model::shapes::{self, ACTIVATION_ONE, HIDDEN, UNITS};
use crate::train::samples::Active;
use crate::util::memory::{Zeroed, zeroed_slice_or_abort};

/// Context shared by all shards of a batch.
#[derive(Clone, Copy)]
pub struct StepContext<'a> {
    /// The model.
    pub snapshot: &'a Snapshot,
    /// The loss to minimise.
    pub loss: Loss,
    /// The kernels.
    pub kernels: Kernels,
}

/// Buffers for the passes of a group. A position has the numbers of both accumulators one after the other, the side to
/// move's first.
pub struct Buffers {
    /// Width of an accumulator.
    width: usize,
    /// Activated accumulators, or the products of both in the first half of a position's row.
    inputs: Aligned,
    /// Number of positions of the group.
    count: usize,
    /// With pairwise products: the clipped accumulators, and the deltas of the products.
    clipped: Aligned,
    product_deltas: Aligned,
    /// Deltas of the accumulators (derivatives of the loss by their sums). With pairwise products only the first row is
    /// used, by one position at a time.
    accumulator_deltas: Aligned,
    sums: [Hidden; GROUP],
    deltas: [Hidden; GROUP],
    upper: [UpperActivations; GROUP],
}

/// Gradients summed over a shard, in the layouts of the kernels.
pub struct Gradient {
    architecture: Architecture,
    /// Deltas of the accumulators. The sum over both sides is the gradient of the transformer's bias.
    accumulators: Aligned,
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
        let [first, second, last] = architecture.layers();
        if architecture.is_direct() {
            let weights = &mut total.output_weight[last.inputs * number..][..last.inputs];
            weights.chunks_exact_mut(LANES).zip(&self.l1).for_each(|(sums, tile)| add(sums, &tile.0[0]));
            total.output_bias[number] += self.upper.output_bias;
            return;
        }
        let units = first.outputs * number..first.outputs * (number + 1);
        let weights = &mut total.l1_weight[first.inputs * units.start..first.inputs * units.end];
        for (output, sums) in weights.chunks_exact_mut(first.inputs).enumerate() {
            for (sums, tile) in sums.chunks_exact_mut(LANES).zip(&self.l1) {
                add(sums, &tile.0[output]);
            }
        }
        add(&mut total.l1_bias[units], &self.upper.l1_bias);
        let units = second.outputs * number..second.outputs * (number + 1);
        let weights = &mut total.l2_weight[second.inputs * units.start..second.inputs * units.end];
        let rows = weights.chunks_exact_mut(second.inputs);
        rows.zip(&self.upper.l2_weight).for_each(|(sums, row)| add(sums, row));
        add(&mut total.l2_bias[units.clone()], &self.upper.l2_bias);
        add(&mut total.output_weight[units], &self.upper.output_weight);
        total.output_bias[number] += self.upper.output_bias;
    }
}

impl Buffers {
    pub fn zeros(architecture: Architecture) -> Self {
        let width = architecture.l1;
        // Only nets with products need their buffers.
        let products = if architecture.activation == Activation::Pairwise { GROUP * width } else { 0 };
        Self {
            width,
            inputs: Aligned::zeros(GROUP * 2 * width),
            count: 0,
            clipped: Aligned::zeros(2 * products),
            product_deltas: Aligned::zeros(products),
            accumulator_deltas: Aligned::zeros(GROUP * 2 * width),
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
        context: StepContext,
        stack: usize,
        actives: impl ExactSizeIterator<Item = Active<'a>>,
    ) {
        let (snapshot, kernels) = (context.snapshot, context.kernels);
        let architecture = snapshot.architecture;
        let activation = architecture.activation;
        self.count = actives.len();
        let are_products = activation == Activation::Pairwise;
        let clipped = if are_products { &mut self.clipped } else { &mut self.inputs };
        let row = 2 * self.width;
        for (active, inputs) in actives.zip(clipped.chunks_exact_mut(row)) {
            for (side, half) in inputs.chunks_exact_mut(row / 2).enumerate() {
                let (bias, rows) = (&snapshot.bias, &snapshot.rows);
                kernels.accumulate(activation, bias, rows, active.side(side), half);
            }
        }
        let truncate = snapshot.is_rounded && shapes::truncates_products(architecture);
        if are_products {
            let pairs = self.clipped.chunks_exact(row).zip(self.inputs.chunks_exact_mut(row));
            let pairs = pairs.take(self.count);
            pairs.for_each(|(clipped, inputs)| kernels.products(clipped, truncate, &mut inputs[..row / 2]));
        }
        let weights = &snapshot.stacks[stack];
        if architecture.is_direct() {
            for (inputs, out) in self.inputs.chunks_exact(row).zip(&mut self.upper).take(self.count) {
                let inputs = &inputs[..weights.direct.len()];
                out.output = weights.upper.output_bias + kernels.dot(inputs, &weights.direct);
            }
            return;
        }
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
        context: StepContext,
        stack: usize,
        penalty: f32,
        deltas: &[f32; GROUP],
        gradient: &mut Gradient,
        mut store: impl FnMut(usize, &[f32]),
    ) {
        let Gradient { accumulators, stacks, .. } = gradient;
        let (kernels, architecture) = (context.kernels, context.snapshot.architecture);
        let (weights, sums) = (&context.snapshot.stacks[stack], &mut stacks[stack]);
        let (upper, out) = (&weights.upper, &mut self.deltas);
        match architecture.topology {
            Topology::Direct => {
                sums.upper.output_bias += deltas.iter().sum::<f32>();
                out.iter_mut().zip(deltas).for_each(|(out, &delta)| out[0] = delta);
            }
            Topology::Skip { .. } => {
                kernels.upper_skip_backward(upper, &self.upper, deltas, &mut sums.upper, out);
            }
            _ => kernels.upper_backward(upper, &self.upper, deltas, &mut sums.upper, out),
        }
        let row = 2 * self.width;
        let (inputs, deltas, tiles) = (&self.inputs, &self.deltas, &weights.l1_tiles);
        // The output is the only one of a net without hidden layers.
        let outputs = architecture.layers()[0].outputs.max(1);
        let units = Units { activation: architecture.activation, outputs, penalty };
        if architecture.activation != Activation::Pairwise {
            let totals = FirstLayerGradient { weights: &mut sums.l1, accumulators };
            let out = &mut self.accumulator_deltas[..self.count * row];
            kernels.first_layer_backward(units, inputs, deltas, tiles, totals, out);
            out.chunks_exact(row).enumerate().for_each(|(at, deltas)| store(at, deltas));
            return;
        }
        let products = &mut self.product_deltas;
        kernels.first_layer_deltas(units, inputs, deltas, tiles, &mut sums.l1, products);
        // One buffer for all positions, so that it stays in the first-level cache.
        let out = &mut self.accumulator_deltas[..row];
        let positions = self.clipped.chunks_exact(row).zip(products.chunks_exact(row / 2));
        for (at, (clipped, deltas)) in positions.take(self.count).enumerate() {
            kernels.products_backward(clipped, deltas, accumulators, out);
            store(at, out);
        }
    }
}

impl Gradient {
    pub fn zeros(architecture: Architecture) -> Self {
        let stacks = (0..architecture.buckets).map(|_| StackGradient::zeros(architecture));
        Self { architecture, accumulators: Aligned::zeros(2 * architecture.l1), stacks: stacks.collect() }
    }

    /// Adds this gradient to `total`.
    pub fn add_to(&self, total: &mut DenseParameters) {
        for half in self.accumulators.chunks_exact(self.architecture.l1) {
            add(&mut total.transformer_bias, half);
        }
        for (number, stack) in self.stacks.iter().enumerate() {
            stack.add_to(self.architecture, number, total);
        }
    }

    /// Sets the gradient to zero in place.
    pub fn clear(&mut self) {
        self.accumulators.fill(0.0);
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

// Copy of the model for the passes over a batch, with each tensor in the layout of its kernel.
//
// Once per step, the active rows of the transformer are folded (real plus factor) into fixed point. An accumulator
// then costs one 16-bit addition per weight instead of two 32-bit ones, and reads a quarter of the memory.

/// All parameters of the passes.
pub struct Snapshot {
    /// The model's shape.
    pub architecture: Architecture,
    /// `[kings][piece rows][width]`, real plus factor; then `[attack inputs][width]`.
    pub rows: Zeroed<i16>,
    /// The transformer's bias.
    pub bias: Vec<i16>,
    /// The stacks of dense layers.
    pub stacks: Vec<LayerStack>,
    /// The piece-square values of the rows, real plus factor.
    pub psqt: PsqtRows,
    /// Whether all parameters are rounded as in a net file; products of accumulators are then truncated too.
    pub is_rounded: bool,
}

/// A stack of dense layers.
pub struct LayerStack {
    /// First layer, for the forward pass: one row per input.
    pub l1: Box<[Hidden]>,
    /// First layer, for the backward pass.
    pub l1_tiles: Box<[Tile]>,
    /// First layer's biases.
    pub l1_bias: Hidden,
    /// The layers after the first.
    pub upper: UpperWeights,
    /// Weights of the output in a net without hidden layers, for the forward pass.
    pub direct: Vec<f32>,
}

impl Snapshot {
    /// Creates a snapshot with the dense tensors of `model`, and rows of zeros.
    pub fn new(model: &Model) -> Self {
        let architecture = model.architecture;
        let mut snapshot = Self {
            architecture,
            rows: zeroed_slice_or_abort(RowLayout::weights(architecture).active_rows() * architecture.l1),
            bias: vec![0; architecture.l1],
            stacks: (0..architecture.buckets).map(|_| LayerStack::zeros(architecture)).collect(),
            psqt: PsqtRows::zeros(architecture),
            is_rounded: false,
        };
        snapshot.take_dense(model);
        snapshot
    }

    /// Copies the dense tensors, and the rows for which `selected` is true (in parallel, in the current thread pool).
    pub fn take(&mut self, kernels: Kernels, model: &Model, selected: impl Fn(usize) -> bool + Sync) {
        self.take_dense(model);
        let (layout, is_rounded) = (RowLayout::weights(self.architecture), self.is_rounded);
        let zeros = vec![0.0; layout.width];
        self.rows.par_chunks_exact_mut(layout.width).enumerate().for_each(|(row, out)| {
            if selected(row) {
                let (real, factor) = layout.entries(&model.transformer, row);
                kernels.fold(real, factor.unwrap_or(&zeros), out);
                if is_rounded {
                    round(out);
                }
            }
        });
    }

    fn take_dense(&mut self, model: &Model) {
        self.is_rounded = model.rounding.is_some();
        let dense = &*model.read_dense();
        for (out, bias) in self.bias.iter_mut().zip(&dense.transformer_bias) {
            *out = (bias * FIXED_ONE).round() as i16;
        }
        self.psqt.take(dense);
        for (number, stack) in self.stacks.iter_mut().enumerate() {
            stack.take(self.architecture, dense, number);
        }
    }
}

/// Rounds a row to the precision of the file.
fn round(row: &mut [i16]) {
    /// Units of the row per unit of the file.
    const STEP: i16 = (FIXED_ONE / ACTIVATION_ONE) as i16;
    for weight in row {
        *weight = weight.saturating_add(STEP / 2) & -STEP;
    }
}

impl LayerStack {
    fn zeros(architecture: Architecture) -> Self {
        let inputs = architecture.inputs();
        let rows = if architecture.is_direct() { 0 } else { inputs };
        Self {
            l1: vec![[0.0; HIDDEN]; rows].into(),
            l1_tiles: vec![Tile::ZERO; Tile::count(inputs)].into(),
            l1_bias: [0.0; HIDDEN],
            upper: UpperWeights::default(),
            direct: Vec::new(),
        }
    }

    /// Copies stack `number`. Outputs that the first layer does not have stay zero.
    fn take(&mut self, architecture: Architecture, dense: &DenseParameters, number: usize) {
        let [first, _, last] = architecture.layers();
        if architecture.is_direct() {
            let weights = &dense.output_weight[last.inputs * number..][..last.inputs];
            self.direct.clear();
            self.direct.extend_from_slice(weights);
            let tiles = self.l1_tiles.iter_mut().zip(weights.as_chunks().0);
            tiles.for_each(|(tile, weights)| tile.0[0] = *weights);
            self.upper.output_bias = dense.output_bias[number];
            return;
        }
        let rows = first.outputs * number..first.outputs * (number + 1);
        self.l1_bias[..first.outputs].copy_from_slice(&dense.l1_bias[rows.clone()]);
        let weights = &dense.l1_weight[first.inputs * rows.start..first.inputs * rows.end];
        for (output, weights) in weights.chunks_exact(first.inputs).enumerate() {
            for (tile, weights) in weights.as_chunks::<LANES>().0.iter().enumerate() {
                self.l1_tiles[tile].0[output] = *weights;
            }
            for (row, &weight) in self.l1.iter_mut().zip(weights) {
                row[output] = weight;
            }
        }
        self.upper = UpperWeights::of(architecture, dense, number);
    }
}

// Target and loss of the net, in units of the expected game result.
// CITE: logistic expected results, lambda and the exponent of the loss: nnue-pytorch.

/// Loss function of two expected results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum LossKind {
    /// Squared difference.
    Mse,
    /// A power of the absolute difference. An exponent above 2 gives small errors less weight and large errors more.
    Power,
    /// Cross entropy minus the entropy of the label.
    Bce,
}

/// Compares outputs with labels as expected results, where a pawn counts more near a draw.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// Loss function.
    pub kind: LossKind,
    /// Weight of the search score relative to the game result, 0 to 1.
    pub lambda: f32,
    /// Score in engine units at which the expected result is 73 %.
    pub scale: f32,
    /// Exponent of `LossKind::Power`.
    pub exponent: f32,
    /// Weight of the mean activation of the accumulators' units. [`Self::of`] does not include this term.
    pub sparsity: f32,
}

impl Loss {
    /// Squared differences from the score only.
    #[cfg(test)]
    pub const SQUARES: Self = Self { kind: LossKind::Mse, lambda: 1.0, scale: 361.0, exponent: 2.5, sparsity: 0.0 };

    /// Returns the target, an expected result from 0 to 1 for the side to move, from the record's labels.
    pub fn target(&self, record: &Record) -> f32 {
        let expected = sigmoid(f32::from(record.score) / self.scale);
        if record.has_score_alone() {
            return expected;
        }
        let result = (f32::from(record.result) + 1.0) / 2.0;
        self.lambda * expected + (1.0 - self.lambda) * result
    }

    /// Returns the loss of an output and its derivative with respect to the output.
    pub fn of(&self, output: f32, target: f32) -> (f32, f32) {
        let steepness = UNITS / self.scale;
        let expected = sigmoid(output * steepness);
        let error = expected - target;
        // Derivative of the expected result with respect to the output.
        let rise = expected * (1.0 - expected) * steepness;
        match self.kind {
            LossKind::Mse => (error * error, 2.0 * error * rise),
            LossKind::Power => {
                let root = error.abs().powf(self.exponent - 1.0);
                let slope = self.exponent * root * error.signum();
                (root * error.abs(), slope * rise)
            }
            LossKind::Bce => (entropy(target, expected) - entropy(target, target), error * steepness),
        }
    }
}

/// Returns the cross entropy of two expected results.
fn entropy(target: f32, expected: f32) -> f32 {
    // Keeps the logarithm finite where the sigmoid is 0 or 1.
    const MIN: f32 = 1e-7;
    let log = |x: f32| x.max(MIN).ln();
    -(target * log(expected) + (1.0 - target) * log(1.0 - expected))
}

/// The logistic function.
fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOSS: Loss = Loss::SQUARES;

    #[test]
    fn power_loss_generalises_squared_error() {
        let power = |exponent| Loss { kind: LossKind::Power, exponent, ..LOSS };
        for output in [-1.0, 0.1, 0.8] {
            let (square, two) = (LOSS.of(output, 0.6), power(2.0).of(output, 0.6));
            assert!((square.0 - two.0).abs() < 1e-6 && (square.1 - two.1).abs() < 1e-6);
        }
        // An error of 0.1: raising the exponent by one multiplies the loss by 0.1.
        let output = -(1.0_f32 / 0.6 - 1.0).ln() * LOSS.scale / UNITS;
        let ratio = power(3.0).of(output, 0.5).0 / power(2.0).of(output, 0.5).0;
        assert!((ratio - 0.1).abs() < 1e-4, "{ratio}");
    }

    #[test]
    fn loss_derivative_equals_finite_difference() {
        for kind in [LossKind::Mse, LossKind::Power, LossKind::Bce] {
            let loss = Loss { kind, lambda: 0.8, ..LOSS };
            for output in [-1.5, -0.2, 0.0, 0.7] {
                let (step, target) = (1e-2, 0.3);
                let rise = loss.of(output + step, target).0 - loss.of(output - step, target).0;
                let derivative = loss.of(output, target).1;
                assert!((rise / (2.0 * step) - derivative).abs() < 1e-3, "{kind:?} {output}");
            }
        }
    }

    #[test]
    fn game_result_is_ignored_for_score_only_records() {
        let loss = Loss { lambda: 0.75, scale: 600.0, ..LOSS };
        let board = shakmaty::Board::new();
        let mut record = crate::train::samples::record_of(&board, false);
        record.result = 1;
        assert!((loss.target(&record) - 0.625).abs() < 1e-6);
        record.trust_score_alone();
        assert!((loss.target(&record) - 0.5).abs() < 1e-6);
    }

    #[test]
    fn exact_output_has_zero_loss() {
        for kind in [LossKind::Mse, LossKind::Power, LossKind::Bce] {
            let loss = Loss { kind, lambda: 1.0, scale: 600.0, ..LOSS };
            for output in [-2.0, 0.0, 0.5] {
                assert!(loss.of(output, sigmoid(output)).0.abs() < 1e-6);
            }
        }
    }
}
