//! Shuffle buffer: a table of records that are presented in random order. The next record of the feed replaces each
//! presented record.
//!
//! Window `k` is presented in the order of permutation `k`. Meanwhile the records of window `k + 1` fill the free
//! slots, so that there is no second table and no pause between windows. The content of the table depends only on the
//! feed and on two permutations, so that any window can be restored.

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::load::{Feed, Order};
use crate::data::entry::Record;
use crate::util::memory::{Zeroed, prefetch, zeroed_slice};

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
pub struct Window {
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
