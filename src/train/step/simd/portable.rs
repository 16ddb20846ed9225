//! The kernels in plain Rust. `FMA` is set where the target multiplies and adds in one instruction; elsewhere that
//! would be a call into the maths library.

use super::*;

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

/// Rounds to bfloat16, half up; gradients need no better.
#[inline(always)]
fn to_bf16(value: f32) -> u16 {
    (value.to_bits().wrapping_add(0x8000) >> 16) as u16
}

/// Whether a clipped unit passes slopes on.
#[inline(always)]
fn open(activation: f32) -> bool {
    activation > 0.0 && activation < 1.0
}

#[inline(always)]
pub fn fold<const FMA: bool, const L1: usize>(
    real: &Row<L1>,
    factor: &Row<L1>,
    out: &mut FixedRow<L1>,
) {
    for ((out, real), factor) in out.iter_mut().zip(real).zip(factor) {
        // Adding this pushes the fraction out of the mantissa, which rounds to the nearest, ties to even, as the
        // processor's own conversion does.
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

#[inline(always)]
pub fn first_layer<const FMA: bool, const L1: usize>(
    inputs: &[Inputs<L1>; GROUP],
    weights: &InputMajor<L1>,
    bias: &Hidden,
    out: &mut [Hidden; GROUP],
) {
    for (inputs, sums) in inputs.iter().zip(out) {
        *sums = *bias;
        for (&input, weights) in inputs.as_flattened().iter().zip(weights.as_flattened()) {
            if input != 0.0 {
                add_scaled::<FMA>(sums, input, weights);
            }
        }
    }
}

#[inline(always)]
pub fn first_layer_back<const FMA: bool, const L1: usize>(
    activation: Activation,
    inputs: &[Inputs<L1>; GROUP],
    slopes: &[Hidden; GROUP],
    weights: &[Tile],
    gradient: &mut [Tile],
    bias: &mut Inputs<L1>,
    out: &mut [Slopes<L1>],
) {
    let bias = bias.as_flattened_mut();
    for ((inputs, slopes), out) in inputs.iter().zip(slopes).zip(out) {
        let (inputs, out) = (inputs.as_flattened(), out.as_flattened_mut());
        for tile in 0..Tile::count(L1) {
            let at = tile * LANES;
            let inputs = &inputs[at..][..LANES];
            let mut sums = [0.0; LANES];
            for (output, &slope) in slopes.iter().enumerate() {
                if slope != 0.0 {
                    add_scaled::<FMA>(&mut sums, slope, &weights[tile].0[output]);
                    add_scaled::<FMA>(&mut gradient[tile].0[output], slope, inputs);
                }
            }
            if activation == Activation::Screlu {
                // The square of x has the slope 2 x, and its root is at hand.
                for (sum, &input) in sums.iter_mut().zip(inputs) {
                    *sum *= 2.0 * input.sqrt();
                }
            }
            for lane in 0..LANES {
                let slope = if open(inputs[lane]) { sums[lane] } else { 0.0 };
                bias[at + lane] += slope;
                out[at + lane] = to_bf16(slope);
            }
        }
    }
}

#[inline(always)]
pub fn tail<const FMA: bool>(
    weights: &TailWeights,
    sums: &[Hidden; GROUP],
    out: &mut [TailPass; GROUP],
) {
    for (sums, out) in sums.iter().zip(out) {
        out.hidden1 = sums.map(|sum| sum.clamp(0.0, 1.0));
        let mut sums = weights.l2_bias;
        for (&input, weights) in out.hidden1.iter().zip(&weights.l2_input_major) {
            add_scaled::<FMA>(&mut sums, input, weights);
        }
        out.hidden2 = sums.map(|sum| sum.clamp(0.0, 1.0));
        out.output = weights.output_bias + dot(&weights.output_weight, &out.hidden2);
    }
}

/// A dot product in sixteen partial sums, which the compiler keeps in vectors.
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
pub fn tail_back<const FMA: bool>(
    weights: &TailWeights,
    passes: &[TailPass; GROUP],
    slopes: &[f32; GROUP],
    gradient: &mut TailGradient,
    out: &mut [Hidden; GROUP],
) {
    for ((pass, &slope), out) in passes.iter().zip(slopes).zip(out) {
        let mut slopes2 = [0.0; HIDDEN];
        for (i, slope2) in slopes2.iter_mut().enumerate() {
            let through = slope * weights.output_weight[i];
            *slope2 = if open(pass.hidden2[i]) { through } else { 0.0 };
        }
        gradient.output_bias += slope;
        add_scaled::<FMA>(&mut gradient.output_weight, slope, &pass.hidden2);
        add_scaled::<FMA>(&mut gradient.l2_bias, 1.0, &slopes2);
        let mut slopes1 = [0.0; HIDDEN];
        for (output, &slope2) in slopes2.iter().enumerate() {
            if slope2 != 0.0 {
                add_scaled::<FMA>(&mut slopes1, slope2, &weights.l2_weight[output]);
                add_scaled::<FMA>(&mut gradient.l2_weight[output], slope2, &pass.hidden1);
            }
        }
        for ((out, slope), &activation) in out.iter_mut().zip(slopes1).zip(&pass.hidden1) {
            *out = if open(activation) { slope } else { 0.0 };
        }
        add_scaled::<FMA>(&mut gradient.l1_bias, 1.0, out);
    }
}

#[inline(always)]
pub fn add_rows<const FMA: bool, const L1: usize>(table: &[u16], picks: &[u32], out: &mut Row<L1>) {
    for &pick in picks {
        let row = &table[pick as usize * L1..][..L1];
        for (sum, &half) in out.iter_mut().zip(row) {
            *sum += f32::from_bits(u32::from(half) << 16);
        }
    }
}

#[inline(always)]
pub fn adam<const FMA: bool>(
    step: &AdamStep,
    weights: &mut [f32],
    first: &mut [f32],
    second: &mut [f32],
    gradient: &[f32],
) {
    let moments = first.iter_mut().zip(second);
    for ((weight, (first, second)), &slope) in weights.iter_mut().zip(moments).zip(gradient) {
        *first = step.beta1 * *first + (1.0 - step.beta1) * slope;
        *second = step.beta2 * *second + (1.0 - step.beta2) * slope * slope;
        let change = step.rate * *first / (second.sqrt() + step.epsilon);
        *weight -= change + step.decay * *weight;
    }
}
