//! 128-bit vectors of WebAssembly. WebAssembly cannot detect features at run time: a module uses these vectors only
//! if it was built with `-C target-feature=+simd128`, and byte dot products only with `+relaxed-simd` in addition.

use std::arch::wasm32::*;

use super::generic::{Isa, compiled_for};

/// The instructions of this kernel.
struct Simd128;

impl Isa for Simd128 {
    type V = v128;
    const BYTES: usize = 16;

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
}

compiled_for! { "simd128", Simd128: update update_all forward }
