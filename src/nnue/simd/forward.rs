//! The layers after the accumulators, for the abstract instructions of [`Isa`]; [`scalar`] is their specification.
//!
//! The functions for vectors are inlined into functions that enable the instructions.

use super::generic::{Bytes, InputBuffer, Inputs, Isa, activate, affine, direct, first_layer, lanes, output, width};
use super::scalar;
use crate::nnue::architecture::{Shape, Topology};
use crate::nnue::layers::Head;

/// The raw output for the accumulators of the side to move (`own`) and of the `other` side, see [`scalar::forward`].
///
/// # Safety
/// The processor must have the instructions of `I`.
///
/// # Panics
/// If the layers of `head` do not have the sizes of the shape.
#[inline(always)]
pub(super) unsafe fn vector<I: Isa, const L1: usize>(shape: &Shape, head: &Head, own: &[i16], other: &[i16]) -> i32 {
    let width = width::<L1>(own.len());
    let (own, other) = (&own[..width], &other[..width]);
    let (mut buffer, activation) = (InputBuffer::new(), shape.activation);
    // SAFETY: the caller guarantees the instructions; every function checks the lengths that it relies on.
    unsafe {
        // Each topology has one kind of inputs, so that their number is a constant if the width is.
        match shape.topology {
            Topology::Plain => {
                let input = &buffer.clipped::<I>(activation, own, other);
                if shape.hidden[0] <= 16 { plain::<I, 16>(head, input) } else { plain::<I, 32>(head, input) }
            }
            Topology::Skip { squares } => skip::<I>(head, &buffer.products::<I>(activation, own, other), squares),
            Topology::Sfnnv16 => sfnnv16::<I>(head, &buffer.products::<I>(activation, own, other)),
            Topology::Direct => direct::<I>(activation, &head.direct, own, other),
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
