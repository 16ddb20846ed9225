//! Large zeroed tables: allocation that can fail, on large pages where the system has them.
#![allow(unsafe_code)]

use bytemuck::Zeroable;

/// A zeroed slice of `len` elements, or `None` when the system has not that much memory.
pub fn zeroed_slice<T: Zeroable>(len: usize) -> Option<Box<[T]>> {
    let slice = bytemuck::allocation::try_zeroed_slice_box(len).ok()?;
    advise_huge_pages(&slice);
    Some(slice)
}

/// Tells Linux that the inner pages of `slice` may become large pages: fewer TLB misses in the
/// transposition table. Advice only: nothing depends on the answer.
fn advise_huge_pages<T>(slice: &[T]) {
    #[cfg(target_os = "linux")]
    {
        const HUGE_PAGE: usize = 2 << 20;
        let start = (slice.as_ptr() as usize).next_multiple_of(HUGE_PAGE);
        let end = (slice.as_ptr() as usize + size_of_val(slice)) / HUGE_PAGE * HUGE_PAGE;
        if start < end {
            // SAFETY: the range lies inside a live allocation, and MADV_HUGEPAGE changes how it
            // is backed, never what it holds.
            unsafe {
                libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE);
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = slice;
}

/// Bytes of memory that the system could give without swapping, where it tells.
pub fn available_bytes() -> Option<usize> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = info
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}
