//! Hot loops of the trainer: kernels for AVX-512, AVX2 and NEON, and portable ones for all other CPUs.
//!
//! The portable functions are the specification. The AVX2 kernels are the same code compiled for AVX2. The AVX-512 and
//! NEON kernels use intrinsics only where the compiler does not keep the sums in registers.
//!
//! The width of a net is known at run time only: it is the number of turns of loops over whole registers, which are
//! constant within a turn.
//!
//! The passes process positions in groups of [`GROUP`]. A loaded weight then serves eight positions, and the first
//! layer is limited by the multipliers instead of the cache.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;

use std::ops::{Deref, DerefMut};

use bytemuck::{Pod, Zeroable};

use crate::nnue::architecture::LayerShape;
use crate::nnue::{Activation, Architecture};
use crate::train::model::parameters::DenseParameters;
use crate::train::model::shapes::HIDDEN;
use crate::util::memory::{Zeroed, zeroed_slice_or_abort};

// Array types.

/// Number of positions processed together.
pub const GROUP: usize = 8;
/// Floats of a cache line, and inputs of a tile.
pub const LANES: usize = 16;

/// A cache line of floats.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([f32; LANES]);

/// Numbers aligned for the kernels' vectors; a whole number of cache lines.
pub struct Aligned(Zeroed<Line>);

impl Aligned {
    /// Returns zeros.
    pub fn zeros(len: usize) -> Self {
        assert!(len.is_multiple_of(LANES));
        Self(zeroed_slice_or_abort(len / LANES))
    }
}

impl Deref for Aligned {
    type Target = [f32];
    #[inline]
    fn deref(&self) -> &[f32] {
        bytemuck::cast_slice(&self.0)
    }
}

impl DerefMut for Aligned {
    #[inline]
    fn deref_mut(&mut self) -> &mut [f32] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

/// Weights or gradient of the first layer for sixteen inputs, one row per output, for the backward pass. A row is a
/// cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Tile(pub [[f32; LANES]; HIDDEN]);
/// One number per unit of a hidden layer.
pub type Hidden = [f32; HIDDEN];

/// Columns of the transformer whose gradient is summed at a time.
pub const COLUMNS: usize = 128;
/// Columns that [`PackedColumns`] interleaves: their words fill a register.
pub const INTERLEAVED: usize = 2 * LANES;

/// An accumulator's deltas for a block of columns, in bfloat16. Of each [`INTERLEAVED`] columns, the first half is in
/// the lower halves of the words, and the second half in the upper halves. Two numbers then become floats by a shift
/// and a mask.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct PackedColumns(pub [u32; COLUMNS / 2]);

impl PackedColumns {
    /// Deltas of zero.
    pub const ZERO: Self = Self([0; COLUMNS / 2]);
}

impl Tile {
    /// A tile of zeros.
    pub const ZERO: Self = Self([[0.0; LANES]; HIDDEN]);

    /// Returns the number of tiles of a first layer with `inputs` inputs.
    pub const fn count(inputs: usize) -> usize {
        inputs / LANES
    }
}

/// Scale of a fixed-point row: 32 times finer than the exported net, with a range of ±8. Half of that range reduces
/// accuracy (`docs/experiments.md`).
pub const FIXED_ONE: f32 = 4064.0;

// Arguments of the kernels.

/// Adam's constants at one step.
#[derive(Clone, Copy, Debug)]
pub struct AdamStep {
    /// Learning rate, bias corrections folded in.
    pub rate: f32,
    /// Decay of the first moment.
    pub beta1: f32,
    /// Decay of the second moment.
    pub beta2: f32,
    /// Added to the denominator to avoid division by zero; already scaled for the bias correction.
    pub epsilon: f32,
    /// Share of a weight that a step removes.
    pub decay: f32,
}

/// The units of the accumulators and of the first layer.
#[derive(Clone, Copy, Debug)]
pub struct Units {
    /// Activation of the units.
    pub activation: Activation,
    /// Number of outputs of the first layer. The deltas of further ones are zero.
    pub outputs: usize,
    /// Derivative of the loss with respect to an activation, from the sparsity term.
    pub penalty: f32,
}

/// Sums of the gradient to which the backward pass of the first layer adds.
pub struct FirstLayerGradient<'a> {
    /// Of the layer's weights.
    pub weights: &'a mut [Tile],
    /// Of the accumulators' biases, for both sides.
    pub accumulators: &'a mut [f32],
}

// Numbers of the dense layers after the first: up to 32 to up to 32 to 1, or 30 (squares and clipped units) to 32 to 1.

/// The parameters in the layouts of the kernels.
#[derive(Clone, Debug, Default)]
pub struct UpperWeights {
    /// Second layer's weights, one row per output.
    pub l2_weight: [Hidden; HIDDEN],
    /// Second layer's weights, one row per input.
    pub l2_input_major: [Hidden; HIDDEN],
    /// Second layer's biases.
    pub l2_bias: Hidden,
    /// Output layer's weights.
    pub output_weight: Hidden,
    /// Output layer's bias.
    pub output_bias: f32,
}

impl UpperWeights {
    /// Copies the parameters of stack `number`. Weights of inputs and outputs that the second layer lacks are zero.
    pub fn of(architecture: Architecture, dense: &DenseParameters, number: usize) -> Self {
        let [_, LayerShape { inputs, outputs }, _] = architecture.layers();
        let units = outputs * number..outputs * (number + 1);
        let mut weights = Self { output_bias: dense.output_bias[number], ..Self::default() };
        weights.l2_bias[..outputs].copy_from_slice(&dense.l2_bias[units.clone()]);
        weights.output_weight[..outputs].copy_from_slice(&dense.output_weight[units.clone()]);
        let second = &dense.l2_weight[inputs * units.start..inputs * units.end];
        let rows = second.chunks_exact(inputs);
        for (output, (to, from)) in weights.l2_weight.iter_mut().zip(rows).enumerate() {
            to[..inputs].copy_from_slice(from);
            for (input, &weight) in from.iter().enumerate() {
                weights.l2_input_major[input][output] = weight;
            }
        }
        weights
    }
}

/// Values of a position's forward pass that the backward pass needs.
#[derive(Clone, Copy, Debug, Default)]
pub struct UpperActivations {
    /// Sums of the first layer, for nets with a skip connection.
    pub sums1: Hidden,
    /// Inputs of the second layer: clipped units, or squares and then clipped units.
    pub hidden1: Hidden,
    /// Clipped units of the second layer.
    pub hidden2: Hidden,
    /// Output of the layers, from the side to move's view.
    pub output: f32,
}

/// Gradient of the upper layers and of the first layer's biases, summed over positions.
#[derive(Clone, Debug, Default)]
pub struct UpperGradient {
    /// First layer's biases.
    pub l1_bias: Hidden,
    /// Second layer's weights, one row per output.
    pub l2_weight: [Hidden; HIDDEN],
    /// Second layer's biases.
    pub l2_bias: Hidden,
    /// Output layer's weights.
    pub output_weight: Hidden,
    /// Output layer's bias.
    pub output_bias: f32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kernel {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "aarch64")]
    Neon,
}

/// The kernels for this machine. Any value other than the portable one proves that the CPU supports its instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernels(Kernel);

/// Calls the version of a kernel for the instruction set of `self`.
macro_rules! dispatch {
    ($self:ident, $name:ident($($argument:expr),*)) => {
        match $self.0 {
            Kernel::Portable => portable::$name::<false>($($argument),*),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: only `detect` creates this value, after checking that the CPU has AVX2 and FMA.
            Kernel::Avx2 => unsafe { avx2::$name($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: only `detect` creates this value, after checking for AVX-512 F, BW, VL and DQ.
            Kernel::Avx512 => unsafe { avx512::$name($($argument),*) },
            #[cfg(target_arch = "aarch64")]
            // SAFETY: only `detect` creates this value, after checking that the CPU has NEON.
            Kernel::Neon => unsafe { neon::$name($($argument),*) },
        }
    };
}

impl Kernels {
    /// Returns the best kernels for this CPU.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq");
            match (avx512, avx2) {
                (true, true) => return Self(Kernel::Avx512),
                (false, true) => return Self(Kernel::Avx2),
                _ => {}
            }
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            return Self(Kernel::Neon);
        }
        Self::portable()
    }

    /// Returns the portable kernels.
    pub fn portable() -> Self {
        Self(Kernel::Portable)
    }

    /// Returns all kernels that this CPU supports, the portable ones first.
    #[cfg(test)]
    pub fn all() -> Vec<Self> {
        let mut kernels = vec![Self::portable()];
        let best = Self::detect();
        #[cfg(target_arch = "x86_64")]
        if best == Self(Kernel::Avx512) {
            kernels.push(Self(Kernel::Avx2));
        }
        if best != Self::portable() {
            kernels.push(best);
        }
        kernels
    }

    /// Computes `out = real + factor` in fixed point.
    #[inline]
    pub fn fold(self, real: &[f32], factor: &[f32], out: &mut [i16]) {
        dispatch!(self, fold(real, factor, out));
    }

    /// Computes `out = activation(bias + sum of the table's `rows`)`.
    #[inline]
    pub fn accumulate(self, activation: Activation, bias: &[i16], table: &[i16], rows: &[u16], out: &mut [f32]) {
        dispatch!(self, accumulate(activation, bias, table, rows, out));
    }

    /// Computes `out = bias + weights * inputs` for each position of a group. `inputs` has [`GROUP`] rows of equal
    /// length with an input for each row of `weights`, or with more. Only the first `outputs` sums are valid.
    #[inline]
    pub fn first_layer(
        self,
        outputs: usize,
        inputs: &[f32],
        weights: &[Hidden],
        bias: &Hidden,
        out: &mut [Hidden; GROUP],
    ) {
        dispatch!(self, first_layer(outputs, inputs, weights, bias, out));
    }

    /// Backward pass of the first layer. Adds `deltas x inputs` and the deltas of the accumulators to `gradient`.
    /// Stores the latter in `out`, a row of inputs per position, with zeros where an input was clipped. Rows of the
    /// group beyond `out` are unused, and their deltas must be zero.
    #[inline]
    pub fn first_layer_backward(
        self,
        units: Units,
        inputs: &[f32],
        deltas: &[Hidden; GROUP],
        weights: &[Tile],
        gradient: FirstLayerGradient<'_>,
        out: &mut [f32],
    ) {
        let FirstLayerGradient { weights: sums, accumulators } = gradient;
        dispatch!(self, first_layer_backward(units, inputs, deltas, weights, sums, accumulators, out));
    }

    /// Returns the dot product of a position's units and the weights to the output.
    #[inline]
    pub fn dot(self, units: &[f32], weights: &[f32]) -> f32 {
        let mut out = 0.0;
        dispatch!(self, direct(units, weights, &mut out));
        out
    }

    /// Forward pass of the layers after the first, for each position of a group, from the first layer's sums.
    #[inline]
    pub fn upper(self, weights: &UpperWeights, sums: &[Hidden; GROUP], out: &mut [UpperActivations; GROUP]) {
        dispatch!(self, upper(weights, sums, out));
    }

    /// Backward pass of [`Self::upper`]. Adds to `gradient`, and stores the deltas of the first layer's sums in `out`.
    #[inline]
    pub fn upper_backward(
        self,
        weights: &UpperWeights,
        passes: &[UpperActivations; GROUP],
        deltas: &[f32; GROUP],
        gradient: &mut UpperGradient,
        out: &mut [Hidden; GROUP],
    ) {
        dispatch!(self, upper_backward(weights, passes, deltas, gradient, out));
    }

    /// Like [`Self::upper`], for nets with squares, clipped sums and a skip connection after the first layer.
    #[inline]
    pub fn upper_skip(self, weights: &UpperWeights, sums: &[Hidden; GROUP], out: &mut [UpperActivations; GROUP]) {
        dispatch!(self, upper_skip(weights, sums, out));
    }

    /// Backward pass of [`Self::upper_skip`].
    #[inline]
    pub fn upper_skip_backward(
        self,
        weights: &UpperWeights,
        passes: &[UpperActivations; GROUP],
        deltas: &[f32; GROUP],
        gradient: &mut UpperGradient,
        out: &mut [Hidden; GROUP],
    ) {
        dispatch!(self, upper_skip_backward(weights, passes, deltas, gradient, out));
    }

    /// Multiplies the halves of clipped accumulators, the side to move's first. `truncate` rounds the products down as
    /// the engine does.
    #[inline]
    pub fn products(self, clipped: &[f32], truncate: bool, out: &mut [f32]) {
        dispatch!(self, products(clipped, truncate, out));
    }

    /// Backward pass of the first layer after products. Adds `deltas x inputs` to `gradient`, and stores the deltas
    /// of the products in `out`, a row per position. Only the first half of each row of `inputs` is used.
    #[inline]
    pub fn first_layer_deltas(
        self,
        units: Units,
        inputs: &[f32],
        deltas: &[Hidden; GROUP],
        weights: &[Tile],
        gradient: &mut [Tile],
        out: &mut [f32],
    ) {
        dispatch!(self, first_layer_deltas(units, inputs, deltas, weights, gradient, out));
    }

    /// Backpropagates the deltas of products to the accumulators, with zeros where these were clipped. Also adds the
    /// result to `bias`.
    #[inline]
    pub fn products_backward(self, clipped: &[f32], deltas: &[f32], bias: &mut [f32], out: &mut [f32]) {
        dispatch!(self, products_backward(clipped, deltas, bias, out));
    }

    /// Rounds deltas to bfloat16 and packs them.
    #[inline]
    pub fn pack(self, columns: &[f32; COLUMNS], out: &mut PackedColumns) {
        dispatch!(self, pack(columns, out));
    }

    /// Adds the entries `picks` of `table` to `out`.
    #[inline]
    pub fn add_rows(self, table: &[PackedColumns], picks: &[u32], out: &mut [f32; COLUMNS]) {
        dispatch!(self, add_rows(table, picks, out));
    }

    /// One Adam step on a slice of weights.
    #[inline]
    pub fn adam(self, step: &AdamStep, weights: &mut [f32], first: &mut [f32], second: &mut [f32], gradient: &[f32]) {
        dispatch!(self, adam(step, weights, first, second, gradient));
    }
}

/// Declares the portable kernels again, compiled for a feature set.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! compiled_for {
    ($features:literal: $(fn $name:ident($($argument:ident: $type:ty),* $(,)?);)*) => {
        $(
            #[target_feature(enable = $features)]
            pub fn $name($($argument: $type),*) {
                portable::$name::<true>($($argument),*)
            }
        )*
    };
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use compiled_for;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::*;

    compiled_for! { "avx2,fma":
        fn fold(real: &[f32], factor: &[f32], out: &mut [i16]);
        fn accumulate(activation: Activation, bias: &[i16], table: &[i16], rows: &[u16],
            out: &mut [f32]);
        fn first_layer(outputs: usize, inputs: &[f32], weights: &[Hidden], bias: &Hidden,
            out: &mut [Hidden; GROUP]);
        fn first_layer_backward(units: Units, inputs: &[f32], deltas: &[Hidden; GROUP],
            weights: &[Tile], gradient: &mut [Tile], bias: &mut [f32], out: &mut [f32]);
        fn upper(weights: &UpperWeights, sums: &[Hidden; GROUP], out: &mut [UpperActivations; GROUP]);
        fn upper_backward(weights: &UpperWeights, passes: &[UpperActivations; GROUP], deltas: &[f32; GROUP],
            gradient: &mut UpperGradient, out: &mut [Hidden; GROUP]);
        fn direct(units: &[f32], weights: &[f32], out: &mut f32);
        fn pack(columns: &[f32; COLUMNS], out: &mut PackedColumns);
        fn add_rows(table: &[PackedColumns], picks: &[u32], out: &mut [f32; COLUMNS]);
        fn upper_skip(weights: &UpperWeights, sums: &[Hidden; GROUP], out: &mut [UpperActivations; GROUP]);
        fn upper_skip_backward(weights: &UpperWeights, passes: &[UpperActivations; GROUP], deltas: &[f32; GROUP],
            gradient: &mut UpperGradient, out: &mut [Hidden; GROUP]);
        fn products(clipped: &[f32], truncate: bool, out: &mut [f32]);
        fn products_backward(clipped: &[f32], deltas: &[f32], bias: &mut [f32], out: &mut [f32]);
        fn first_layer_deltas(units: Units, inputs: &[f32], deltas: &[Hidden; GROUP],
            weights: &[Tile], gradient: &mut [Tile], out: &mut [f32]);
        fn adam(step: &AdamStep, weights: &mut [f32], first: &mut [f32], second: &mut [f32], gradient: &[f32]);
    }
}

/// Compares every instruction set with the portable kernels.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::rng::SplitMix64;

    fn noise<const N: usize>(rng: &mut SplitMix64, span: f32) -> [f32; N] {
        std::array::from_fn(|_| span * (rng.below(2001) as f32 / 1000.0 - 1.0))
    }

    fn group<const N: usize>(rng: &mut SplitMix64, span: f32) -> [[f32; N]; GROUP] {
        std::array::from_fn(|_| noise(rng, span))
    }

    fn close(a: &[f32], b: &[f32]) {
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() <= 1e-4 * (1.0 + a.abs()), "{a} {b}");
        }
    }

    /// Runs `kernel` with every instruction set and compares the numbers that it returns.
    fn compare(kernel: impl Fn(Kernels) -> Vec<f32>) {
        let kernels = Kernels::all();
        let expected = kernel(kernels[0]);
        for &kernels in &kernels[1..] {
            close(&expected, &kernel(kernels));
        }
    }

    /// Widths with different divisions into registers.
    const WIDTHS: [usize; 8] = [32, 64, 96, 128, 192, 448, 1024, 1536];

    /// Returns random numbers.
    fn numbers(rng: &mut SplitMix64, count: usize, span: f32) -> Vec<f32> {
        (0..count).flat_map(|_| noise::<1>(rng, span)).collect()
    }

    #[test]
    fn transformer_kernels_equal_portable_ones() {
        WIDTHS.into_iter().for_each(check_transformer);
    }

    fn check_transformer(width: usize) {
        let mut rng = SplitMix64::new(3);
        let (real, factor) = (numbers(&mut rng, width, 3.0), numbers(&mut rng, width, 15.0));
        let table: Vec<i16> = (0..20 * width).map(|_| rng.below(9001) as i16 - 4500).collect();
        let bias: Vec<i16> = (0..width).map(|_| rng.below(2001) as i16 - 1000).collect();
        let rows: Vec<u16> = (0..17).map(|_| rng.below(20) as u16).collect();
        compare(|kernels| {
            let mut fixed = vec![0; width];
            kernels.fold(&real, &factor, &mut fixed);
            let mut all: Vec<f32> = fixed.into_iter().map(f32::from).collect();
            let mut row = vec![0.0; width];
            for activation in [Activation::Crelu, Activation::Screlu] {
                kernels.accumulate(activation, &bias, &table, &rows, &mut row);
                all.extend(&row);
            }
            all
        });
    }

    #[test]
    fn packed_deltas_are_added_with_precision_of_bfloat16() {
        let mut rng = SplitMix64::new(6);
        let rows: Vec<[f32; COLUMNS]> = (0..20).map(|_| noise(&mut rng, 1.0)).collect();
        let picks = [3, 19, 0, 3, 7, 11];
        for kernels in Kernels::all() {
            let mut packed = [PackedColumns::ZERO; 20];
            rows.iter().zip(&mut packed).for_each(|(row, packed)| kernels.pack(row, packed));
            let mut sums = [0.5; COLUMNS];
            kernels.add_rows(&packed, &picks, &mut sums);
            for (column, sum) in sums.into_iter().enumerate() {
                let terms = picks.iter().map(|&pick| rows[pick as usize][column]);
                let allowed: f32 = terms.clone().map(|term| term.abs() / 256.0).sum();
                let expected = 0.5 + terms.sum::<f32>();
                assert!((sum - expected).abs() <= allowed + 1e-6, "{kernels:?}, column {column}: {sum} for {expected}");
            }
        }
    }

    #[test]
    fn first_layer_kernels_equal_portable_ones() {
        WIDTHS.into_iter().for_each(check_first_layer);
    }

    fn check_first_layer(width: usize) {
        let mut rng = SplitMix64::new(4);
        let inputs = numbers(&mut rng, GROUP * 2 * width, 1.5);
        let inputs: Vec<f32> = inputs.into_iter().map(|x| x.clamp(0.0, 1.0)).collect();
        let mut deltas: [Hidden; GROUP] = group(&mut rng, 1.0);
        // The last entry of the group is unused.
        deltas[GROUP - 1] = [0.0; HIDDEN];
        let weights: Vec<Hidden> = (0..2 * width).map(|_| noise(&mut rng, 0.3)).collect();
        let tile = |_| Tile(std::array::from_fn(|_| noise(&mut rng, 0.3)));
        let tiles: Vec<Tile> = (0..Tile::count(2 * width)).map(tile).collect();
        for outputs in [HIDDEN, 16, 1] {
            deltas.iter_mut().for_each(|deltas| deltas[outputs..].fill(0.0));
            check_outputs(outputs, &inputs, &deltas, &weights, &tiles);
        }
    }

    fn check_outputs(outputs: usize, inputs: &[f32], deltas: &[Hidden; GROUP], weights: &[Hidden], tiles: &[Tile]) {
        let (row, width) = (weights.len(), weights.len() / 2);
        let column: Vec<f32> = weights.iter().map(|weights| weights[0]).collect();
        compare(|kernels| {
            let mut sums = [[0.0; HIDDEN]; GROUP];
            kernels.first_layer(outputs, inputs, weights, &[0.25; HIDDEN], &mut sums);
            let mut all: Vec<f32> = sums.iter().flat_map(|sums| sums[..outputs].to_vec()).collect();
            kernels.first_layer(outputs, inputs, &weights[..width], &[0.25; HIDDEN], &mut sums);
            all.extend(sums.iter().flat_map(|sums| &sums[..outputs]));
            all.push(kernels.dot(&inputs[..row], &column));
            all.push(kernels.dot(&inputs[row..][..width], &column[..width]));
            for activation in [Activation::Crelu, Activation::Screlu] {
                let mut gradient = vec![Tile([[0.5; LANES]; HIDDEN]); tiles.len()];
                let (mut bias, mut out) = (vec![0.25; row], vec![0.0; (GROUP - 1) * row]);
                let sums = FirstLayerGradient { weights: &mut gradient, accumulators: &mut bias };
                let units = Units { activation, outputs, penalty: 0.125 };
                kernels.first_layer_backward(units, inputs, deltas, tiles, sums, &mut out);
                all.extend(gradient.iter().flat_map(|tile| tile.0.as_flattened()));
                all.extend(bias);
                all.extend(out);
            }
            // The first layer above products.
            let mut gradient = vec![Tile([[0.5; LANES]; HIDDEN]); Tile::count(width)];
            let mut products = vec![0.0; GROUP * width];
            let tiles = &tiles[..gradient.len()];
            let units = Units { activation: Activation::Pairwise, outputs, penalty: 0.125 };
            kernels.first_layer_deltas(units, inputs, deltas, tiles, &mut gradient, &mut products);
            all.extend(gradient.iter().flat_map(|tile| tile.0.as_flattened()));
            all.extend(&products);
            let (mut bias, mut out) = (vec![0.25; row], vec![0.0; row]);
            let position = &inputs[3 * row..][..row];
            kernels.products_backward(position, &products[3 * width..][..width], &mut bias, &mut out);
            all.extend(bias);
            all.extend(out);
            for truncate in [false, true] {
                kernels.products(position, truncate, &mut products[..width]);
                all.extend(&products[..width]);
            }
            all
        });
    }

    #[test]
    fn upper_layer_and_adam_kernels_equal_portable_ones() {
        let mut rng = SplitMix64::new(5);
        let weights = UpperWeights {
            l2_weight: std::array::from_fn(|_| noise(&mut rng, 0.3)),
            l2_input_major: std::array::from_fn(|_| noise(&mut rng, 0.3)),
            l2_bias: noise(&mut rng, 0.3),
            output_weight: noise(&mut rng, 0.3),
            output_bias: 0.1,
        };
        let sums: [Hidden; GROUP] = group(&mut rng, 1.5);
        let deltas: [f32; GROUP] = noise(&mut rng, 1.0);
        let step = AdamStep { rate: 0.01, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decay: 0.001 };
        compare(|kernels| {
            let mut passes = [UpperActivations::default(); GROUP];
            kernels.upper(&weights, &sums, &mut passes);
            let mut all: Vec<f32> = passes.iter().map(|pass| pass.output).collect();
            let (mut gradient, mut out) = (UpperGradient::default(), [[0.0; HIDDEN]; GROUP]);
            kernels.upper_backward(&weights, &passes, &deltas, &mut gradient, &mut out);
            all.extend(out.as_flattened());
            all.extend(gradient.l2_weight.as_flattened());
            all.extend(gradient.l1_bias.iter().chain(&gradient.l2_bias));
            all.extend(gradient.output_weight);
            kernels.upper_skip(&weights, &sums, &mut passes);
            all.extend(passes.iter().map(|pass| pass.output));
            all.extend(passes.iter().flat_map(|pass| pass.hidden1));
            kernels.upper_skip_backward(&weights, &passes, &deltas, &mut gradient, &mut out);
            all.extend(out.as_flattened());
            all.extend(gradient.l1_bias);
            let (mut w, mut m, mut v) = (sums, [[0.1; HIDDEN]; GROUP], [[0.2; HIDDEN]; GROUP]);
            kernels.adam(&step, w.as_flattened_mut(), m.as_flattened_mut(), v.as_flattened_mut(), out.as_flattened());
            for table in [w, m, v] {
                all.extend(table.as_flattened());
            }
            all
        });
    }
}
