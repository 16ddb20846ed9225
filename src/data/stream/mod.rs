//! Files of any size as an endless sequence of records in random order, in bounded memory.
//!
//! * [`chunk`]: division of files into chunks, some of which are held out, and decoding of a chunk
//! * [`window`]: random orders that need no memory; loader threads that deliver chunks, in another order every epoch;
//!   the shuffle buffer, a large table of records that are presented in random order. The next record of the loader
//!   threads replaces each presented record at once, so that one table is enough
//!
//! The sequence depends only on the files, the options and the seed, not on threads or timing. To resume, a
//! [`Bookmark`] of a few numbers is enough: the window is filled again.
//!
//! The positions of a game are adjacent in a chunk, but a window has chunks from all files. In a window of 305 MiB, ten
//! million positions, the 300 positions of a game are spread over 600 batches of 16,384.

mod chunk;
mod window;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, ensure};

use crate::data::entry::Filter;
use crate::data::entry::Record;
use chunk::Plan;
use window::Feed;
use window::Window;

pub use window::Bookmark;

/// Upper bound of the memory for chunks being loaded, in bytes.
const RESERVED: usize = 96 << 20;
/// Smallest window in records; in smaller ones the positions of a game would be too close together.
const MIN_WINDOW: usize = 1 << 16;
/// Smallest memory for a stream, in bytes.
pub const MIN_MEMORY: usize = RESERVED + MIN_WINDOW * size_of::<Record>();

/// A file with training positions.
#[derive(Clone, Debug)]
pub struct Source {
    /// Path of the file; the extension determines the format.
    pub path: PathBuf,
    /// Whether its positions were sampled from search trees: only their scores are labels, and they need not be quiet.
    pub sampled: bool,
}

/// Options of a stream.
#[derive(Clone, Debug)]
pub struct Options {
    /// The files.
    pub sources: Vec<Source>,
    /// Filter of the positions; sampled ones need not be quiet.
    pub filter: Filter,
    /// Keep one in two positions with a |score| above this, in engine units.
    pub thin_beyond: u16,
    /// Fraction of every file, at its end, that is held out.
    pub holdout: f64,
    /// Approximate maximum number of held-out positions in all.
    pub holdout_limit: usize,
    /// Random seed.
    pub seed: u64,
    /// Memory in bytes, not including the held-out positions.
    pub memory: usize,
    /// Number of loader threads; at most four are used.
    pub threads: usize,
}

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

/// Number of records in the window, as the memory allows.
fn window_records(options: &Options) -> Result<usize> {
    let left = options.memory.checked_sub(RESERVED);
    let records = left.map_or(0, |bytes| bytes / size_of::<Record>());
    ensure!(
        records >= MIN_WINDOW,
        "{} MiB of memory are too little: file buffers need {} MiB and the smallest window of positions {} MiB",
        options.memory >> 20,
        RESERVED >> 20,
        (MIN_WINDOW * size_of::<Record>()) >> 20
    );
    Ok(records)
}

/// Hash of the options and file sizes, which identifies the stream of a bookmark.
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
    words.extend(options.sources.iter().map(|source| u64::from(source.sampled)));
    let mix = |key: u64, word: &u64| SplitMix64::new(key ^ word).next_u64();
    Ok(words.iter().fold(0, mix))
}
