//! NEON kernels. Kernels whose sums must stay in registers use intrinsics; the others are the portable ones, compiled
//! for NEON's multiply-add.

use std::arch::aarch64::*;

use super::*;

compiled_for! { "neon":
    fn fold<L1>(real: &Row<L1>, factor: &Row<L1>, out: &mut FixedRow<L1>);
    fn upper(weights: &UpperWeights, sums: &[Hidden; GROUP], out: &mut [UpperActivations; GROUP]);
    fn upper_backward(weights: &UpperWeights, passes: &[UpperActivations; GROUP], deltas: &[f32; GROUP],
        gradient: &mut UpperGradient, out: &mut [Hidden; GROUP]);
    fn first_layer_backward<L1>(units: Units, inputs: &[Inputs<L1>; GROUP], deltas: &[Hidden; GROUP],
        weights: &[Tile], gradient: &mut [Tile], bias: &mut Inputs<L1>, out: &mut [Deltas<L1>]);
    fn direct(units: &[f32], weights: &[f32], out: &mut f32);
    fn pack(columns: &[f32; COLUMNS], out: &mut PackedColumns);
    fn add_rows(table: &[PackedColumns], picks: &[u32], out: &mut [f32; COLUMNS]);
    fn upper_skip(weights: &UpperWeights, sums: &[Hidden; GROUP], out: &mut [UpperActivations; GROUP]);
    fn upper_skip_backward(weights: &UpperWeights, passes: &[UpperActivations; GROUP], deltas: &[f32; GROUP],
        gradient: &mut UpperGradient, out: &mut [Hidden; GROUP]);
    fn products<L1>(clipped: &Inputs<L1>, truncate: bool, out: &mut Row<L1>);
    fn products_backward<L1>(clipped: &Inputs<L1>, deltas: &Row<L1>, bias: &mut Inputs<L1>, out: &mut Deltas<L1>);
    fn first_layer_deltas<L1>(units: Units, inputs: &[Inputs<L1>; GROUP], deltas: &[Hidden; GROUP], weights: &[Tile],
        gradient: &mut [Tile], out: &mut [Row<L1>; GROUP]);
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
pub fn accumulate<const L1: usize>(
    activation: Activation,
    bias: &FixedRow<L1>,
    table: &[i16],
    rows: &[u16],
    out: &mut Row<L1>,
) {
    const PART: usize = BLOCK * FIXED_WIDTH;
    const { assert!(L1.is_multiple_of(PART)) };
    let (bias, out) = (bias.as_chunks::<PART>().0, out.as_chunks_mut::<PART>().0);
    for (part, (bias, out)) in bias.iter().zip(out).enumerate() {
        let mut sums = [vdupq_n_s16(0); BLOCK];
        for (sum, bias) in sums.iter_mut().zip(bias.as_chunks().0) {
            *sum = load_fixed(bias);
        }
        for &row in rows {
            let row = &table[usize::from(row) * L1 + part * PART..][..PART];
            for (sum, weights) in sums.iter_mut().zip(row.as_chunks().0) {
                *sum = vqaddq_s16(*sum, load_fixed(weights));
            }
        }
        for (out, sum) in out.as_chunks_mut::<FIXED_WIDTH>().0.iter_mut().zip(sums) {
            activate(activation, sum, out);
        }
    }
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
pub fn first_layer<const L1: usize>(
    outputs: usize,
    inputs: &[Inputs<L1>; GROUP],
    weights: &[InputMajor<L1>],
    bias: &Hidden,
    out: &mut [Hidden; GROUP],
) {
    const REGISTERS: usize = HIDDEN / WIDTH;
    const { assert!(GROUP.is_multiple_of(PAIR)) };
    let weights = weights.as_flattened();
    let pairs = inputs.as_chunks::<PAIR>().0.iter();
    for (inputs, out) in pairs.zip(out.as_chunks_mut::<PAIR>().0) {
        let mut sums = [[vdupq_n_f32(0.0); REGISTERS]; PAIR];
        for sums in &mut sums {
            for (sum, bias) in sums.iter_mut().zip(bias.as_chunks().0) {
                *sum = load(bias);
            }
        }
        let both = inputs[0].as_flattened().iter().zip(inputs[1].as_flattened());
        for ((&first, &second), weights) in both.zip(weights) {
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
