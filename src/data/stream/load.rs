//! Random orders of chunks and records, and loader threads that read chunks ahead of their use.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use crossbeam::channel::{Receiver, Sender, unbounded};

use super::Options;
use super::plan::Plan;
use crate::data::entry::Record;
use crate::util::sync;

use super::chunk::Chunk;
use crate::util::rng::SplitMix64;

/// Number of chunks that are requested ahead.
const AHEAD: u64 = 4;

/// Seed modifier that makes the order of chunks independent of the order of records.
const CHUNK_ORDER: u64 = 0xC0DE_C0DE_C0DE_C0DE;

/// A loaded chunk: its number in the sequence over all epochs, and its records.
type Loaded = (u64, Result<Vec<Record>>);

/// Endless sequence of chunks, epoch after epoch, each epoch in its own random order.
pub struct Feed {
    /// Number of the next chunk to deliver.
    next: u64,
    /// Number of the next chunk to request.
    next_request: u64,
    requests: Sender<u64>,
    loaded: Receiver<Loaded>,
    /// Loads chunks on platforms without threads.
    loader: Loader,
    /// Chunks that arrived before their turn.
    early: BTreeMap<u64, Result<Vec<Record>>>,
}

impl Feed {
    /// Creates a feed that starts with chunk number `first` of the sequence.
    pub fn new(plan: Arc<Plan>, options: &Options, first: u64) -> Self {
        let (requests, taken) = unbounded();
        let (sender, loaded) = unbounded();
        let loader = Loader { chunks: plan.training().into(), plan, seed: options.seed };
        let threads = if sync::THREADS_EXIST { options.threads.clamp(1, AHEAD as usize) } else { 0 };
        for _ in 0..threads {
            let (loader, taken, sender) = (loader.clone(), taken.clone(), sender.clone());
            // Threads exit when the request channel is closed. If one cannot be started, the others do its work.
            let _ =
                std::thread::Builder::new().name("chunks".to_owned()).spawn(move || serve(&loader, &taken, &sender));
        }
        Self { loader, next: first, next_request: first, requests, loaded, early: BTreeMap::new() }
    }

    /// The plan whose chunks are delivered.
    pub fn plan(&self) -> &Plan {
        &self.loader.plan
    }

    /// Number of chunks per epoch.
    pub fn epoch_chunks(&self) -> u64 {
        self.loader.chunks.len() as u64
    }

    /// Number of the next chunk.
    pub fn next_chunk(&self) -> u64 {
        self.next
    }

    /// Returns the records of the next chunk, which may be empty.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is damaged.
    pub fn take(&mut self) -> Result<Vec<Record>> {
        if !sync::THREADS_EXIST {
            self.next += 1;
            return self.loader.load(self.next - 1);
        }
        while self.next_request < self.next.saturating_add(AHEAD) {
            self.requests.send(self.next_request).ok().context(NO_THREAD)?;
            self.next_request += 1;
        }
        while !self.early.contains_key(&self.next) {
            let (number, records) = self.loaded.recv().ok().context(NO_THREAD)?;
            self.early.insert(number, records);
        }
        let records = self.early.remove(&self.next).context(NO_THREAD)?;
        self.next += 1;
        records
    }
}

/// Error message if there is no loader thread.
const NO_THREAD: &str = "cannot start the threads that read the files";

/// Loader of chunks.
#[derive(Clone)]
struct Loader {
    plan: Arc<Plan>,
    chunks: Arc<[Chunk]>,
    seed: u64,
}

impl Loader {
    /// Loads chunk `number` of the sequence over all epochs.
    fn load(&self, number: u64) -> Result<Vec<Record>> {
        let count = self.chunks.len() as u64;
        let order = Order::new(count, self.seed ^ CHUNK_ORDER, number / count);
        self.plan.training_records(&self.chunks[order.at(number % count) as usize])
    }
}

/// Main loop of a loader thread: loads the requested chunks until the channel is closed.
fn serve(loader: &Loader, requests: &Receiver<u64>, loaded: &Sender<Loaded>) {
    for number in requests {
        let records = catch_unwind(AssertUnwindSafe(|| loader.load(number)));
        let records =
            records.unwrap_or_else(|_| Err(anyhow!("reading a file failed; this is a bug, please report it")));
        if loaded.send((number, records)).is_err() {
            return;
        }
    }
}

// Random permutations that need no memory, for the order of records and chunks.
//
// Shuffling hundreds of millions of records in place takes a minute per epoch, and a resumed run must repeat it. A
// keyed bijection of `0..len` computes any element of any epoch directly, from any thread.

// CITE: Luby and Rackoff, "How to construct pseudorandom permutations", 1988; Black and Rogaway, "Ciphers with
// arbitrary finite domains", 2002, for walking along the cycle until the number is in range.

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
mod order_tests {
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
