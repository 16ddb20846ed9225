//! NEON kernels. Kernels whose sums must stay in registers use intrinsics; the others are the portable ones, compiled
//! for NEON's multiply-add.

use std::arch::aarch64::*;

use super::*;

compiled_for! { "neon":
    fn fold(real: &[f32], factor: &[f32], out: &mut [i16]);
    fn upper(weights: &UpperWeights, sums: &[Hidden; GROUP], out: &mut [UpperActivations; GROUP]);
    fn upper_backward(weights: &UpperWeights, passes: &[UpperActivations; GROUP], deltas: &[f32; GROUP],
        gradient: &mut UpperGradient, out: &mut [Hidden; GROUP]);
    fn first_layer_backward(units: Units, inputs: &[f32], deltas: &[Hidden; GROUP],
        weights: &[Tile], gradient: &mut [Tile], bias: &mut [f32], out: &mut [f32]);
    fn direct(units: &[f32], weights: &[f32], out: &mut f32);
    fn pack(columns: &[f32; COLUMNS], out: &mut PackedColumns);
    fn add_rows(table: &[PackedColumns], picks: &[u32], out: &mut [f32; COLUMNS]);
    fn upper_skip(weights: &UpperWeights, sums: &[Hidden; GROUP], out: &mut [UpperActivations; GROUP]);
    fn upper_skip_backward(weights: &UpperWeights, passes: &[UpperActivations; GROUP], deltas: &[f32; GROUP],
        gradient: &mut UpperGradient, out: &mut [Hidden; GROUP]);
    fn products(clipped: &[f32], truncate: bool, out: &mut [f32]);
    fn products_backward(clipped: &[f32], deltas: &[f32], bias: &mut [f32], out: &mut [f32]);
    fn first_layer_deltas(units: Units, inputs: &[f32], deltas: &[Hidden; GROUP], weights: &[Tile],
        gradient: &mut [Tile], out: &mut [f32]);
    fn adam(step: &AdamStep, weights: &mut [f32], first: &mut [f32], second: &mut [f32], gradient: &[f32]);
}

/// Numbers per register: floats, and fixed point.
const WIDTH: usize = 4;
const FIXED_WIDTH: usize = 8;
/// Fixed-point registers summed at a time: half of all registers.
const BLOCK: usize = 16;

#[inline]
#[target_feature(enable = "neon")]
fn load(from: &[f32; WIDTH]) -> float32x4_t {
    // SAFETY: the reference covers the 16 bytes that are read.
    unsafe { vld1q_f32(from.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn store(to: &mut [f32; WIDTH], value: float32x4_t) {
    // SAFETY: the reference covers the 16 bytes that are written.
    unsafe { vst1q_f32(to.as_mut_ptr(), value) }
}

#[inline]
#[target_feature(enable = "neon")]
fn load_fixed(from: &[i16; FIXED_WIDTH]) -> int16x8_t {
    // SAFETY: the reference covers the 16 bytes that are read.
    unsafe { vld1q_s16(from.as_ptr()) }
}

#[target_feature(enable = "neon")]
pub fn accumulate(activation: Activation, bias: &[i16], table: &[i16], rows: &[u16], out: &mut [f32]) {
    let mut first = 0;
    while first < out.len() {
        first += match out.len() - first {
            128.. => accumulate_part::<BLOCK>(activation, bias, table, rows, out, first),
            64.. => accumulate_part::<{ BLOCK / 2 }>(activation, bias, table, rows, out, first),
            _ => accumulate_part::<{ BLOCK / 4 }>(activation, bias, table, rows, out, first),
        }
    }
}

/// Accumulates the part of a row that starts at index `first`, and returns the size of the part.
#[inline]
#[target_feature(enable = "neon")]
fn accumulate_part<const REGISTERS: usize>(
    activation: Activation,
    bias: &[i16],
    table: &[i16],
    rows: &[u16],
    out: &mut [f32],
    first: usize,
) -> usize {
    let (width, part) = (out.len(), const { REGISTERS * FIXED_WIDTH });
    let (bias, out) = (&bias[first..][..part], &mut out[first..][..part]);
    let mut sums = [vdupq_n_s16(0); REGISTERS];
    for (sum, bias) in sums.iter_mut().zip(bias.as_chunks().0) {
        *sum = load_fixed(bias);
    }
    for &row in rows {
        let row = &table[usize::from(row) * width + first..][..part];
        for (sum, weights) in sums.iter_mut().zip(row.as_chunks().0) {
            *sum = vqaddq_s16(*sum, load_fixed(weights));
        }
    }
    for (out, sum) in out.as_chunks_mut::<FIXED_WIDTH>().0.iter_mut().zip(sums) {
        activate(activation, sum, out);
    }
    part
}

/// Clips eight sums, converts them to floats, and squares them for SCReLU.
#[inline]
#[target_feature(enable = "neon")]
fn activate(activation: Activation, sums: int16x8_t, out: &mut [f32; FIXED_WIDTH]) {
    let one = vdupq_n_s16(FIXED_ONE as i16);
    let clipped = vminq_s16(vmaxq_s16(sums, vdupq_n_s16(0)), one);
    let halves = [vget_low_s16(clipped), vget_high_s16(clipped)];
    for (out, half) in out.as_chunks_mut().0.iter_mut().zip(halves) {
        let number = vmulq_n_f32(vcvtq_f32_s32(vmovl_s16(half)), 1.0 / FIXED_ONE);
        let number = if activation == Activation::Screlu { vmulq_f32(number, number) } else { number };
        store(out, number);
    }
}

/// Positions whose sums are kept in registers together: the 32 sums of two positions use half of the registers.
const PAIR: usize = 2;

#[target_feature(enable = "neon")]
pub fn first_layer(outputs: usize, inputs: &[f32], weights: &[Hidden], bias: &Hidden, out: &mut [Hidden; GROUP]) {
    const REGISTERS: usize = HIDDEN / WIDTH;
    const { assert!(GROUP.is_multiple_of(PAIR)) };
    let stride = inputs.len() / GROUP;
    let pairs = inputs.chunks_exact(PAIR * stride);
    for (inputs, out) in pairs.zip(out.as_chunks_mut::<PAIR>().0) {
        let mut sums = [[vdupq_n_f32(0.0); REGISTERS]; PAIR];
        for sums in &mut sums {
            for (sum, bias) in sums.iter_mut().zip(bias.as_chunks().0) {
                *sum = load(bias);
            }
        }
        let (first, second) = inputs.split_at(stride);
        for ((&first, &second), weights) in first.iter().zip(second).zip(weights) {
            // About half of the inputs are clipped to zero, so both inputs of a pair are zero often enough.
            if first == 0.0 && second == 0.0 {
                continue;
            }
            for (register, weights) in weights[..outputs].as_chunks().0.iter().enumerate() {
                let weights = load(weights);
                sums[0][register] = vfmaq_n_f32(sums[0][register], weights, first);
                sums[1][register] = vfmaq_n_f32(sums[1][register], weights, second);
            }
        }
        for (out, sums) in out.iter_mut().zip(sums) {
            for (out, sum) in out.as_chunks_mut().0.iter_mut().zip(sums) {
                store(out, sum);
            }
        }
    }
}
