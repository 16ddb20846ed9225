//! The vector kernels of x86 processors: SSE4.1, AVX2, and AVX-512 with or without VNNI.

/// 128-bit vectors: SSSE3 and SSE4.1.
pub mod sse41 {
    use std::arch::x86_64::*;

    use super::super::generic::{Isa, instructions};
    use super::super::vector::compiled_for;

    /// The instructions of this kernel.
    struct Sse41;

    impl Isa for Sse41 {
        type V = __m128i;
        type Narrow = Self;
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
}

/// 256-bit vectors: AVX2.
pub mod avx2 {
    use std::arch::x86_64::*;

    use super::super::generic::{Isa, instructions};
    use super::super::vector::compiled_for;

    /// The instructions of this kernel.
    pub(super) struct Avx2;

    impl Isa for Avx2 {
        type V = __m256i;
        type Narrow = Self;
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
}

/// 512-bit vectors: AVX-512 F and BW, with or without VNNI.
pub mod avx512 {
    use std::arch::x86_64::*;
    use std::marker::PhantomData;

    use super::super::generic::{Isa, instructions};
    use super::super::vector::compiled_for;

    /// The byte dot product, which is the only difference between the two kernels.
    trait Dot {
        /// See [`Isa::BY_ROWS`].
        const BY_ROWS: bool;
        /// See [`Isa::dot`].
        unsafe fn dot(sums: __m512i, x: __m512i, w: __m512i) -> __m512i;
    }

    /// Byte dot products with 16-bit intermediate sums, for processors without VNNI.
    struct Widening;

    impl Dot for Widening {
        const BY_ROWS: bool = false;

        #[inline(always)]
        unsafe fn dot(sums: __m512i, x: __m512i, w: __m512i) -> __m512i {
            // SAFETY: the caller's function enables AVX-512 BW.
            unsafe {
                // Two products fit i16 (2 * 127 * 128 < 32768) but four do not, so the pairs are widened first.
                let pairs = _mm512_maddubs_epi16(x, w);
                _mm512_add_epi32(sums, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)))
            }
        }
    }

    /// The byte dot product of VNNI.
    struct Vnni;

    impl Dot for Vnni {
        const BY_ROWS: bool = true;

        #[inline(always)]
        unsafe fn dot(sums: __m512i, x: __m512i, w: __m512i) -> __m512i {
            // SAFETY: the caller's function enables VNNI.
            unsafe { _mm512_dpbusd_epi32(sums, x, w) }
        }
    }

    /// The instructions of this kernel.
    struct Avx512<D>(PhantomData<D>);

    impl<D: Dot> Isa for Avx512<D> {
        type V = __m512i;
        type Narrow = super::avx2::Avx2;
        const BYTES: usize = 64;
        const REGISTERS: usize = 32;
        const BY_ROWS: bool = D::BY_ROWS;

        instructions! {
            fn load(from: *const u8) -> __m512i {
                _mm512_loadu_si512(from.cast())
            }
            fn store(to: *mut u8, v: __m512i) {
                _mm512_storeu_si512(to.cast(), v);
            }
            fn splat(value: i32) -> __m512i {
                _mm512_set1_epi32(value)
            }
            fn add16(a: __m512i, b: __m512i) -> __m512i {
                _mm512_add_epi16(a, b)
            }
            fn sub16(a: __m512i, b: __m512i) -> __m512i {
                _mm512_sub_epi16(a, b)
            }
            fn product16(a: __m512i, b: __m512i) -> __m512i {
                let (zero, one) = (_mm512_setzero_si512(), _mm512_set1_epi16(127));
                let a = _mm512_min_epi16(_mm512_max_epi16(a, zero), one);
                let b = _mm512_min_epi16(_mm512_max_epi16(b, zero), one);
                _mm512_srli_epi16::<7>(_mm512_mullo_epi16(a, b))
            }
            fn wide_product16(a: __m512i, b: __m512i) -> __m512i {
                // Shifts left by seven, then takes the upper 16 bits of the product: in total a right shift by nine.
                let (zero, one) = (_mm512_setzero_si512(), _mm512_set1_epi16(255));
                let a = _mm512_min_epi16(_mm512_max_epi16(a, zero), one);
                _mm512_mulhi_epi16(_mm512_slli_epi16::<7>(a), _mm512_min_epi16(b, one))
            }
            fn products_of_three(a: __m512i, b: __m512i, w: __m512i) -> __m512i {
                let (zero, one) = (_mm512_setzero_si512(), _mm512_set1_epi16(127));
                let a = _mm512_min_epi16(_mm512_max_epi16(a, zero), one);
                let b = _mm512_min_epi16(_mm512_max_epi16(b, zero), one);
                _mm512_madd_epi16(_mm512_mullo_epi16(a, b), w)
            }
            fn upper16(v: __m512i) -> __m512i { _mm512_srai_epi16::<8>(v) }
            fn raise16(v: __m512i) -> __m512i { _mm512_slli_epi16::<8>(v) }
            fn add32(a: __m512i, b: __m512i) -> __m512i {
                _mm512_add_epi32(a, b)
            }
            fn clip16(a: __m512i, b: __m512i) -> __m512i {
                // Packing works on 128-bit quarters; the permutation puts the eighths in order.
                let bytes = _mm512_packs_epi16(a, b);
                let order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
                _mm512_max_epi8(
                    _mm512_permutexvar_epi64(order, bytes),
                    _mm512_setzero_si512(),
                )
            }
            fn dot(sums: __m512i, x: __m512i, w: __m512i) -> __m512i {
                D::dot(sums, x, w)
            }
            fn store_activated(to: *mut u8, sums: __m512i) {
                let shifted = _mm512_srai_epi32::<6>(sums);
                let positive = _mm512_max_epi32(shifted, _mm512_setzero_si512());
                _mm_storeu_si128(to.cast(), _mm512_cvtsepi32_epi8(positive));
            }
            fn nonzero32(v: __m512i) -> u64 {
                u64::from(_mm512_test_epi32_mask(v, v))
            }
            fn sums_of_rows(rows: [__m512i; 16]) -> __m512i {
                let first = quarters(four(&rows, 0), four(&rows, 4));
                let second = quarters(four(&rows, 8), four(&rows, 12));
                quarters(first, second)
            }
            fn sum32(v: __m512i) -> i32 {
                _mm512_reduce_add_epi32(v)
            }
        }

        #[inline(always)]
        unsafe fn list_nonzero(input: *const u8, groups: usize, list: *mut u32) -> usize {
            // SAFETY: the caller guarantees the instructions and the pointers. Each store writes sixteen entries, but
            // `count <= first`, so the store ends at or before `first + 16`, which is within the list.
            unsafe {
                let mut count = 0;
                let mut numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
                for first in (0..groups).step_by(16) {
                    let bytes = _mm512_loadu_si512(input.add(4 * first).cast());
                    let present = _mm512_test_epi32_mask(bytes, bytes);
                    let listed = _mm512_maskz_compress_epi32(present, numbers);
                    _mm512_storeu_si512(list.add(count).cast(), listed);
                    count += present.count_ones() as usize;
                    numbers = _mm512_add_epi32(numbers, _mm512_set1_epi32(16));
                }
                count
            }
        }
    }

    /// Sums of four registers within each 128 bits: one lane for each register.
    #[inline(always)]
    unsafe fn four(rows: &[__m512i; 16], first: usize) -> __m512i {
        // SAFETY: the caller's function enables AVX-512.
        unsafe {
            let [a, b, c, d] = [rows[first], rows[first + 1], rows[first + 2], rows[first + 3]];
            let ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
            let cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
            _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd))
        }
    }

    /// Adds adjacent 128-bit quarters: the sums of `a` become the lower half, the sums of `b` the upper half.
    #[inline(always)]
    unsafe fn quarters(a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller's function enables AVX-512.
        unsafe {
            let even = _mm512_shuffle_i32x4::<0b10_00_10_00>(a, b);
            let odd = _mm512_shuffle_i32x4::<0b11_01_11_01>(a, b);
            _mm512_add_epi32(even, odd)
        }
    }

    compiled_for! { "popcnt,bmi1,avx512f,avx512bw", Avx512<Widening>: update update_all forward }

    /// The kernels with VNNI.
    pub mod vnni {
        use super::{Avx512, Vnni, compiled_for};
        pub use super::{update, update_all};

        compiled_for! { "popcnt,bmi1,avx512f,avx512bw,avx512vnni", Avx512<Vnni>: forward }
    }
}
