//! Tables of parameters on cache line boundaries.

use bytemuck::{Pod, Zeroable};

use crate::util::memory::{Zeroed, zeroed_slice_or_abort};

/// One cache line: the unit in which parameters are stored, so that every row starts on its own.
#[derive(Clone, Copy, Pod, Zeroable, Debug)]
#[repr(C, align(64))]
pub struct CacheLine([u8; 64]);

/// A table of numbers whose first byte lies at a multiple of 64.
pub(super) struct Aligned(Zeroed<CacheLine>);

impl Aligned {
    /// Zeroed room for `bytes` bytes, rounded up to whole cache lines.
    pub fn zeroed(bytes: usize) -> Self {
        let lines = bytes.div_ceil(size_of::<CacheLine>());
        // Large pages where there are any: the transformer is 20 MB or more, read at random.
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
    fn tables_start_on_a_cache_line() {
        for bytes in [1, 64, 100, 5 << 20] {
            let table = Aligned::zeroed(bytes);
            assert_eq!(table.as_slice::<u8>().as_ptr() as usize % 64, 0);
        }
    }
}
