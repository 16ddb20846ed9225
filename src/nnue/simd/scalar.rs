//! The scalar kernel: plain loops that specify the results of all other kernels. The chains of layers are in
//! `forward`.

use std::iter::zip;

use super::Layers;
use crate::nnue::architecture::Shape;
use crate::nnue::layers::{Dense, Head};
use crate::nnue::paired::unpair_row;
use crate::nnue::rows::{Accumulator, AllRows, ByteChanges, Changes, Rows};

/// See [`Kernels::update`](super::Kernels::update).
pub(super) fn update<const L1: usize, const P: usize>(
    rows: &Rows<'_, i16, L1, P>,
    from: &Accumulator<L1, P>,
    to: &mut Accumulator<L1, P>,
    added: &[u16],
    removed: &[u16],
) {
    to.clone_from(from);
    for &feature in added {
        let row = &rows.neurons[usize::from(feature)];
        zip(&mut to.neurons, row).for_each(|(sum, &weight)| *sum = sum.wrapping_add(weight));
        zip(&mut to.psqt, rows.psqt(feature.into())).for_each(|(sum, &v)| *sum = sum.wrapping_add(v));
    }
    for &feature in removed {
        let row = &rows.neurons[usize::from(feature)];
        zip(&mut to.neurons, row).for_each(|(sum, &weight)| *sum = sum.wrapping_sub(weight));
        zip(&mut to.psqt, rows.psqt(feature.into())).for_each(|(sum, &v)| *sum = sum.wrapping_sub(v));
    }
}

/// See [`Kernels::update_with_bytes`](super::Kernels::update_with_bytes).
pub(super) fn update_with_bytes<const L1: usize, const P: usize>(
    rows: &Rows<'_, i16, L1, P>,
    from: &Accumulator<L1, P>,
    to: &mut Accumulator<L1, P>,
    added: &[u16],
    removed: &[u16],
    bytes: &ByteChanges<'_, L1>,
) {
    update(rows, from, to, added, removed);
    for &feature in bytes.added {
        zip(&mut to.neurons, bytes.row(feature)).for_each(|(sum, &weight)| *sum = sum.wrapping_add(weight.into()));
        zip(&mut to.psqt, rows.psqt(feature.into())).for_each(|(sum, &v)| *sum = sum.wrapping_add(v));
    }
    for &feature in bytes.removed {
        zip(&mut to.neurons, bytes.row(feature)).for_each(|(sum, &weight)| *sum = sum.wrapping_sub(weight.into()));
        zip(&mut to.psqt, rows.psqt(feature.into())).for_each(|(sum, &v)| *sum = sum.wrapping_sub(v));
    }
}

/// See [`Kernels::update_all`](super::Kernels::update_all).
pub(super) fn update_all<const L1: usize, const P: usize>(
    rows: &AllRows<'_, L1, P>,
    from: &Accumulator<L1, P>,
    to: &mut Accumulator<L1, P>,
    changes: &Changes<'_>,
) {
    update(&rows.pieces, from, to, changes.added, changes.removed);
    let neurons = &mut to.neurons;
    for &feature in changes.threat_inputs_added {
        let row = unpair_row(&rows.threat_inputs.neurons[feature as usize]);
        zip(&mut *neurons, row).for_each(|(sum, w)| *sum = sum.wrapping_add(w.into()));
    }
    for &feature in changes.threat_inputs_removed {
        let row = unpair_row(&rows.threat_inputs.neurons[feature as usize]);
        zip(&mut *neurons, row).for_each(|(sum, w)| *sum = sum.wrapping_sub(w.into()));
    }
    to.psqt = rows.psqt_after(from, changes);
}

/// See [`Kernels::forward`](super::Kernels::forward).
pub(super) fn forward<L: Layers, const L1: usize>(
    shape: &Shape,
    head: &Head,
    own: &[i16; L1],
    other: &[i16; L1],
) -> i32 {
    L::scalar::<L1>(shape, head, own, other)
}

/// Activation of a layer of an SFNNv16 network: the squares of the sums, then the sums themselves, both clipped. The
/// value 1.0 is a sum of 128 shifted left by `shift`, and an output of 128.
#[inline(always)]
pub(super) fn square_and_clip(sums: &[i32; 32], shift: u32, out: &mut [u8]) {
    let (squared, clipped) = out.split_at_mut(32);
    for (to, &sum) in zip(squared, sums) {
        // Clamping does not change the result and prevents overflow: squares of larger sums exceed 127 anyway.
        let low = sum.clamp(-0x8000, 0x7FFF);
        *to = ((low * low) >> (2 * shift + 7)).min(127) as u8;
    }
    for (to, &sum) in zip(clipped, sums) {
        *to = (sum >> shift).clamp(0, 127) as u8;
    }
}

/// The output of an SFNNv16 network: the last layer's output plus the difference of two outputs of the first layer. A
/// sum of 1.0 (128 * 64 * 2) is 600 units (times 16).
#[inline(always)]
pub(super) fn sfnnv16_output(output: i32, first: &[i32; 32]) -> i32 {
    let sum = i64::from(output) + i64::from(first[30]) - i64::from(first[31]);
    (sum * 9600 / 16384) as i32
}

/// Activation of the first layer of a pairwise network. Returns the inputs of the second layer, and the last output
/// for the skip connection. A skip connection of 1.0 (127 * 64) is 600 units (times 16).
#[inline(always)]
pub(in crate::nnue) fn skip_activation(hidden: &[i32; 16], squares: bool) -> ([u8; 32], i32) {
    let clipped = hidden.map(activate);
    let mut activated = [0; 32];
    if squares {
        // Clamping does not change the result and prevents overflow: squares of larger sums exceed 127 anyway.
        let low = hidden.map(|sum| sum.clamp(-0x8000, 0x7FFF));
        let squared = low.map(|sum| ((sum * sum) >> 19).min(127) as u8);
        // Copies all sixteen, because a register has sixteen values; the last value of each copy is overwritten.
        activated[..16].copy_from_slice(&squared);
        activated[15..31].copy_from_slice(&clipped);
        activated[30] = 0;
    } else {
        activated[..16].copy_from_slice(&clipped);
    }
    let skip = i64::from(hidden[15]) * 9600 / 8128;
    (activated, skip as i32)
}

/// The second and the last layer. Inputs beyond the first layer's outputs must be zero.
pub(super) fn second_and_output(head: &Head, input: &[u8; 32]) -> i32 {
    let mut hidden = [0; 32];
    affine(&head.second, input, &mut hidden);
    let mut output = [0];
    affine(&head.output, &hidden.map(activate), &mut output);
    output[0]
}

/// `output = biases + weights * input`.
pub(in crate::nnue) fn affine(layer: &Dense, input: &[u8], output: &mut [i32]) {
    assert_eq!(layer.shape().row(), input.len());
    assert!(layer.shape().outputs <= output.len() && input.len().is_multiple_of(16));
    let rows = layer.weights().chunks_exact(input.len());
    for ((sum, &bias), row) in output.iter_mut().zip(layer.biases()).zip(rows) {
        // Products fit i16 (128 * 127). Compilers vectorise the loop over sixteen partial sums.
        let mut partial = [0; 16];
        for (weights, x) in row.as_chunks::<16>().0.iter().zip(input.as_chunks::<16>().0) {
            for i in 0..16 {
                partial[i] += i32::from(i16::from(weights[i]) * i16::from(x[i]));
            }
        }
        *sum = bias.wrapping_add(partial.iter().sum());
    }
}

/// The clipped ReLU between layers: weights are scaled by 64, activations by 127.
#[inline(always)]
pub(in crate::nnue) fn activate(sum: i32) -> u8 {
    (sum >> 6).clamp(0, 127) as u8
}
