//! A table of records, shown in random order; each is replaced by the next of the feed as soon as it was shown.
//!
//! Window `k` is shown in the order of permutation `k`. While that goes on, what will be window `k + 1` arrives in the
//! slots that become free, so that there is no second table and no pause between windows. What is in the table depends
//! on the feed and on two permutations, not on the past: it can be filled again for any window.

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::feed::Feed;
use super::order::Order;
use crate::data::record::Record;
use crate::util::memory::{Zeroed, zeroed_slice};
use crate::util::prefetch::prefetch;

/// Records asked for ahead of their use: each is somewhere else in memory.
const AHEAD: usize = 16;

/// Where a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bookmark {
    /// What tells the files and options from others.
    pub fingerprint: u64,
    /// Number of the window.
    pub window: u64,
    /// How many of its records were shown.
    pub shown: u64,
    /// Number of the chunk, over all epochs, with which the window begins.
    pub chunk: u64,
    /// Records of that chunk that belong to the window before.
    pub skip: u64,
}

/// The next records of the feed, one by one.
struct Inlet {
    feed: Feed,
    /// The chunk at hand, and how many of its records were taken.
    records: Vec<Record>,
    taken: usize,
}

impl Inlet {
    /// The number of the chunk, and how many of its records were taken.
    fn at(&self) -> (u64, u64) {
        if self.taken == self.records.len() {
            return (self.feed.next_chunk(), 0);
        }
        (self.feed.next_chunk() - 1, self.taken as u64)
    }

    /// Fetches a chunk with records, unless one is at hand; tells whether there is one before chunk `end`.
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

    /// Skips records of the first chunk.
    fn skip(&mut self, records: u64) -> Result<()> {
        if records == 0 {
            return Ok(());
        }
        self.records = self.feed.take()?;
        let there = self.records.len() as u64;
        ensure!(
            records < there,
            "{DAMAGED}: it skips {records} of the {there} positions of a part"
        );
        self.taken = records as usize;
        Ok(())
    }

    #[inline]
    fn next(&mut self) -> Result<Record> {
        if self.taken == self.records.len() {
            self.fetch(u64::MAX)?;
        }
        self.taken += 1;
        Ok(self.records[self.taken - 1])
    }
}

/// What a bookmark is that no run has written.
const DAMAGED: &str = "the place in the stream of positions is damaged";

/// Why nothing is shown.
const NOTHING: &str = "no position is left to learn from";

/// The table.
pub struct Window {
    slots: Zeroed<Record>,
    /// Records in it: all slots, but for files that are smaller.
    len: u64,
    seed: u64,
    /// `None` when everything is in the table.
    inlet: Option<Inlet>,
    order: Order,
    /// Number of the window, and how many of its records were shown.
    number: u64,
    shown: u64,
    /// Where the window began in the feed.
    began: (u64, u64),
    /// Where the next one did.
    coming: (u64, u64),
    fingerprint: u64,
}

impl Window {
    /// The first window: so many records, or all of an epoch if there are no more.
    ///
    /// # Errors
    /// When there is no memory, or a file is at fault.
    pub fn fill(feed: Feed, seed: u64, records: usize) -> Result<Self> {
        let mut slots = table(records)?;
        let mut inlet = Inlet::new(feed);
        let epoch = inlet.feed.epoch_chunks();
        let mut len = 0;
        while len < records && inlet.fetch(epoch)? {
            slots[len] = inlet.next()?;
            len += 1;
        }
        ensure!(len > 0, NOTHING);
        let resident = len < records || !inlet.fetch(epoch)?;
        Ok(Self {
            slots,
            len: len as u64,
            seed,
            order: Order::new(len as u64, seed, 0),
            number: 0,
            shown: 0,
            began: (0, 0),
            coming: inlet.at(),
            fingerprint: inlet.feed.plan().fingerprint(),
            inlet: (!resident).then_some(inlet),
        })
    }

    /// The window of a bookmark, whose chunk the feed begins with.
    ///
    /// # Errors
    /// As [`Window::fill`], and when the bookmark is of something else.
    pub fn fill_at(feed: Feed, seed: u64, records: usize, bookmark: &Bookmark) -> Result<Self> {
        if bookmark.fingerprint != feed.plan().fingerprint() {
            bail!("the files or the settings are not those of the run that is to be continued");
        }
        if bookmark.is_in_first_filling() {
            let mut window = Self::fill(feed, seed, records)?;
            window.go_to(bookmark)?;
            return Ok(window);
        }
        let len = records as u64;
        let before = bookmark.number_before()?;
        bookmark.check(len, feed.epoch_chunks())?;
        let mut slots = table(records)?;
        let mut inlet = Inlet::new(feed);
        inlet.skip(bookmark.skip)?;
        let order = Order::new(len, seed, before);
        for place in 0..len {
            slots[order.at(place) as usize] = inlet.next()?;
        }
        let mut window = Self {
            slots,
            len,
            seed,
            order: Order::new(len, seed, bookmark.window),
            number: bookmark.window,
            shown: 0,
            began: (bookmark.chunk, bookmark.skip),
            coming: inlet.at(),
            fingerprint: bookmark.fingerprint,
            inlet: Some(inlet),
        };
        window.go_to(bookmark)?;
        Ok(window)
    }

    /// Replays, without showing it, what was shown before the bookmark.
    fn go_to(&mut self, bookmark: &Bookmark) -> Result<()> {
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

    /// Where the stream is.
    pub fn bookmark(&self) -> Bookmark {
        Bookmark {
            fingerprint: self.fingerprint,
            window: self.number,
            shown: self.shown,
            chunk: self.began.0,
            skip: self.began.1,
        }
    }

    /// Records in the table.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the table holds everything.
    pub fn is_resident(&self) -> bool {
        self.inlet.is_none()
    }

    /// Replaces `out` by the next `count` records.
    ///
    /// # Errors
    /// When a file is at fault.
    pub fn next(&mut self, count: usize, out: &mut Vec<Record>) -> Result<()> {
        out.clear();
        out.reserve(count);
        while out.len() < count {
            if self.shown == self.len {
                self.turn();
            }
            let left = (self.len - self.shown) as usize;
            self.show(left.min(count - out.len()), out)?;
        }
        Ok(())
    }

    /// Goes on to the next window.
    fn turn(&mut self) {
        self.number += 1;
        self.shown = 0;
        self.order = Order::new(self.len, self.seed, self.number);
        if let Some(inlet) = &self.inlet {
            self.began = self.coming;
            self.coming = inlet.at();
        }
    }

    /// Shows records of this window.
    fn show(&mut self, count: usize, out: &mut Vec<Record>) -> Result<()> {
        let first = self.shown;
        let mut slots = [0; AHEAD];
        for step in 0..count + AHEAD {
            if let Some(ready) = step.checked_sub(AHEAD) {
                if ready >= count {
                    break;
                }
                let slot = &mut self.slots[slots[step % AHEAD]];
                out.push(*slot);
                if let Some(inlet) = &mut self.inlet {
                    *slot = inlet.next()?;
                }
                self.shown += 1;
            }
            if step < count {
                slots[step % AHEAD] = self.order.at(first + step as u64) as usize;
                prefetch(&self.slots[slots[step % AHEAD]]);
            }
        }
        Ok(())
    }
}

impl Inlet {
    fn new(feed: Feed) -> Self {
        Self {
            feed,
            records: Vec::new(),
            taken: 0,
        }
    }
}

impl Bookmark {
    /// Records shown since the stream began, with windows of `len`.
    pub fn shown_before(&self, len: u64) -> u64 {
        self.window.saturating_mul(len).saturating_add(self.shown)
    }

    /// Whether the window began with the files: the first one, or the only one of small files.
    pub fn is_in_first_filling(&self) -> bool {
        self.chunk == 0 && self.skip == 0
    }

    /// Checks that a run with windows of `len` records and epochs of so many chunks can have come here.
    fn check(&self, len: u64, epoch_chunks: u64) -> Result<()> {
        ensure!(
            self.shown <= len,
            "{DAMAGED}: it has shown {} of the {len} positions of a window",
            self.shown
        );
        // Every epoch has a record at least, and one chunk more may have been begun.
        let read = u128::from(self.window) * u128::from(len) + 1;
        ensure!(
            u128::from(self.chunk) <= read * u128::from(epoch_chunks),
            "{DAMAGED}: window {} cannot begin with part {}",
            self.window,
            self.chunk
        );
        Ok(())
    }

    /// The window before.
    fn number_before(&self) -> Result<u64> {
        let before = self.window.checked_sub(1);
        before.context("a first window that does not begin with the files")
    }
}

fn table(records: usize) -> Result<Zeroed<Record>> {
    zeroed_slice(records).with_context(|| {
        let mib = (records * size_of::<Record>()) >> 20;
        format!("the system has no {mib} MiB for a window of {records} positions")
    })
}
