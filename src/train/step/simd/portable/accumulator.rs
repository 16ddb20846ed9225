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
