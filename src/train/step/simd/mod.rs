//! The loops that the trainer spends its time in, for AVX-512, AVX2, NEON, and any machine.
//!
//! The portable functions are the specification; the AVX2 ones are the same code compiled for the wider machine, and
//! the AVX-512 and NEON ones are written out only where the compiler will not keep the sums in registers.
//!
//! The passes take positions in groups of [`GROUP`]: a weight that has been fetched then serves eight positions, and
//! the first layer runs at the speed of the multipliers instead of the cache's.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
#[cfg(test)]
mod tests;

use crate::nnue::Activation;
use crate::train::model::scales::HIDDEN;
use crate::train::step::layout::*;
use crate::train::step::upper::{UpperActivations, UpperGradient, UpperWeights};

/// Adam's constants at one step.
#[derive(Clone, Copy, Debug)]
pub struct AdamStep {
    /// Learning rate, bias corrections folded in.
    pub rate: f32,
    /// Decay of the first moment.
    pub beta1: f32,
    /// Decay of the second moment.
    pub beta2: f32,
    /// Keeps the quotient finite; already scaled for the bias correction.
    pub epsilon: f32,
    /// Share of a weight that a step takes away.
    pub decay: f32,
}

/// The units of the accumulators.
#[derive(Clone, Copy, Debug)]
pub struct Units {
    /// Their activation.
    pub activation: Activation,
    /// What an activation of 1.0 costs beside the loss.
    pub penalty: f32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InstructionSet {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "aarch64")]
    Neon,
}

/// The kernels that this machine runs. A value other than the portable one is the proof that the CPU has the feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backend(InstructionSet);

/// Calls the version of a kernel that `self` stands for.
macro_rules! dispatch {
    ($self:ident, $name:ident $(<$width:ident>)? ($($argument:expr),*)) => {
        match $self.0 {
            InstructionSet::Portable => portable::$name::<false $(, $width)?>($($argument),*),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level is only made by `detect`, after the CPU said that it has AVX2 and FMA.
            InstructionSet::Avx2 => unsafe { avx2::$name $(::<$width>)? ($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level is only made by `detect`, after the CPU said that it has AVX-512 F, BW, VL and DQ.
            InstructionSet::Avx512 => unsafe { avx512::$name $(::<$width>)? ($($argument),*) },
            #[cfg(target_arch = "aarch64")]
            // SAFETY: the level is only made by `detect`, after the CPU said that it has NEON.
            InstructionSet::Neon => unsafe { neon::$name $(::<$width>)? ($($argument),*) },
        }
    };
}

impl Backend {
    /// The best kernels for this CPU.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq");
            match (avx512, avx2) {
                (true, true) => return Self(InstructionSet::Avx512),
                (false, true) => return Self(InstructionSet::Avx2),
                _ => {}
            }
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            return Self(InstructionSet::Neon);
        }
        Self::portable()
    }

    /// The kernels that run anywhere.
    pub fn portable() -> Self {
        Self(InstructionSet::Portable)
    }

    /// Every level that this CPU can run, the portable one first.
    #[cfg(test)]
    pub fn all() -> Vec<Self> {
        let mut levels = vec![Self::portable()];
        let best = Self::detect();
        #[cfg(target_arch = "x86_64")]
        if best == Self(InstructionSet::Avx512) {
            levels.push(Self(InstructionSet::Avx2));
        }
        if best != Self::portable() {
            levels.push(best);
        }
        levels
    }

    /// `out = real + factor`, in fixed point.
    #[inline]
    pub fn fold<const L1: usize>(self, real: &Row<L1>, factor: &Row<L1>, out: &mut FixedRow<L1>) {
        dispatch!(self, fold<L1>(real, factor, out));
    }

    /// `out = activation(bias + sum of the table's `rows`)`.
    #[inline]
    pub fn accumulate<const L1: usize>(
        self,
        activation: Activation,
        bias: &FixedRow<L1>,
        table: &[i16],
        rows: &[u16],
        out: &mut Row<L1>,
    ) {
        dispatch!(self, accumulate<L1>(activation, bias, table, rows, out));
    }

    /// `out = bias + weights * inputs` for each position of a group; `weights` has a table for each side, or one for
    /// the products of both.
    #[inline]
    pub fn first_layer<const L1: usize>(
        self,
        inputs: &[Inputs<L1>; GROUP],
        weights: &[InputMajor<L1>],
        bias: &Hidden,
        out: &mut [Hidden; GROUP],
    ) {
        dispatch!(self, first_layer<L1>(inputs, weights, bias, out));
    }

    /// The backward pass of the first layer: adds `deltas x inputs` to `gradient` and the deltas of the accumulators
    /// to `bias`, and puts these, zero where the input was clipped, into `out`, one for each position of the group.
    /// Places of the group beyond `out` are empty: their deltas must be zero.
    #[inline]
    pub fn first_layer_backward<const L1: usize>(
        self,
        units: Units,
        inputs: &[Inputs<L1>; GROUP],
        deltas: &[Hidden; GROUP],
        weights: &[Tile],
        (gradient, bias): (&mut [Tile], &mut Inputs<L1>),
        out: &mut [Deltas<L1>],
    ) {
        dispatch!(
            self,
            first_layer_backward<L1>(units, inputs, deltas, weights, gradient, bias, out)
        );
    }

    /// The layers after the first, forward, for each position of a group: from the first layer's sums.
    #[inline]
    pub fn upper(
        self,
        weights: &UpperWeights,
        sums: &[Hidden; GROUP],
        out: &mut [UpperActivations; GROUP],
    ) {
        dispatch!(self, upper(weights, sums, out));
    }

    /// Their backward pass: adds to `gradient`, and puts the deltas of the first layer's sums into `out`.
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

    /// As [`Self::upper`], where the first layer hands on squares and clipped sums, and an output of it skips the rest.
    #[inline]
    pub fn upper_skip(
        self,
        weights: &UpperWeights,
        sums: &[Hidden; GROUP],
        out: &mut [UpperActivations; GROUP],
    ) {
        dispatch!(self, upper_skip(weights, sums, out));
    }

    /// The backward pass of [`Self::upper_skip`].
    #[inline]
    pub fn upper_skip_backward(
        self,
        weights: &UpperWeights,
        passes: &[UpperActivations; GROUP],
        deltas: &[f32; GROUP],
        gradient: &mut UpperGradient,
        out: &mut [Hidden; GROUP],
    ) {
        dispatch!(
            self,
            upper_skip_backward(weights, passes, deltas, gradient, out)
        );
    }

    /// The products of the halves of clipped accumulators, the side to move's first; cut off as the engine does it, or
    /// with all their digits.
    #[inline]
    pub fn products<const L1: usize>(self, clipped: &Inputs<L1>, cut_off: bool, out: &mut Row<L1>) {
        dispatch!(self, products<L1>(clipped, cut_off, out));
    }

    /// The backward pass of the first layer above products: adds `deltas x inputs` to `gradient`, and puts the deltas
    /// of the products into `out`. Of the inputs the first row counts; each costs `penalty`.
    #[inline]
    pub fn first_layer_deltas<const L1: usize>(
        self,
        penalty: f32,
        inputs: &[Inputs<L1>; GROUP],
        deltas: &[Hidden; GROUP],
        weights: &[Tile],
        gradient: &mut [Tile],
        out: &mut [Row<L1>; GROUP],
    ) {
        dispatch!(
            self,
            first_layer_deltas<L1>(penalty, inputs, deltas, weights, gradient, out)
        );
    }

    /// From the deltas of products to those of the accumulators, zero where these were clipped; adds them to `bias`
    /// too.
    #[inline]
    pub fn products_backward<const L1: usize>(
        self,
        clipped: &Inputs<L1>,
        deltas: &Row<L1>,
        bias: &mut Inputs<L1>,
        out: &mut Deltas<L1>,
    ) {
        dispatch!(self, products_backward<L1>(clipped, deltas, bias, out));
    }

    /// Adds the rows `picks` of a table of bfloat16 rows, `L1` long, to `out`: of each the columns from `first` on, as
    /// many as `out` is long.
    #[inline]
    pub fn add_rows<const L1: usize>(
        self,
        table: &[u16],
        picks: &[u32],
        first: usize,
        out: &mut [f32],
    ) {
        dispatch!(self, add_rows<L1>(table, picks, first, out));
    }

    /// One Adam step on a run of weights.
    #[inline]
    pub fn adam(
        self,
        step: &AdamStep,
        weights: &mut [f32],
        first: &mut [f32],
        second: &mut [f32],
        gradient: &[f32],
    ) {
        dispatch!(self, adam(step, weights, first, second, gradient));
    }
}

/// Declares the portable kernels once more, compiled for a feature set.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! compiled_for {
    ($features:literal: $(fn $name:ident $(<$width:ident>)? ($($argument:ident: $type:ty),* $(,)?);)*) => {
        $(
            #[target_feature(enable = $features)]
            pub fn $name $(<const $width: usize>)? ($($argument: $type),*) {
                portable::$name::<true $(, $width)?>($($argument),*)
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
        fn fold<L1>(real: &Row<L1>, factor: &Row<L1>, out: &mut FixedRow<L1>);
        fn accumulate<L1>(activation: Activation, bias: &FixedRow<L1>, table: &[i16], rows: &[u16],
            out: &mut Row<L1>);
        fn first_layer<L1>(inputs: &[Inputs<L1>; GROUP], weights: &[InputMajor<L1>], bias: &Hidden,
            out: &mut [Hidden; GROUP]);
        fn first_layer_backward<L1>(units: Units, inputs: &[Inputs<L1>; GROUP], deltas: &[Hidden; GROUP],
            weights: &[Tile], gradient: &mut [Tile], bias: &mut Inputs<L1>, out: &mut [Deltas<L1>]);
        fn upper(weights: &UpperWeights, sums: &[Hidden; GROUP], out: &mut [UpperActivations; GROUP]);
        fn upper_backward(weights: &UpperWeights, passes: &[UpperActivations; GROUP], deltas: &[f32; GROUP],
            gradient: &mut UpperGradient, out: &mut [Hidden; GROUP]);
        fn add_rows<L1>(table: &[u16], picks: &[u32], first: usize, out: &mut [f32]);
        fn upper_skip(weights: &UpperWeights, sums: &[Hidden; GROUP], out: &mut [UpperActivations; GROUP]);
        fn upper_skip_backward(weights: &UpperWeights, passes: &[UpperActivations; GROUP], deltas: &[f32; GROUP],
            gradient: &mut UpperGradient, out: &mut [Hidden; GROUP]);
        fn products<L1>(clipped: &Inputs<L1>, cut_off: bool, out: &mut Row<L1>);
        fn products_backward<L1>(clipped: &Inputs<L1>, deltas: &Row<L1>, bias: &mut Inputs<L1>, out: &mut Deltas<L1>);
        fn first_layer_deltas<L1>(penalty: f32, inputs: &[Inputs<L1>; GROUP], deltas: &[Hidden; GROUP],
            weights: &[Tile], gradient: &mut [Tile], out: &mut [Row<L1>; GROUP]);
        fn adam(step: &AdamStep, weights: &mut [f32], first: &mut [f32], second: &mut [f32], gradient: &[f32]);
    }
}
