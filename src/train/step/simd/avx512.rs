//! The kernels whose sums must stay in registers, written out for AVX-512; the others are the portable ones, compiled
//! for it.

use std::arch::x86_64::*;

use super::*;

/// Registers that hold a part of a row of floats, and those that hold it in fixed point.
const REGISTERS: usize = PART / LANES;
const FIXED_REGISTERS: usize = PART / 32;

/// Most numbers of a row that are summed at a time: what leaves half of the registers free.
const PART: usize = 256;

/// Where the parts of a row begin that is summed part by part. Each has `PART` numbers, or the whole narrower row.
fn parts<const L1: usize>() -> impl Iterator<Item = usize> {
    (0..L1).step_by(part::<L1>())
}

/// Numbers in a part.
const fn part<const L1: usize>() -> usize {
    assert!(L1.is_multiple_of(32) && (L1 < PART || L1.is_multiple_of(PART)));
    if L1 < PART { L1 } else { PART }
}

compiled_for! { "avx2,fma,avx512f,avx512bw,avx512vl,avx512dq":
    fn tail(weights: &TailWeights, sums: &[Hidden; GROUP], out: &mut [TailPass; GROUP]);
    fn tail_back(weights: &TailWeights, passes: &[TailPass; GROUP], slopes: &[f32; GROUP],
        gradient: &mut TailGradient, out: &mut [Hidden; GROUP]);
    fn adam(step: &AdamStep, weights: &mut [f32], first: &mut [f32], second: &mut [f32], gradient: &[f32]);
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(from: &[f32; LANES]) -> __m512 {
    // SAFETY: the reference covers the 64 bytes that are read; the load wants no alignment.
    unsafe { _mm512_loadu_ps(from.as_ptr()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(to: &mut [f32; LANES], value: __m512) {
    // SAFETY: the reference covers the 64 bytes that are written; the store wants no alignment.
    unsafe { _mm512_storeu_ps(to.as_mut_ptr(), value) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_fixed(from: &[i16; 32]) -> __m512i {
    // SAFETY: the reference covers the 64 bytes that are read; the load wants no alignment.
    unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
}

/// Sixteen bfloat16 numbers, widened.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn load_bf16(from: &[u16; LANES]) -> __m512 {
    // SAFETY: the reference covers the 32 bytes that are read; the load wants no alignment.
    let halves = unsafe { _mm256_loadu_si256(from.as_ptr().cast()) };
    _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(halves)))
}

/// Rounds sixteen numbers to bfloat16, half up.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn store_bf16(to: &mut [u16; LANES], value: __m512) {
    let rounded = _mm512_add_epi32(_mm512_castps_si512(value), _mm512_set1_epi32(0x8000));
    let halves = _mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(rounded));
    // SAFETY: the reference covers the 32 bytes that are written; the store wants no alignment.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), halves) }
}

/// Asks for a row that is about to be used.
#[inline]
#[target_feature(enable = "avx512f")]
fn prefetch<T>(row: &[T]) {
    let line = 64 / size_of::<T>();
    for chunk in row.chunks(line) {
        _mm_prefetch::<_MM_HINT_T0>(chunk.as_ptr().cast());
    }
}

/// Rows asked for ahead of their use.
const AHEAD: usize = 4;

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub fn fold<const L1: usize>(real: &Row<L1>, factor: &Row<L1>, out: &mut FixedRow<L1>) {
    let scale = _mm512_set1_ps(FIXED_ONE);
    let terms = real.as_chunks().0.iter().zip(factor.as_chunks().0);
    for ((real, factor), out) in terms.zip(out.as_chunks_mut::<LANES>().0) {
        let sum = _mm512_mul_ps(_mm512_add_ps(load(real), load(factor)), scale);
        let fixed = _mm512_cvtsepi32_epi16(_mm512_cvtps_epi32(sum));
        // SAFETY: the reference covers the 32 bytes that are written; the store wants no alignment.
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

/// The part of a row that begins at number `first`.
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
        if activation == Activation::Screlu {
            _mm512_mul_ps(clipped, clipped)
        } else {
            clipped
        }
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

#[target_feature(enable = "avx512f")]
pub fn first_layer<const L1: usize>(
    inputs: &[Inputs<L1>; GROUP],
    weights: &InputMajor<L1>,
    bias: &Hidden,
    out: &mut [Hidden; GROUP],
) {
    let bias = bias.as_chunks().0;
    let mut sums = [[load(&bias[0]), load(&bias[1])]; GROUP];
    for (side, weights) in weights.iter().enumerate() {
        for (input, weights) in weights.iter().enumerate() {
            let weights = weights.as_chunks().0;
            let (low, high) = (load(&weights[0]), load(&weights[1]));
            for (sums, inputs) in sums.iter_mut().zip(inputs) {
                let input = _mm512_set1_ps(inputs[side][input]);
                sums[0] = _mm512_fmadd_ps(input, low, sums[0]);
                sums[1] = _mm512_fmadd_ps(input, high, sums[1]);
            }
        }
    }
    for (out, sums) in out.iter_mut().zip(sums) {
        for (out, sum) in out.as_chunks_mut().0.iter_mut().zip(sums) {
            store(out, sum);
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub fn first_layer_back<const L1: usize>(
    activation: Activation,
    inputs: &[Inputs<L1>; GROUP],
    slopes: &[Hidden; GROUP],
    weights: &[Tile],
    gradient: &mut [Tile],
    bias: &mut Inputs<L1>,
    out: &mut [Slopes<L1>],
) {
    let (zero, one) = (_mm512_setzero_ps(), _mm512_set1_ps(1.0));
    let tiles = weights.iter().zip(gradient);
    let bias = bias.as_flattened_mut().as_chunks_mut().0;
    for (tile, ((weights, gradient), bias)) in tiles.zip(bias).enumerate() {
        let mut x = [zero; GROUP];
        for (x, inputs) in x.iter_mut().zip(inputs) {
            *x = load(&inputs.as_flattened().as_chunks().0[tile]);
        }
        let mut sums = [zero; GROUP];
        for (output, (weights, gradient)) in weights.0.iter().zip(&mut gradient.0).enumerate() {
            let weights = load(weights);
            // Two chains, because each waits for its own last term.
            let mut chains = [load(gradient), zero];
            for position in 0..GROUP {
                let slope = _mm512_set1_ps(slopes[position][output]);
                sums[position] = _mm512_fmadd_ps(slope, weights, sums[position]);
                let chain = &mut chains[position % 2];
                *chain = _mm512_fmadd_ps(slope, x[position], *chain);
            }
            store(gradient, _mm512_add_ps(chains[0], chains[1]));
        }
        if activation == Activation::Screlu {
            // The square of x has the slope 2 x, and its root is at hand.
            for (sum, x) in sums.iter_mut().zip(x) {
                let root = _mm512_sqrt_ps(x);
                *sum = _mm512_mul_ps(*sum, _mm512_add_ps(root, root));
            }
        }
        let mut total = load(bias);
        for ((out, sum), x) in out.iter_mut().zip(sums).zip(x) {
            let open = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(x, zero)
                & _mm512_cmp_ps_mask::<_CMP_LT_OQ>(x, one);
            let slope = _mm512_maskz_mov_ps(open, sum);
            total = _mm512_add_ps(total, slope);
            store_bf16(&mut out.as_flattened_mut().as_chunks_mut().0[tile], slope);
        }
        store(bias, total);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub fn add_rows<const L1: usize>(table: &[u16], picks: &[u32], out: &mut Row<L1>) {
    for first in parts::<L1>() {
        add_parts::<L1>(table, picks, out, first);
    }
}

/// The part of the rows that begins at number `first`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn add_parts<const L1: usize>(table: &[u16], picks: &[u32], out: &mut Row<L1>, first: usize) {
    let part = const { part::<L1>() };
    let row_of = |pick: u32| &table[pick as usize * L1 + first..][..part];
    let out = &mut out[first..][..part];
    let mut sums = [_mm512_setzero_ps(); REGISTERS];
    for (sum, out) in sums.iter_mut().zip(out.as_chunks().0) {
        *sum = load(out);
    }
    for (at, &pick) in picks.iter().enumerate() {
        if let Some(&next) = picks.get(at + AHEAD) {
            prefetch(row_of(next));
        }
        for (sum, chunk) in sums.iter_mut().zip(row_of(pick).as_chunks().0) {
            *sum = _mm512_add_ps(*sum, load_bf16(chunk));
        }
    }
    for (out, sum) in out.as_chunks_mut().0.iter_mut().zip(sums) {
        store(out, sum);
    }
}
