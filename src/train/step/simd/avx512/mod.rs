//! AVX-512 kernels. Kernels whose sums must stay in registers use intrinsics; the others are the portable ones,
//! compiled for AVX-512.

use std::arch::x86_64::*;

mod accumulator;
mod first_layer;

pub use accumulator::{accumulate, add_rows, fold, pack};
pub use first_layer::{first_layer, first_layer_backward, first_layer_deltas};

use super::*;

compiled_for! { "avx2,fma,avx512f,avx512bw,avx512vl,avx512dq":
    fn upper(weights: &UpperWeights, sums: &[Hidden; GROUP], out: &mut [UpperActivations; GROUP]);
    fn upper_backward(weights: &UpperWeights, passes: &[UpperActivations; GROUP], deltas: &[f32; GROUP],
        gradient: &mut UpperGradient, out: &mut [Hidden; GROUP]);
    fn upper_skip(weights: &UpperWeights, sums: &[Hidden; GROUP], out: &mut [UpperActivations; GROUP]);
    fn upper_skip_backward(weights: &UpperWeights, passes: &[UpperActivations; GROUP], deltas: &[f32; GROUP],
        gradient: &mut UpperGradient, out: &mut [Hidden; GROUP]);
    fn products<L1>(clipped: &Inputs<L1>, truncate: bool, out: &mut Row<L1>);
    fn products_backward<L1>(clipped: &Inputs<L1>, deltas: &Row<L1>, bias: &mut Inputs<L1>, out: &mut Deltas<L1>);
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
