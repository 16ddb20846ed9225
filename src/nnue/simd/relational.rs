//! What the vector backends share for nets whose features are relations between pieces, as `generic` does for all nets.

use super::generic::{Bytes, Isa, affine, multiply_halves, output};
use super::scalar::{join, square_and_clip};
use crate::nnue::layers::Head;
use crate::nnue::rows::{Accumulator, AllRows, Changes};

/// See [`Kernels::update_all`](super::Kernels::update_all).
///
/// # Safety
/// The processor must have the instructions of `I`.
#[inline(always)]
pub(super) unsafe fn update_all<I: Isa, const L1: usize, const P: usize>(
    rows: AllRows<'_, L1, P>,
    from: &Accumulator<L1, P>,
    to: &mut Accumulator<L1, P>,
    changes: &Changes<'_>,
) {
    const { assert!(L1.is_multiple_of(512)) };
    let lanes = I::BYTES / 2;
    // Half of the registers: there are sixteen, or thirty-two of 512 bits.
    let block = if I::BYTES == 64 { 16 } else { 8 };
    for start in (0..L1).step_by(block * lanes) {
        // SAFETY: `start + block * lanes <= L1`, because blocks divide the row without a rest.
        unsafe {
            let mut sums = [I::splat(0); 16];
            for (i, sum) in sums.iter_mut().enumerate().take(block) {
                *sum = I::load(from.neurons.as_ptr().add(start + i * lanes).cast());
            }
            for &feature in changes.added {
                let row = rows.pieces.neurons[usize::from(feature)]
                    .as_ptr()
                    .add(start);
                for (i, sum) in sums.iter_mut().enumerate().take(block) {
                    *sum = I::add16(*sum, I::load(row.add(i * lanes).cast()));
                }
            }
            for &feature in changes.removed {
                let row = rows.pieces.neurons[usize::from(feature)]
                    .as_ptr()
                    .add(start);
                for (i, sum) in sums.iter_mut().enumerate().take(block) {
                    *sum = I::sub16(*sum, I::load(row.add(i * lanes).cast()));
                }
            }
            for &feature in changes.relations_added {
                let row = rows.relations.neurons[feature as usize].as_ptr().add(start);
                for (i, sum) in sums.iter_mut().enumerate().take(block) {
                    *sum = I::add16(*sum, I::widen(row.add(i * lanes)));
                }
            }
            for &feature in changes.relations_removed {
                let row = rows.relations.neurons[feature as usize].as_ptr().add(start);
                for (i, sum) in sums.iter_mut().enumerate().take(block) {
                    *sum = I::sub16(*sum, I::widen(row.add(i * lanes)));
                }
            }
            for (i, &sum) in sums.iter().enumerate().take(block) {
                I::store(to.neurons.as_mut_ptr().add(start + i * lanes).cast(), sum);
            }
        }
    }
    // One register at most: the compiler does as well with plain code.
    to.psqt = rows.psqt_after(from, changes);
}

/// See [`Kernels::joined`](super::Kernels::joined).
///
/// # Safety
/// The processor must have the instructions of `I`.
#[inline(always)]
pub(super) unsafe fn joined<I: Isa, const L1: usize>(
    head: &Head,
    own: &[i16; L1],
    other: &[i16; L1],
) -> i32 {
    // SAFETY: the caller's promise; every function checks the lengths that it relies on.
    unsafe {
        let mut input = Bytes([0; L1]);
        let (first, second) = input.0.split_at_mut(L1 / 2);
        multiply_halves::<I, L1, true>(own, first);
        multiply_halves::<I, L1, true>(other, second);
        let first = lanes::<I>(affine::<I, 32>(&head.first, input.0.as_ptr(), L1));
        let mut all = Bytes([0; 128]);
        square_and_clip(&first, 7, &mut all.0[..64]);
        let second = lanes::<I>(affine::<I, 32>(&head.second, all.0.as_ptr(), 64));
        square_and_clip(&second, 6, &mut all.0[64..]);
        join(output::<I, 128>(&head.output, &all), &first)
    }
}

/// The sums of 32 outputs.
#[inline(always)]
unsafe fn lanes<I: Isa>(sums: [I::V; 8]) -> [i32; 32] {
    let mut out = [0; 32];
    for (r, &sum) in sums.iter().enumerate().take(128 / I::BYTES) {
        // SAFETY: the registers hold 128 bytes in all, as many as the array.
        unsafe { I::store(out.as_mut_ptr().cast::<u8>().add(r * I::BYTES), sum) };
    }
    out
}
