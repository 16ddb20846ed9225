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
#[cfg(test)]
mod tests;

use crate::nnue::Activation;
use crate::train::model::shapes::HIDDEN;
use crate::train::step::layers::{UpperActivations, UpperGradient, UpperWeights};
use crate::train::step::row_index::*;

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
