//! AVX-512 kernels. Kernels whose sums must stay in registers use intrinsics; the others are the portable ones,
//! compiled for AVX-512.

use std::arch::x86_64::*;

use super::*;

compiled_for! { "avx2,fma,avx512f,avx512bw,avx512vl,avx512dq":
    fn direct(units: &[f32], weights: &[f32], out: &mut f32);
    fn upper(weights: &UpperWeights, sums: &[Hidden; GROUP], out: &mut [UpperActivations; GROUP]);
    fn upper_backward(weights: &UpperWeights, passes: &[UpperActivations; GROUP], deltas: &[f32; GROUP],
        gradient: &mut UpperGradient, out: &mut [Hidden; GROUP]);
    fn upper_skip(weights: &UpperWeights, sums: &[Hidden; GROUP], out: &mut [UpperActivations; GROUP]);
    fn upper_skip_backward(weights: &UpperWeights, passes: &[UpperActivations; GROUP], deltas: &[f32; GROUP],
        gradient: &mut UpperGradient, out: &mut [Hidden; GROUP]);
    fn products(clipped: &[f32], truncate: bool, out: &mut [f32]);
    fn products_backward(clipped: &[f32], deltas: &[f32], bias: &mut [f32], out: &mut [f32]);
    fn adam(step: &AdamStep, weights: &mut [f32], first: &mut [f32], second: &mut [f32], gradient: &[f32]);
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(from: &[f32; LANES]) -> __m512 {
    // SAFETY: the reference covers the 64 bytes that are read; the load requires no alignment.
    unsafe { _mm512_loadu_ps(from.as_ptr()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(to: &mut [f32; LANES], value: __m512) {
    // SAFETY: the reference covers the 64 bytes that are written; the store requires no alignment.
    unsafe { _mm512_storeu_ps(to.as_mut_ptr(), value) }
}

// Accumulator kernels: folding and summing rows, and the gradient of a row.

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
pub fn fold(real: &[f32], factor: &[f32], out: &mut [i16]) {
    let scale = _mm512_set1_ps(FIXED_ONE);
    let terms = real.as_chunks().0.iter().zip(factor.as_chunks().0);
    for ((real, factor), out) in terms.zip(out.as_chunks_mut::<LANES>().0) {
        let sum = _mm512_mul_ps(_mm512_add_ps(load(real), load(factor)), scale);
        let fixed = _mm512_cvtsepi32_epi16(_mm512_cvtps_epi32(sum));
        // SAFETY: the reference covers the 32 bytes that are written; the store requires no alignment.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), fixed) }
    }
}

/// Fixed-point numbers in a register.
const FIXED: usize = 32;

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub fn accumulate(activation: Activation, bias: &[i16], table: &[i16], rows: &[u16], out: &mut [f32]) {
    let mut first = 0;
    // Half of the registers hold the sums; the last parts of a row need fewer.
    while first < out.len() {
        first += match out.len() - first {
            512.. => accumulate_part::<16>(activation, bias, table, rows, out, first),
            256.. => accumulate_part::<8>(activation, bias, table, rows, out, first),
            128.. => accumulate_part::<4>(activation, bias, table, rows, out, first),
            64.. => accumulate_part::<2>(activation, bias, table, rows, out, first),
            _ => accumulate_part::<1>(activation, bias, table, rows, out, first),
        }
    }
}

/// Accumulates the part of a row that starts at index `first`, and returns the size of the part.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn accumulate_part<const REGISTERS: usize>(
    activation: Activation,
    bias: &[i16],
    table: &[i16],
    rows: &[u16],
    out: &mut [f32],
    first: usize,
) -> usize {
    let (width, part) = (out.len(), const { REGISTERS * FIXED });
    let row_of = |row: u16| &table[usize::from(row) * width + first..][..part];
    let (bias, out) = (&bias[first..][..part], &mut out[first..][..part]);
    let mut sums = [_mm512_setzero_si512(); REGISTERS];
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
    part
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

// Kernels of the first dense layer.

#[target_feature(enable = "avx512f")]
pub fn first_layer(outputs: usize, inputs: &[f32], weights: &[Hidden], bias: &Hidden, out: &mut [Hidden; GROUP]) {
    match outputs.div_ceil(LANES) {
        1 => first_layer_sums::<1>(inputs, weights, bias, out),
        _ => first_layer_sums::<{ HIDDEN / LANES }>(inputs, weights, bias, out),
    }
}

/// Computes the sums of the first `REGISTERS * LANES` outputs.
#[inline]
#[target_feature(enable = "avx512f")]
fn first_layer_sums<const REGISTERS: usize>(
    inputs: &[f32],
    weights: &[Hidden],
    bias: &Hidden,
    out: &mut [Hidden; GROUP],
) {
    let bias = bias.as_chunks().0;
    let mut sums = [std::array::from_fn::<_, REGISTERS, _>(|at| load(&bias[at])); GROUP];
    let stride = inputs.len() / GROUP;
    // All of the length of the weights, so that the loop needs no checks.
    let inputs: [&[f32]; GROUP] = std::array::from_fn(|at| &inputs[at * stride..][..weights.len()]);
    for (input, weights) in weights.iter().enumerate() {
        let weights = weights.as_chunks().0;
        let weights: [_; REGISTERS] = std::array::from_fn(|at| load(&weights[at]));
        for (sums, inputs) in sums.iter_mut().zip(inputs) {
            let input = _mm512_set1_ps(inputs[input]);
            for (sum, weights) in sums.iter_mut().zip(weights) {
                *sum = _mm512_fmadd_ps(input, weights, *sum);
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
pub fn first_layer_backward(
    units: Units,
    inputs: &[f32],
    deltas: &[Hidden; GROUP],
    weights: &[Tile],
    gradient: &mut [Tile],
    bias: &mut [f32],
    out: &mut [f32],
) {
    let (zero, one) = (_mm512_setzero_ps(), _mm512_set1_ps(1.0));
    let tiles = weights.iter().zip(gradient);
    let (stride, bias) = (inputs.len() / GROUP, bias.as_chunks_mut().0);
    for (tile, ((weights, gradient), bias)) in tiles.zip(bias).enumerate() {
        let mut x = [zero; GROUP];
        for (x, inputs) in x.iter_mut().zip(inputs.chunks_exact(stride)) {
            *x = load(&inputs.as_chunks().0[tile]);
        }
        let mut sums = input_deltas(units, &x, deltas, weights, gradient);
        if units.activation == Activation::Screlu {
            // The derivative of x squared is 2 x, and x is the root of the activation.
            for (sum, x) in sums.iter_mut().zip(x) {
                let root = _mm512_sqrt_ps(x);
                *sum = _mm512_mul_ps(*sum, _mm512_add_ps(root, root));
            }
        }
        let mut total = load(bias);
        for ((out, sum), x) in out.chunks_exact_mut(stride).zip(sums).zip(x) {
            let open = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(x, zero) & _mm512_cmp_ps_mask::<_CMP_LT_OQ>(x, one);
            let delta = _mm512_maskz_mov_ps(open, sum);
            total = _mm512_add_ps(total, delta);
            store(&mut out.as_chunks_mut().0[tile], delta);
        }
        store(bias, total);
    }
}

/// Returns the deltas of sixteen inputs for a group, each starting from the penalty, and adds the inputs' part of the
/// gradient to `gradient`.
#[inline]
#[target_feature(enable = "avx512f")]
fn input_deltas(
    units: Units,
    x: &[__m512; GROUP],
    deltas: &[Hidden; GROUP],
    weights: &Tile,
    gradient: &mut Tile,
) -> [__m512; GROUP] {
    let mut sums = [_mm512_set1_ps(units.penalty); GROUP];
    for (output, (weights, gradient)) in weights.0.iter().zip(&mut gradient.0).take(units.outputs).enumerate() {
        let weights = load(weights);
        // Two accumulation chains hide the latency of the multiply-add.
        let mut chains = [load(gradient), _mm512_setzero_ps()];
        for position in 0..GROUP {
            let delta = _mm512_set1_ps(deltas[position][output]);
            sums[position] = _mm512_fmadd_ps(delta, weights, sums[position]);
            let chain = &mut chains[position % 2];
            *chain = _mm512_fmadd_ps(delta, x[position], *chain);
        }
        store(gradient, _mm512_add_ps(chains[0], chains[1]));
    }
    sums
}

#[target_feature(enable = "avx512f")]
pub fn first_layer_deltas(
    units: Units,
    inputs: &[f32],
    deltas: &[Hidden; GROUP],
    weights: &[Tile],
    gradient: &mut [Tile],
    out: &mut [f32],
) {
    let (stride, row) = (inputs.len() / GROUP, out.len() / GROUP);
    for (tile, (weights, gradient)) in weights.iter().zip(gradient).enumerate() {
        let mut x = [_mm512_setzero_ps(); GROUP];
        for (x, inputs) in x.iter_mut().zip(inputs.chunks_exact(stride)) {
            *x = load(&inputs.as_chunks().0[tile]);
        }
        let sums = input_deltas(units, &x, deltas, weights, gradient);
        for (out, sum) in out.chunks_exact_mut(row).zip(sums) {
            store(&mut out.as_chunks_mut().0[tile], sum);
        }
    }
}
