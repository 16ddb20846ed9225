//! SplitMix64: a small random number generator with a seed, and the mapping of numbers to a range. The output is the
//! same on every platform.

// CITE: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.

/// Weyl increment of the generator: 2^64 divided by the golden ratio.
const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// A SplitMix64 generator.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A random number in `0..bound`; `bound` must not be zero.
    pub fn below(&mut self, bound: usize) -> usize {
        scaled(self.next_u64(), bound)
    }

    /// A random number from 0 (inclusive) to 1 (exclusive).
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A number that differs between runs and between calls. Used as a seed if the user gave none.
pub fn arbitrary() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(0)
}

// Maps 64-bit numbers to a range in proportion.

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

    #[test]
    fn first_outputs_match_reference_implementation() {
        let mut rng = SplitMix64::new(0);
        assert_eq!(rng.next_u64(), 0xE220_A839_7B1D_CDAF);
        assert_eq!(rng.next_u64(), 0x6E78_9E6A_A1B9_65F4);
    }

    #[test]
    fn unit_stays_in_its_range_and_has_the_right_mean() {
        let mut rng = SplitMix64::new(3);
        let numbers: Vec<f64> = (0..10_000).map(|_| rng.unit()).collect();
        assert!(numbers.iter().all(|number| (0.0..1.0).contains(number)));
        let mean = numbers.iter().sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
    }

    #[test]
    fn below_returns_every_number_under_the_bound() {
        let mut rng = SplitMix64::new(7);
        let mut seen = [false; 10];
        for _ in 0..1000 {
            seen[rng.below(10)] = true;
        }
        assert!(seen.iter().all(|&s| s));
    }
}

#[cfg(test)]
mod scale_tests {
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
