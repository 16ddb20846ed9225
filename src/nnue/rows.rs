//! What the kernels of the first layer work on: accumulators, and the rows of weights that are added to them.

use std::iter::zip;

use super::paired::Paired;
use crate::util::prefetch::prefetch;

/// One perspective's accumulator: `L1` neurons, and `P` piece-square values (none or 8).
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Accumulator<const L1: usize, const P: usize> {
    /// Sums of the rows of weights, wrapping.
    pub neurons: [i16; L1],
    /// Sums of the piece-square values, wrapping.
    pub psqt: [i32; P],
}

impl<const L1: usize, const P: usize> Accumulator<L1, P> {
    /// All zero.
    pub fn zeroed() -> Self {
        Self {
            neurons: [0; L1],
            psqt: [0; P],
        }
    }

    /// Becomes `from` with `came` in place of `gone`, wrapping.
    pub fn exchange(&mut self, from: &Self, gone: &Self, came: &Self) {
        let neurons = zip(&mut self.neurons, &from.neurons);
        for ((sum, &from), (&gone, &came)) in neurons.zip(zip(&gone.neurons, &came.neurons)) {
            *sum = from.wrapping_sub(gone).wrapping_add(came);
        }
        let psqt = zip(&mut self.psqt, &from.psqt);
        for ((sum, &from), (&gone, &came)) in psqt.zip(zip(&gone.psqt, &came.psqt)) {
            *sum = from.wrapping_sub(gone).wrapping_add(came);
        }
    }
}

/// The parameters that a feature adds to [`Accumulator`]; its weights are of type `W`.
#[derive(Clone, Copy)]
pub struct Rows<'a, W, const L1: usize, const P: usize> {
    /// One row per feature.
    pub neurons: &'a [[W; L1]],
    /// `P` values per feature.
    pub psqt: &'a [i32],
}

impl<W, const L1: usize, const P: usize> Rows<'_, W, L1, P> {
    /// Prefetches the first line of a feature's row, which will probably be added soon. The processor's own prefetcher
    /// fetches the rest, because lines are read in order.
    #[inline(always)]
    pub fn prefetch(&self, feature: u32) {
        if let Some(row) = self.neurons.get(feature as usize) {
            prefetch(row);
            self.psqt(feature).first().into_iter().for_each(prefetch);
        }
    }

    /// The piece-square values of a feature.
    #[inline(always)]
    pub fn psqt(&self, feature: u32) -> &[i32] {
        &self.psqt[feature as usize * P..][..P]
    }
}

/// The parameters of a net that has threat inputs in addition to pieces on squares.
#[derive(Clone, Copy)]
pub struct AllRows<'a, const L1: usize, const P: usize> {
    /// Those of pieces on squares.
    pub pieces: Rows<'a, i16, L1, P>,
    /// Those of threat inputs.
    pub threat_inputs: Rows<'a, Paired, L1, P>,
}

impl<const L1: usize, const P: usize> AllRows<'_, L1, P> {
    /// The piece-square values of `from` after some changes.
    #[inline(always)]
    pub fn psqt_after(&self, from: &Accumulator<L1, P>, changes: &Changes<'_>) -> [i32; P] {
        let mut psqt = from.psqt;
        let mut add = |values: &[i32]| {
            let pairs = psqt.iter_mut().zip(values);
            pairs.for_each(|(sum, &value)| *sum = sum.wrapping_add(value));
        };
        let pieces = |&feature: &u16| self.pieces.psqt(feature.into());
        let threat_inputs = |&feature: &u32| self.threat_inputs.psqt(feature);
        changes.added.iter().map(pieces).for_each(&mut add);
        changes
            .threat_inputs_added
            .iter()
            .map(threat_inputs)
            .for_each(&mut add);
        let mut subtract = |values: &[i32]| {
            let pairs = psqt.iter_mut().zip(values);
            pairs.for_each(|(sum, &value)| *sum = sum.wrapping_sub(value));
        };
        changes.removed.iter().map(pieces).for_each(&mut subtract);
        changes
            .threat_inputs_removed
            .iter()
            .map(threat_inputs)
            .for_each(&mut subtract);
        psqt
    }
}

/// The features by which one accumulator differs from another one.
#[derive(Clone, Copy, Debug)]
pub struct Changes<'a> {
    /// Pieces on squares that came.
    pub added: &'a [u16],
    /// Those that went.
    pub removed: &'a [u16],
    /// Threat inputs that came.
    pub threat_inputs_added: &'a [u32],
    /// Those that went.
    pub threat_inputs_removed: &'a [u32],
}
