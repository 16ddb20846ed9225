//! The kernels in plain Rust. `FMA` is set if the target has a multiply-add instruction; without one, `mul_add` would
//! call the maths library.

use super::*;
use crate::train::model::shapes;
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
pub fn fold<const FMA: bool>(real: &[f32], factor: &[f32], out: &mut [i16]) {
    for ((out, real), factor) in out.iter_mut().zip(real).zip(factor) {
        // Adding this number shifts the fraction out of the mantissa, which rounds to the nearest, ties to even, like
        // the processor's conversion instruction.
        const ROUND: f32 = 12_582_912.0;
        let value = ((real + factor) * FIXED_ONE).clamp(-32768.0, 32767.0);
        *out = ((value + ROUND) - ROUND) as i16;
    }
}

/// Numbers of a row that are summed at a time. The rest of a row has parts of the smallest width of a net.
const PART: usize = 256;
const LAST_PART: usize = 32;

#[inline(always)]
pub fn accumulate<const FMA: bool>(activation: Activation, bias: &[i16], table: &[i16], rows: &[u16], out: &mut [f32]) {
    let (width, mut first) = (out.len(), 0);
    while first + PART <= width {
        accumulate_part::<PART>(activation, bias, table, rows, out, first);
        first += PART;
    }
    while first < width {
        accumulate_part::<LAST_PART>(activation, bias, table, rows, out, first);
        first += LAST_PART;
    }
}

/// Accumulates the part of a row that starts at index `first`.
#[inline(always)]
fn accumulate_part<const N: usize>(
    activation: Activation,
    bias: &[i16],
    table: &[i16],
    rows: &[u16],
    out: &mut [f32],
    first: usize,
) {
    let width = out.len();
    let mut sums = [0; N];
    sums.copy_from_slice(&bias[first..][..N]);
    for &row in rows {
        let row = &table[usize::from(row) * width + first..][..N];
        for (sum, &weight) in sums.iter_mut().zip(row) {
            *sum = sum.saturating_add(weight);
        }
    }
    let out = &mut out[first..][..N];
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
pub fn first_layer<const FMA: bool>(
    outputs: usize,
    inputs: &[f32],
    weights: &[Hidden],
    bias: &Hidden,
    out: &mut [Hidden; GROUP],
) {
    for (inputs, sums) in inputs.chunks_exact(inputs.len() / GROUP).zip(out) {
        *sums = *bias;
        for (&input, weights) in inputs.iter().zip(weights) {
            if input != 0.0 {
                add_scaled::<FMA>(&mut sums[..outputs], input, &weights[..outputs]);
            }
        }
    }
}

#[inline(always)]
pub fn first_layer_backward<const FMA: bool>(
    units: Units,
    inputs: &[f32],
    deltas: &[Hidden; GROUP],
    weights: &[Tile],
    gradient: &mut [Tile],
    bias: &mut [f32],
    out: &mut [f32],
) {
    let stride = inputs.len() / GROUP;
    for ((inputs, deltas), out) in inputs.chunks_exact(stride).zip(deltas).zip(out.chunks_exact_mut(stride)) {
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
pub fn first_layer_deltas<const FMA: bool>(
    units: Units,
    inputs: &[f32],
    deltas: &[Hidden; GROUP],
    weights: &[Tile],
    gradient: &mut [Tile],
    out: &mut [f32],
) {
    let positions = inputs.chunks_exact(inputs.len() / GROUP).zip(deltas);
    for ((inputs, deltas), out) in positions.zip(out.chunks_exact_mut(weights.len() * LANES)) {
        let tiles = inputs.as_chunks::<LANES>().0.iter();
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
    // The rest of a width that is not a multiple of 64.
    let rest = units.len() - units.len() % (CHAINS * LANES);
    let rest: f32 = units[rest..].iter().zip(&weights[rest..]).map(|(unit, weight)| unit * weight).sum();
    *out = sums.as_flattened().iter().sum::<f32>() + rest;
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
pub fn products<const FMA: bool>(clipped: &[f32], truncate: bool, out: &mut [f32]) {
    let half = out.len() / 2;
    for (out, side) in out.chunks_exact_mut(half).zip(clipped.chunks_exact(2 * half)) {
        let (first, second) = side.split_at(half);
        for ((out, a), b) in out.iter_mut().zip(first).zip(second) {
            *out = a * b;
        }
    }
    if truncate {
        out.iter_mut().for_each(|product| *product = shapes::product(*product));
    }
}

#[inline(always)]
pub fn products_backward<const FMA: bool>(clipped: &[f32], deltas: &[f32], bias: &mut [f32], out: &mut [f32]) {
    let half = deltas.len() / 2;
    let sides = clipped.chunks_exact(2 * half).zip(deltas.chunks_exact(half));
    let sums = bias.chunks_exact_mut(2 * half).zip(out.chunks_exact_mut(2 * half));
    for ((clipped, deltas), (bias, out)) in sides.zip(sums) {
        let (first, second) = clipped.split_at(half);
        let (bias_first, bias_second) = bias.split_at_mut(half);
        let (out_first, out_second) = out.split_at_mut(half);
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
