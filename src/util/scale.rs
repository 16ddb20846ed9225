//! Maps 64-bit numbers to a range in proportion.

/// `number * size / 2^64`: uniform numbers become uniform numbers in `0..size`, in the same order.
#[inline]
pub fn scaled(number: u64, size: usize) -> usize {
    let size = size as u64;
    // With 32-bit addresses two products of 64 bits suffice. WebAssembly has no larger ones: it would call a function.
    if cfg!(target_pointer_width = "32") {
        return by_halves(number, size) as usize;
    }
    ((u128::from(number) * u128::from(size)) >> 64) as usize
}

/// [`scaled`] for a size below 2^32. The lower half of the lower product cannot change the result.
#[inline]
fn by_halves(number: u64, size: u64) -> u64 {
    let low = (number & 0xFFFF_FFFF) * size;
    ((number >> 32) * size + (low >> 32)) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::rng::SplitMix64;

    #[test]
    fn products_of_halves_equal_the_whole_product() {
        let mut random = SplitMix64::new(3);
        let edges = [0, 1, u64::from(u32::MAX), 1 << 32, u64::MAX];
        let numbers: Vec<u64> = edges.into_iter().chain((0..1000).map(|_| random.next_u64())).collect();
        for number in numbers {
            for size in [0, 1, 2, 3, 1 << 15, (1 << 15) + 1, u64::from(u32::MAX), random.next_u64() >> 32] {
                let whole = (u128::from(number) * u128::from(size)) >> 64;
                assert_eq!(u128::from(by_halves(number, size)), whole, "{number} of {size}");
            }
        }
    }
}
