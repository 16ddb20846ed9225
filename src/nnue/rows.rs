//! What the kernels of the first layer work on: accumulators, and the rows of weights that are added to them.

/// One perspective's accumulator: `L1` neurons, and `P` piece-square values (none or 8).
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Accumulator<const L1: usize, const P: usize> {
    /// Accumulator of the rows of weights, wrapping.
    pub neurons: [i16; L1],
    /// Accumulator of the piece-square values, wrapping.
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
}

/// The parameters that a feature adds to [`Accumulator`].
#[derive(Clone, Copy)]
pub struct Rows<'a, const L1: usize, const P: usize> {
    /// One row per feature.
    pub neurons: &'a [[i16; L1]],
    /// `P` values per feature.
    pub psqt: &'a [i32],
}

impl<const L1: usize, const P: usize> Rows<'_, L1, P> {
    /// The piece-square values of a feature.
    #[inline(always)]
    pub fn psqt(&self, feature: u16) -> &[i32] {
        &self.psqt[usize::from(feature) * P..][..P]
    }
}
