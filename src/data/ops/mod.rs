//! Work on files of training data, whatever their size: entries stream from the reader to the writer.
//!
//! * [`info`], [`convert`], [`filter`], [`relabel`], [`split`]: one pass
//! * [`shuffle`], [`dedupe`]: two passes over buckets on the disk ([`buckets`]), each of which fits into memory
//! * [`output`]: files that appear under their name only when they are complete

pub mod buckets;
pub mod convert;
pub mod dedupe;
pub mod filter;
pub mod info;
pub mod output;
pub mod relabel;
pub mod shuffle;
pub mod split;

use std::cell::Cell;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::entry::Entry;
use super::reader::{self, Place};
use crate::util::identity::check_distinct;
use crate::util::interrupt::Interrupt;
use crate::util::progress::ProgressLine;
use crate::util::quantity::{short_number, short_time};

/// Files to read, and last the file to write.
#[derive(clap::Args, Clone, Debug)]
pub struct Paths {
    /// Files to read, and last the file to write: .bin, .binpack, .plain, .txt or .tree
    #[arg(required = true, num_args = 2.., value_names = ["IN", "OUT"])]
    pub files: Vec<PathBuf>,
}

impl Paths {
    /// The files to read and the one to write.
    ///
    /// # Errors
    /// Fails with fewer than two names, and if the last one is that of an input too.
    pub fn split(&self) -> Result<(&[PathBuf], &Path)> {
        let (out, inputs) = self.files.split_last().context("no file is named")?;
        ensure!(!inputs.is_empty(), "no file to write is named");
        let read: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
        check_distinct(&[out], &read)?;
        Ok((inputs, out))
    }
}

/// Entries between two looks at the clock, and at requests to end.
const STRIDE: u64 = 1 << 14;
/// What is said after a request to end.
const STOPPED: &str = "interrupted; no output was written, and files that were there are unchanged";

/// Visits the entries of all files in order, and shows how many there have been and how long the rest will take. Blocks
/// are numbered through all files.
fn for_each(
    inputs: &[PathBuf],
    what: &str,
    mut visit: impl FnMut(&Entry, Option<Place>) -> Result<()>,
) -> Result<u64> {
    let interrupt = Interrupt::noticed();
    let sizes = inputs.iter().filter_map(|path| path.metadata().ok());
    let total: u64 = sizes.map(|metadata| metadata.len()).sum();
    let mut progress = ProgressLine::new();
    let mut count = 0_u64;
    let bytes = Cell::new(0);
    let line = |count: u64, seconds: f64| {
        let done = bytes.get() as f64 / total.max(1) as f64;
        format!(
            "{what}: {} positions, {}/s, {} left",
            short_number(count as f64),
            short_number(count as f64 / seconds.max(1e-9)),
            short_time(seconds * (1.0 - done).max(0.0) / done)
        )
    };
    let mut blocks = 0;
    for path in inputs {
        let before = blocks;
        reader::for_each_placed(path, &bytes, |entry, mut place| {
            count += 1;
            if count.is_multiple_of(STRIDE) {
                ensure!(!interrupt.is_heard(), STOPPED);
                progress.tick(|seconds| line(count, seconds));
            }
            if let Some(place) = &mut place {
                place.block += before;
                blocks = place.block + 1;
            }
            visit(entry, place)
        })?;
    }
    progress.finish(&line(count, progress.seconds()));
    Ok(count)
}
