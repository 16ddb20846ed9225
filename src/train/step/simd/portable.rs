//! The kernels in plain Rust. `FMA` is set if the target has a multiply-add instruction; without one, `mul_add` would
//! call the maths library.

use super::*;
use crate::train::model::rounding;
use crate::train::model::shapes::{SKIP, squared_and_clipped, squared_and_clipped_backward};

#[inline(always)]
fn multiply_add<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// `sums += factor * terms`.
#[inline(always)]
fn add_scaled<const FMA: bool>(sums: &mut [f32], factor: f32, terms: &[f32]) {
    for (sum, &term) in sums.iter_mut().zip(terms) {
        *sum = multiply_add::<FMA>(factor, term, *sum);
    }
}

/// Whether a unit is neither off nor saturated, so that deltas pass through it.
#[inline(always)]
fn open(activation: f32) -> bool {
    activation > 0.0 && activation < 1.0
}

// Accumulator kernels: folding and summing rows, and the gradient of a row.

#[inline(always)]
pub fn fold<const FMA: bool, const L1: usize>(real: &Row<L1>, factor: &Row<L1>, out: &mut FixedRow<L1>) {
    for ((out, real), factor) in out.iter_mut().zip(real).zip(factor) {
        // Adding this number shifts the fraction out of the mantissa, which rounds to the nearest, ties to even, like
        // the processor's conversion instruction.
        const ROUND: f32 = 12_582_912.0;
        let value = ((real + factor) * FIXED_ONE).clamp(-32768.0, 32767.0);
        *out = ((value + ROUND) - ROUND) as i16;
    }
}

#[inline(always)]
pub fn accumulate<const FMA: bool, const L1: usize>(
    activation: Activation,
    bias: &FixedRow<L1>,
    table: &[i16],
    rows: &[u16],
    out: &mut Row<L1>,
) {
    let mut sums = *bias;
    for &row in rows {
        let row = &table[usize::from(row) * L1..][..L1];
        for (sum, &weight) in sums.iter_mut().zip(row) {
            *sum = sum.saturating_add(weight);
        }
    }
    for (out, sum) in out.iter_mut().zip(sums) {
        *out = f32::from(sum.clamp(0, FIXED_ONE as i16)) * (1.0 / FIXED_ONE);
    }
    if activation == Activation::Screlu {
        out.iter_mut().for_each(|out| *out *= *out);
    }
}

/// The upper half of a word, which is the float of its upper number.
const UPPER: u32 = 0xFFFF_0000;

#[inline(always)]
pub fn pack<const FMA: bool>(columns: &[f32; COLUMNS], out: &mut PackedColumns) {
    /// Rounds half up, which is accurate enough for gradients.
    const HALF: u32 = 0x8000;
    let out = out.0.as_chunks_mut::<LANES>().0;
    for (columns, words) in columns.as_chunks::<INTERLEAVED>().0.iter().zip(out) {
        let (low, high) = columns.split_at(LANES);
        for ((word, low), high) in words.iter_mut().zip(low).zip(high) {
            *word = low.to_bits().wrapping_add(HALF) >> 16 | high.to_bits().wrapping_add(HALF) & UPPER;
        }
    }
}

#[inline(always)]
pub fn add_rows<const FMA: bool>(table: &[PackedColumns], picks: &[u32], out: &mut [f32; COLUMNS]) {
    let out = out.as_chunks_mut::<INTERLEAVED>().0;
    for &pick in picks {
        let words = table[pick as usize].0.as_chunks::<LANES>().0;
        for (out, words) in out.iter_mut().zip(words) {
            let (low, high) = out.split_at_mut(LANES);
            for ((low, high), word) in low.iter_mut().zip(high).zip(words) {
                *low += f32::from_bits(word << 16);
                *high += f32::from_bits(word & UPPER);
            }
        }
    }
}

// Kernels of the first dense layer.

#[inline(always)]
pub fn first_layer<const FMA: bool, const L1: usize>(
    outputs: usize,
    inputs: &[Inputs<L1>; GROUP],
    weights: &[InputMajor<L1>],
    bias: &Hidden,
    out: &mut [Hidden; GROUP],
) {
    for (inputs, sums) in inputs.iter().zip(out) {
        *sums = *bias;
        for (&input, weights) in inputs.as_flattened().iter().zip(weights.as_flattened()) {
            if input != 0.0 {
                add_scaled::<FMA>(&mut sums[..outputs], input, &weights[..outputs]);
            }
        }
    }
}

#[inline(always)]
pub fn first_layer_backward<const FMA: bool, const L1: usize>(
    units: Units,
    inputs: &[Inputs<L1>; GROUP],
    deltas: &[Hidden; GROUP],
    weights: &[Tile],
    gradient: &mut [Tile],
    bias: &mut Inputs<L1>,
    out: &mut [Deltas<L1>],
) {
    let bias = bias.as_flattened_mut();
    for ((inputs, deltas), out) in inputs.iter().zip(deltas).zip(out) {
        let (inputs, out) = (inputs.as_flattened(), out.as_flattened_mut());
        for tile in 0..weights.len() {
            let at = tile * LANES;
            let inputs = &inputs[at..][..LANES];
            let mut sums = [units.penalty; LANES];
            for (output, &delta) in deltas[..units.outputs].iter().enumerate() {
                if delta != 0.0 {
                    add_scaled::<FMA>(&mut sums, delta, &weights[tile].0[output]);
                    add_scaled::<FMA>(&mut gradient[tile].0[output], delta, inputs);
                }
            }
            if units.activation == Activation::Screlu {
                // The derivative of x squared is 2 x, and x is the root of the activation.
                for (sum, &input) in sums.iter_mut().zip(inputs) {
                    *sum *= 2.0 * input.sqrt();
                }
            }
            for lane in 0..LANES {
                let delta = if open(inputs[lane]) { sums[lane] } else { 0.0 };
                bias[at + lane] += delta;
                out[at + lane] = delta;
            }
        }
    }
}

#[inline(always)]
pub fn first_layer_deltas<const FMA: bool, const L1: usize>(
    units: Units,
    inputs: &[Inputs<L1>; GROUP],
    deltas: &[Hidden; GROUP],
    weights: &[Tile],
    gradient: &mut [Tile],
    out: &mut [Row<L1>; GROUP],
) {
    for ((inputs, deltas), out) in inputs.iter().zip(deltas).zip(out) {
        let tiles = inputs[0].as_chunks::<LANES>().0.iter();
        let tiles = tiles.zip(out.as_chunks_mut::<LANES>().0);
        for ((inputs, out), (weights, gradient)) in tiles.zip(weights.iter().zip(&mut *gradient)) {
            *out = [units.penalty; LANES];
            for (output, &delta) in deltas[..units.outputs].iter().enumerate() {
                if delta != 0.0 {
                    add_scaled::<FMA>(out, delta, &weights.0[output]);
                    add_scaled::<FMA>(&mut gradient.0[output], delta, inputs);
                }
            }
        }
    }
}

/// The dot product of a position's units and the weights of the output, with 64 partial sums.
#[inline(always)]
pub fn direct<const FMA: bool>(units: &[f32], weights: &[f32], out: &mut f32) {
    const CHAINS: usize = 4;
    let mut sums = [[0.0; LANES]; CHAINS];
    let chunks = units.as_chunks::<LANES>().0.as_chunks::<CHAINS>().0.iter();
    for (units, weights) in chunks.zip(weights.as_chunks::<LANES>().0.as_chunks::<CHAINS>().0) {
        for (sums, (units, weights)) in sums.iter_mut().zip(units.iter().zip(weights)) {
            for lane in 0..LANES {
                sums[lane] = multiply_add::<FMA>(units[lane], weights[lane], sums[lane]);
            }
        }
    }
    *out = sums.as_flattened().iter().sum();
}

// Kernels of the layers after the first one.

#[inline(always)]
pub fn upper<const FMA: bool>(weights: &UpperWeights, sums: &[Hidden; GROUP], out: &mut [UpperActivations; GROUP]) {
    for (sums, out) in sums.iter().zip(out) {
        out.hidden1 = sums.map(|sum| sum.clamp(0.0, 1.0));
        finish::<FMA>(weights, out);
    }
}

#[inline(always)]
pub fn upper_skip<const FMA: bool>(
    weights: &UpperWeights,
    sums: &[Hidden; GROUP],
    out: &mut [UpperActivations; GROUP],
) {
    for (sums, out) in sums.iter().zip(out) {
        out.sums1 = *sums;
        out.hidden1 = squared_and_clipped(sums);
        finish::<FMA>(weights, out);
        out.output += sums[SKIP];
    }
}

/// Computes the output from the inputs of the second layer.
#[inline(always)]
fn finish<const FMA: bool>(weights: &UpperWeights, out: &mut UpperActivations) {
    let mut sums = weights.l2_bias;
    for (&input, weights) in out.hidden1.iter().zip(&weights.l2_input_major) {
        add_scaled::<FMA>(&mut sums, input, weights);
    }
    out.hidden2 = sums.map(|sum| sum.clamp(0.0, 1.0));
    out.output = weights.output_bias + dot(&weights.output_weight, &out.hidden2);
}

/// Dot product with sixteen partial sums, which the compiler keeps in vector registers.
#[inline(always)]
fn dot(a: &Hidden, b: &Hidden) -> f32 {
    let mut sums = [0.0; 16];
    for (a, b) in a.as_chunks::<16>().0.iter().zip(b.as_chunks::<16>().0) {
        for lane in 0..16 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum()
}

#[inline(always)]
pub fn upper_backward<const FMA: bool>(
    weights: &UpperWeights,
    passes: &[UpperActivations; GROUP],
    deltas: &[f32; GROUP],
    gradient: &mut UpperGradient,
    out: &mut [Hidden; GROUP],
) {
    for ((pass, &delta), out) in passes.iter().zip(deltas).zip(out) {
        let deltas1 = hidden1_deltas::<FMA>(weights, pass, delta, gradient);
        for ((out, delta), &activation) in out.iter_mut().zip(deltas1).zip(&pass.hidden1) {
            *out = if open(activation) { delta } else { 0.0 };
        }
        add_scaled::<FMA>(&mut gradient.l1_bias, 1.0, out);
    }
}

#[inline(always)]
pub fn upper_skip_backward<const FMA: bool>(
    weights: &UpperWeights,
    passes: &[UpperActivations; GROUP],
    deltas: &[f32; GROUP],
    gradient: &mut UpperGradient,
    out: &mut [Hidden; GROUP],
) {
    for ((pass, &delta), out) in passes.iter().zip(deltas).zip(out) {
        let deltas1 = hidden1_deltas::<FMA>(weights, pass, delta, gradient);
        *out = squared_and_clipped_backward(&pass.sums1, &deltas1);
        out[SKIP] = delta;
        add_scaled::<FMA>(&mut gradient.l1_bias, 1.0, out);
    }
}

/// Returns the deltas of the second layer's inputs and adds the gradient of the later layers to `gradient`.
#[inline(always)]
fn hidden1_deltas<const FMA: bool>(
    weights: &UpperWeights,
    pass: &UpperActivations,
    delta: f32,
    gradient: &mut UpperGradient,
) -> Hidden {
    let mut deltas2 = [0.0; HIDDEN];
    for (i, delta2) in deltas2.iter_mut().enumerate() {
        let through = delta * weights.output_weight[i];
        *delta2 = if open(pass.hidden2[i]) { through } else { 0.0 };
    }
    gradient.output_bias += delta;
    add_scaled::<FMA>(&mut gradient.output_weight, delta, &pass.hidden2);
    add_scaled::<FMA>(&mut gradient.l2_bias, 1.0, &deltas2);
    let mut deltas1 = [0.0; HIDDEN];
    for (output, &delta2) in deltas2.iter().enumerate() {
        if delta2 != 0.0 {
            add_scaled::<FMA>(&mut deltas1, delta2, &weights.l2_weight[output]);
            add_scaled::<FMA>(&mut gradient.l2_weight[output], delta2, &pass.hidden1);
        }
    }
    deltas1
}

// Kernels of the pairwise products of an accumulator's halves.

#[inline(always)]
pub fn products<const FMA: bool, const L1: usize>(clipped: &Inputs<L1>, truncate: bool, out: &mut Row<L1>) {
    for (out, side) in out.chunks_exact_mut(L1 / 2).zip(clipped) {
        let (first, second) = side.split_at(L1 / 2);
        for ((out, a), b) in out.iter_mut().zip(first).zip(second) {
            *out = a * b;
        }
    }
    if truncate {
        out.iter_mut().for_each(|product| *product = rounding::product(*product));
    }
}

#[inline(always)]
pub fn products_backward<const FMA: bool, const L1: usize>(
    clipped: &Inputs<L1>,
    deltas: &Row<L1>,
    bias: &mut Inputs<L1>,
    out: &mut Deltas<L1>,
) {
    let sides = clipped.iter().zip(deltas.chunks_exact(L1 / 2));
    for (((clipped, deltas), bias), out) in sides.zip(bias).zip(out) {
        let (first, second) = clipped.split_at(L1 / 2);
        let (bias_first, bias_second) = bias.split_at_mut(L1 / 2);
        let (out_first, out_second) = out.split_at_mut(L1 / 2);
        half_backward(first, second, deltas, bias_first, out_first);
        half_backward(second, first, deltas, bias_second, out_second);
    }
}

/// Backpropagates the deltas of the products of `units` and `others` to `units`.
#[inline(always)]
fn half_backward(units: &[f32], others: &[f32], deltas: &[f32], bias: &mut [f32], out: &mut [f32]) {
    let pairs = units.iter().zip(others).zip(deltas);
    for (((&unit, other), delta), (bias, out)) in pairs.zip(bias.iter_mut().zip(out)) {
        let delta = if open(unit) { delta * other } else { 0.0 };
        *bias += delta;
        *out = delta;
    }
}

// Adam kernel.

#[inline(always)]
pub fn adam<const FMA: bool>(
    step: &AdamStep,
    weights: &mut [f32],
    first: &mut [f32],
    second: &mut [f32],
    gradient: &[f32],
) {
    let moments = first.iter_mut().zip(second);
    for ((weight, (first, second)), &gradient) in weights.iter_mut().zip(moments).zip(gradient) {
        *first = step.beta1 * *first + (1.0 - step.beta1) * gradient;
        *second = step.beta2 * *second + (1.0 - step.beta2) * gradient * gradient;
        let change = step.rate * *first / (second.sqrt() + step.epsilon);
        *weight -= change + step.decay * *weight;
    }
}
