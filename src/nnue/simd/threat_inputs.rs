//! Algorithms shared by the vector backends for nets with threat inputs. `generic` has the code for all nets.

use super::generic::{Bytes, Isa, affine, multiply_halves, output};
use super::scalar::{sfnnv16_output, square_and_clip};
use crate::nnue::layers::Head;
use crate::nnue::paired::{UPPER_OFFSET, excess, lower_column};
use crate::nnue::rows::{Accumulator, AllRows, Changes};

/// See [`Kernels::update_all`](super::Kernels::update_all). Adds the rows of threat inputs first, as words of two
/// columns, then the rows of pieces, with separate columns.
///
/// # Safety
/// The processor must have the instructions of `I`.
// CITE: ours: words of two columns need no shuffle to widen bytes.
#[inline(always)]
pub(super) unsafe fn update_all<I: Isa, const L1: usize, const P: usize>(
    rows: &AllRows<'_, L1, P>,
    from: &Accumulator<L1, P>,
    to: &mut Accumulator<L1, P>,
    changes: &Changes<'_>,
) {
    const { assert!(L1.is_multiple_of(512)) };
    // The sums use half of the sixteen registers, or of the thirty-two with 512 bits. Each pair contains the lower and
    // the upper columns of one register of words.
    let pairs = if I::BYTES == 64 { 8 } else { 4 };
    // The same value in both halves of 32 bits.
    let excess = (u32::from(excess(changes) as u16) * 0x1_0001).cast_signed();
    for start in (0..L1).step_by(pairs * I::BYTES) {
        // SAFETY: `start + pairs * BYTES <= L1`, because the row is a whole number of blocks. It is also a whole number
        // of 64-column blocks, so a lower column plus `UPPER_OFFSET` is below `L1`.
        unsafe {
            let mut sums = [[I::splat(0); 2]; 8];
            let sums = &mut sums[..pairs];
            for &feature in changes.threat_inputs_added {
                let row = rows.threat_inputs.neurons[feature as usize].as_ptr().add(start);
                for (i, [words, upper]) in sums.iter_mut().enumerate() {
                    let row = I::load(row.add(i * I::BYTES).cast());
                    *words = I::add16(*words, row);
                    *upper = I::add16(*upper, I::upper16(row));
                }
            }
            for &feature in changes.threat_inputs_removed {
                let row = rows.threat_inputs.neurons[feature as usize].as_ptr().add(start);
                for (i, [words, upper]) in sums.iter_mut().enumerate() {
                    let row = I::load(row.add(i * I::BYTES).cast());
                    *words = I::sub16(*words, row);
                    *upper = I::sub16(*upper, I::upper16(row));
                }
            }
            let column = |i: usize| lower_column(start + i * I::BYTES);
            for (i, [lower, upper]) in sums.iter_mut().enumerate() {
                let from = from.neurons.as_ptr().add(column(i));
                let words = I::sub16(*lower, I::splat(excess));
                *lower = I::add16(I::load(from.cast()), I::sub16(words, I::raise16(*upper)));
                *upper = I::add16(I::load(from.add(UPPER_OFFSET).cast()), *upper);
            }
            for &feature in changes.added {
                let row = rows.pieces.neurons[usize::from(feature)].as_ptr();
                for (i, [lower, upper]) in sums.iter_mut().enumerate() {
                    let row = row.add(column(i));
                    *lower = I::add16(*lower, I::load(row.cast()));
                    *upper = I::add16(*upper, I::load(row.add(UPPER_OFFSET).cast()));
                }
            }
            for &feature in changes.removed {
                let row = rows.pieces.neurons[usize::from(feature)].as_ptr();
                for (i, [lower, upper]) in sums.iter_mut().enumerate() {
                    let row = row.add(column(i));
                    *lower = I::sub16(*lower, I::load(row.cast()));
                    *upper = I::sub16(*upper, I::load(row.add(UPPER_OFFSET).cast()));
                }
            }
            for (i, &[lower, upper]) in sums.iter().enumerate() {
                let to = to.neurons.as_mut_ptr().add(column(i));
                I::store(to.cast(), lower);
                I::store(to.add(UPPER_OFFSET).cast(), upper);
            }
        }
    }
    // The values fill at most one register; plain code is as fast.
    to.psqt = rows.psqt_after(from, changes);
}

/// See [`Kernels::sfnnv16`](super::Kernels::sfnnv16).
///
/// # Safety
/// The processor must have the instructions of `I`.
#[inline(always)]
pub(super) unsafe fn sfnnv16<I: Isa, const L1: usize>(head: &Head, own: &[i16; L1], other: &[i16; L1]) -> i32 {
    // SAFETY: the caller guarantees the instructions; every function checks the lengths that it relies on.
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
        sfnnv16_output(output::<I, 128>(&head.output, &all), &first)
    }
}

/// Stores the sums of 32 outputs in an array.
#[inline(always)]
unsafe fn lanes<I: Isa>(sums: [I::V; 8]) -> [i32; 32] {
    let mut out = [0; 32];
    for (r, &sum) in sums.iter().enumerate().take(128 / I::BYTES) {
        // SAFETY: the registers have 128 bytes in total, equal to the size of the array.
        unsafe { I::store(out.as_mut_ptr().cast::<u8>().add(r * I::BYTES), sum) };
    }
    out
}
