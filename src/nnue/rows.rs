//! Operands of the first layer's kernels: accumulators, and the rows of weights that are added to them. Their width is
//! that of the net, a multiple of [`WIDTH_STEP`]. Tables of numbers start on a cache line, and the rows of threat and
//! attack inputs have a layout of their own.

use std::iter::zip;

use bytemuck::{Pod, TransparentWrapper, Zeroable};

use super::architecture::{PAIRED_COLUMNS, WIDTH_STEP};
use crate::util::memory::{Zeroed, prefetch, zeroed_slice_or_abort};

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
    pub fn psqt(&self, feature: u32) -> &'a [i32; PSQT] {
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

// Tables of parameters aligned to cache lines.

/// One cache line. Parameters are stored in this unit, so every row starts on a cache line.
#[derive(Clone, Copy, Pod, Zeroable, Debug)]
#[repr(C, align(64))]
pub struct CacheLine([u8; 64]);

impl CacheLine {
    /// All zero.
    pub const ZERO: Self = Self([0; 64]);
}

/// A table of numbers aligned to 64 bytes.
pub struct Aligned(Zeroed<CacheLine>);

impl Aligned {
    /// A zeroed table of `bytes` bytes, rounded up to whole cache lines.
    pub fn zeroed(bytes: usize) -> Self {
        let lines = bytes.div_ceil(size_of::<CacheLine>());
        // Uses large pages where available: the transformer has 20 MB or more and is read at random.
        Self(zeroed_slice_or_abort(lines))
    }

    pub fn as_slice<T: Pod>(&self) -> &[T] {
        bytemuck::cast_slice(&self.0)
    }

    pub fn as_mut_slice<T: Pod>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

// Layout of the rows of threat and attack inputs: each 16-bit word packs two columns of one byte, so adding a row
// needs no widening.
//
// Within each block of 64 columns, word `i` is 256 times column `32 + i` plus the biased column `i` (plus 128, hence 0
// to 255). A word shifted right by eight bits is the upper column. The kernels sum whole words and, separately, the
// upper columns. The sum of the words minus 256 times the sum of the upper columns is the sum of the biased lower
// columns. It contains the bias once for each row added. All of this also holds with wrapping arithmetic.

/// Distance in columns between the lower and the upper column of a word.
pub const UPPER_OFFSET: usize = PAIRED_COLUMNS / 2;

/// The bias added to each lower column.
const LOWER_BIAS: u8 = 128;

/// One byte of a row in the paired layout.
#[derive(Clone, Copy, Zeroable, Pod)]
#[repr(transparent)]
pub struct Paired(u8);

/// The lower column of the word at byte `at` of a row; the upper column is [`UPPER_OFFSET`] columns higher.
#[inline(always)]
pub const fn lower_column(at: usize) -> usize {
    at - at % PAIRED_COLUMNS + at % PAIRED_COLUMNS / 2
}

/// The total bias that `added` and `removed` rows add to the sums of lower columns, wrapping.
#[inline(always)]
pub fn excess(added: usize, removed: usize) -> i16 {
    (added as i16).wrapping_sub(removed as i16).wrapping_mul(LOWER_BIAS.into())
}

/// Writes rows of weights in the paired layout.
///
/// # Panics
/// If the lengths differ or are not a multiple of [`PAIRED_COLUMNS`].
pub fn pair(weights: &[i8], out: &mut [Paired]) {
    assert!(weights.len() == out.len() && out.len().is_multiple_of(PAIRED_COLUMNS));
    let (groups, outs) = (weights.as_chunks::<PAIRED_COLUMNS>().0, out.as_chunks_mut::<PAIRED_COLUMNS>().0);
    for (group, out) in groups.iter().zip(outs) {
        let (lower, upper) = group.split_at(UPPER_OFFSET);
        let words = out.as_chunks_mut().0.iter_mut();
        for (word, (&low, &high)) in words.zip(lower.iter().zip(upper)) {
            *word = [Paired(low as u8 ^ LOWER_BIAS), Paired(high as u8)];
        }
    }
}

/// The weights of rows in the paired layout.
pub fn unpair(rows: &[Paired]) -> Vec<i8> {
    let mut weights = vec![0; rows.len()];
    let (groups, outs) = (rows.as_chunks::<PAIRED_COLUMNS>().0, weights.as_chunks_mut::<PAIRED_COLUMNS>().0);
    for (group, out) in groups.iter().zip(outs) {
        let (lower, upper) = out.split_at_mut(UPPER_OFFSET);
        let words = group.as_chunks().0.iter();
        for (&[low, high], (lower, upper)) in words.zip(lower.iter_mut().zip(upper)) {
            (*lower, *upper) = ((low.0 ^ LOWER_BIAS) as i8, high.0 as i8);
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_starts_on_a_cache_line() {
        for bytes in [1, 64, 100, 5 << 20] {
            let table = Aligned::zeroed(bytes);
            assert_eq!(table.as_slice::<u8>().as_ptr() as usize % 64, 0);
        }
    }

    #[test]
    fn pairing_round_trips() {
        let weights: Vec<i8> = (0..512).map(|i| (i * 37 % 256 - 128) as i8).collect();
        let mut paired = [Paired(0); 512];
        pair(&weights, &mut paired);
        assert_eq!(unpair(&paired), weights);
    }

    #[test]
    fn word_combines_biased_lower_and_upper_column() {
        let mut weights = [0; PAIRED_COLUMNS];
        (weights[3], weights[3 + UPPER_OFFSET]) = (-128, -1);
        let mut paired = [Paired(0); PAIRED_COLUMNS];
        pair(&weights, &mut paired);
        let words: Vec<i16> = paired.chunks_exact(2).map(|word| i16::from_le_bytes([word[0].0, word[1].0])).collect();
        assert_eq!(words[3], -256);
        assert_eq!(words[4], 128);
    }
}
