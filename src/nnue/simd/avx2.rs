//! 256-bit vectors: AVX2.

use std::arch::x86_64::*;

use super::generic::{Isa, instructions};
use super::vector::compiled_for;

/// The instructions of this kernel.
struct Avx2;

impl Isa for Avx2 {
    type V = __m256i;
    const BYTES: usize = 32;

    instructions! {
        fn load(from: *const u8) -> __m256i {
            _mm256_loadu_si256(from.cast())
        }
        fn store(to: *mut u8, v: __m256i) {
            _mm256_storeu_si256(to.cast(), v);
        }
        fn splat(value: i32) -> __m256i {
            _mm256_set1_epi32(value)
        }
        fn add16(a: __m256i, b: __m256i) -> __m256i {
            _mm256_add_epi16(a, b)
        }
        fn sub16(a: __m256i, b: __m256i) -> __m256i {
            _mm256_sub_epi16(a, b)
        }
        fn product16(a: __m256i, b: __m256i) -> __m256i {
            let (zero, one) = (_mm256_setzero_si256(), _mm256_set1_epi16(127));
            let a = _mm256_min_epi16(_mm256_max_epi16(a, zero), one);
            let b = _mm256_min_epi16(_mm256_max_epi16(b, zero), one);
            _mm256_srli_epi16::<7>(_mm256_mullo_epi16(a, b))
        }
        fn wide_product16(a: __m256i, b: __m256i) -> __m256i {
            // Shifts left by seven, then takes the upper 16 bits of the product: in total a right shift by nine.
            let (zero, one) = (_mm256_setzero_si256(), _mm256_set1_epi16(255));
            let a = _mm256_min_epi16(_mm256_max_epi16(a, zero), one);
            _mm256_mulhi_epi16(_mm256_slli_epi16::<7>(a), _mm256_min_epi16(b, one))
        }
        fn products_of_three(a: __m256i, b: __m256i, w: __m256i) -> __m256i {
            let (zero, one) = (_mm256_setzero_si256(), _mm256_set1_epi16(127));
            let a = _mm256_min_epi16(_mm256_max_epi16(a, zero), one);
            let b = _mm256_min_epi16(_mm256_max_epi16(b, zero), one);
            _mm256_madd_epi16(_mm256_mullo_epi16(a, b), w)
        }
        fn upper16(v: __m256i) -> __m256i { _mm256_srai_epi16::<8>(v) }
        fn raise16(v: __m256i) -> __m256i { _mm256_slli_epi16::<8>(v) }
        fn add32(a: __m256i, b: __m256i) -> __m256i {
            _mm256_add_epi32(a, b)
        }
        fn clip16(a: __m256i, b: __m256i) -> __m256i {
            // Packing works on 128-bit halves; the permutation puts the quarters in order.
            let bytes = _mm256_packs_epi16(a, b);
            let bytes = _mm256_permute4x64_epi64::<0b11_01_10_00>(bytes);
            _mm256_max_epi8(bytes, _mm256_setzero_si256())
        }
        fn dot(sums: __m256i, x: __m256i, w: __m256i) -> __m256i {
            // Two products fit i16 (2 * 127 * 128 < 32768) but four do not, so the pairs are widened first.
            let pairs = _mm256_maddubs_epi16(x, w);
            _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
        }
        fn store_activated(to: *mut u8, sums: __m256i) {
            let shifted = _mm256_srai_epi32::<6>(sums);
            let (low, high) = (
                _mm256_castsi256_si128(shifted),
                _mm256_extracti128_si256::<1>(shifted),
            );
            let words = _mm_packs_epi32(low, high);
            let bytes = _mm_max_epi8(_mm_packs_epi16(words, words), _mm_setzero_si128());
            _mm_storel_epi64(to.cast(), bytes);
        }
        fn nonzero32(v: __m256i) -> u64 {
            let zero = _mm256_cmpeq_epi32(v, _mm256_setzero_si256());
            u64::from(!_mm256_movemask_ps(_mm256_castsi256_ps(zero)) as u32 & 0xFF)
        }
        fn sum32(v: __m256i) -> i32 {
            let v = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v));
            let v = _mm_add_epi32(v, _mm_shuffle_epi32::<0b01_00_11_10>(v));
            let v = _mm_add_epi32(v, _mm_shuffle_epi32::<0b10_11_00_01>(v));
            _mm_cvtsi128_si32(v)
        }
    }
}

compiled_for! { "popcnt,bmi1,avx2", Avx2: update update_all forward }
