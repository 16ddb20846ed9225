//! Random permutations that need no memory, for the order of records and chunks.
//!
//! Shuffling hundreds of millions of records in place takes a minute per epoch, and a resumed run must repeat it. A
//! keyed bijection of `0..len` computes any element of any epoch directly, from any thread.
// CITE: Luby and Rackoff, "How to construct pseudorandom permutations", 1988; Black and Rogaway, "Ciphers with
// arbitrary finite domains", 2002, for walking along the cycle until the number is in range.

use crate::util::rng::SplitMix64;

/// Rounds of the Feistel network. Four make a pseudorandom permutation if the round function is random; six are also
/// enough for small domains.
const ROUNDS: usize = 6;

/// A permutation of `0..len`.
#[derive(Clone, Debug)]
pub struct Order {
    len: u64,
    /// Bits of the right half; the left half has as many, or one fewer.
    right_bits: u32,
    left_bits: u32,
    keys: [u64; ROUNDS],
}

impl Order {
    /// Creates the permutation of epoch number `epoch` in a run with this seed.
    pub fn new(len: u64, seed: u64, epoch: u64) -> Self {
        let bits = u64::BITS - len.saturating_sub(1).leading_zeros();
        let right_bits = bits.div_ceil(2).max(1);
        let mut rng = SplitMix64::new(seed ^ epoch.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        Self { len, right_bits, left_bits: bits.max(2) - right_bits, keys: std::array::from_fn(|_| rng.next_u64()) }
    }

    /// The element at `place`, which must be less than the length.
    #[inline]
    pub fn at(&self, place: u64) -> u64 {
        debug_assert!(place < self.len);
        let mut number = place;
        // Less than half of the domain is out of range, so that two steps suffice on average.
        loop {
            number = self.permuted(number);
            if number < self.len {
                return number;
            }
        }
    }

    /// Permutes the numbers of `left_bits + right_bits` bits. Each round adds a hash of one half to the other, which is
    /// reversible.
    #[inline]
    fn permuted(&self, number: u64) -> u64 {
        let (left_mask, right_mask) = ((1 << self.left_bits) - 1, (1 << self.right_bits) - 1);
        let (mut left, mut right) = (number >> self.right_bits, number & right_mask);
        for (round, key) in self.keys.iter().enumerate() {
            if round % 2 == 0 {
                left = (left + mixed(right ^ key)) & left_mask;
            } else {
                right = (right + mixed(left ^ key)) & right_mask;
            }
        }
        left << self.right_bits | right
    }
}

/// Hashes a number to 32 bits.
#[inline]
fn mixed(number: u64) -> u64 {
    SplitMix64::new(number).next_u64() >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_a_permutation() {
        for len in [1, 2, 3, 5, 64, 1000, 4097] {
            let order = Order::new(len, 7, 1);
            let mut seen: Vec<u64> = (0..len).map(|place| order.at(place)).collect();
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..len), "{len}");
        }
    }

    #[test]
    fn order_separates_neighbours_and_differs_between_epochs() {
        const LEN: u64 = 100_000;
        let (first, second) = (Order::new(LEN, 1, 0), Order::new(LEN, 1, 1));
        let mut distance = 0.0;
        let mut same = 0;
        for place in 1..LEN {
            distance += first.at(place).abs_diff(first.at(place - 1)) as f64 / LEN as f64;
            same += u32::from(first.at(place) == second.at(place));
        }
        // Two random numbers between 0 and 1 differ by a third on average.
        assert!((distance / LEN as f64 - 1.0 / 3.0).abs() < 0.01);
        assert!(same < 20);
    }

    #[test]
    fn batch_mixes_games_as_well_as_chance() {
        const LEN: u64 = 3_373_654;
        const BATCH: u64 = 16_384;
        const GAME: u64 = 64;
        let order = Order::new(LEN, 1, 0);
        let mut pairs = 0;
        for batch in 0..20 {
            let mut games = vec![0_u64; (LEN / GAME + 1) as usize];
            for place in batch * BATCH..(batch + 1) * BATCH {
                games[(order.at(place) / GAME) as usize] += 1;
            }
            pairs += games.iter().map(|n| n * n.saturating_sub(1) / 2).sum::<u64>();
        }
        let chance = 20.0 * (BATCH * BATCH) as f64 / 2.0 * (GAME - 1) as f64 / LEN as f64;
        assert!((pairs as f64 / chance - 1.0).abs() < 0.03);
    }
}
