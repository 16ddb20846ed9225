//! The abstract instructions of a vector kernel, [`Isa`], and the parts of dense layers written for them.
//!
//! All functions here are `#[inline(always)]` and have no target features. They are inlined into functions that enable
//! the features ([`compiled_for`]), because the instructions are available only there.

use std::mem::MaybeUninit;

use crate::nnue::layers::Dense;

/// The vector instructions of one instruction set.
pub trait Isa: Sized {
    /// A vector register.
    type V: Copy;
    /// Size of a register in bytes.
    const BYTES: usize;
    /// Number of registers.
    const REGISTERS: usize = 16;

    /// Loads [`Self::BYTES`] bytes from any address.
    unsafe fn load(from: *const u8) -> Self::V;
    /// Loads half of [`Self::BYTES`] signed bytes from any address as i16 lanes.
    unsafe fn load_widened(from: *const i8) -> Self::V;
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

/// Declares kernels for one instruction set: the shared algorithms, compiled for its features.
macro_rules! compiled_for {
    ($features:literal, $isa:ty: $($name:ident)+) => {
        $(compiled_for! { @$name $features, $isa })+
    };
    (@update $features:literal, $isa:ty) => {
        #[target_feature(enable = $features)]
        pub fn update<const L1: usize, const P: usize>(
            rows: &$crate::nnue::rows::Rows<'_, i16, L1, P>,
            from: &$crate::nnue::rows::Accumulator<L1, P>,
            to: &mut $crate::nnue::rows::Accumulator<L1, P>,
            added: &[u16],
            removed: &[u16],
        ) {
            // SAFETY: this function enables the features.
            unsafe { $crate::nnue::simd::update::update::<$isa, L1, P>(rows, from, to, added, removed) }
        }
    };
    (@update_with_bytes $features:literal, $isa:ty) => {
        #[target_feature(enable = $features)]
        pub fn update_with_bytes<const L1: usize, const P: usize>(
            rows: &$crate::nnue::rows::Rows<'_, i16, L1, P>,
            from: &$crate::nnue::rows::Accumulator<L1, P>,
            to: &mut $crate::nnue::rows::Accumulator<L1, P>,
            added: &[u16],
            removed: &[u16],
            bytes: &$crate::nnue::rows::ByteChanges<'_, L1>,
        ) {
            // SAFETY: this function enables the features.
            unsafe { $crate::nnue::simd::update::apply::<$isa, L1, P>(rows, from, to, added, removed, bytes) }
        }
    };
    (@update_all $features:literal, $isa:ty) => {
        #[target_feature(enable = $features)]
        pub fn update_all<const L1: usize, const P: usize>(
            rows: &$crate::nnue::rows::AllRows<'_, L1, P>,
            from: &$crate::nnue::rows::Accumulator<L1, P>,
            to: &mut $crate::nnue::rows::Accumulator<L1, P>,
            changes: &$crate::nnue::rows::Changes<'_>,
        ) {
            // SAFETY: this function enables the features.
            unsafe { $crate::nnue::simd::update::update_all::<$isa, L1, P>(rows, from, to, changes) }
        }
    };
    (@forward $features:literal, $isa:ty) => {
        #[target_feature(enable = $features)]
        pub fn forward<Layers: $crate::nnue::simd::Layers, const L1: usize>(
            shape: &$crate::nnue::Shape,
            head: &$crate::nnue::layers::Head,
            own: &[i16; L1],
            other: &[i16; L1],
        ) -> i32 {
            // SAFETY: this function enables the features.
            unsafe { Layers::vector::<$isa, L1>(shape, head, own, other) }
        }
    };
}
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
pub(super) use compiled_for;

/// A byte array aligned to cache lines.
#[repr(C, align(64))]
pub(super) struct Bytes<const N: usize>(pub [u8; N]);

/// Pairwise activation of an accumulator: writes products of the first half's and the second half's sums, clipped at
/// 127, or at 255 if `WIDE`.
///
/// # Safety
/// `out` must have room for `L1 / 2` bytes.
#[inline(always)]
pub(super) unsafe fn multiply_halves<I: Isa, const L1: usize, const WIDE: bool>(sums: &[i16; L1], out: *mut u8) {
    const { assert!(L1.is_multiple_of(128)) };
    let lanes = I::BYTES / 2;
    let (first, second) = (sums.as_ptr(), sums[L1 / 2..].as_ptr());
    for start in (0..L1 / 2).step_by(I::BYTES) {
        // SAFETY: `BYTES` divides half a row, so two i16 vectors of each half are within bounds.
        unsafe {
            let product = |at: usize| {
                let (a, b) = (I::load(first.add(at).cast()), I::load(second.add(at).cast()));
                if WIDE { I::wide_product16(a, b) } else { I::product16(a, b) }
            };
            let bytes = I::clip16(product(start), product(start + lanes));
            I::store(out.add(start), bytes);
        }
    }
}

/// Clipped activation of an accumulator: i16 sums to bytes in 0..=127.
#[inline(always)]
pub(super) unsafe fn clip<I: Isa, const L1: usize>(sums: &[i16; L1], out: &mut Bytes<L1>) {
    const { assert!(L1.is_multiple_of(64)) };
    for start in (0..L1).step_by(I::BYTES) {
        // SAFETY: `BYTES` divides `L1`, so both i16 vectors and the byte vector are within bounds.
        unsafe {
            let low = I::load(sums.as_ptr().add(start).cast());
            let high = I::load(sums.as_ptr().add(start + I::BYTES / 2).cast());
            I::store(out.0.as_mut_ptr().add(start), I::clip16(low, high));
        }
    }
}

/// SCReLU activation of an accumulator: squares of the clipped sums, divided by 128.
#[inline(always)]
pub(super) unsafe fn square<I: Isa, const L1: usize>(sums: &[i16; L1], out: &mut Bytes<L1>) {
    for start in (0..L1).step_by(I::BYTES) {
        // SAFETY: `BYTES` divides `L1`, so both i16 vectors and the byte vector are within bounds.
        unsafe {
            let low = I::load(sums.as_ptr().add(start).cast());
            let high = I::load(sums.as_ptr().add(start + I::BYTES / 2).cast());
            let bytes = I::clip16(I::product16(low, low), I::product16(high, high));
            I::store(out.0.as_mut_ptr().add(start), bytes);
        }
    }
}

/// The sums of a dense layer with `OUT` outputs (or fewer, padded), in the first registers of the result.
///
/// # Safety
/// `input` must point to `inputs` bytes, each at most 127.
#[inline(always)]
pub(super) unsafe fn affine<I: Isa, const OUT: usize>(layer: &Dense, input: *const u8, inputs: usize) -> [I::V; 8] {
    let registers = OUT * 4 / I::BYTES;
    const { assert!(OUT * 4 >= I::BYTES && 8 % (OUT * 4 / I::BYTES) == 0) };
    let packed = layer.packed();
    assert!(packed.weights().len() == OUT * (inputs + 4) && packed.biases().len() == OUT);
    let biases = packed.biases().as_ptr().cast::<u8>();
    let weights = packed.weights().as_ptr().cast();
    // SAFETY: the assertion above checks the lengths of weights and biases; the caller guarantees the input.
    unsafe {
        let mut sums = [I::splat(0); 8];
        if inputs >= SPARSE_FROM {
            add_sparse_products::<I, OUT>(weights, input, inputs / 4, &mut sums);
        } else {
            I::add_products::<OUT>(weights, input, inputs / 4, &mut sums);
        }
        for (r, sum) in sums.iter_mut().enumerate().take(registers) {
            *sum = I::add32(*sum, I::load(biases.add(r * I::BYTES)));
        }
        sums
    }
}

/// The sums of a dense layer with 16 outputs, row by row: every weight is read once, and no input is broadcast.
#[inline(always)]
pub(super) unsafe fn affine_by_rows<I: Isa, const L1: usize>(layer: &Dense, input: &Bytes<L1>) -> [I::V; 8] {
    const { assert!(L1.is_multiple_of(64)) };
    assert!(I::BYTES == 64, "multiplication by rows requires 512-bit registers");
    assert!(layer.weights().len() == 16 * L1 && layer.biases().len() == 16);
    let weights = layer.weights().as_ptr().cast::<u8>();
    // SAFETY: a register contains 64 inputs or weights, and their numbers are multiples of 64; or it contains 16 sums.
    unsafe {
        let mut rows = [I::splat(0); 16];
        for start in (0..L1).step_by(I::BYTES) {
            let x = I::load(input.0.as_ptr().add(start));
            for (output, sum) in rows.iter_mut().enumerate() {
                *sum = I::dot(*sum, x, I::load(weights.add(output * L1 + start)));
            }
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

/// Maximum number of groups of inputs in any architecture: a quarter of the 3072 inputs of SFNNv9.
const MAX_GROUPS: usize = 768;

/// As [`Isa::add_products`], but multiplies only the groups that are not all zero, which are a minority after the first
/// clamp. Lists the groups first.
///
/// # Safety
/// As for [`Isa::add_products`].
#[inline(always)]
unsafe fn add_sparse_products<I: Isa, const OUT: usize>(
    weights: *const u8,
    input: *const u8,
    groups: usize,
    sums: &mut [I::V; 8],
) {
    assert!(groups <= MAX_GROUPS && groups.is_multiple_of(64));
    let mut list = [const { MaybeUninit::<u32>::uninit() }; MAX_GROUPS];
    // SAFETY: the list has room for all groups. Only the `count` entries written are read, and they are valid groups.
    unsafe {
        let count = I::list_nonzero(input, groups, list.as_mut_ptr().cast());
        I::add_listed_products::<OUT>(weights, input, list[..count].assume_init_ref(), sums);
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
