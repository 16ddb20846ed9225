//! The abstract instructions of a vector kernel, [`Isa`], and the parts of dense layers written for them.
//!
//! All functions here are `#[inline(always)]` and have no target features. They are inlined into functions that enable
//! the features ([`vector`](super::vector)), because the instructions are available only there. No function passes
//! a closure that executes instructions: it would be compiled without them unless the compiler inlined it.

use std::mem::MaybeUninit;

use super::scalar;
use crate::nnue::architecture::{Activation, MAX_WIDTH, WIDTH_STEP};
use crate::nnue::layers::{Dense, Direct};

/// The vector instructions of one instruction set.
pub trait Isa: Sized {
    /// A vector register.
    type V: Copy;
    /// The same processor's instructions for registers of at most 32 bytes, the size of a row of piece-square values.
    type Narrow: Isa;
    /// Size of a register in bytes.
    const BYTES: usize;
    /// Number of registers.
    const REGISTERS: usize = 16;

    /// Loads [`Self::BYTES`] bytes from any address.
    unsafe fn load(from: *const u8) -> Self::V;
    /// Stores [`Self::BYTES`] bytes to any address.
    unsafe fn store(to: *mut u8, v: Self::V);
    /// A register with the same i32 in every lane.
    unsafe fn splat(value: i32) -> Self::V;
    /// Wrapping sums of i16 lanes.
    unsafe fn add16(a: Self::V, b: Self::V) -> Self::V;
    /// Wrapping differences of i16 lanes.
    unsafe fn sub16(a: Self::V, b: Self::V) -> Self::V;
    /// The upper byte of every i16 lane, sign-extended.
    unsafe fn upper16(v: Self::V) -> Self::V;
    /// Every i16 lane times 256, wrapping.
    unsafe fn raise16(v: Self::V) -> Self::V;
    /// The products of i16 lanes clamped to 0..=127, divided by 128.
    unsafe fn product16(a: Self::V, b: Self::V) -> Self::V;
    /// The products of i16 lanes clamped to 0..=255, divided by 512. Where `b` is negative, the result may be any
    /// number that is not positive.
    unsafe fn wide_product16(a: Self::V, b: Self::V) -> Self::V;
    /// Clamps the i16 lanes of `a` and `b` to 0..=127 and multiplies them with each other and with those of `w`.
    /// Returns the wrapping sums of two such products in each i32 lane.
    unsafe fn products_of_three(a: Self::V, b: Self::V, w: Self::V) -> Self::V;
    /// Wrapping sums of i32 lanes.
    unsafe fn add32(a: Self::V, b: Self::V) -> Self::V;
    /// The i16 lanes of `a`, then those of `b`, clamped to 0..=127, as bytes in order.
    unsafe fn clip16(a: Self::V, b: Self::V) -> Self::V;
    /// Adds to every i32 lane the dot product of four u8 of `x` (at most 127) and four i8 of `w`.
    unsafe fn dot(sums: Self::V, x: Self::V, w: Self::V) -> Self::V;
    /// Stores `clamp(sum >> 6, 0, 127)` of every i32 lane as a byte (a quarter of a register).
    unsafe fn store_activated(to: *mut u8, sums: Self::V);
    /// One bit per i32 lane, set if the lane is not zero.
    unsafe fn nonzero32(v: Self::V) -> u64;
    /// Lists the groups of four input bytes that are not all zero, in order, and returns their number. `groups` is the
    /// number of all groups and must be a multiple of 64; `list` must have room for all.
    #[inline(always)]
    unsafe fn list_nonzero(input: *const u8, groups: usize, list: *mut u32) -> usize {
        // SAFETY: the caller guarantees the pointers and the number of groups.
        unsafe { list_bits::<Self>(input, groups, list) }
    }
    /// Whether [`Self::sums_of_rows`] is implemented. It is faster if there are more than sixteen registers and a dot
    /// product is a single instruction.
    const BY_ROWS: bool = false;
    /// The wrapping sum of the i32 lanes of each of sixteen registers, in order.
    unsafe fn sums_of_rows(rows: [Self::V; 16]) -> Self::V {
        let _ = rows;
        unreachable!("only kernels with BY_ROWS call this")
    }
    /// The wrapping sum of all i32 lanes.
    unsafe fn sum32(v: Self::V) -> i32;
    /// Adds the products of all groups of four inputs to the first registers of `sums`, one lane for each output.
    ///
    /// There must be `groups` groups of input bytes, each at most 127, and of `OUT * 4` bytes of weights.
    #[inline(always)]
    unsafe fn add_products<const OUT: usize>(
        weights: *const u8,
        input: *const u8,
        groups: usize,
        sums: &mut [Self::V; 8],
    ) {
        // SAFETY: the caller guarantees the pointers and the number of groups.
        unsafe { add_products::<Self, OUT>(weights, input, groups, sums) }
    }
    /// As [`Self::add_products`], for the listed groups.
    #[inline(always)]
    unsafe fn add_listed_products<const OUT: usize>(
        weights: *const u8,
        input: *const u8,
        list: &[u32],
        sums: &mut [Self::V; 8],
    ) {
        // SAFETY: the caller guarantees the pointers, and that the listed groups exist.
        unsafe { add_listed_products::<Self, OUT>(weights, input, list, sums) }
    }
}

/// Declares methods of [`Isa`] from one processor's instructions.
#[cfg(not(target_arch = "wasm32"))]
macro_rules! instructions {
    ($(fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block)+) => {
        $(
            #[inline(always)]
            unsafe fn $name($($argument: $type),*) $(-> $result)? {
                // SAFETY: the caller guarantees that the processor has the instructions and that pointers are valid.
                unsafe { $body }
            }
        )+
    };
}
#[cfg(not(target_arch = "wasm32"))]
pub(super) use instructions;

/// A byte array aligned to cache lines.
#[repr(C, align(64))]
pub(super) struct Bytes<const N: usize>(pub [u8; N]);

/// The value of a kernel's width parameter for nets whose width is read at run time.
pub(super) const ANY_WIDTH: usize = 0;

/// The width of a net: the constant parameter of a kernel for one width, or else the `actual` width.
#[inline(always)]
pub(super) fn width<const L1: usize>(actual: usize) -> usize {
    if L1 == ANY_WIDTH {
        return actual;
    }
    assert!(actual == L1, "a kernel for width {L1} was called with a net of another width");
    L1
}

/// Maximum number of inputs of the first dense layer: two accumulators of the maximum width.
pub(super) const MAX_INPUTS: usize = 2 * MAX_WIDTH;

/// The inputs of the first dense layer.
pub(super) struct Inputs<'a> {
    /// The inputs, followed by zeros up to a multiple of [`INPUT_STEP`] bytes.
    padded: &'a [u8],
    count: usize,
}

/// Inputs are scanned for zeros in blocks of this size: 64 groups of four.
const INPUT_STEP: usize = 256;

/// A buffer for the inputs of the first dense layer. Only the bytes in use are written: clearing all would take a tenth
/// of the time of the layers in WebAssembly, which calls a function for it.
#[repr(C, align(64))]
pub(super) struct InputBuffer(MaybeUninit<[u8; MAX_INPUTS]>);

impl InputBuffer {
    /// A buffer without values.
    #[inline(always)]
    pub fn new() -> Self {
        Self(MaybeUninit::uninit())
    }

    /// Fills the buffer with the products of both accumulators, side to move first.
    ///
    /// # Safety
    /// The processor must have the instructions of `I`.
    #[inline(always)]
    pub unsafe fn products<I: Isa>(&mut self, activation: Activation, own: &[i16], other: &[i16]) -> Inputs<'_> {
        let (start, half) = (self.start(own, other), own.len() / 2);
        // SAFETY: the caller guarantees the instructions. A product has two sums, so each call writes `half` bytes.
        unsafe {
            if activation == Activation::WidePairwise {
                multiply_halves::<I, true>(own, start);
                multiply_halves::<I, true>(other, start.add(half));
            } else {
                multiply_halves::<I, false>(own, start);
                multiply_halves::<I, false>(other, start.add(half));
            }
            self.padded(2 * half)
        }
    }

    /// Fills the buffer with the clipped sums of both accumulators or their squares, side to move first.
    ///
    /// # Safety
    /// The processor must have the instructions of `I`.
    #[inline(always)]
    pub unsafe fn clipped<I: Isa>(&mut self, activation: Activation, own: &[i16], other: &[i16]) -> Inputs<'_> {
        let (start, half) = (self.start(own, other), own.len());
        // SAFETY: the caller guarantees the instructions. Each call writes a byte for each sum.
        unsafe {
            if activation == Activation::Screlu {
                clip::<I, true>(own, start);
                clip::<I, true>(other, start.add(half));
            } else {
                clip::<I, false>(own, start);
                clip::<I, false>(other, start.add(half));
            }
            self.padded(2 * half)
        }
    }

    /// The first byte of the buffer.
    ///
    /// # Panics
    /// If the activations of these accumulators do not fit into the buffer.
    #[inline(always)]
    fn start(&mut self, own: &[i16], other: &[i16]) -> *mut u8 {
        assert!(own.len() == other.len() && own.len().is_multiple_of(WIDTH_STEP) && own.len() <= MAX_WIDTH);
        self.0.as_mut_ptr().cast()
    }

    /// Clears the bytes between the first `count` and the next multiple of [`INPUT_STEP`], and returns all.
    ///
    /// # Safety
    /// `count` must be at most [`MAX_INPUTS`], and that number of bytes must have been written.
    #[inline(always)]
    unsafe fn padded(&mut self, count: usize) -> Inputs<'_> {
        const { assert!(MAX_INPUTS.is_multiple_of(INPUT_STEP)) };
        let padded = count.next_multiple_of(INPUT_STEP);
        let start = self.0.as_mut_ptr().cast::<u8>();
        // SAFETY: `padded` is at most the size of the buffer, and all its bytes are written.
        unsafe {
            if count < padded {
                start.add(count).write_bytes(0, padded - count);
            }
            Inputs { padded: std::slice::from_raw_parts(start, padded), count }
        }
    }
}

/// Pairwise activation of an accumulator: writes products of the first half's and the second half's sums, clipped at
/// 127, or at 255 if `WIDE`.
///
/// # Safety
/// The processor must have the instructions of `I`, and `out` room for half as many bytes as `sums` has numbers.
#[inline(always)]
unsafe fn multiply_halves<I: Isa, const WIDE: bool>(sums: &[i16], out: *mut u8) {
    // Registers of products for each step of the loop.
    const UNROLLED: usize = 4;
    let half = sums.len() / 2;
    let (first, second) = (sums.as_ptr(), sums[half..].as_ptr());
    // SAFETY: `start + BYTES <= half` in every call, so two i16 vectors of each half are within bounds.
    unsafe {
        let mut start = 0;
        while start + UNROLLED * I::BYTES <= half {
            for i in 0..UNROLLED {
                let start = start + i * I::BYTES;
                multiply_block::<I, WIDE>(first.add(start), second.add(start), out.add(start));
            }
            start += UNROLLED * I::BYTES;
        }
        while start + I::BYTES <= half {
            multiply_block::<I, WIDE>(first.add(start), second.add(start), out.add(start));
            start += I::BYTES;
        }
        if start < half && half >= I::BYTES {
            // The last block overlaps the one before.
            let start = half - I::BYTES;
            multiply_block::<I, WIDE>(first.add(start), second.add(start), out.add(start));
        } else {
            // Only halves of 16 and 48 columns are narrower than a register.
            for i in start..half {
                let (a, b) = (*first.add(i), *second.add(i));
                out.add(i).write(scalar::product(a, b, WIDE));
            }
        }
    }
}

/// One register of products for [`multiply_halves`].
#[inline(always)]
unsafe fn multiply_block<I: Isa, const WIDE: bool>(first: *const i16, second: *const i16, out: *mut u8) {
    // SAFETY: the caller guarantees the instructions and two registers of i16 at `first` and `second`.
    unsafe {
        let low = multiply::<I, WIDE>(first, second);
        let high = multiply::<I, WIDE>(first.add(I::BYTES / 2), second.add(I::BYTES / 2));
        I::store(out, I::clip16(low, high));
    }
}

/// One register of products for [`multiply_block`], as i16.
// A function, because a closure is compiled without the instructions unless it is inlined.
#[inline(always)]
unsafe fn multiply<I: Isa, const WIDE: bool>(first: *const i16, second: *const i16) -> I::V {
    // SAFETY: the caller guarantees the instructions and a register of i16 at `first` and `second`.
    unsafe {
        let (a, b) = (I::load(first.cast()), I::load(second.cast()));
        if WIDE { I::wide_product16(a, b) } else { I::product16(a, b) }
    }
}

/// Activation of an accumulator: i16 sums clipped to bytes in 0..=127, or `SQUARED` and divided by 128 (SCReLU).
///
/// # Safety
/// The processor must have the instructions of `I`, and `out` room for as many bytes as `sums` has numbers.
#[inline(always)]
unsafe fn clip<I: Isa, const SQUARED: bool>(sums: &[i16], out: *mut u8) {
    let (first, width) = (sums.as_ptr(), sums.len());
    // SAFETY: `start + BYTES <= width` in every call, so both i16 vectors and the byte vector are within bounds.
    unsafe {
        let mut start = 0;
        while start + I::BYTES <= width {
            clip_block::<I, SQUARED>(first.add(start), out.add(start));
            start += I::BYTES;
        }
        if I::BYTES > WIDTH_STEP && start < width {
            if width >= I::BYTES {
                // The last block overlaps the one before.
                clip_block::<I, SQUARED>(first.add(width - I::BYTES), out.add(width - I::BYTES));
            } else {
                let activation = if SQUARED { Activation::Screlu } else { Activation::Crelu };
                scalar::transform(activation, sums, std::slice::from_raw_parts_mut(out, width));
            }
        }
    }
}

/// One register of bytes for [`clip`].
#[inline(always)]
unsafe fn clip_block<I: Isa, const SQUARED: bool>(sums: *const i16, out: *mut u8) {
    // SAFETY: the caller guarantees the instructions, two registers of i16 at `sums` and one of bytes at `out`.
    unsafe {
        let (low, high) = (I::load(sums.cast()), I::load(sums.add(I::BYTES / 2).cast()));
        let bytes =
            if SQUARED { I::clip16(I::product16(low, low), I::product16(high, high)) } else { I::clip16(low, high) };
        I::store(out, bytes);
    }
}

/// Maximum number of inputs for which a first layer of 16 outputs is multiplied row by row. Wider layers list the
/// groups that are not all zero, because the 48 KiB of weights of 3072 inputs fill the first-level cache.
const MAX_BY_ROWS: usize = 1024;

/// The sums of the first dense layer with `OUT` outputs (or fewer, padded), in the first registers of the result.
#[inline(always)]
pub(super) unsafe fn first_layer<I: Isa, const OUT: usize>(layer: &Dense, input: &Inputs<'_>) -> [I::V; 8] {
    let inputs = input.count;
    // SAFETY: the caller guarantees the instructions; every function checks the lengths that it relies on.
    unsafe {
        let is_whole = inputs.is_multiple_of(I::BYTES);
        if I::BY_ROWS && OUT == 16 && is_whole && inputs <= MAX_BY_ROWS && layer.shape().outputs == 16 {
            affine_by_rows::<I>(layer, &input.padded[..inputs])
        } else if inputs >= SPARSE_FROM {
            let mut sums = [I::splat(0); 8];
            add_sparse_products::<I, OUT>(packed::<OUT>(layer, inputs), input, &mut sums);
            add_biases::<I, OUT>(layer, &mut sums);
            sums
        } else {
            affine::<I, OUT>(layer, &input.padded[..inputs])
        }
    }
}

/// The sums of a dense layer with `OUT` outputs (or fewer, padded), in the first registers of the result. Every input
/// must be at most 127.
#[inline(always)]
pub(super) unsafe fn affine<I: Isa, const OUT: usize>(layer: &Dense, input: &[u8]) -> [I::V; 8] {
    let weights = packed::<OUT>(layer, input.len());
    // SAFETY: the caller guarantees the instructions; `packed` checks the number of weights.
    unsafe {
        let mut sums = [I::splat(0); 8];
        I::add_products::<OUT>(weights, input.as_ptr(), input.len() / 4, &mut sums);
        add_biases::<I, OUT>(layer, &mut sums);
        sums
    }
}

/// The weights of a layer with `OUT` outputs for the kernels.
///
/// # Panics
/// If the layer has other numbers of inputs and outputs.
#[inline(always)]
fn packed<const OUT: usize>(layer: &Dense, inputs: usize) -> *const u8 {
    let packed = layer.packed();
    assert!(packed.weights().len() == OUT * (inputs + 4) && packed.biases().len() == OUT);
    packed.weights().as_ptr().cast()
}

/// Adds the biases of a layer with `OUT` outputs.
#[inline(always)]
unsafe fn add_biases<I: Isa, const OUT: usize>(layer: &Dense, sums: &mut [I::V; 8]) {
    const { assert!(OUT * 4 >= I::BYTES && 8 % (OUT * 4 / I::BYTES) == 0) };
    let biases = layer.packed().biases();
    assert!(biases.len() == OUT);
    for (r, sum) in sums.iter_mut().enumerate().take(OUT * 4 / I::BYTES) {
        // SAFETY: the caller guarantees the instructions; the registers have `OUT` lanes in total.
        unsafe { *sum = I::add32(*sum, I::load(biases.as_ptr().cast::<u8>().add(r * I::BYTES))) };
    }
}

/// The sums of a dense layer with 16 outputs, row by row: every weight is read once, and no input is broadcast.
#[inline(always)]
unsafe fn affine_by_rows<I: Isa>(layer: &Dense, input: &[u8]) -> [I::V; 8] {
    assert!(I::BYTES == 64, "multiplication by rows requires 512-bit registers");
    assert!(layer.weights().len() == 16 * input.len() && layer.biases().len() == 16);
    assert!(input.len().is_multiple_of(I::BYTES));
    let weights = layer.weights().as_ptr().cast::<u8>();
    // SAFETY: a register contains 64 inputs or weights, and their numbers are multiples of 64; or it contains 16 sums.
    unsafe {
        let mut rows = [I::splat(0); 16];
        let mut start = 0;
        while start < input.len() {
            let x = I::load(input.as_ptr().add(start));
            for (output, sum) in rows.iter_mut().enumerate() {
                *sum = I::dot(*sum, x, I::load(weights.add(output * input.len() + start)));
            }
            start += I::BYTES;
        }
        let mut sums = [I::splat(0); 8];
        sums[0] = I::add32(I::sums_of_rows(rows), I::load(layer.biases().as_ptr().cast()));
        sums
    }
}

/// The clipped ReLU between layers: the sums of `OUT` outputs to bytes in 0..=127.
#[inline(always)]
pub(super) unsafe fn activate<I: Isa, const OUT: usize>(sums: &[I::V; 8], out: &mut Bytes<32>) {
    const { assert!(OUT <= 32) };
    for (r, &sum) in sums.iter().enumerate().take(OUT * 4 / I::BYTES) {
        // SAFETY: each register writes a quarter of its size, `OUT` bytes in total.
        unsafe { I::store_activated(out.0.as_mut_ptr().add(r * I::BYTES / 4), sum) }
    }
}

/// Default implementation of [`Isa::add_products`]: several chains of sums hide the dot product's latency.
#[inline(always)]
unsafe fn add_products<I: Isa, const OUT: usize>(
    weights: *const u8,
    input: *const u8,
    groups: usize,
    sums: &mut [I::V; 8],
) {
    let registers = OUT * 4 / I::BYTES;
    let chains = 8 / registers;
    assert!(groups.is_multiple_of(chains));
    for group in (0..groups).step_by(chains) {
        for chain in 0..chains {
            // SAFETY: `group + chain < groups`.
            unsafe {
                let sums = &mut sums[chain * registers..][..registers];
                add_group::<I, OUT>(weights, input, group + chain, sums);
            }
        }
    }
    // SAFETY: the caller guarantees the instructions.
    unsafe { add_chains::<I>(sums, registers) }
}

/// Default implementation of [`Isa::add_listed_products`], in several chains like [`add_products`].
#[inline(always)]
unsafe fn add_listed_products<I: Isa, const OUT: usize>(
    weights: *const u8,
    input: *const u8,
    list: &[u32],
    sums: &mut [I::V; 8],
) {
    let registers = OUT * 4 / I::BYTES;
    let chains = 8 / registers;
    let (full, rest) = list.split_at(list.len() - list.len() % chains);
    // SAFETY: the caller guarantees that the listed groups exist.
    unsafe {
        for groups in full.chunks_exact(chains) {
            for (chain, &group) in groups.iter().enumerate() {
                let sums = &mut sums[chain * registers..][..registers];
                add_group::<I, OUT>(weights, input, group as usize, sums);
            }
        }
        for &group in rest {
            add_group::<I, OUT>(weights, input, group as usize, &mut sums[..registers]);
        }
        add_chains::<I>(sums, registers);
    }
}

/// Adds all chains to the first one, which has the given number of registers.
#[inline(always)]
unsafe fn add_chains<I: Isa>(sums: &mut [I::V; 8], registers: usize) {
    let (first, others) = sums.split_at_mut(registers);
    for chain in others.chunks_exact(registers) {
        for (sum, &other) in first.iter_mut().zip(chain) {
            // SAFETY: the caller guarantees the instructions.
            *sum = unsafe { I::add32(*sum, other) };
        }
    }
}

/// Minimum number of inputs for which finding the groups of zeros costs less than multiplying them.
const SPARSE_FROM: usize = 256;

/// As [`Isa::add_products`], but multiplies only the groups that are not all zero, which are a minority after the first
/// clamp. Lists the groups first.
///
/// # Safety
/// As for [`Isa::add_products`]; the weights must be those of all groups but the zeros at the end.
#[inline(always)]
unsafe fn add_sparse_products<I: Isa, const OUT: usize>(weights: *const u8, input: &Inputs<'_>, sums: &mut [I::V; 8]) {
    const MAX_GROUPS: usize = MAX_INPUTS / 4;
    let input = input.padded;
    let groups = input.len() / 4;
    assert!(groups <= MAX_GROUPS && groups.is_multiple_of(64));
    let mut list = [const { MaybeUninit::<u32>::uninit() }; MAX_GROUPS];
    // SAFETY: the list has room for all groups. Only the `count` entries written are read, and they are valid groups.
    unsafe {
        let count = I::list_nonzero(input.as_ptr(), groups, list.as_mut_ptr().cast());
        I::add_listed_products::<OUT>(weights, input.as_ptr(), list[..count].assume_init_ref(), sums);
    }
}

/// Default implementation of [`Isa::list_nonzero`], which scans bit masks.
#[inline(always)]
unsafe fn list_bits<I: Isa>(input: *const u8, groups: usize, list: *mut u32) -> usize {
    let lanes = I::BYTES / 4;
    let mut count = 0;
    for first in (0..groups).step_by(64) {
        // SAFETY: the groups below `first + 64` exist, and the list has room for them.
        unsafe {
            let mut present = 0;
            for i in (0..64).step_by(lanes) {
                present |= I::nonzero32(I::load(input.add(4 * (first + i)))) << i;
            }
            while present != 0 {
                list.add(count).write(first as u32 + present.trailing_zeros());
                present &= present - 1;
                count += 1;
            }
        }
    }
    count
}

/// Broadcasts four inputs and adds their products with the weights of every output.
///
/// # Safety
/// `group` must be within the input and the weights, and `sums` must have `OUT` lanes.
#[inline(always)]
unsafe fn add_group<I: Isa, const OUT: usize>(weights: *const u8, input: *const u8, group: usize, sums: &mut [I::V]) {
    // SAFETY: the caller guarantees that the group exists.
    unsafe {
        let x = I::splat(input.cast::<i32>().add(group).read_unaligned());
        let row = weights.add(group * OUT * 4);
        for (r, sum) in sums.iter_mut().enumerate() {
            *sum = I::dot(*sum, x, I::load(row.add(r * I::BYTES)));
        }
    }
}

/// The last layer: one dot product. The inputs are padded with zeros to 128 bytes.
#[inline(always)]
pub(super) unsafe fn output<I: Isa, const IN: usize>(layer: &Dense, input: &Bytes<IN>) -> i32 {
    assert!(layer.weights().len() == IN && layer.biases().len() == 1);
    let weights: &[u8] = bytemuck::cast_slice(layer.weights());
    // SAFETY: the slices have `IN` bytes, or are buffers of 128 bytes, a multiple of every register size.
    let products = unsafe {
        if IN.is_multiple_of(I::BYTES) {
            sum_of_products::<I>(&input.0, weights)
        } else {
            const { assert!(IN <= 128) };
            let (mut x, mut w) = (Bytes([0; 128]), Bytes([0; 128]));
            x.0[..IN].copy_from_slice(&input.0);
            w.0[..IN].copy_from_slice(weights);
            sum_of_products::<I>(&x.0, &w.0)
        }
    };
    layer.biases()[0].wrapping_add(products)
}

/// The output of a net without hidden layers, see [`Direct`].
#[inline(always)]
pub(super) unsafe fn direct<I: Isa>(activation: Activation, direct: &Direct, own: &[i16], other: &[i16]) -> i32 {
    let units = if activation.is_pairwise() { own.len() / 2 } else { own.len() };
    assert!(own.len() == other.len() && own.len().is_multiple_of(WIDTH_STEP) && direct.weights().len() == 2 * units);
    let (of_own, of_other) = direct.weights().split_at(units);
    // SAFETY: the caller guarantees the instructions; the assertion checks the lengths.
    let mut sum = unsafe {
        let sums = direct_sums::<I>(activation, own, units, of_own.as_ptr());
        I::sum32(I::add32(sums, direct_sums::<I>(activation, other, units, of_other.as_ptr())))
    };
    let rest = units - units % lanes16::<I>();
    // Only 512 bits are more than the sixteen units that products of the narrowest parts of a width have.
    if I::BYTES > WIDTH_STEP && rest < units {
        sum = sum.wrapping_add(scalar::direct_sum(activation, own, of_own, rest));
        sum = sum.wrapping_add(scalar::direct_sum(activation, other, of_other, rest));
    }
    direct.bias().wrapping_add(sum) >> Direct::shift(activation)
}

/// Numbers of 16 bits in a register.
const fn lanes16<I: Isa>() -> usize {
    I::BYTES / 2
}

/// The products of one side's units with their weights, added up in lanes, for all units that fill a register.
///
/// # Safety
/// The processor must have the instructions of `I`. There must be `units` weights.
#[inline(always)]
unsafe fn direct_sums<I: Isa>(activation: Activation, sums: &[i16], units: usize, weights: *const i16) -> I::V {
    let first = sums.as_ptr();
    // SAFETY: the caller guarantees the instructions and the weights. A register of i16 lies within the units, and for
    // products the sums of the second half begin at `units`.
    unsafe {
        // One in each i16 lane: the factor of a clipped sum that is not squared.
        let (one, mut totals) = (I::splat(0x1_0001), I::splat(0));
        for at in (0..units - units % lanes16::<I>()).step_by(lanes16::<I>()) {
            let a = I::load(first.add(at).cast());
            let b = match activation {
                Activation::Crelu => one,
                Activation::Screlu => a,
                Activation::Pairwise | Activation::WidePairwise => I::load(first.add(units + at).cast()),
            };
            totals = I::add32(totals, I::products_of_three(a, b, I::load(weights.add(at).cast())));
        }
        totals
    }
}

/// The dot product of two slices whose length is a multiple of the register size.
#[inline(always)]
unsafe fn sum_of_products<I: Isa>(x: &[u8], w: &[u8]) -> i32 {
    assert!(x.len() == w.len() && x.len().is_multiple_of(I::BYTES));
    // SAFETY: the caller guarantees the instructions; the assertion checks the lengths.
    unsafe {
        let mut sums = I::splat(0);
        for start in (0..x.len()).step_by(I::BYTES) {
            sums = I::dot(sums, I::load(x.as_ptr().add(start)), I::load(w.as_ptr().add(start)));
        }
        I::sum32(sums)
    }
}

/// Stores the sums of 32 outputs in an array.
#[inline(always)]
pub(super) unsafe fn lanes<I: Isa>(sums: [I::V; 8]) -> [i32; 32] {
    let mut out = [0; 32];
    for (r, &sum) in sums.iter().enumerate().take(128 / I::BYTES) {
        // SAFETY: the registers have 128 bytes in total, equal to the size of the array.
        unsafe { I::store(out.as_mut_ptr().cast::<u8>().add(r * I::BYTES), sum) };
    }
    out
}
