//! Operands of the first layer's kernels: accumulators, and the rows of weights that are added to them.

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
        Self { neurons: [0; L1], psqt: [0; P] }
    }

    /// Sets this accumulator to `from - removed + added`, wrapping.
    pub fn exchange(&mut self, from: &Self, removed: &Self, added: &Self) {
        let neurons = zip(&mut self.neurons, &from.neurons);
        for ((sum, &from), (&removed, &added)) in neurons.zip(zip(&removed.neurons, &added.neurons)) {
            *sum = from.wrapping_sub(removed).wrapping_add(added);
        }
        let psqt = zip(&mut self.psqt, &from.psqt);
        for ((sum, &from), (&removed, &added)) in psqt.zip(zip(&removed.psqt, &added.psqt)) {
            *sum = from.wrapping_sub(removed).wrapping_add(added);
        }
    }
}

/// The parameters that features add to an [`Accumulator`], with weights of type `W`.
#[derive(Clone, Copy)]
pub struct Rows<'a, W, const L1: usize, const P: usize> {
    /// One row per feature.
    pub neurons: &'a [[W; L1]],
    /// `P` values per feature.
    pub psqt: &'a [i32],
}

impl<W, const L1: usize, const P: usize> Rows<'_, W, L1, P> {
    /// Prefetches the first cache line of a feature's row. The processor's own prefetcher fetches the rest, because
    /// lines are read in order.
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

/// Added and removed rows of attack inputs, whose weights are stored as bytes.
#[derive(Clone, Copy)]
pub struct ByteChanges<'a, const L1: usize> {
    /// The weights of all attack inputs.
    pub rows: &'a [[i8; L1]],
    /// The feature of the first row.
    pub first: u16,
    /// Features that were added.
    pub added: &'a [u16],
    /// Features that were removed.
    pub removed: &'a [u16],
}

impl<'a, const L1: usize> ByteChanges<'a, L1> {
    /// No rows.
    pub const NONE: Self = Self { rows: &[], first: 0, added: &[], removed: &[] };

    /// The weights of a feature.
    #[inline(always)]
    pub fn row(&self, feature: u16) -> &'a [i8; L1] {
        &self.rows[usize::from(feature.wrapping_sub(self.first))]
    }
}

/// The rows of pieces on squares and of threat inputs.
#[derive(Clone, Copy)]
pub struct AllRows<'a, const L1: usize, const P: usize> {
    /// The rows of pieces on squares.
    pub pieces: Rows<'a, i16, L1, P>,
    /// The rows of threat inputs.
    pub threat_inputs: Rows<'a, Paired, L1, P>,
}

impl<const L1: usize, const P: usize> AllRows<'_, L1, P> {
    /// The piece-square values of `from` with the changes applied.
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
        changes.threat_inputs_added.iter().map(threat_inputs).for_each(&mut add);
        let mut subtract = |values: &[i32]| {
            let pairs = psqt.iter_mut().zip(values);
            pairs.for_each(|(sum, &value)| *sum = sum.wrapping_sub(value));
        };
        changes.removed.iter().map(pieces).for_each(&mut subtract);
        changes.threat_inputs_removed.iter().map(threat_inputs).for_each(&mut subtract);
        psqt
    }
}

/// The difference between two accumulators, as features.
#[derive(Clone, Copy, Debug)]
pub struct Changes<'a> {
    /// Features of pieces on squares that were added.
    pub added: &'a [u16],
    /// Features of pieces on squares that were removed.
    pub removed: &'a [u16],
    /// Threat inputs that were added.
    pub threat_inputs_added: &'a [u32],
    /// Threat inputs that were removed.
    pub threat_inputs_removed: &'a [u32],
}
