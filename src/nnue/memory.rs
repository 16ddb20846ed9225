//! Tables of parameters aligned to cache lines.

use bytemuck::{Pod, Zeroable};

use crate::util::memory::{Zeroed, zeroed_slice_or_abort};

/// One cache line. Parameters are stored in this unit, so every row starts on a cache line.
#[derive(Clone, Copy, Pod, Zeroable, Debug)]
#[repr(C, align(64))]
pub struct CacheLine([u8; 64]);

impl CacheLine {
    /// All zero.
    pub const ZERO: Self = Self([0; 64]);
}

/// A table of numbers aligned to 64 bytes.
pub(super) struct Aligned(Zeroed<CacheLine>);

impl Aligned {
    /// A zeroed table of `bytes` bytes, rounded up to whole cache lines.
    pub fn zeroed(bytes: usize) -> Self {
        let lines = bytes.div_ceil(size_of::<CacheLine>());
        // Uses large pages where available: the transformer has 20 MB or more and is read at random.
        Self(zeroed_slice_or_abort(lines))
    }

    pub fn as_slice<T: Pod>(&self) -> &[T] {
        bytemuck::cast_slice(&self.0)
    }

    pub fn as_mut_slice<T: Pod>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_starts_on_a_cache_line() {
        for bytes in [1, 64, 100, 5 << 20] {
            let table = Aligned::zeroed(bytes);
            assert_eq!(table.as_slice::<u8>().as_ptr() as usize % 64, 0);
        }
    }
}
