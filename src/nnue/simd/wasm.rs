//! 128-bit vectors of WebAssembly. WebAssembly cannot detect features at run time: a module uses these vectors only
//! if it was built with `-C target-feature=+simd128`, and byte dot products only with `+relaxed-simd` in addition.

use std::arch::wasm32::*;

use super::generic::Isa;
use super::vector::compiled_for;

/// The instructions of this kernel.
struct Simd128;

impl Isa for Simd128 {
    type V = v128;
    type Narrow = Self;
    const BYTES: usize = 16;
    // Processors of phones and computers have at least sixteen, but V8 loads all rows of a block before it adds them.
    // With eight registers for the sums it spills half of them.
    const REGISTERS: usize = 8;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> v128 {
        // SAFETY: the caller guarantees that the sixteen bytes are valid.
        unsafe { v128_load(from.cast()) }
    }
    #[inline(always)]
    unsafe fn store(to: *mut u8, v: v128) {
        // SAFETY: the caller guarantees that the sixteen bytes are valid.
        unsafe { v128_store(to.cast(), v) }
    }
    #[inline(always)]
    unsafe fn splat(value: i32) -> v128 {
        i32x4_splat(value)
    }
    #[inline(always)]
    unsafe fn add16(a: v128, b: v128) -> v128 {
        i16x8_add(a, b)
    }
    #[inline(always)]
    unsafe fn sub16(a: v128, b: v128) -> v128 {
        i16x8_sub(a, b)
    }
    #[inline(always)]
    unsafe fn product16(a: v128, b: v128) -> v128 {
        let (zero, one) = (i16x8_splat(0), i16x8_splat(127));
        let a = i16x8_min(i16x8_max(a, zero), one);
        let b = i16x8_min(i16x8_max(b, zero), one);
        u16x8_shr(i16x8_mul(a, b), 7)
    }
    #[inline(always)]
    unsafe fn wide_product16(a: v128, b: v128) -> v128 {
        // Both factors are clamped, so the product fits u16.
        let (zero, one) = (i16x8_splat(0), i16x8_splat(255));
        let a = i16x8_min(i16x8_max(a, zero), one);
        let b = i16x8_min(i16x8_max(b, zero), one);
        u16x8_shr(i16x8_mul(a, b), 9)
    }
    #[inline(always)]
    unsafe fn products_of_three(a: v128, b: v128, w: v128) -> v128 {
        let (zero, one) = (i16x8_splat(0), i16x8_splat(127));
        let a = i16x8_min(i16x8_max(a, zero), one);
        let b = i16x8_min(i16x8_max(b, zero), one);
        i32x4_dot_i16x8(i16x8_mul(a, b), w)
    }
    #[inline(always)]
    unsafe fn upper16(v: v128) -> v128 {
        i16x8_shr(v, 8)
    }
    #[inline(always)]
    unsafe fn raise16(v: v128) -> v128 {
        i16x8_shl(v, 8)
    }
    #[inline(always)]
    unsafe fn add32(a: v128, b: v128) -> v128 {
        i32x4_add(a, b)
    }
    #[inline(always)]
    unsafe fn clip16(a: v128, b: v128) -> v128 {
        i8x16_max(i8x16_narrow_i16x8(a, b), i8x16_splat(0))
    }
    /// Relaxed SIMD lets the runtime choose the instruction. Inputs are at most 127, and two products fit i16, so
    /// every choice gives the same sums.
    #[cfg(target_feature = "relaxed-simd")]
    #[inline(always)]
    unsafe fn dot(sums: v128, x: v128, w: v128) -> v128 {
        i32x4_relaxed_dot_i8x16_i7x16_add(w, x, sums)
    }
    #[cfg(not(target_feature = "relaxed-simd"))]
    #[inline(always)]
    unsafe fn dot(sums: v128, x: v128, w: v128) -> v128 {
        // Multiplies even and odd bytes separately. Two products fit i16 (2 * 127 * 128 < 32768) but four do not, so
        // the pairs are widened. `x` is unsigned. The compiler can reuse its even and odd parts for several `w`.
        let even = i16x8_mul(v128_and(x, i16x8_splat(0xFF)), i16x8_shr(i16x8_shl(w, 8), 8));
        let odd = i16x8_mul(u16x8_shr(x, 8), i16x8_shr(w, 8));
        i32x4_add(sums, i32x4_extadd_pairwise_i16x8(i16x8_add(even, odd)))
    }
    #[inline(always)]
    unsafe fn store_activated(to: *mut u8, sums: v128) {
        let shifted = i32x4_shr(sums, 6);
        let words = i16x8_narrow_i32x4(shifted, shifted);
        let bytes = i8x16_max(i8x16_narrow_i16x8(words, words), i8x16_splat(0));
        // SAFETY: the caller guarantees that the four bytes are valid; the store requires no alignment.
        unsafe { v128_store32_lane::<0>(bytes, to.cast()) }
    }
    #[inline(always)]
    unsafe fn nonzero32(v: v128) -> u64 {
        u64::from(i32x4_bitmask(i32x4_ne(v, i32x4_splat(0))))
    }
    #[inline(always)]
    unsafe fn sum32(v: v128) -> i32 {
        let v = i32x4_add(v, i32x4_shuffle::<2, 3, 0, 1>(v, v));
        let v = i32x4_add(v, i32x4_shuffle::<1, 0, 3, 2>(v, v));
        i32x4_extract_lane::<0>(v)
    }
    #[inline(always)]
    unsafe fn list_nonzero(input: *const u8, groups: usize, list: *mut u32) -> usize {
        let mut count = 0;
        // SAFETY: the caller guarantees the pointers. Each step writes eight entries per half, but `count` is at most
        // the number of groups before the half, so that they are within the list.
        unsafe {
            for first in (0..groups).step_by(16) {
                let load = |n: usize| v128_load(input.add(4 * first + 16 * n).cast());
                // Groups of bytes up to 127 are positive numbers, and stay positive when they are narrowed.
                let low = i16x8_narrow_i32x4(load(0), load(1));
                let high = i16x8_narrow_i32x4(load(2), load(3));
                let present = i8x16_bitmask(i8x16_gt(i8x16_narrow_i16x8(low, high), i8x16_splat(0)));
                for (half, present) in present.to_le_bytes().into_iter().enumerate() {
                    let numbers = u16x8_load_extend_u8x8(SET_BITS[usize::from(present)].as_ptr());
                    let numbers = i16x8_add(numbers, i16x8_splat((first + 8 * half) as i16));
                    v128_store(list.add(count).cast(), u32x4_extend_low_u16x8(numbers));
                    v128_store(list.add(count + 4).cast(), u32x4_extend_high_u16x8(numbers));
                    count += present.count_ones() as usize;
                }
            }
        }
        count
    }
    #[cfg(not(target_feature = "relaxed-simd"))]
    #[inline(always)]
    unsafe fn add_products<const OUT: usize>(
        weights: *const u8,
        input: *const u8,
        groups: usize,
        sums: &mut [v128; 8],
    ) {
        // SAFETY: the caller guarantees the pointers and the number of groups.
        unsafe { add_widened_products::<OUT>(weights, input, &ALL_GROUPS[..groups], sums) }
    }
    #[cfg(not(target_feature = "relaxed-simd"))]
    #[inline(always)]
    unsafe fn add_listed_products<const OUT: usize>(
        weights: *const u8,
        input: *const u8,
        list: &[u32],
        sums: &mut [v128; 8],
    ) {
        // SAFETY: the caller guarantees the pointers, and that the listed groups exist.
        unsafe { add_widened_products::<OUT>(weights, input, list, sums) }
    }
}

/// The positions of the bits that are set in a byte, in order.
static SET_BITS: [[u8; 8]; 256] = {
    let mut all = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut left, mut count) = (byte, 0);
        while left != 0 {
            all[byte][count] = left.trailing_zeros() as u8;
            left &= left - 1;
            count += 1;
        }
        byte += 1;
    }
    all
};

/// The numbers of the groups of a layer that is not sparse.
#[cfg(not(target_feature = "relaxed-simd"))]
static ALL_GROUPS: [u32; 64] = {
    let mut all = [0; 64];
    let mut group = 0;
    while group < 64 {
        all[group] = group as u32;
        group += 1;
    }
    all
};

/// The sums of sixteen outputs. Each has two lanes, for the even and the odd pairs of inputs.
#[cfg(not(target_feature = "relaxed-simd"))]
type PairSums = [[v128; 2]; 4];

/// Adds the products of the listed groups of four inputs as numbers of 16 bits. Without byte dot products, this takes
/// fewer instructions than [`Isa::dot`].
///
/// # Safety
/// The groups must exist, and have `OUT * 4` bytes of weights.
#[cfg(not(target_feature = "relaxed-simd"))]
#[inline(always)]
unsafe fn add_widened_products<const OUT: usize>(
    weights: *const u8,
    input: *const u8,
    list: &[u32],
    sums: &mut [v128; 8],
) {
    for (block, sums) in sums[..OUT / 4].chunks_exact_mut(4).enumerate() {
        let mut pairs: PairSums = [[i32x4_splat(0); 2]; 4];
        // One group at a time: V8 loads the weights of all groups of a step first, and spills them if there are two.
        for &group in list {
            let group = group as usize;
            // SAFETY: the caller guarantees that the group exists.
            unsafe { add_widened_group(&mut pairs, input.add(4 * group), weights.add(group * OUT * 4 + 64 * block)) }
        }
        for (sum, [low, high]) in sums.iter_mut().zip(pairs) {
            let even = i32x4_shuffle::<0, 2, 4, 6>(low, high);
            let odd = i32x4_shuffle::<1, 3, 5, 7>(low, high);
            *sum = i32x4_add(*sum, i32x4_add(even, odd));
        }
    }
}

/// Adds the products of four inputs with the weights of sixteen outputs.
#[cfg(not(target_feature = "relaxed-simd"))]
#[inline(always)]
unsafe fn add_widened_group(pairs: &mut PairSums, input: *const u8, weights: *const u8) {
    // SAFETY: the caller guarantees four inputs and 64 weights.
    unsafe {
        let x = u16x8_extend_low_u8x16(v128_load32_splat(input.cast()));
        for (r, [low, high]) in pairs.iter_mut().enumerate() {
            let weights = weights.add(16 * r).cast::<i8>();
            *low = i32x4_add(*low, i32x4_dot_i16x8(x, i16x8_load_extend_i8x8(weights)));
            *high = i32x4_add(*high, i32x4_dot_i16x8(x, i16x8_load_extend_i8x8(weights.add(8))));
        }
    }
}

compiled_for! { "simd128", Simd128: update update_all forward }
