//! The layers after the accumulators, one type for each chain of layers.
//!
//! A type has a scalar implementation, which is the specification, and one for the abstract instructions of [`Isa`].
//! The functions for vectors are inlined into functions that enable the instructions.

use std::iter::zip;
use std::mem::MaybeUninit;

use super::generic::{Bytes, Isa, activate, affine, affine_by_rows, clip, lanes, multiply_halves, output, square};
use super::scalar;
use crate::nnue::architecture::{Activation, Chain, Shape, Topology};
use crate::nnue::layers::{Dense, Head};

/// The layers after the accumulators of a kind of net.
pub trait Layers {
    /// The chains that this type computes.
    const CHAINS: &'static [Chain];

    /// The raw output for the accumulators of the side to move (`own`) and of the `other` side.
    ///
    /// # Panics
    /// If the layers of `head` do not have the sizes of this type.
    fn scalar<const L1: usize>(shape: &Shape, head: &Head, own: &[i16; L1], other: &[i16; L1]) -> i32;

    /// [`Self::scalar`] with vectors.
    ///
    /// # Safety
    /// The processor must have the instructions of `I`.
    unsafe fn vector<I: Isa, const L1: usize>(shape: &Shape, head: &Head, own: &[i16; L1], other: &[i16; L1]) -> i32;
}

/// Clipped sums or their squares, then three layers with clipped ReLUs between them. The outputs of the first layer are
/// padded to `H1`; the second layer has 32, the last one.
pub enum Clipped<const H1: usize> {}

impl<const H1: usize> Layers for Clipped<H1> {
    const CHAINS: &'static [Chain] = if H1 == 16 {
        const { &[Chain::plain(Activation::Crelu, 16), Chain::plain(Activation::Crelu, 8)] }
    } else {
        const { &[Chain::plain(Activation::Crelu, H1), Chain::plain(Activation::Screlu, H1)] }
    };

    fn scalar<const L1: usize>(shape: &Shape, head: &Head, own: &[i16; L1], other: &[i16; L1]) -> i32 {
        let mut input = [[0; L1]; 2];
        zip(&mut input, [own, other]).for_each(|(half, sums)| transform(shape.activation, sums, half));
        let mut hidden = [0; H1];
        scalar::affine(&head.first, input.as_flattened(), &mut hidden);
        let mut activated = [0; 32];
        zip(&mut activated, hidden).for_each(|(to, sum)| *to = scalar::activate(sum));
        scalar::second_and_output(head, &activated)
    }

    #[inline(always)]
    unsafe fn vector<I: Isa, const L1: usize>(shape: &Shape, head: &Head, own: &[i16; L1], other: &[i16; L1]) -> i32 {
        // SAFETY: the caller guarantees the instructions; every function checks the lengths that it relies on.
        unsafe {
            let mut input = [Bytes([0; L1]), Bytes([0; L1])];
            if shape.activation == Activation::Screlu {
                square::<I, L1>(own, &mut input[0]);
                square::<I, L1>(other, &mut input[1]);
            } else {
                clip::<I, L1>(own, &mut input[0]);
                clip::<I, L1>(other, &mut input[1]);
            }
            let sums = affine::<I, H1>(&head.first, input[0].0.as_ptr(), 2 * L1);
            let mut hidden = Bytes([0; 32]);
            activate::<I, H1>(&sums, &mut hidden);
            second_and_output::<I>(head, &hidden)
        }
    }
}

/// Products of the halves of the accumulators, then layers of 16, 32 and 1 outputs with a skip connection. `WIDE` sums
/// have twice the resolution: they are clipped at 255, and their products divided by 512.
pub enum Products<const WIDE: bool> {}

/// The layers of SFNNv4 to v9.
pub type Pairwise = Products<false>;

/// The layers of SFNNv10.
pub type WidePairwise = Products<true>;

impl<const WIDE: bool> Layers for Products<WIDE> {
    const CHAINS: &'static [Chain] = if WIDE { &[Chain::SFNN_V10] } else { &[Chain::SFNN_V5, Chain::SFNN_V4] };

    fn scalar<const L1: usize>(shape: &Shape, head: &Head, own: &[i16; L1], other: &[i16; L1]) -> i32 {
        let mut hidden = [0; 16];
        scalar::affine(&head.first, &products(shape.activation, [own, other]), &mut hidden);
        let (activated, skip) = scalar::skip_activation(&hidden, has_squares(shape));
        scalar::second_and_output(head, &activated).wrapping_add(skip)
    }

    #[inline(always)]
    unsafe fn vector<I: Isa, const L1: usize>(shape: &Shape, head: &Head, own: &[i16; L1], other: &[i16; L1]) -> i32 {
        // SAFETY: the caller guarantees the instructions; every function checks the lengths that it relies on.
        unsafe {
            let mut buffer = MaybeUninit::uninit();
            let input = multiplied::<I, L1, WIDE>(own, other, &mut buffer);
            let sums = if I::BY_ROWS && L1 <= MAX_BY_ROWS {
                affine_by_rows::<I, L1>(&head.first, input)
            } else {
                affine::<I, 16>(&head.first, input.0.as_ptr(), L1)
            };
            let mut hidden = [0i32; 16];
            for (r, &sum) in sums.iter().enumerate().take(64 / I::BYTES) {
                I::store(hidden.as_mut_ptr().cast::<u8>().add(r * I::BYTES), sum);
            }
            let (activated, skip) = scalar::skip_activation(&hidden, WIDE || has_squares(shape));
            second_and_output::<I>(head, &Bytes(activated)).wrapping_add(skip)
        }
    }
}

/// Maximum number of inputs for which a layer of 16 outputs is multiplied row by row. Wider layers list the groups that
/// are not all zero, because the 48 KiB of weights of 3072 inputs fill the first-level cache.
const MAX_BY_ROWS: usize = 1024;

/// Whether the outputs of the first layer feed the second one twice, squared and clipped.
#[inline(always)]
fn has_squares(shape: &Shape) -> bool {
    shape.topology == (Topology::Skip { squares: true })
}

/// Wide products, then densely connected layers of 32, 32 and 1 outputs with a skip connection, see
/// [`Topology::Sfnnv16`].
pub enum Sfnnv16 {}

impl Sfnnv16 {
    /// The layers after the products. Returns the inputs of the last layer, and the output.
    fn after_products(head: &Head, input: &[u8]) -> ([u8; 128], i32) {
        let (mut first, mut second, mut output) = ([0; 32], [0; 32], [0]);
        let mut activated = [0; 128];
        scalar::affine(&head.first, input, &mut first);
        scalar::square_and_clip(&first, 7, &mut activated[..64]);
        scalar::affine(&head.second, &activated[..64], &mut second);
        scalar::square_and_clip(&second, 6, &mut activated[64..]);
        scalar::affine(&head.output, &activated, &mut output);
        (activated, scalar::sfnnv16_output(output[0], &first))
    }
}

impl Layers for Sfnnv16 {
    const CHAINS: &'static [Chain] = &[Chain::SFNN_V16];

    fn scalar<const L1: usize>(shape: &Shape, head: &Head, own: &[i16; L1], other: &[i16; L1]) -> i32 {
        Self::after_products(head, &products(shape.activation, [own, other])).1
    }

    #[inline(always)]
    unsafe fn vector<I: Isa, const L1: usize>(_: &Shape, head: &Head, own: &[i16; L1], other: &[i16; L1]) -> i32 {
        // SAFETY: the caller guarantees the instructions; every function checks the lengths that it relies on.
        unsafe {
            let mut buffer = MaybeUninit::uninit();
            let input = multiplied::<I, L1, true>(own, other, &mut buffer);
            let first = lanes::<I>(affine::<I, 32>(&head.first, input.0.as_ptr(), L1));
            let mut all = Bytes([0; 128]);
            scalar::square_and_clip(&first, 7, &mut all.0[..64]);
            let second = lanes::<I>(affine::<I, 32>(&head.second, all.0.as_ptr(), 64));
            scalar::square_and_clip(&second, 6, &mut all.0[64..]);
            scalar::sfnnv16_output(output::<I, 128>(&head.output, &all), &first)
        }
    }
}

/// The products of both accumulators: the specification.
fn products<const L1: usize>(activation: Activation, sums: [&[i16; L1]; 2]) -> [u8; L1] {
    let mut input = [0; L1];
    zip(input.chunks_exact_mut(L1 / 2), sums).for_each(|(half, sums)| transform(activation, sums, half));
    input
}

/// Writes the products of both accumulators to `buffer`, and returns it. (Clearing it first would take a tenth of the
/// time of the layers in WebAssembly, which calls a function for it.)
#[inline(always)]
unsafe fn multiplied<'a, I: Isa, const L1: usize, const WIDE: bool>(
    own: &[i16; L1],
    other: &[i16; L1],
    buffer: &'a mut MaybeUninit<Bytes<L1>>,
) -> &'a Bytes<L1> {
    let first = buffer.as_mut_ptr().cast::<u8>();
    // SAFETY: the caller guarantees the instructions. Each half of the buffer has `L1 / 2` bytes, and both are written.
    unsafe {
        multiply_halves::<I, L1, WIDE>(own, first);
        multiply_halves::<I, L1, WIDE>(other, first.add(L1 / 2));
        buffer.assume_init_ref()
    }
}

/// The layers after the first one.
#[inline(always)]
unsafe fn second_and_output<I: Isa>(head: &Head, input: &Bytes<32>) -> i32 {
    // SAFETY: the caller guarantees the instructions; every function checks the lengths that it relies on.
    unsafe {
        let sums = affine::<I, 32>(&head.second, input.0.as_ptr(), 32);
        let mut hidden = Bytes([0; 32]);
        activate::<I, 32>(&sums, &mut hidden);
        output::<I, 32>(&head.output, &hidden)
    }
}

/// Activation of one perspective's accumulator. Writes one number per sum, or one product per pair of sums, to `out`.
#[inline(always)]
pub fn transform(activation: Activation, sums: &[i16], out: &mut [u8]) {
    let clip = |sum: i16| sum.clamp(0, 127);
    let product = |a: i16, b: i16| ((clip(a) * clip(b)) >> 7) as u8;
    match activation {
        Activation::Crelu => zip(out, sums).for_each(|(to, &sum)| *to = clip(sum) as u8),
        Activation::Screlu => zip(out, sums).for_each(|(to, &sum)| *to = product(sum, sum)),
        Activation::WidePairwise => {
            let clip = |sum: i16| i32::from(sum.clamp(0, 255));
            let (first, second) = sums.split_at(sums.len() / 2);
            let pairs = zip(first, second);
            zip(out, pairs).for_each(|(to, (&a, &b))| *to = ((clip(a) * clip(b)) >> 9) as u8);
        }
        Activation::Pairwise => {
            let (first, second) = sums.split_at(sums.len() / 2);
            zip(out, zip(first, second)).for_each(|(to, (&a, &b))| *to = product(a, b));
        }
    }
}

/// Runs the dense layers of any chain with scalar code. Returns the inputs of the second and of the last layer, and the
/// output.
pub fn trace(topology: Topology, head: &Head, input: &[u8]) -> ([Vec<u8>; 2], i32) {
    if topology == Topology::Sfnnv16 {
        let (activated, output) = Sfnnv16::after_products(head, input);
        return ([activated[..64].to_vec(), activated.to_vec()], output);
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
