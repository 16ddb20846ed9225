//! Kernels of the layers after the first one.

use super::*;
use crate::train::model::topology::{SKIP, squared_and_clipped, squared_and_clipped_backward};

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
