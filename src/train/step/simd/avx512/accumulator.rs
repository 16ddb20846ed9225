//! Accumulator kernels: folding and summing rows, and the gradient of a row.

use std::arch::x86_64::*;

use super::*;

/// Registers for a part of a fixed-point row.
const FIXED_REGISTERS: usize = PART / 32;

/// Maximum size of a part of a row; a part occupies half of the registers or less.
const PART: usize = 256;

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

/// Loads sixteen bfloat16 numbers and widens them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn load_bf16(from: &[u16; LANES]) -> __m512 {
    // SAFETY: the reference covers the 32 bytes that are read; the load requires no alignment.
    let halves = unsafe { _mm256_loadu_si256(from.as_ptr().cast()) };
    _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(halves)))
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

/// Maximum number of columns added at a time; they occupy half of the registers.
const COLUMNS: usize = 16 * LANES;

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub fn add_rows<const L1: usize>(table: &[u16], picks: &[u32], first: usize, out: &mut [f32]) {
    for (at, out) in out.chunks_mut(COLUMNS).enumerate() {
        let first = first + at * COLUMNS;
        // For the usual sizes the number of registers is a constant, so that the compiler keeps the sums in registers.
        match out.len() / LANES {
            4 => add_columns::<L1, 4>(table, picks, first, out),
            8 => add_columns::<L1, 8>(table, picks, first, out),
            16 => add_columns::<L1, 16>(table, picks, first, out),
            _ => {
                for (at, out) in out.chunks_mut(LANES).enumerate() {
                    add_columns::<L1, 1>(table, picks, first + at * LANES, out);
                }
            }
        }
    }
}

/// Adds `REGISTERS * LANES` columns, from `first` on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn add_columns<const L1: usize, const REGISTERS: usize>(table: &[u16], picks: &[u32], first: usize, out: &mut [f32]) {
    let columns_of = |pick: u32| &table[pick as usize * L1 + first..][..REGISTERS * LANES];
    let mut sums = [_mm512_setzero_ps(); REGISTERS];
    for (sum, out) in sums.iter_mut().zip(out.as_chunks().0) {
        *sum = load(out);
    }
    for (at, &pick) in picks.iter().enumerate() {
        if let Some(&next) = picks.get(at + AHEAD) {
            prefetch(columns_of(next));
        }
        for (sum, chunk) in sums.iter_mut().zip(columns_of(pick).as_chunks().0) {
            *sum = _mm512_add_ps(*sum, load_bf16(chunk));
        }
    }
    for (out, sum) in out.as_chunks_mut().0.iter_mut().zip(sums) {
        store(out, sum);
    }
}
