//! Accumulator kernels: folding and summing rows, and the gradient of a row.

use super::*;

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

#[inline(always)]
pub fn add_rows<const FMA: bool, const L1: usize>(table: &[u16], picks: &[u32], first: usize, out: &mut [f32]) {
    for &pick in picks {
        let row = &table[pick as usize * L1 + first..][..out.len()];
        for (sum, &half) in out.iter_mut().zip(row) {
            *sum += f32::from_bits(u32::from(half) << 16);
        }
    }
}
