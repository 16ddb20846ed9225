//! Files of any size as an endless sequence of records in random order, in bounded memory.
//!
//! Loader threads deliver the chunks of the files (`chunk`), in another order every epoch. The window, a large table of
//! records, is the shuffle buffer: its records are presented in random order, and the next record of the loader threads
//! replaces each presented record at once, so that one table is enough. The random orders need no memory.
//!
//! The sequence depends only on the files, the options and the seed, not on threads or timing. To resume, a
//! [`Bookmark`] of a few numbers is enough: the window is filled again.
//!
//! The positions of a game are adjacent in a chunk, but a window has chunks from all files. In a window of 305 MiB, ten
//! million positions, the 300 positions of a game are spread over 600 batches of 16,384.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail, ensure};
use crossbeam::channel::{Receiver, Sender, unbounded};
use serde::{Deserialize, Serialize};

use super::chunk::{Chunk, Plan, window_records};
pub use super::chunk::{MIN_MEMORY, Options, Source};
use super::entry::Record;
use crate::util::memory::{Zeroed, prefetch, zeroed_slice};
use crate::util::rng::SplitMix64;
use crate::util::sync;

/// Endless sequence of records in random order.
pub struct Stream {
    plan: Arc<Plan>,
    window: Window,
}

impl Stream {
    /// Opens the files and fills the first window.
    ///
    /// # Errors
    /// Fails if a file cannot be read or is damaged, if the filter keeps no position, and if the memory is too small.
    pub fn open(options: &Options) -> Result<Self> {
        let plan = Arc::new(Plan::new(options)?);
        let feed = Feed::new(plan.clone(), options, 0);
        let window = Window::fill(feed, options.seed, window_records(options)?)?;
        Ok(Self { plan, window })
    }

    /// Opens the files at the bookmark of an earlier stream. Only the number of threads may differ from its options.
    ///
    /// # Errors
    /// As [`Stream::open`], and if the bookmark belongs to other files or options.
    pub fn open_at(options: &Options, place: &Bookmark) -> Result<Self> {
        let plan = Arc::new(Plan::new(options)?);
        let feed = Feed::new(plan.clone(), options, place.chunk);
        let window = Window::fill_at(feed, options.seed, window_records(options)?, place)?;
        Ok(Self { plan, window })
    }

    /// Replaces the content of `out` with the next `count` records.
    ///
    /// # Errors
    /// Fails if a file can no longer be read or is damaged.
    pub fn next(&mut self, count: usize, out: &mut Vec<Record>) -> Result<()> {
        self.window.next(count, out)
    }

    /// The current place in the stream.
    pub fn bookmark(&self) -> Bookmark {
        self.window.bookmark()
    }

    /// Opens the files as [`Stream::open_at`], at a bookmark that must follow `shown` records.
    ///
    /// # Errors
    /// As [`Stream::open_at`], and if the bookmark follows another number of records.
    pub fn open_after(options: &Options, place: &Bookmark, shown: u64) -> Result<Self> {
        let check = |found: u64| {
            ensure!(
                found == shown,
                "the place in the stream of positions is damaged: it follows {found} positions, not {shown}"
            );
            Ok(())
        };
        // Check before the window is filled, which may take minutes.
        if !place.starts_with_the_files() {
            check(place.shown_before(window_records(options)? as u64))?;
        }
        let stream = Self::open_at(options, place)?;
        check(stream.bookmark().shown_before(stream.window_len()))?;
        Ok(stream)
    }

    /// Number of records in the window.
    pub fn window_len(&self) -> u64 {
        self.window.len()
    }

    /// Whether the window contains all records; then each window is one epoch.
    pub fn is_resident(&self) -> bool {
        self.window.is_resident()
    }

    /// Number of training positions per epoch; an estimate unless the window contains all of them.
    pub fn estimated_len(&self) -> u64 {
        if self.is_resident() { self.window.len() } else { self.plan.estimated_len() }
    }

    /// Reads the held-out records, in the order of the files.
    ///
    /// # Errors
    /// Fails if a file cannot be read or is damaged.
    pub fn held_out(&self) -> Result<Vec<Record>> {
        self.plan.held_out()
    }
}

// The window.
//
// Shuffle buffer: a table of records that are presented in random order. The next record of the feed replaces each
// presented record. The feed: loader threads that read chunks in random order, ahead of their use.
//
// Window `k` is presented in the order of permutation `k`. Meanwhile the records of window `k + 1` fill the free
// slots, so that there is no second table and no pause between windows. The content of the table depends only on the
// feed and on two permutations, so that any window can be restored.

/// Number of records that are prefetched; consecutive records are far apart in memory.
const PREFETCH: usize = 16;

/// Place in a stream, from which it can be resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bookmark {
    /// Hash of the files and options.
    pub fingerprint: u64,
    /// Number of the window.
    pub window: u64,
    /// Number of its records that were presented.
    pub shown: u64,
    /// Number, over all epochs, of the first chunk of the window.
    pub chunk: u64,
    /// Number of records of that chunk that belong to the previous window.
    pub skip: u64,
}

/// Iterates over the records of a feed.
struct FeedCursor {
    feed: Feed,
    /// The current chunk, and the number of its records that were taken.
    records: Vec<Record>,
    taken: usize,
}

impl FeedCursor {
    /// The place of the next record.
    fn at(&self) -> Place {
        if self.taken == self.records.len() {
            return Place { chunk: self.feed.next_chunk(), skip: 0 };
        }
        Place { chunk: self.feed.next_chunk() - 1, skip: self.taken as u64 }
    }

    /// Loads the next chunk that has records, unless the current one has some left. Returns `false` if there is none
    /// before chunk `end`.
    fn fetch(&mut self, end: u64) -> Result<bool> {
        let (mut empty, epoch) = (0, self.feed.epoch_chunks());
        while self.taken == self.records.len() {
            if self.feed.next_chunk() >= end {
                return Ok(false);
            }
            self.records = self.feed.take()?;
            self.taken = 0;
            empty += 1;
            ensure!(empty <= epoch || !self.records.is_empty(), NOTHING);
        }
        Ok(true)
    }

    /// Loads the first chunk and skips some of its records.
    fn skip(&mut self, records: u64) -> Result<()> {
        if records == 0 {
            return Ok(());
        }
        self.records = self.feed.take()?;
        let count = self.records.len() as u64;
        ensure!(records < count, "{DAMAGED}: it skips {records} of the {count} positions of a chunk");
        self.taken = records as usize;
        Ok(())
    }

    /// Returns the next record.
    #[inline]
    fn next(&mut self) -> Result<Record> {
        if self.taken == self.records.len() {
            self.fetch(u64::MAX)?;
        }
        self.taken += 1;
        Ok(self.records[self.taken - 1])
    }
}

/// Error message for a bookmark that no run can have written.
const DAMAGED: &str = "the place in the stream of positions is damaged";

/// Error message for a feed without records.
const NOTHING: &str = "no positions to train on: all of them are filtered out or held out";

/// A place in the feed.
#[derive(Clone, Copy, Default)]
struct Place {
    /// Number of the chunk.
    chunk: u64,
    /// Number of its records before the place.
    skip: u64,
}

/// The shuffle buffer.
struct Window {
    slots: Zeroed<Record>,
    /// Number of records: all slots, unless the files are smaller.
    len: u64,
    seed: u64,
    /// `None` if the table contains all records.
    cursor: Option<FeedCursor>,
    order: Order,
    /// Number of the window, and the number of its records that were presented.
    number: u64,
    shown: u64,
    /// Place at which the window starts.
    start: Place,
    /// Place at which the next window starts.
    next_start: Place,
    fingerprint: u64,
}

impl Window {
    /// Fills the first window with `records` records, or with all of an epoch if there are fewer.
    ///
    /// # Errors
    /// Fails if there is too little memory, or if a file cannot be read or is damaged.
    pub fn fill(feed: Feed, seed: u64, records: usize) -> Result<Self> {
        let mut slots = table(records)?;
        let mut cursor = FeedCursor::new(feed);
        let epoch = cursor.feed.epoch_chunks();
        let mut len = 0;
        while len < records && cursor.fetch(epoch)? {
            slots[len] = cursor.next()?;
            len += 1;
        }
        ensure!(len > 0, NOTHING);
        let resident = len < records || !cursor.fetch(epoch)?;
        Ok(Self {
            slots,
            len: len as u64,
            seed,
            order: Order::new(len as u64, seed, 0),
            number: 0,
            shown: 0,
            start: Place::default(),
            next_start: cursor.at(),
            fingerprint: cursor.feed.plan().fingerprint(),
            cursor: (!resident).then_some(cursor),
        })
    }

    /// Restores the window of a bookmark. The feed must start with the bookmark's chunk.
    ///
    /// # Errors
    /// As [`Window::fill`], and if the bookmark belongs to other files or options, or is damaged.
    pub fn fill_at(feed: Feed, seed: u64, records: usize, bookmark: &Bookmark) -> Result<Self> {
        if bookmark.fingerprint != feed.plan().fingerprint() {
            bail!("the files or the settings differ from those of the run to be resumed");
        }
        if bookmark.starts_with_the_files() {
            let mut window = Self::fill(feed, seed, records)?;
            window.skip_to(bookmark)?;
            return Ok(window);
        }
        let len = records as u64;
        let before = bookmark.number_before()?;
        bookmark.check(len, feed.epoch_chunks())?;
        let mut slots = table(records)?;
        let mut cursor = FeedCursor::new(feed);
        cursor.skip(bookmark.skip)?;
        let order = Order::new(len, seed, before);
        for place in 0..len {
            slots[order.at(place) as usize] = cursor.next()?;
        }
        let mut window = Self {
            slots,
            len,
            seed,
            order: Order::new(len, seed, bookmark.window),
            number: bookmark.window,
            shown: 0,
            start: Place { chunk: bookmark.chunk, skip: bookmark.skip },
            next_start: cursor.at(),
            fingerprint: bookmark.fingerprint,
            cursor: Some(cursor),
        };
        window.skip_to(bookmark)?;
        Ok(window)
    }

    /// Skips the records of the window that were presented before the bookmark.
    fn skip_to(&mut self, bookmark: &Bookmark) -> Result<()> {
        if self.is_resident() {
            self.number = bookmark.window;
            self.order = Order::new(self.len, self.seed, self.number);
            self.shown = bookmark.shown.min(self.len);
            return Ok(());
        }
        let mut out = Vec::new();
        let mut left = bookmark.shown.min(self.len);
        while left > 0 {
            let count = left.min(1 << 16);
            self.next(count as usize, &mut out)?;
            left -= count;
        }
        Ok(())
    }

    /// The current place in the stream.
    pub fn bookmark(&self) -> Bookmark {
        Bookmark {
            fingerprint: self.fingerprint,
            window: self.number,
            shown: self.shown,
            chunk: self.start.chunk,
            skip: self.start.skip,
        }
    }

    /// Number of records in the table.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the table contains all records.
    pub fn is_resident(&self) -> bool {
        self.cursor.is_none()
    }

    /// Replaces the content of `out` with the next `count` records.
    ///
    /// # Errors
    /// Fails if a file cannot be read or is damaged.
    pub fn next(&mut self, count: usize, out: &mut Vec<Record>) -> Result<()> {
        out.clear();
        out.reserve(count);
        while out.len() < count {
            if self.shown == self.len {
                self.advance();
            }
            let left = (self.len - self.shown) as usize;
            self.present(left.min(count - out.len()), out)?;
        }
        Ok(())
    }

    /// Starts the next window.
    fn advance(&mut self) {
        self.number += 1;
        self.shown = 0;
        self.order = Order::new(self.len, self.seed, self.number);
        if let Some(cursor) = &self.cursor {
            self.start = self.next_start;
            self.next_start = cursor.at();
        }
    }

    /// Appends `count` records of this window to `out`.
    fn present(&mut self, count: usize, out: &mut Vec<Record>) -> Result<()> {
        let first = self.shown;
        let mut slots = [0; PREFETCH];
        for step in 0..count + PREFETCH {
            if let Some(ready) = step.checked_sub(PREFETCH) {
                if ready >= count {
                    break;
                }
                let slot = &mut self.slots[slots[step % PREFETCH]];
                out.push(*slot);
                if let Some(cursor) = &mut self.cursor {
                    *slot = cursor.next()?;
                }
                self.shown += 1;
            }
            if step < count {
                slots[step % PREFETCH] = self.order.at(first + step as u64) as usize;
                prefetch(&self.slots[slots[step % PREFETCH]]);
            }
        }
        Ok(())
    }
}

impl FeedCursor {
    fn new(feed: Feed) -> Self {
        Self { feed, records: Vec::new(), taken: 0 }
    }
}

impl Bookmark {
    /// Number of records presented since the start of the stream, with windows of `len` records.
    pub fn shown_before(&self, len: u64) -> u64 {
        self.window.saturating_mul(len).saturating_add(self.shown)
    }

    /// Whether the window starts at the beginning of the files: it is the first, or the files fit into one.
    pub fn starts_with_the_files(&self) -> bool {
        self.chunk == 0 && self.skip == 0
    }

    /// Checks that a run with windows of `len` records and epochs of `epoch_chunks` chunks can have this bookmark.
    fn check(&self, len: u64, epoch_chunks: u64) -> Result<()> {
        ensure!(self.shown <= len, "{DAMAGED}: it follows {} of the {len} positions of a window", self.shown);
        // Every epoch has at least one record, and one more chunk may have been started.
        let read = u128::from(self.window) * u128::from(len) + 1;
        ensure!(
            u128::from(self.chunk) <= read * u128::from(epoch_chunks),
            "{DAMAGED}: window {} cannot start with chunk {}",
            self.window,
            self.chunk
        );
        Ok(())
    }

    /// The number of the previous window.
    fn number_before(&self) -> Result<u64> {
        let before = self.window.checked_sub(1);
        before.context("the place in the stream is damaged: the first window does not start with the first chunk")
    }
}

/// Allocates a table.
fn table(records: usize) -> Result<Zeroed<Record>> {
    zeroed_slice(records).with_context(|| {
        let mib = (records * size_of::<Record>()) >> 20;
        format!("cannot allocate {mib} MiB for a window of {records} positions")
    })
}

// Random orders of chunks and records, and loader threads that read chunks ahead of their use.

/// Number of chunks that are requested ahead.
const AHEAD: u64 = 4;

/// Seed modifier that makes the order of chunks independent of the order of records.
const CHUNK_ORDER: u64 = 0xC0DE_C0DE_C0DE_C0DE;

/// A loaded chunk: its number in the sequence over all epochs, and its records.
type Loaded = (u64, Result<Vec<Record>>);

/// Endless sequence of chunks, epoch after epoch, each epoch in its own random order.
struct Feed {
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
struct Order {
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
