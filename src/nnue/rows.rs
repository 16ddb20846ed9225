//! Operands of the first layer's kernels: accumulators, and the rows of weights that are added to them. Their width is
//! that of the net, a multiple of [`WIDTH_STEP`].

use std::iter::zip;

use bytemuck::TransparentWrapper;

use super::architecture::WIDTH_STEP;
use super::memory::CacheLine;
use super::paired::Paired;
use crate::util::memory::prefetch;

/// Number of piece-square values of a feature, one for each layer stack, in nets that have them.
pub const PSQT: usize = 8;

/// One perspective's accumulator: sums of rows of weights, then [`PSQT`] sums of piece-square values, which stay 0 in
/// nets without them. All wrap.
#[derive(TransparentWrapper)]
#[repr(transparent)]
pub struct Accumulator([CacheLine]);

impl Accumulator {
    /// Sums of the rows of weights.
    #[inline(always)]
    pub fn neurons(&self) -> &[i16] {
        let (neurons, _) = self.0.split_at(self.0.len() - 1);
        bytemuck::cast_slice(neurons)
    }

    /// Sums of the piece-square values.
    #[inline(always)]
    pub fn psqt(&self) -> &[i32; PSQT] {
        let line: &[[i32; PSQT]; 2] = bytemuck::cast_ref(&self.0[self.0.len() - 1]);
        &line[0]
    }

    /// Mutable access to the sums of weights, and to those of piece-square values.
    #[inline(always)]
    pub fn parts_mut(&mut self) -> (&mut [i16], &mut [i32; PSQT]) {
        let (neurons, psqt) = self.0.split_at_mut(self.0.len() - 1);
        let line: &mut [[i32; PSQT]; 2] = bytemuck::cast_mut(&mut psqt[0]);
        (bytemuck::cast_slice_mut(neurons), &mut line[0])
    }

    /// Copies the sums of another accumulator of the same width.
    #[inline]
    pub fn copy_from(&mut self, from: &Self) {
        self.0.copy_from_slice(&from.0);
    }

    /// Sets this accumulator to `from - removed + added`, wrapping.
    pub fn exchange(&mut self, from: &Self, removed: &Self, added: &Self) {
        let (neurons, psqt) = self.parts_mut();
        let from_neurons = zip(neurons, from.neurons());
        for ((sum, &from), (&removed, &added)) in from_neurons.zip(zip(removed.neurons(), added.neurons())) {
            *sum = from.wrapping_sub(removed).wrapping_add(added);
        }
        let from_psqt = zip(psqt, from.psqt());
        for ((sum, &from), (&removed, &added)) in from_psqt.zip(zip(removed.psqt(), added.psqt())) {
            *sum = from.wrapping_sub(removed).wrapping_add(added);
        }
    }
}

/// Accumulators of one width in one allocation.
pub struct Accumulators {
    lines: Vec<CacheLine>,
    /// Number of accumulators.
    count: usize,
    /// Size of an accumulator in cache lines. The line of piece-square values keeps the distance between accumulators
    /// from being a power of two, so that they do not compete for the same sets of the cache.
    size: usize,
}

impl Accumulators {
    /// `count` accumulators of `width` neurons, all zero.
    pub fn zeroed(width: usize, count: usize) -> Self {
        assert!(width.is_multiple_of(WIDTH_STEP));
        let size = width * size_of::<i16>() / size_of::<CacheLine>() + 1;
        Self { lines: vec![CacheLine::ZERO; size * count], count, size }
    }

    /// Number of accumulators.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Extends the storage to `count` accumulators.
    pub fn grow(&mut self, count: usize) {
        self.lines.resize(self.size * count, CacheLine::ZERO);
        self.count = count;
    }

    /// One accumulator.
    #[inline(always)]
    pub fn at(&self, index: usize) -> &Accumulator {
        let start = index * self.size;
        Accumulator::wrap_ref(&self.lines[start..start + self.size])
    }

    /// Mutable counterpart of [`Self::at`].
    #[inline(always)]
    pub fn at_mut(&mut self, index: usize) -> &mut Accumulator {
        let start = index * self.size;
        Accumulator::wrap_mut(&mut self.lines[start..start + self.size])
    }

    /// An accumulator to read, and a later one to write.
    #[inline(always)]
    pub fn step(&mut self, from: usize, to: usize) -> (&Accumulator, &mut Accumulator) {
        let (before, after) = self.lines.split_at_mut(to * self.size);
        let start = from * self.size;
        let from = &before[start..start + self.size];
        (Accumulator::wrap_ref(from), Accumulator::wrap_mut(&mut after[..self.size]))
    }
}

/// The parameters that features add to an [`Accumulator`], with weights of type `W`.
#[derive(Clone, Copy)]
pub struct Rows<'a, W> {
    /// One row of `width` weights per feature.
    weights: &'a [W],
    width: usize,
    /// The piece-square values of each feature; empty in nets without them.
    psqt: &'a [[i32; PSQT]],
}

impl<'a, W> Rows<'a, W> {
    /// The rows of `width` weights; `psqt` has an entry for each, or none.
    #[inline(always)]
    pub fn new(weights: &'a [W], width: usize, psqt: &'a [[i32; PSQT]]) -> Self {
        debug_assert!(psqt.is_empty() || psqt.len() * width == weights.len());
        Self { weights, width, psqt }
    }

    /// Number of weights in a row.
    #[inline(always)]
    pub fn width(&self) -> usize {
        self.width
    }

    /// The same rows, of a width that the compiler may know.
    ///
    /// # Panics
    /// If they have another width.
    #[inline(always)]
    pub fn with_width(self, width: usize) -> Self {
        assert!(self.width == width);
        Self { width, ..self }
    }

    /// The weights of a feature.
    ///
    /// # Panics
    /// If there is no such feature.
    #[inline(always)]
    pub fn row(&self, feature: u32) -> &'a [W] {
        let start = feature as usize * self.width;
        &self.weights[start..start + self.width]
    }

    /// Prefetches the first cache line of a feature's row. The processor's own prefetcher fetches the rest, because
    /// lines are read in order.
    #[inline(always)]
    pub fn prefetch(&self, feature: u32) {
        if let Some(weight) = self.weights.get(feature as usize * self.width) {
            prefetch(weight);
            self.psqt.get(feature as usize).into_iter().for_each(prefetch);
        }
    }

    /// The sums of piece-square values with those of the `added` features added, and those of the `removed` ones
    /// subtracted.
    // By value and without a branch for nets without values, so that the sums stay in a register.
    #[inline(always)]
    pub fn psqt_after(
        &self,
        mut sums: [i32; PSQT],
        added: &[impl Copy + Into<u32>],
        removed: &[impl Copy + Into<u32>],
    ) -> [i32; PSQT] {
        for &feature in added {
            zip(&mut sums, self.psqt(feature.into())).for_each(|(sum, &value)| *sum = sum.wrapping_add(value));
        }
        for &feature in removed {
            zip(&mut sums, self.psqt(feature.into())).for_each(|(sum, &value)| *sum = sum.wrapping_sub(value));
        }
        sums
    }

    /// The piece-square values of a feature; 0 in nets without them.
    #[inline(always)]
    fn psqt(&self, feature: u32) -> &'a [i32; PSQT] {
        self.psqt.get(feature as usize).unwrap_or(&[0; PSQT])
    }
}

/// The rows of pieces on squares, and of threat or attack inputs.
#[derive(Clone, Copy)]
pub struct AllRows<'a> {
    /// The rows of pieces on squares.
    pub pieces: Rows<'a, i16>,
    /// The rows of threat or attack inputs.
    pub paired: Rows<'a, Paired>,
}

impl AllRows<'_> {
    /// See [`Rows::with_width`].
    #[inline(always)]
    pub fn with_width(self, width: usize) -> Self {
        Self { pieces: self.pieces.with_width(width), paired: self.paired.with_width(width) }
    }
}

/// The difference between two accumulators, as features.
#[derive(Clone, Copy, Debug)]
pub struct Changes<'a> {
    /// Features of pieces on squares that were added.
    pub added: &'a [u16],
    /// Features of pieces on squares that were removed.
    pub removed: &'a [u16],
    /// Paired rows that were added.
    pub paired_added: &'a [u32],
    /// Paired rows that were removed.
    pub paired_removed: &'a [u32],
}
