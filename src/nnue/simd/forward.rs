//! The layers after the accumulators: the specification in scalar code, and the same for the abstract instructions of
//! [`Isa`].
//!
//! The functions for vectors are inlined into functions that enable the instructions.

use std::iter::zip;

use super::generic::{Bytes, InputBuffer, Inputs, Isa, activate, affine, first_layer, lanes, output};
use super::scalar;
use crate::nnue::architecture::{Activation, Shape, Topology};
use crate::nnue::layers::{Dense, Head};

/// The raw output for the accumulators of the side to move (`own`) and of the `other` side: the specification.
pub(super) fn scalar(shape: &Shape, head: &Head, own: &[i16], other: &[i16]) -> i32 {
    let mut input = vec![0; shape.inputs()];
    zip(input.chunks_exact_mut(shape.inputs() / 2), [own, other])
        .for_each(|(half, sums)| transform(shape.activation, sums, half));
    trace(shape.topology, head, &input).1
}

/// [`scalar`] with vectors.
///
/// # Safety
/// The processor must have the instructions of `I`.
///
/// # Panics
/// If the layers of `head` do not have the sizes of the shape.
#[inline(always)]
pub(super) unsafe fn vector<I: Isa>(shape: &Shape, head: &Head, own: &[i16], other: &[i16]) -> i32 {
    let mut buffer = InputBuffer::new();
    // SAFETY: the caller guarantees the instructions; every function checks the lengths that it relies on.
    unsafe {
        let input = &buffer.fill::<I>(shape.activation, own, other);
        match shape.topology {
            Topology::Plain if shape.hidden[0] <= 16 => plain::<I, 16>(head, input),
            Topology::Plain => plain::<I, 32>(head, input),
            Topology::Skip { squares } => skip::<I>(head, input, squares),
            Topology::Sfnnv16 => sfnnv16::<I>(head, input),
        }
    }
}

/// Three layers with clipped ReLUs between them, see [`Topology::Plain`]. The outputs of the first layer are padded to
/// `H1`; the second layer has 32, the last one.
#[inline(always)]
unsafe fn plain<I: Isa, const H1: usize>(head: &Head, input: &Inputs<'_>) -> i32 {
    // SAFETY: the caller guarantees the instructions; every function checks the lengths that it relies on.
    unsafe {
        let sums = first_layer::<I, H1>(&head.first, input);
        let mut hidden = Bytes([0; 32]);
        activate::<I, H1>(&sums, &mut hidden);
        second_and_output::<I>(head, &hidden)
    }
}

/// Layers of 16, 32 and 1 outputs with a skip connection, see [`Topology::Skip`].
#[inline(always)]
unsafe fn skip<I: Isa>(head: &Head, input: &Inputs<'_>, squares: bool) -> i32 {
    // SAFETY: the caller guarantees the instructions; every function checks the lengths that it relies on.
    unsafe {
        let sums = first_layer::<I, 16>(&head.first, input);
        let mut hidden = [0i32; 16];
        for (r, &sum) in sums.iter().enumerate().take(64 / I::BYTES) {
            I::store(hidden.as_mut_ptr().cast::<u8>().add(r * I::BYTES), sum);
        }
        let (activated, skip) = scalar::skip_activation(&hidden, squares);
        second_and_output::<I>(head, &Bytes(activated)).wrapping_add(skip)
    }
}

/// Densely connected layers of 32, 32 and 1 outputs with a skip connection, see [`Topology::Sfnnv16`].
#[inline(always)]
unsafe fn sfnnv16<I: Isa>(head: &Head, input: &Inputs<'_>) -> i32 {
    // SAFETY: the caller guarantees the instructions; every function checks the lengths that it relies on.
    unsafe {
        let first = lanes::<I>(first_layer::<I, 32>(&head.first, input));
        let mut all = Bytes([0; 128]);
        scalar::square_and_clip(&first, 7, &mut all.0[..64]);
        let second = lanes::<I>(affine::<I, 32>(&head.second, &all.0[..64]));
        scalar::square_and_clip(&second, 6, &mut all.0[64..]);
        scalar::sfnnv16_output(output::<I, 128>(&head.output, &all), &first)
    }
}

/// The layers after the first one.
#[inline(always)]
unsafe fn second_and_output<I: Isa>(head: &Head, input: &Bytes<32>) -> i32 {
    // SAFETY: the caller guarantees the instructions; every function checks the lengths that it relies on.
    unsafe {
        let sums = affine::<I, 32>(&head.second, &input.0);
        let mut hidden = Bytes([0; 32]);
        activate::<I, 32>(&sums, &mut hidden);
        output::<I, 32>(&head.output, &hidden)
    }
}

/// Activation of one perspective's accumulator. Writes one number per sum, or one product per pair of sums, to `out`.
#[inline(always)]
pub fn transform(activation: Activation, sums: &[i16], out: &mut [u8]) {
    let products = |out: &mut [u8], wide| {
        let (first, second) = sums.split_at(sums.len() / 2);
        zip(out, zip(first, second)).for_each(|(to, (&a, &b))| *to = scalar::product(a, b, wide));
    };
    match activation {
        Activation::Crelu => zip(out, sums).for_each(|(to, &sum)| *to = sum.clamp(0, 127) as u8),
        Activation::Screlu => zip(out, sums).for_each(|(to, &sum)| *to = scalar::product(sum, sum, false)),
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
        scalar::affine(&head.first, input, &mut first);
        scalar::square_and_clip(&first, 7, &mut activated[..64]);
        scalar::affine(&head.second, &activated[..64], &mut second);
        scalar::square_and_clip(&second, 6, &mut activated[64..]);
        scalar::affine(&head.output, &activated, &mut output);
        return ([activated[..64].to_vec(), activated.to_vec()], scalar::sfnnv16_output(output[0], &first));
    }
    let (second, skipping) = second_layer_inputs(topology, &sums(&head.first, input));
    let last = activated(&sums(&head.second, &second));
    let output = sums(&head.output, &last)[0].wrapping_add(skipping);
    ([second, last], output)
}

/// The sums of a dense layer, before its activation.
pub fn sums(layer: &Dense, inputs: &[u8]) -> Vec<i32> {
    let mut sums = vec![0; layer.shape().outputs];
    scalar::affine(layer, inputs, &mut sums);
    sums
}

/// The inputs of the second layer, and the skip connection's share of the output, from the sums of the first layer.
/// Not for [`Topology::Sfnnv16`], whose skip connection reads other outputs.
pub fn second_layer_inputs(topology: Topology, sums: &[i32]) -> (Vec<u8>, i32) {
    match topology {
        Topology::Plain | Topology::Sfnnv16 => (activated(sums), 0),
        Topology::Skip { squares } => {
            let mut all = [0; 16];
            all.copy_from_slice(sums);
            let (activated, skipping) = scalar::skip_activation(&all, squares);
            (activated.to_vec(), skipping)
        }
    }
}

/// Clipped ReLU of a layer's sums, padded with zeros to a multiple of 32.
pub fn activated(sums: &[i32]) -> Vec<u8> {
    let mut activated: Vec<u8> = sums.iter().map(|&sum| scalar::activate(sum)).collect();
    activated.resize(sums.len().next_multiple_of(32), 0);
    activated
}
