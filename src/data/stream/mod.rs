//! Files of any size as an endless sequence of records in random order, in bounded memory.
//!
//! * [`chunk`], [`plan`]: files are cut into chunks, of which some at the ends are held out
//! * [`load`]: one chunk becomes records
//! * [`feed`]: threads load chunks in a random order, another one in every epoch, and hand them on in that order
//! * [`window`]: a large table of records that are shown in random order; what was shown is replaced at once by what
//!   comes next, so that one table is enough
//! * [`order`]: permutations that need no memory
//!
//! What is shown depends on the files, the options and the seed alone: not on threads, nor on the clock. Of a place in
//! it a [`Bookmark`] of four numbers is all that must be kept to go on there: the window is then filled again.
//!
//! Positions of a game lie together in a chunk. A window holds chunks from everywhere: of the ten million positions of
//! a window of 305 MiB the 300 of a game are spread over 600 batches of 16,384.

mod chunk;
mod feed;
mod load;
pub mod order;
mod plan;
mod window;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, ensure};

use super::filter::Filter;
use super::record::Record;
use feed::Feed;
use plan::Plan;
use window::Window;

pub use window::Bookmark;

/// Bytes that chunks on their way need at most.
const RESERVED: usize = 96 << 20;
/// Least records of a window: with fewer, games would be bunched.
const LEAST_WINDOW: usize = 1 << 16;
/// Bytes of memory without which there is no stream.
pub const LEAST_MEMORY: usize = RESERVED + LEAST_WINDOW * size_of::<Record>();

/// A file to learn from.
#[derive(Clone, Debug)]
pub struct Source {
    /// Where it is; the extension tells the format.
    pub path: PathBuf,
    /// Whether its positions were met inside searches, so that their scores alone are labels, whatever the position.
    pub sampled: bool,
}

/// What is streamed, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The files.
    pub sources: Vec<Source>,
    /// What a position must be; of sampled ones no quietness is asked.
    pub filter: Filter,
    /// Learn from one in two positions beyond this |score|.
    pub thin_beyond: u16,
    /// Share of every file, at its end, that is held out.
    pub holdout: f64,
    /// Most positions held out in all, about.
    pub holdout_limit: usize,
    /// Seed of what is random.
    pub seed: u64,
    /// Bytes of memory for all of it but what is held out.
    pub memory: usize,
    /// Threads that decode; at most four are used.
    pub threads: usize,
}

/// Records in random order, an endless sequence.
pub struct Stream {
    plan: Arc<Plan>,
    window: Window,
}

impl Stream {
    /// Opens the files and fills the first window.
    ///
    /// # Errors
    /// When a file cannot be read or is damaged, no position is left, or there is too little memory.
    pub fn open(options: &Options) -> Result<Self> {
        let plan = Arc::new(Plan::new(options)?);
        let feed = Feed::new(plan.clone(), options, 0);
        let window = Window::fill(feed, options.seed, window_records(options)?)?;
        Ok(Self { plan, window })
    }

    /// Opens the files where an earlier stream was. The options must be the same but for the threads.
    ///
    /// # Errors
    /// As [`Stream::open`], and when the bookmark is of other files or options.
    pub fn open_at(options: &Options, place: &Bookmark) -> Result<Self> {
        let plan = Arc::new(Plan::new(options)?);
        let feed = Feed::new(plan.clone(), options, place.chunk);
        let window = Window::fill_at(feed, options.seed, window_records(options)?, place)?;
        Ok(Self { plan, window })
    }

    /// Replaces `out` by the next `count` records.
    ///
    /// # Errors
    /// When a file cannot be read any more or is damaged.
    pub fn next(&mut self, count: usize, out: &mut Vec<Record>) -> Result<()> {
        self.window.next(count, out)
    }

    /// Where the stream is.
    pub fn bookmark(&self) -> Bookmark {
        self.window.bookmark()
    }

    /// Opens the files as [`Stream::open_at`], at a bookmark behind `shown` records.
    ///
    /// # Errors
    /// As [`Stream::open_at`], and if the bookmark is of another place.
    pub fn open_behind(options: &Options, place: &Bookmark, shown: u64) -> Result<Self> {
        let check = |found: u64| {
            ensure!(
                found == shown,
                "the place in the stream of positions is damaged: it is behind {found} of them, not {shown}"
            );
            Ok(())
        };
        // Checked before a window is filled, which may take long.
        if !place.is_in_first_filling() {
            check(place.shown_before(window_records(options)? as u64))?;
        }
        let stream = Self::open_at(options, place)?;
        check(stream.bookmark().shown_before(stream.window_len()))?;
        Ok(stream)
    }

    /// How many records the window holds.
    pub fn window_len(&self) -> u64 {
        self.window.len()
    }

    /// Whether the window holds everything, so that every epoch is in an order of its own.
    pub fn is_resident(&self) -> bool {
        self.window.is_resident()
    }

    /// Positions to learn from in all: an estimate unless the window holds everything.
    pub fn estimated_len(&self) -> u64 {
        if self.is_resident() {
            self.window.len()
        } else {
            self.plan.estimated_len()
        }
    }

    /// The records held out, in the order of the files.
    ///
    /// # Errors
    /// When a file cannot be read or is damaged.
    pub fn held_out(&self) -> Result<Vec<Record>> {
        self.plan.held_out()
    }
}

/// Records of the window that the memory allows.
fn window_records(options: &Options) -> Result<usize> {
    let left = options.memory.checked_sub(RESERVED);
    let records = left.map_or(0, |bytes| bytes / size_of::<Record>());
    ensure!(
        records >= LEAST_WINDOW,
        "{} MiB of memory are too little: what is being read needs {} MiB, and the window of positions more than that",
        options.memory >> 20,
        RESERVED >> 20
    );
    Ok(records)
}

/// A number that tells these options and files from others.
fn fingerprint(options: &Options, sizes: &[u64]) -> Result<u64> {
    use crate::util::rng::SplitMix64;
    let window = window_records(options)? as u64;
    let mut words = vec![
        options.seed,
        window,
        options.thin_beyond.into(),
        options.holdout.to_bits(),
        options.holdout_limit as u64,
        options.filter.max_score as u64,
        options.filter.min_ply.into(),
        options.filter.min_pieces.into(),
        options.filter.quiet.into(),
    ];
    words.extend(sizes);
    words.extend(
        options
            .sources
            .iter()
            .map(|source| u64::from(source.sampled)),
    );
    let mix = |key: u64, word: &u64| SplitMix64::new(key ^ word).next_u64();
    Ok(words.iter().fold(0, mix))
}
