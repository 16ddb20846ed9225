//! 128-bit vectors: SSSE3 and SSE4.1.

use std::arch::x86_64::*;

use super::generic::{Isa, instructions};
use super::vector::compiled_for;

/// The instructions of this kernel.
struct Sse41;

impl Isa for Sse41 {
    type V = __m128i;
    const BYTES: usize = 16;

    instructions! {
        fn load(from: *const u8) -> __m128i {
            _mm_loadu_si128(from.cast())
        }
        fn store(to: *mut u8, v: __m128i) {
            _mm_storeu_si128(to.cast(), v);
        }
        fn splat(value: i32) -> __m128i {
            _mm_set1_epi32(value)
        }
        fn add16(a: __m128i, b: __m128i) -> __m128i {
            _mm_add_epi16(a, b)
        }
        fn sub16(a: __m128i, b: __m128i) -> __m128i {
            _mm_sub_epi16(a, b)
        }
        fn product16(a: __m128i, b: __m128i) -> __m128i {
            let (zero, one) = (_mm_setzero_si128(), _mm_set1_epi16(127));
            let a = _mm_min_epi16(_mm_max_epi16(a, zero), one);
            let b = _mm_min_epi16(_mm_max_epi16(b, zero), one);
            _mm_srli_epi16::<7>(_mm_mullo_epi16(a, b))
        }
        fn wide_product16(a: __m128i, b: __m128i) -> __m128i {
            // Shifts left by seven, then takes the upper 16 bits of the product: in total a right shift by nine.
            let (zero, one) = (_mm_setzero_si128(), _mm_set1_epi16(255));
            let a = _mm_min_epi16(_mm_max_epi16(a, zero), one);
            _mm_mulhi_epi16(_mm_slli_epi16::<7>(a), _mm_min_epi16(b, one))
        }
        fn products_of_three(a: __m128i, b: __m128i, w: __m128i) -> __m128i {
            let (zero, one) = (_mm_setzero_si128(), _mm_set1_epi16(127));
            let a = _mm_min_epi16(_mm_max_epi16(a, zero), one);
            let b = _mm_min_epi16(_mm_max_epi16(b, zero), one);
            _mm_madd_epi16(_mm_mullo_epi16(a, b), w)
        }
        fn upper16(v: __m128i) -> __m128i { _mm_srai_epi16::<8>(v) }
        fn raise16(v: __m128i) -> __m128i { _mm_slli_epi16::<8>(v) }
        fn add32(a: __m128i, b: __m128i) -> __m128i {
            _mm_add_epi32(a, b)
        }
        fn clip16(a: __m128i, b: __m128i) -> __m128i {
            _mm_max_epi8(_mm_packs_epi16(a, b), _mm_setzero_si128())
        }
        fn dot(sums: __m128i, x: __m128i, w: __m128i) -> __m128i {
            // Two products fit i16 (2 * 127 * 128 < 32768) but four do not, so the pairs are widened first.
            let pairs = _mm_maddubs_epi16(x, w);
            _mm_add_epi32(sums, _mm_madd_epi16(pairs, _mm_set1_epi16(1)))
        }
        fn store_activated(to: *mut u8, sums: __m128i) {
            let words = _mm_packs_epi32(_mm_srai_epi32::<6>(sums), _mm_setzero_si128());
            let bytes = _mm_max_epi8(_mm_packs_epi16(words, words), _mm_setzero_si128());
            to.cast::<i32>().write_unaligned(_mm_cvtsi128_si32(bytes));
        }
        fn nonzero32(v: __m128i) -> u64 {
            let zero = _mm_cmpeq_epi32(v, _mm_setzero_si128());
            u64::from(!_mm_movemask_ps(_mm_castsi128_ps(zero)) as u32 & 0xF)
        }
        fn sum32(v: __m128i) -> i32 {
            let v = _mm_add_epi32(v, _mm_shuffle_epi32::<0b01_00_11_10>(v));
            let v = _mm_add_epi32(v, _mm_shuffle_epi32::<0b10_11_00_01>(v));
            _mm_cvtsi128_si32(v)
        }
    }
}

compiled_for! { "ssse3,sse4.1", Sse41: update update_all forward }
