//! Accumulator kernels: folding and summing rows, and the gradient of a row.

use std::arch::x86_64::*;

use super::*;

/// Registers for a part of a fixed-point row.
const FIXED_REGISTERS: usize = PART / 32;

/// Maximum size of a part of a row; a part occupies half of the registers or less.
const PART: usize = 512;

/// Returns the start of each part of a row.
fn parts<const L1: usize>() -> impl Iterator<Item = usize> {
    (0..L1).step_by(part::<L1>())
}

/// Size of a part: the row is divided into the smallest number of equal parts of at most `PART` numbers.
const fn part<const L1: usize>() -> usize {
    assert!(L1.is_multiple_of(32));
    let mut parts = L1.div_ceil(PART);
    while !L1.is_multiple_of(32 * parts) {
        parts += 1;
    }
    L1 / parts
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_fixed(from: &[i16; 32]) -> __m512i {
    // SAFETY: the reference covers the 64 bytes that are read; the load requires no alignment.
    unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
}

/// Prefetches a row.
#[inline]
#[target_feature(enable = "avx512f")]
fn prefetch<T>(row: &[T]) {
    let line = 64 / size_of::<T>();
    for chunk in row.chunks(line) {
        _mm_prefetch::<_MM_HINT_T0>(chunk.as_ptr().cast());
    }
}

/// Prefetch distance in rows.
const AHEAD: usize = 4;

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub fn fold<const L1: usize>(real: &Row<L1>, factor: &Row<L1>, out: &mut FixedRow<L1>) {
    let scale = _mm512_set1_ps(FIXED_ONE);
    let terms = real.as_chunks().0.iter().zip(factor.as_chunks().0);
    for ((real, factor), out) in terms.zip(out.as_chunks_mut::<LANES>().0) {
        let sum = _mm512_mul_ps(_mm512_add_ps(load(real), load(factor)), scale);
        let fixed = _mm512_cvtsepi32_epi16(_mm512_cvtps_epi32(sum));
        // SAFETY: the reference covers the 32 bytes that are written; the store requires no alignment.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), fixed) }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub fn accumulate<const L1: usize>(
    activation: Activation,
    bias: &FixedRow<L1>,
    table: &[i16],
    rows: &[u16],
    out: &mut Row<L1>,
) {
    for first in parts::<L1>() {
        accumulate_part::<L1>(activation, bias, table, rows, out, first);
    }
}

/// Accumulates the part of a row that starts at index `first`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn accumulate_part<const L1: usize>(
    activation: Activation,
    bias: &FixedRow<L1>,
    table: &[i16],
    rows: &[u16],
    out: &mut Row<L1>,
    first: usize,
) {
    let part = const { part::<L1>() };
    let row_of = |row: u16| &table[usize::from(row) * L1 + first..][..part];
    let (bias, out) = (&bias[first..][..part], &mut out[first..][..part]);
    let mut sums = [_mm512_setzero_si512(); FIXED_REGISTERS];
    for (sum, bias) in sums.iter_mut().zip(bias.as_chunks().0) {
        *sum = load_fixed(bias);
    }
    for (at, &row) in rows.iter().enumerate() {
        if let Some(&next) = rows.get(at + AHEAD) {
            prefetch(row_of(next));
        }
        for (sum, weights) in sums.iter_mut().zip(row_of(row).as_chunks().0) {
            *sum = _mm512_adds_epi16(*sum, load_fixed(weights));
        }
    }
    let (zero, one) = (_mm512_setzero_si512(), _mm512_set1_epi16(FIXED_ONE as i16));
    let scale = _mm512_set1_ps(1.0 / FIXED_ONE);
    let widened = |half: __m256i| {
        let number = _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(half));
        let clipped = _mm512_mul_ps(number, scale);
        if activation == Activation::Screlu { _mm512_mul_ps(clipped, clipped) } else { clipped }
    };
    for (out, sum) in out.as_chunks_mut::<32>().0.iter_mut().zip(sums) {
        let clipped = _mm512_min_epi16(_mm512_max_epi16(sum, zero), one);
        let (low, high) = out.split_at_mut(LANES);
        let [low, high] = [low, high].map(|half| half.as_chunks_mut().0.first_mut());
        if let (Some(low), Some(high)) = (low, high) {
            store(low, widened(_mm512_castsi512_si256(clipped)));
            store(high, widened(_mm512_extracti64x4_epi64::<1>(clipped)));
        }
    }
}

/// The upper half of a word, which is the float of its upper number.
const UPPER: i32 = !0xFFFF;

#[inline]
#[target_feature(enable = "avx512f")]
fn load_words(from: &[u32; LANES]) -> __m512i {
    // SAFETY: the reference covers the 64 bytes that are read; the load requires no alignment.
    unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
pub fn pack(columns: &[f32; COLUMNS], out: &mut PackedColumns) {
    let half = _mm512_set1_epi32(0x8000);
    let rounded = |number: &[f32; LANES]| _mm512_add_epi32(_mm512_castps_si512(load(number)), half);
    let pairs = columns.as_chunks::<LANES>().0.as_chunks::<2>().0;
    for ([low, high], words) in pairs.iter().zip(out.0.as_chunks_mut::<LANES>().0) {
        let low = _mm512_srli_epi32::<16>(rounded(low));
        let high = _mm512_and_si512(rounded(high), _mm512_set1_epi32(UPPER));
        // SAFETY: the reference covers the 64 bytes that are written; the store requires no alignment.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), _mm512_or_si512(low, high)) }
    }
}

#[target_feature(enable = "avx512f")]
pub fn add_rows(table: &[PackedColumns], picks: &[u32], out: &mut [f32; COLUMNS]) {
    const PAIRS: usize = COLUMNS / INTERLEAVED;
    let out = out.as_chunks_mut::<LANES>().0.as_chunks_mut::<2>().0;
    let mut sums = [[_mm512_setzero_ps(); 2]; PAIRS];
    for (sums, out) in sums.iter_mut().zip(&*out) {
        *sums = [load(&out[0]), load(&out[1])];
    }
    let upper = _mm512_set1_epi32(UPPER);
    for (at, &pick) in picks.iter().enumerate() {
        if let Some(&next) = picks.get(at + AHEAD) {
            prefetch(&table[next as usize].0);
        }
        for (sums, words) in sums.iter_mut().zip(table[pick as usize].0.as_chunks().0) {
            let words = load_words(words);
            sums[0] = _mm512_add_ps(sums[0], _mm512_castsi512_ps(_mm512_slli_epi32::<16>(words)));
            sums[1] = _mm512_add_ps(sums[1], _mm512_castsi512_ps(_mm512_and_si512(words, upper)));
        }
    }
    for (out, sums) in out.iter_mut().zip(sums) {
        store(&mut out[0], sums[0]);
        store(&mut out[1], sums[1]);
    }
}
