//! The one door to training data: opens a file of any format by its extension and visits its entries in order.
//!
//! A generator may be killed at any moment, so a file may end inside a record; what is whole is read, and a warning
//! on standard error tells of the rest. Damage anywhere else is an error.

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

/// Bytes that are read from the disk at once.
const BUFFER: usize = 1 << 20;

/// How a file holds its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// 40 bytes each.
    Bin,
    /// Chains of moves and scores.
    Binpack,
    /// Lines of text.
    Plain,
    /// Samples on the trees of their games.
    Tree,
}

impl Format {
    /// The format that the extension tells.
    ///
    /// # Errors
    /// When it tells none.
    pub fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("bin") => Ok(Self::Bin),
            Some("binpack") => Ok(Self::Binpack),
            Some("plain" | "txt") => Ok(Self::Plain),
            Some("tree") => Ok(Self::Tree),
            _ => bail!(
                "{}: the extension tells no format; it must be .bin, .binpack, .plain, .txt or .tree",
                path.display()
            ),
        }
    }

    /// What a file of this format may replace.
    pub fn kind(self) -> Kind {
        match self {
            Self::Bin => bin::KIND,
            Self::Binpack => binpack::KIND,
            Self::Plain => plain::KIND,
            Self::Tree => tree::KIND,
        }
    }
}

/// Calls `visit` with every entry of the file, in order, holding little in memory at a time.
///
/// # Errors
/// When the file cannot be read or is damaged, or when `visit` says so; the error names the file.
pub fn for_each(path: &Path, visit: impl FnMut(&Entry) -> Result<()>) -> Result<()> {
    for_each_counted(path, &Cell::new(0), visit)
}

/// As [`for_each`], adding to `bytes` what has been read from the disk: how far the file has come.
///
/// # Errors
/// As [`for_each`].
pub fn for_each_counted(
    path: &Path,
    bytes: &Cell<u64>,
    mut visit: impl FnMut(&Entry) -> Result<()>,
) -> Result<()> {
    for_each_placed(path, bytes, |entry, _| visit(entry))
}

/// Where a file that has blocks of games holds an entry.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Number of the block.
    pub block: u64,
    /// The way to the position in its game.
    pub sample_path: SamplePath<'a>,
}

/// As [`for_each_counted`], telling where a `.tree` holds the entry.
///
/// # Errors
/// As [`for_each`].
pub fn for_each_placed(
    path: &Path,
    bytes: &Cell<u64>,
    mut visit: impl FnMut(&Entry, Option<Place>) -> Result<()>,
) -> Result<()> {
    let format = Format::of(path)?;
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let source = BufReader::with_capacity(BUFFER, Counted { file, bytes });
    let left = match format {
        Format::Bin => bin::for_each(source, |entry| visit(entry, None)),
        Format::Binpack => binpack::for_each(source, |entry| visit(entry, None)),
        Format::Plain => plain::for_each(source, |entry| visit(entry, None)),
        Format::Tree => tree::for_each(source, |entry, &sample_path, block| {
            visit(entry, Some(Place { block, sample_path }))
        }),
    };
    let left = left.with_context(|| path.display().to_string())?;
    if left > 0 {
        let what = match format {
            Format::Bin => "bytes of an unfinished record",
            Format::Binpack | Format::Tree => "bytes of an unfinished block",
            Format::Plain => "lines of an unfinished entry",
        };
        eprintln!(
            "warning: {}: {left} {what} at the end are left out",
            path.display()
        );
    }
    Ok(())
}

/// A file that counts what is read from it.
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

/// The records of the positions that `filter` keeps, in the order of the file.
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
