//! Kernels of the first dense layer.

use std::arch::x86_64::*;

use super::*;

#[target_feature(enable = "avx512f")]
pub fn first_layer<const L1: usize>(
    outputs: usize,
    inputs: &[Inputs<L1>; GROUP],
    weights: &[InputMajor<L1>],
    bias: &Hidden,
    out: &mut [Hidden; GROUP],
) {
    match outputs.div_ceil(LANES) {
        1 => first_layer_sums::<L1, 1>(inputs, weights, bias, out),
        _ => first_layer_sums::<L1, { HIDDEN / LANES }>(inputs, weights, bias, out),
    }
}

/// Computes the sums of the first `REGISTERS * LANES` outputs.
#[inline]
#[target_feature(enable = "avx512f")]
fn first_layer_sums<const L1: usize, const REGISTERS: usize>(
    inputs: &[Inputs<L1>; GROUP],
    weights: &[InputMajor<L1>],
    bias: &Hidden,
    out: &mut [Hidden; GROUP],
) {
    let bias = bias.as_chunks().0;
    let mut sums = [std::array::from_fn::<_, REGISTERS, _>(|at| load(&bias[at])); GROUP];
    for (side, weights) in weights.iter().enumerate() {
        for (input, weights) in weights.iter().enumerate() {
            let weights = weights.as_chunks().0;
            let weights: [_; REGISTERS] = std::array::from_fn(|at| load(&weights[at]));
            for (sums, inputs) in sums.iter_mut().zip(inputs) {
                let input = _mm512_set1_ps(inputs[side][input]);
                for (sum, weights) in sums.iter_mut().zip(weights) {
                    *sum = _mm512_fmadd_ps(input, weights, *sum);
                }
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
pub fn first_layer_backward<const L1: usize>(
    units: Units,
    inputs: &[Inputs<L1>; GROUP],
    deltas: &[Hidden; GROUP],
    weights: &[Tile],
    gradient: &mut [Tile],
    bias: &mut Inputs<L1>,
    out: &mut [Deltas<L1>],
) {
    let (zero, one) = (_mm512_setzero_ps(), _mm512_set1_ps(1.0));
    let tiles = weights.iter().zip(gradient);
    let bias = bias.as_flattened_mut().as_chunks_mut().0;
    for (tile, ((weights, gradient), bias)) in tiles.zip(bias).enumerate() {
        let mut x = [zero; GROUP];
        for (x, inputs) in x.iter_mut().zip(inputs) {
            *x = load(&inputs.as_flattened().as_chunks().0[tile]);
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
        for ((out, sum), x) in out.iter_mut().zip(sums).zip(x) {
            let open = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(x, zero) & _mm512_cmp_ps_mask::<_CMP_LT_OQ>(x, one);
            let delta = _mm512_maskz_mov_ps(open, sum);
            total = _mm512_add_ps(total, delta);
            store(&mut out.as_flattened_mut().as_chunks_mut().0[tile], delta);
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
pub fn first_layer_deltas<const L1: usize>(
    units: Units,
    inputs: &[Inputs<L1>; GROUP],
    deltas: &[Hidden; GROUP],
    weights: &[Tile],
    gradient: &mut [Tile],
    out: &mut [Row<L1>; GROUP],
) {
    for (tile, (weights, gradient)) in weights.iter().zip(gradient).enumerate() {
        let mut x = [_mm512_setzero_ps(); GROUP];
        for (x, inputs) in x.iter_mut().zip(inputs) {
            *x = load(&inputs[0].as_chunks().0[tile]);
        }
        let sums = input_deltas(units, &x, deltas, weights, gradient);
        for (out, sum) in out.iter_mut().zip(sums) {
            store(&mut out.as_chunks_mut().0[tile], sum);
        }
    }
}
