//! Large zeroed tables: fallible allocation, with large pages where the system supports them; and prefetches.
//!
//! `Box<[T]>` is unsuitable: for alignments above 16 bytes the standard allocator writes the zeros itself. This takes
//! ten seconds for a table of 20 GiB, and touches every page before it can become a large page. This module therefore
//! allocates with a small alignment, for which the system zeroes pages lazily, and aligns the table within.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use bytemuck::Zeroable;

/// Size and alignment of a large page.
const HUGE_PAGE: usize = 2 << 20;

/// An owned slice whose elements are initially zero.
pub struct Zeroed<T> {
    /// Start of the allocation.
    memory: NonNull<u8>,
    layout: Layout,
    /// The first element, at an aligned address within the allocation.
    first: NonNull<T>,
    len: usize,
    owned: PhantomData<T>,
}

// SAFETY: a `Zeroed<T>` owns its elements as a `Box<[T]>` does.
unsafe impl<T: Send> Send for Zeroed<T> {}
// SAFETY: as above; shared access provides only `&[T]`.
unsafe impl<T: Sync> Sync for Zeroed<T> {}

/// Allocates a zeroed slice of `len` elements. Returns `None` if the system does not have enough memory.
pub fn zeroed_slice<T: Zeroable>(len: usize) -> Option<Zeroed<T>> {
    const { assert!(!std::mem::needs_drop::<T>() && size_of::<T>() > 0) };
    let bytes = len.checked_mul(size_of::<T>())?;
    // Small tables need only the alignment of their elements, not large pages.
    let align = if bytes >= 2 * HUGE_PAGE { HUGE_PAGE } else { align_of::<T>() };
    let layout = Layout::from_size_align(bytes.checked_add(align)?, 1).ok()?;
    // SAFETY: the size is at least `align`, which is not zero.
    let memory = NonNull::new(unsafe { alloc_zeroed(layout) })?;
    let offset = memory.align_offset(align);
    assert!(offset < align, "the offset to an aligned address is below the alignment");
    // SAFETY: `offset < align` and the allocation has `bytes + align` bytes.
    let first = unsafe { memory.add(offset) }.cast();
    advise_huge_pages(first.as_ptr() as usize, bytes);
    Some(Zeroed { memory, layout, first, len, owned: PhantomData })
}

/// Allocates a zeroed slice of `len` elements, and aborts the process if memory is insufficient.
pub fn zeroed_slice_or_abort<T: Zeroable>(len: usize) -> Zeroed<T> {
    let layout = || Layout::array::<T>(len).unwrap_or(Layout::new::<T>());
    zeroed_slice(len).unwrap_or_else(|| handle_alloc_error(layout()))
}

impl<T> Deref for Zeroed<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `first` is aligned and points to `len` elements in one live allocation. All bytes were zeroed, which
        // is a valid `T` because `zeroed_slice` requires `T: Zeroable`. Only `deref_mut` allows writes.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for Zeroed<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`; `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr(), self.len) }
    }
}

impl<T> Drop for Zeroed<T> {
    fn drop(&mut self) {
        // SAFETY: `memory` was allocated with this layout and is freed only here; the elements need no drop.
        unsafe { dealloc(self.memory.as_ptr(), self.layout) }
    }
}

/// Advises Linux to use large pages within a live range, which reduces TLB misses in the transposition table. Ignores
/// the result, because correctness does not depend on it.
fn advise_huge_pages(address: usize, bytes: usize) {
    // Miri does not support `madvise`.
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        let start = address.next_multiple_of(HUGE_PAGE);
        let end = (address + bytes) / HUGE_PAGE * HUGE_PAGE;
        if start < end {
            // SAFETY: the caller's range is a live allocation. MADV_HUGEPAGE changes its backing pages, not its
            // content.
            unsafe {
                libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE);
            }
        }
    }
    #[cfg(any(not(target_os = "linux"), miri))]
    let _ = (address, bytes);
}

/// Memory in bytes that the process can allocate without swapping: the system's free memory, within the limits of the
/// process and of its control group. `None` if it cannot be determined.
pub fn available_bytes() -> Option<usize> {
    let free = || kib_field(&read("/proc/meminfo")?, "MemAvailable:");
    [free(), address_space_left(), cgroup_bytes_left()].into_iter().flatten().min()
}

/// Address space in bytes that the process may still map under its limits (`ulimit -v`, `ulimit -d`), thread stacks
/// included. `None` if there is no limit.
pub fn address_space_left() -> Option<usize> {
    let (limits, status) = (read("/proc/self/limits")?, read("/proc/self/status")?);
    let remaining = |limit: &str, used: &str| {
        let line = limits.lines().find_map(|line| line.strip_prefix(limit))?;
        let limit: usize = line.split_whitespace().next()?.parse().ok()?;
        Some(limit.saturating_sub(kib_field(&status, used)?))
    };
    let spaces = [remaining("Max address space", "VmSize:"), remaining("Max data size", "VmData:")];
    spaces.into_iter().flatten().min()
}

/// Remaining bytes under the memory limit of the control group (version 2), which containers use. Page cache counts as
/// available, because the kernel can drop it.
fn cgroup_bytes_left() -> Option<usize> {
    let groups = read("/proc/self/cgroup")?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let file = |name: &str| read(&format!("/sys/fs/cgroup{}/{name}", group.trim_end_matches('/')));
    let number = |name: &str| file(name)?.trim().parse::<usize>().ok();
    let (limit, used) = (number("memory.max")?, number("memory.current")?);
    let stat = file("memory.stat")?;
    let cache = stat.lines().find_map(|line| line.strip_prefix("file "));
    let cache: usize = cache?.trim().parse().ok()?;
    Some(limit.saturating_sub(used.saturating_sub(cache)))
}

/// Reads a small text file of the system; `None` if it cannot be read.
fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// The size in bytes from a line `NAME  123 kB`.
fn kib_field(text: &str, name: &str) -> Option<usize> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// Makes all threads allocate from a single arena. By default glibc reserves 64 MiB of address space for the arena of
/// each new thread. If the address space is limited, the tables need this space.
pub fn share_one_arena() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: `mallopt` changes a setting of the allocator and may be called at any time.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

// Cache prefetch, on targets that support it.

/// Whether the target can prefetch. If it cannot, callers can skip computing the address.
pub const CAN_PREFETCH: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Zeroable)]
    #[repr(C, align(64))]
    struct CacheLine([u8; 64]);

    #[test]
    fn zeroed_slice_is_zeroed_aligned_and_writable() {
        // Miri takes seconds for a thousand elements.
        let max_len = if cfg!(miri) { 2000 } else { 100_000 };
        for len in [0, 1, 1000, max_len] {
            let mut slice: Zeroed<CacheLine> = zeroed_slice_or_abort(len);
            assert_eq!(slice.len(), len);
            assert_eq!(slice.as_ptr() as usize % 64, 0);
            assert!(slice.iter().all(|line| line.0 == [0; 64]));
            slice.iter_mut().for_each(|line| line.0 = [7; 64]);
            assert!(slice.iter().all(|line| line.0 == [7; 64]));
        }
    }

    #[test]
    fn kib_field_returns_bytes() {
        let text = "MemFree:  1 kB\nMemAvailable:    20 kB\n";
        assert_eq!(kib_field(text, "MemAvailable:"), Some(20 << 10));
        assert_eq!(kib_field(text, "VmSize:"), None);
    }

    #[test]
    fn zeroed_slice_returns_none_for_impossible_size() {
        assert!(zeroed_slice::<CacheLine>(usize::MAX / 64).is_none());
        assert!(zeroed_slice::<CacheLine>(usize::MAX).is_none());
    }
}
