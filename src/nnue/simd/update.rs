//! Updates of accumulators, for the abstract instructions of [`Isa`]. As in `generic`, all functions are inlined into
//! functions that enable the instructions.

use super::generic::Isa;
use crate::nnue::paired::{UPPER_OFFSET, excess, lower_column};
use crate::nnue::rows::{Accumulator, AllRows, ByteChanges, Changes, Rows};

/// See [`Kernels::update`](super::Kernels::update). The most common lengths of the lists have specialised code.
///
/// # Safety
/// The processor must have the instructions of `I`.
#[inline(always)]
pub(super) unsafe fn update<I: Isa, const L1: usize, const P: usize>(
    rows: &Rows<'_, i16, L1, P>,
    from: &Accumulator<L1, P>,
    to: &mut Accumulator<L1, P>,
    added: &[u16],
    removed: &[u16],
) {
    // SAFETY: the caller guarantees that the processor has the instructions.
    unsafe {
        match (added, removed) {
            (&[a], &[r]) => apply::<I, L1, P>(rows, from, to, &[a], &[r], &ByteChanges::NONE),
            (&[a], &[r, s]) => apply::<I, L1, P>(rows, from, to, &[a], &[r, s], &ByteChanges::NONE),
            (&[a, b], &[r, s]) => apply::<I, L1, P>(rows, from, to, &[a, b], &[r, s], &ByteChanges::NONE),
            _ => apply::<I, L1, P>(rows, from, to, added, removed, &ByteChanges::NONE),
        }
    }
}

/// Adds and subtracts all rows for one block of sums at a time, so that the sums stay in registers. See
/// [`Kernels::update_with_bytes`](super::Kernels::update_with_bytes).
///
/// # Safety
/// The processor must have the instructions of `I`.
#[inline(always)]
pub(super) unsafe fn apply<I: Isa, const L1: usize, const P: usize>(
    rows: &Rows<'_, i16, L1, P>,
    from: &Accumulator<L1, P>,
    to: &mut Accumulator<L1, P>,
    added: &[u16],
    removed: &[u16],
    bytes: &ByteChanges<'_, L1>,
) {
    let lanes = I::BYTES / 2;
    // At most half of the registers, eight or sixteen. Every row fills at least four.
    let max_block = I::REGISTERS / 2;
    let registers = L1 / lanes;
    let block = if registers.is_multiple_of(max_block) {
        max_block
    } else if registers.is_multiple_of(8) {
        8
    } else {
        4
    };
    const { assert!(L1.is_multiple_of(128)) };
    for start in (0..L1).step_by(block * lanes) {
        // SAFETY: `start + block * lanes <= L1`, because the row is a whole number of blocks.
        unsafe {
            let mut sums = [I::splat(0); 16];
            for (i, sum) in sums.iter_mut().enumerate().take(block) {
                *sum = I::load(from.neurons.as_ptr().add(start + i * lanes).cast());
            }
            for &feature in added {
                let row = rows.neurons[usize::from(feature)].as_ptr().add(start);
                for (i, sum) in sums.iter_mut().enumerate().take(block) {
                    *sum = I::add16(*sum, I::load(row.add(i * lanes).cast()));
                }
            }
            for &feature in removed {
                let row = rows.neurons[usize::from(feature)].as_ptr().add(start);
                for (i, sum) in sums.iter_mut().enumerate().take(block) {
                    *sum = I::sub16(*sum, I::load(row.add(i * lanes).cast()));
                }
            }
            for &feature in bytes.added {
                let row = bytes.row(feature).as_ptr().add(start);
                for (i, sum) in sums.iter_mut().enumerate().take(block) {
                    *sum = I::add16(*sum, I::load_widened(row.add(i * lanes)));
                }
            }
            for &feature in bytes.removed {
                let row = bytes.row(feature).as_ptr().add(start);
                for (i, sum) in sums.iter_mut().enumerate().take(block) {
                    *sum = I::sub16(*sum, I::load_widened(row.add(i * lanes)));
                }
            }
            for (i, &sum) in sums.iter().enumerate().take(block) {
                I::store(to.neurons.as_mut_ptr().add(start + i * lanes).cast(), sum);
            }
        }
    }
    // The values fill at most one register; plain code is as fast.
    let mut psqt = from.psqt;
    for &feature in added.iter().chain(bytes.added) {
        for (sum, &value) in psqt.iter_mut().zip(rows.psqt(feature.into())) {
            *sum = sum.wrapping_add(value);
        }
    }
    for &feature in removed.iter().chain(bytes.removed) {
        for (sum, &value) in psqt.iter_mut().zip(rows.psqt(feature.into())) {
            *sum = sum.wrapping_sub(value);
        }
    }
    to.psqt = psqt;
}

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
