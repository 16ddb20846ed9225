//! Kernels of the pairwise products of an accumulator's halves.

use super::*;
use crate::train::model::rounding;

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
