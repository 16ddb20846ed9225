//! Large zeroed tables: allocation that can fail, on large pages where the system has them.
//!
//! `Box<[T]>` will not do: for an alignment above 16 bytes the standard allocator fills the memory with zeros
//! itself, which takes ten seconds for a table of 20 GiB and touches every page before it could become a large one.
//! So the memory is asked for with a small alignment, which comes lazily zeroed from the system, and aligned here.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use bytemuck::Zeroable;

/// Size and alignment of a large page.
const HUGE_PAGE: usize = 2 << 20;

/// An owned slice of elements that began as zeros.
pub struct Zeroed<T> {
    /// What the allocator gave.
    memory: NonNull<u8>,
    layout: Layout,
    /// The first element: inside `memory`, aligned.
    first: NonNull<T>,
    len: usize,
    owned: PhantomData<T>,
}

// SAFETY: a `Zeroed<T>` owns its elements as a `Box<[T]>` does.
unsafe impl<T: Send> Send for Zeroed<T> {}
// SAFETY: as above; shared access gives `&[T]` only.
unsafe impl<T: Sync> Sync for Zeroed<T> {}

/// A zeroed slice of `len` elements, or `None` when the system has not that much memory.
pub fn zeroed_slice<T: Zeroable>(len: usize) -> Option<Zeroed<T>> {
    const { assert!(!std::mem::needs_drop::<T>() && size_of::<T>() > 0) };
    let bytes = len.checked_mul(size_of::<T>())?;
    // Small tables need no large pages, only their own alignment.
    let align = if bytes >= 2 * HUGE_PAGE {
        HUGE_PAGE
    } else {
        align_of::<T>()
    };
    let layout = Layout::from_size_align(bytes.checked_add(align)?, 1).ok()?;
    // SAFETY: the size is at least `align`, which is not zero.
    let memory = NonNull::new(unsafe { alloc_zeroed(layout) })?;
    let offset = memory.align_offset(align);
    assert!(
        offset < align,
        "an address can be aligned by less than the alignment"
    );
    // SAFETY: `offset < align` and the allocation has `bytes + align` bytes.
    let first = unsafe { memory.add(offset) }.cast();
    advise_huge_pages(first.as_ptr() as usize, bytes);
    Some(Zeroed {
        memory,
        layout,
        first,
        len,
        owned: PhantomData,
    })
}

/// A zeroed slice without which the program cannot go on.
pub fn zeroed_slice_or_abort<T: Zeroable>(len: usize) -> Zeroed<T> {
    let layout = || Layout::array::<T>(len).unwrap_or(Layout::new::<T>());
    zeroed_slice(len).unwrap_or_else(|| handle_alloc_error(layout()))
}

impl<T> Deref for Zeroed<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `first` is aligned and followed by `len` elements in one live allocation; all bytes were zeroed,
        // which is a valid `T` (it was made under `T: Zeroable`), and only `deref_mut` writes.
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

/// Tells Linux that the inner pages of a live range may become large pages: fewer TLB misses in the transposition
/// table. Advice only: nothing depends on the answer.
fn advise_huge_pages(address: usize, bytes: usize) {
    // Miri has no such call.
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        let start = address.next_multiple_of(HUGE_PAGE);
        let end = (address + bytes) / HUGE_PAGE * HUGE_PAGE;
        if start < end {
            // SAFETY: the caller's range is a live allocation, and MADV_HUGEPAGE changes how it is backed, never
            // what it holds.
            unsafe {
                libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE);
            }
        }
    }
    #[cfg(any(not(target_os = "linux"), miri))]
    let _ = (address, bytes);
}

/// Bytes of memory that the process can get without swapping, where the system tells: what is free, within the limits
/// of the process and of its control group.
pub fn available_bytes() -> Option<usize> {
    let free = || kib_field(&read("/proc/meminfo")?, "MemAvailable:");
    [free(), address_space_left(), group_bytes_left()]
        .into_iter()
        .flatten()
        .min()
}

/// Bytes that the process may still map under its own limits (`ulimit -v`, `ulimit -d`), stacks of threads included;
/// `None` where there is no limit.
pub fn address_space_left() -> Option<usize> {
    let (limits, status) = (read("/proc/self/limits")?, read("/proc/self/status")?);
    let left = |limit: &str, used: &str| {
        let line = limits.lines().find_map(|line| line.strip_prefix(limit))?;
        let limit: usize = line.split_whitespace().next()?.parse().ok()?;
        Some(limit.saturating_sub(kib_field(&status, used)?))
    };
    let spaces = [
        left("Max address space", "VmSize:"),
        left("Max data size", "VmData:"),
    ];
    spaces.into_iter().flatten().min()
}

/// Bytes left under the limit of the control group (version 2), as a container has one. Its page cache can be dropped.
fn group_bytes_left() -> Option<usize> {
    let groups = read("/proc/self/cgroup")?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let file = |name: &str| {
        read(&format!(
            "/sys/fs/cgroup{}/{name}",
            group.trim_end_matches('/')
        ))
    };
    let number = |name: &str| file(name)?.trim().parse::<usize>().ok();
    let (most, used) = (number("memory.max")?, number("memory.current")?);
    let stat = file("memory.stat")?;
    let cache = stat.lines().find_map(|line| line.strip_prefix("file "));
    let cache: usize = cache?.trim().parse().ok()?;
    Some(most.saturating_sub(used.saturating_sub(cache)))
}

/// A small text file of the system; `None` where there is none.
fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// The bytes of a line `NAME  123 kB`.
fn kib_field(text: &str, name: &str) -> Option<usize> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// Lets all threads allocate from one arena. The C library reserves 64 MiB of address space for the arena of each new
/// thread; under a limit of address space, tables need it more.
pub fn share_one_arena() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: `mallopt` changes a setting of the allocator and may be called at any time.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Zeroable)]
    #[repr(C, align(64))]
    struct CacheLine([u8; 64]);

    #[test]
    fn slices_are_zeroed_aligned_and_writable() {
        // Miri takes seconds for a thousand.
        let most = if cfg!(miri) { 2000 } else { 100_000 };
        for len in [0, 1, 1000, most] {
            let mut slice: Zeroed<CacheLine> = zeroed_slice_or_abort(len);
            assert_eq!(slice.len(), len);
            assert_eq!(slice.as_ptr() as usize % 64, 0);
            assert!(slice.iter().all(|line| line.0 == [0; 64]));
            slice.iter_mut().for_each(|line| line.0 = [7; 64]);
            assert!(slice.iter().all(|line| line.0 == [7; 64]));
        }
    }

    #[test]
    fn fields_are_read_in_kib() {
        let text = "MemFree:  1 kB\nMemAvailable:    20 kB\n";
        assert_eq!(kib_field(text, "MemAvailable:"), Some(20 << 10));
        assert_eq!(kib_field(text, "VmSize:"), None);
    }

    #[test]
    fn too_much_is_refused() {
        assert!(zeroed_slice::<CacheLine>(usize::MAX / 64).is_none());
        assert!(zeroed_slice::<CacheLine>(usize::MAX).is_none());
    }
}
