//! Reader of training data: opens a file of any format by its extension and visits its entries in order.
//!
//! A generator may be killed at any moment, so a file may end inside a record. The incomplete record is skipped with a
//! warning on standard error. Damage anywhere else is an error.

use std::cell::Cell;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::entry::Entry;
use super::filter::Filter;
use super::record::Record;
use super::tree::SamplePath;
use super::{bin, binpack, plain, tree};
use crate::util::kind::Kind;
use crate::util::text::Shown as _;

/// Size of the read buffer in bytes.
const BUFFER: usize = 1 << 20;

/// Format of a data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Records of 40 bytes.
    Bin,
    /// Chains of moves and scores.
    Binpack,
    /// Six lines of text per position.
    Plain,
    /// Samples in the search trees of their games.
    Tree,
}

impl Format {
    /// Determines the format from the file extension.
    ///
    /// # Errors
    /// Fails if the extension is unknown.
    pub fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("bin") => Ok(Self::Bin),
            Some("binpack") => Ok(Self::Binpack),
            Some("plain" | "txt") => Ok(Self::Plain),
            Some("tree") => Ok(Self::Tree),
            _ => bail!("{}: unknown file extension; it must be .bin, .binpack, .plain, .txt or .tree", path.shown()),
        }
    }

    /// Kind of files that an output of this format may replace.
    pub fn kind(self) -> Kind {
        match self {
            Self::Bin => bin::KIND,
            Self::Binpack => binpack::KIND,
            Self::Plain => plain::KIND,
            Self::Tree => tree::KIND,
        }
    }
}

/// Calls `visit` with every entry of the file, in order. Memory use does not depend on the file size.
///
/// # Errors
/// Fails if the file cannot be read or is damaged, and if `visit` fails. The error names the file.
pub fn for_each(path: &Path, visit: impl FnMut(&Entry) -> Result<()>) -> Result<()> {
    for_each_counted(path, &Cell::new(0), visit)
}

/// As [`for_each`], and adds the number of bytes read to `bytes`, for progress reports.
///
/// # Errors
/// As [`for_each`].
pub fn for_each_counted(path: &Path, bytes: &Cell<u64>, mut visit: impl FnMut(&Entry) -> Result<()>) -> Result<()> {
    for_each_placed(path, bytes, |entry, _| visit(entry))
}

/// Position of an entry in a file with blocks of games.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Index of the block.
    pub block: u64,
    /// The moves from the root of the block to the position.
    pub sample_path: SamplePath<'a>,
}

/// As [`for_each_counted`], and passes the place of each entry of a `.tree`.
///
/// # Errors
/// As [`for_each`].
pub fn for_each_placed(
    path: &Path,
    bytes: &Cell<u64>,
    mut visit: impl FnMut(&Entry, Option<Place>) -> Result<()>,
) -> Result<()> {
    let format = Format::of(path)?;
    let file = File::open(path).with_context(|| format!("cannot open {}", path.shown()))?;
    let source = BufReader::with_capacity(BUFFER, Counted { file, bytes });
    let left = match format {
        Format::Bin => bin::for_each(source, |entry| visit(entry, None)),
        Format::Binpack => binpack::for_each(source, |entry| visit(entry, None)),
        Format::Plain => plain::for_each(source, |entry| visit(entry, None)),
        Format::Tree => {
            tree::for_each(source, |entry, &sample_path, block| visit(entry, Some(Place { block, sample_path })))
        }
    };
    let left = left.with_context(|| path.shown())?;
    if left > 0 {
        let what = match format {
            Format::Bin => "bytes of an incomplete record",
            Format::Binpack | Format::Tree => "bytes of an incomplete block",
            Format::Plain => "lines of an incomplete entry",
        };
        eprintln!("warning: {}: skipped {left} {what} at the end", path.shown());
    }
    Ok(())
}

/// A file that counts the bytes read from it.
struct Counted<'a> {
    file: File,
    bytes: &'a Cell<u64>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.bytes.set(self.bytes.get() + count as u64);
        Ok(count)
    }
}

/// Reads the records of the positions that `filter` keeps, in the order of the file.
///
/// # Errors
/// As [`for_each`].
pub fn read_records(path: &Path, filter: &Filter) -> Result<Vec<Record>> {
    let mut records = Vec::new();
    for_each(path, |entry| {
        if filter.keeps(entry) {
            records.push(entry.record());
        }
        Ok(())
    })?;
    Ok(records)
}
