//! 128-bit vectors of ARM: plain NEON, or with byte dot products.

use std::arch::aarch64::*;
use std::marker::PhantomData;

use super::generic::{Isa, instructions};
use super::vector::compiled_for;

/// The byte dot product, which is the only difference between the two kernels.
trait Dot {
    /// See [`Isa::dot`].
    unsafe fn dot(sums: int32x4_t, x: int8x16_t, w: int8x16_t) -> int32x4_t;
}

/// Byte dot products with 16-bit intermediate sums, for processors without `dotprod`.
struct Widening;

impl Dot for Widening {
    #[inline(always)]
    unsafe fn dot(sums: int32x4_t, x: int8x16_t, w: int8x16_t) -> int32x4_t {
        // SAFETY: the caller's function enables NEON.
        unsafe {
            // Two products fit i16 (2 * 127 * 128 < 32768) but four do not, so the pairs are widened first.
            let low = vmull_s8(vget_low_s8(x), vget_low_s8(w));
            let high = vmull_high_s8(x, w);
            vpadalq_s16(sums, vpaddq_s16(low, high))
        }
    }
}

/// The byte dot product of ARMv8.2. `i8mm` would not help: inputs of at most 127 fit signed bytes, and its matrix
/// products need two input vectors at a time, but a network has one.
struct Sdot;

impl Dot for Sdot {
    #[inline(always)]
    unsafe fn dot(mut sums: int32x4_t, x: int8x16_t, w: int8x16_t) -> int32x4_t {
        // SAFETY: the caller's function enables the feature; the instruction accesses only registers. (The intrinsic
        // `vdotq_s32` is not stable.)
        unsafe {
            std::arch::asm!(
                "sdot {sums:v}.4s, {x:v}.16b, {w:v}.16b",
                sums = inout(vreg) sums,
                x = in(vreg) x,
                w = in(vreg) w,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        sums
    }
}

/// The instructions of this kernel.
struct Neon<D>(PhantomData<D>);

impl<D: Dot> Isa for Neon<D> {
    type V = int32x4_t;
    type Narrow = Self;
    const BYTES: usize = 16;
    const REGISTERS: usize = 32;

    instructions! {
        fn load(from: *const u8) -> int32x4_t { vreinterpretq_s32_u8(vld1q_u8(from)) }
        fn store(to: *mut u8, v: int32x4_t) {
            vst1q_u8(to, vreinterpretq_u8_s32(v));
        }
        fn splat(value: i32) -> int32x4_t { vdupq_n_s32(value) }
        fn add16(a: int32x4_t, b: int32x4_t) -> int32x4_t {
            vreinterpretq_s32_s16(vaddq_s16(
                vreinterpretq_s16_s32(a),
                vreinterpretq_s16_s32(b),
            ))
        }
        fn sub16(a: int32x4_t, b: int32x4_t) -> int32x4_t {
            vreinterpretq_s32_s16(vsubq_s16(
                vreinterpretq_s16_s32(a),
                vreinterpretq_s16_s32(b),
            ))
        }
        fn product16(a: int32x4_t, b: int32x4_t) -> int32x4_t {
            let (zero, one) = (vdupq_n_s16(0), vdupq_n_s16(127));
            let a = vminq_s16(vmaxq_s16(vreinterpretq_s16_s32(a), zero), one);
            let b = vminq_s16(vmaxq_s16(vreinterpretq_s16_s32(b), zero), one);
            vreinterpretq_s32_s16(vshrq_n_s16::<7>(vmulq_s16(a, b)))
        }
        fn wide_product16(a: int32x4_t, b: int32x4_t) -> int32x4_t {
            // Shifts left by six, then takes the upper 16 bits of the doubled product: in total a right shift by nine.
            let (zero, one) = (vdupq_n_s16(0), vdupq_n_s16(255));
            let a = vminq_s16(vmaxq_s16(vreinterpretq_s16_s32(a), zero), one);
            let b = vminq_s16(vreinterpretq_s16_s32(b), one);
            vreinterpretq_s32_s16(vqdmulhq_s16(vshlq_n_s16::<6>(a), b))
        }
        fn products_of_three(a: int32x4_t, b: int32x4_t, w: int32x4_t) -> int32x4_t {
            let (zero, one) = (vdupq_n_s16(0), vdupq_n_s16(127));
            let a = vminq_s16(vmaxq_s16(vreinterpretq_s16_s32(a), zero), one);
            let b = vminq_s16(vmaxq_s16(vreinterpretq_s16_s32(b), zero), one);
            let (units, w) = (vmulq_s16(a, b), vreinterpretq_s16_s32(w));
            // The lanes hold other pairs than on x86, with the same total.
            let low = vmull_s16(vget_low_s16(units), vget_low_s16(w));
            vaddq_s32(low, vmull_high_s16(units, w))
        }
        fn upper16(v: int32x4_t) -> int32x4_t {
            vreinterpretq_s32_s16(vshrq_n_s16::<8>(vreinterpretq_s16_s32(v)))
        }
        fn raise16(v: int32x4_t) -> int32x4_t {
            vreinterpretq_s32_s16(vshlq_n_s16::<8>(vreinterpretq_s16_s32(v)))
        }
        fn add32(a: int32x4_t, b: int32x4_t) -> int32x4_t { vaddq_s32(a, b) }
        fn clip16(a: int32x4_t, b: int32x4_t) -> int32x4_t {
            let low = vqmovn_s16(vreinterpretq_s16_s32(a));
            let bytes = vqmovn_high_s16(low, vreinterpretq_s16_s32(b));
            vreinterpretq_s32_s8(vmaxq_s8(bytes, vdupq_n_s8(0)))
        }
        fn dot(sums: int32x4_t, x: int32x4_t, w: int32x4_t) -> int32x4_t {
            D::dot(sums, vreinterpretq_s8_s32(x), vreinterpretq_s8_s32(w))
        }
        fn store_activated(to: *mut u8, sums: int32x4_t) {
            let words = vqshrn_n_s32::<6>(sums);
            let bytes = vqmovn_s16(vcombine_s16(words, words));
            let bytes = vreinterpret_s32_s8(vmax_s8(bytes, vdup_n_s8(0)));
            to.cast::<i32>().write_unaligned(vget_lane_s32::<0>(bytes));
        }
        fn nonzero32(v: int32x4_t) -> u64 {
            let weights = vld1q_u32([1, 2, 4, 8].as_ptr());
            u64::from(vaddvq_u32(vandq_u32(vtstq_s32(v, v), weights)))
        }
        fn sum32(v: int32x4_t) -> i32 { vaddvq_s32(v) }
    }
}

compiled_for! { "neon", Neon<Widening>: update update_all forward }

/// The kernels with byte dot products.
pub(super) mod dotprod {
    use super::{Neon, Sdot, compiled_for};
    pub use super::{update, update_all};

    compiled_for! { "neon,dotprod", Neon<Sdot>: forward }
}
