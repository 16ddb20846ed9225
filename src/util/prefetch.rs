//! Cache prefetch, on targets that support it.
#![allow(unsafe_code)]

/// Whether the target can prefetch. If it cannot, callers can skip computing the address.
pub const EXISTS: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// Prefetches the cache line of `value`. Does nothing on targets without such an instruction.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults, and the address comes from a live reference.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above; the instruction writes nothing. (The intrinsic is not stable.)
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) value, options(readonly, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = value;
}
