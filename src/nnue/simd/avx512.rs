//! 512-bit vectors: AVX-512 F and BW, with or without VNNI.

use std::arch::x86_64::*;
use std::marker::PhantomData;

use super::generic::{Isa, instructions};
use super::vector::compiled_for;

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
pub(super) mod vnni {
    use super::{Avx512, Vnni, compiled_for};
    pub use super::{update, update_all};

    compiled_for! { "popcnt,bmi1,avx512f,avx512bw,avx512vnni", Avx512<Vnni>: forward }
}
