//! The scalar kernel: plain loops that specify the results of all other kernels.

use std::iter::zip;

use crate::nnue::architecture::{Activation, Shape, Topology};
use crate::nnue::layers::{Dense, Direct, Head};
use crate::nnue::rows::{Accumulator, AllRows, Changes, Rows, unpair};

/// See [`Kernels::update`](super::Kernels::update).
pub(super) fn update(rows: &Rows<'_, i16>, from: &Accumulator, to: &mut Accumulator, added: &[u16], removed: &[u16]) {
    to.copy_from(from);
    let (neurons, psqt) = to.parts_mut();
    for &feature in added {
        zip(&mut *neurons, rows.row(feature.into())).for_each(|(sum, &weight)| *sum = sum.wrapping_add(weight));
    }
    for &feature in removed {
        zip(&mut *neurons, rows.row(feature.into())).for_each(|(sum, &weight)| *sum = sum.wrapping_sub(weight));
    }
    *psqt = rows.psqt_after(*psqt, added, removed);
}

/// See [`Kernels::update_all`](super::Kernels::update_all).
pub(super) fn update_all(rows: &AllRows<'_>, from: &Accumulator, to: &mut Accumulator, changes: &Changes<'_>) {
    update(&rows.pieces, from, to, changes.added, changes.removed);
    let (added, removed) = (changes.paired_added, changes.paired_removed);
    let (neurons, psqt) = to.parts_mut();
    for &feature in added {
        let row = unpair(rows.paired.row(feature));
        zip(&mut *neurons, row).for_each(|(sum, w)| *sum = sum.wrapping_add(w.into()));
    }
    for &feature in removed {
        let row = unpair(rows.paired.row(feature));
        zip(&mut *neurons, row).for_each(|(sum, w)| *sum = sum.wrapping_sub(w.into()));
    }
    *psqt = rows.paired.psqt_after(*psqt, added, removed);
}

/// The raw output for the accumulators of the side to move (`own`) and of the `other` side: the specification.
pub fn forward(shape: &Shape, head: &Head, own: &[i16], other: &[i16]) -> i32 {
    if shape.is_direct() {
        return direct(shape.activation, &head.direct, own, other);
    }
    let mut input = vec![0; shape.inputs()];
    zip(input.chunks_exact_mut(shape.inputs() / 2), [own, other])
        .for_each(|(half, sums)| transform(shape.activation, sums, half));
    trace(shape.topology, head, &input).1
}

/// The raw output of a net without hidden layers, see [`Direct`].
pub fn direct(activation: Activation, direct: &Direct, own: &[i16], other: &[i16]) -> i32 {
    let (of_own, of_other) = direct.weights().split_at(direct.weights().len() / 2);
    let sum = direct_sum(activation, own, of_own, 0).wrapping_add(direct_sum(activation, other, of_other, 0));
    direct.bias().wrapping_add(sum) >> Direct::shift(activation)
}

/// The products of one side's units, from number `first` on, with their weights, added up.
pub(super) fn direct_sum(activation: Activation, sums: &[i16], weights: &[i16], first: usize) -> i32 {
    let clip = |sum: i16| i32::from(sum.clamp(0, 127));
    let unit = |at: usize| match activation {
        Activation::Crelu => clip(sums[at]),
        Activation::Screlu => clip(sums[at]) * clip(sums[at]),
        Activation::Pairwise | Activation::WidePairwise => clip(sums[at]) * clip(sums[sums.len() / 2 + at]),
    };
    let products = weights.iter().enumerate().skip(first).map(|(at, &weight)| unit(at) * i32::from(weight));
    products.fold(0, i32::wrapping_add)
}

/// Activation of one perspective's accumulator. Writes one number per sum, or one product per pair of sums, to `out`.
#[inline(always)]
pub fn transform(activation: Activation, sums: &[i16], out: &mut [u8]) {
    let products = |out: &mut [u8], wide| {
        let (first, second) = sums.split_at(sums.len() / 2);
        zip(out, zip(first, second)).for_each(|(to, (&a, &b))| *to = product(a, b, wide));
    };
    match activation {
        Activation::Crelu => zip(out, sums).for_each(|(to, &sum)| *to = sum.clamp(0, 127) as u8),
        Activation::Screlu => zip(out, sums).for_each(|(to, &sum)| *to = product(sum, sum, false)),
        Activation::Pairwise => products(out, false),
        Activation::WidePairwise => products(out, true),
    }
}

/// Runs the dense layers of any chain with scalar code. Returns the inputs of the second and of the last layer, and the
/// output.
pub fn trace(topology: Topology, head: &Head, input: &[u8]) -> ([Vec<u8>; 2], i32) {
    if topology == Topology::Sfnnv16 {
        let (mut first, mut second, mut output) = ([0; 32], [0; 32], [0]);
        let mut activated = [0; 128];
        affine(&head.first, input, &mut first);
        square_and_clip(&first, 7, &mut activated[..64]);
        affine(&head.second, &activated[..64], &mut second);
        square_and_clip(&second, 6, &mut activated[64..]);
        affine(&head.output, &activated, &mut output);
        return ([activated[..64].to_vec(), activated.to_vec()], sfnnv16_output(output[0], &first));
    }
    let (second, skipping) = second_layer_inputs(topology, &sums(&head.first, input));
    let last = activated(&sums(&head.second, &second));
    let output = sums(&head.output, &last)[0].wrapping_add(skipping);
    ([second, last], output)
}

/// The sums of a dense layer, before its activation.
pub fn sums(layer: &Dense, inputs: &[u8]) -> Vec<i32> {
    let mut sums = vec![0; layer.shape().outputs];
    affine(layer, inputs, &mut sums);
    sums
}

/// The inputs of the second layer, and the skip connection's share of the output, from the sums of the first layer.
/// Not for [`Topology::Sfnnv16`], whose skip connection reads other outputs, and nets without hidden layers.
pub fn second_layer_inputs(topology: Topology, sums: &[i32]) -> (Vec<u8>, i32) {
    match topology {
        Topology::Plain | Topology::Sfnnv16 | Topology::Direct => (activated(sums), 0),
        Topology::Skip { squares } => {
            let mut all = [0; 16];
            all.copy_from_slice(sums);
            let (activated, skipping) = skip_activation(&all, squares);
            (activated.to_vec(), skipping)
        }
    }
}

/// Clipped ReLU of a layer's sums, padded with zeros to a multiple of 32.
pub fn activated(sums: &[i32]) -> Vec<u8> {
    let mut activated: Vec<u8> = sums.iter().map(|&sum| activate(sum)).collect();
    activated.resize(sums.len().next_multiple_of(32), 0);
    activated
}

/// The product of two sums clipped at 127 and divided by 128, or clipped at 255 and divided by 512 if they are `wide`.
#[inline(always)]
pub(super) fn product(a: i16, b: i16, wide: bool) -> u8 {
    let (one, shift) = if wide { (255, 9) } else { (127, 7) };
    let clip = |sum: i16| i32::from(sum.clamp(0, one));
    ((clip(a) * clip(b)) >> shift) as u8
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
pub(super) fn skip_activation(hidden: &[i32; 16], squares: bool) -> ([u8; 32], i32) {
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

/// `output = biases + weights * input`.
pub(super) fn affine(layer: &Dense, input: &[u8], output: &mut [i32]) {
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
pub(super) fn activate(sum: i32) -> u8 {
    (sum >> 6).clamp(0, 127) as u8
}
