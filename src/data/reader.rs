//! Reader of training data: opens a file of any format by its extension and visits its entries in order.
//!
//! A generator may be killed at any moment, so a file may end inside a record. The incomplete record is an error, or it
//! is skipped with a warning on standard error ([`ReadOptions::strict`]). Damage anywhere else is an error, and so is a
//! file without any complete entry.

use std::cell::Cell;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::entry::Entry;
use super::filter::Filter;
pub use super::format::Format;
use super::format::{self, Content, FileFormat};
use super::record::Record;
use super::tree::SamplePath;
use super::units::{self, ScoreUnit};
use super::{bin, binpack, bulletformat, lines, pgn, plain, tree, viriformat};
use crate::util::text::Shown as _;

/// Error with which a visitor ends the reading early. The reader returns it unchanged.
#[derive(Clone, Copy, Debug)]
pub struct Enough;

impl fmt::Display for Enough {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no more positions are needed")
    }
}

impl std::error::Error for Enough {}

/// Options of a reader.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// Whether an incomplete entry at the end and broken games are errors.
    pub strict: bool,
    /// Unit of the scores.
    pub unit: ScoreUnit,
}

/// Calls `visit` with every entry of the file, in order. Memory use does not depend on the file size. An incomplete
/// entry at the end is skipped with a warning.
///
/// # Errors
/// Fails if the file cannot be read or is damaged, and if `visit` fails. The error names the file.
pub fn for_each(path: &Path, mut visit: impl FnMut(&Entry) -> Result<()>) -> Result<()> {
    for_each_placed(path, ReadOptions::default(), &Cell::new(0), |entry, _| visit(entry))
}

/// Position of an entry in a file with blocks of games.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Index of the block.
    pub block: u64,
    /// The moves from the root of the block to the position.
    pub sample_path: SamplePath<'a>,
}

/// As [`for_each`] with options. Passes the place of each entry of a `.tree`, and adds the number of bytes read to
/// `bytes`, for progress reports.
///
/// # Errors
/// As [`for_each`].
pub fn for_each_placed(
    path: &Path,
    options: ReadOptions,
    bytes: &Cell<u64>,
    mut visit: impl FnMut(&Entry, Option<Place>) -> Result<()>,
) -> Result<()> {
    // An unknown extension is the error even if the file does not exist.
    FileFormat::of(path)?;
    let file = File::open(path).with_context(|| format!("cannot open {}", path.shown()))?;
    let Content { format, mut source } = format::open(path, Counted { file, bytes })?;
    let factor = options.unit.factor(format.unit());
    let convert = factor.to_bits() != 1.0_f64.to_bits() || format.is_foreign();
    let mut count = 0_u64;
    let mut counted = |entry: &Entry, place: Option<Place>| {
        count += 1;
        if convert { visit(&units::scaled(entry, factor), place) } else { visit(entry, place) }
    };
    let mut games = pgn::Skipped::default();
    let left = match format {
        Format::Bin => bin::for_each(source, |entry| counted(entry, None)),
        Format::Binpack => binpack::for_each(source, |entry| counted(entry, None)),
        Format::Plain => plain::for_each(source, |entry| counted(entry, None)),
        Format::Bulletformat => bulletformat::for_each(source, |entry| counted(entry, None)),
        Format::Viriformat => viriformat::for_each(source, |entry| counted(entry, None)),
        Format::BulletText => lines::for_each(source, lines::bullet, |entry| counted(entry, None)),
        Format::Epd => lines::for_each(source, lines::epd, |entry| counted(entry, None)),
        Format::Pgn => pgn::for_each(&mut source, !options.strict, |entry| counted(entry, None)).map(|skipped| {
            games = skipped;
            0
        }),
        Format::Tree => {
            tree::for_each(source, |entry, &sample_path, block| counted(entry, Some(Place { block, sample_path })))
        }
    };
    let left = match left {
        Err(error) if error.is::<Enough>() => return Err(error),
        left => left.with_context(|| path.shown())?,
    };
    check_end(path, format, options.strict, left, count)?;
    if games.0 > 0 {
        eprintln!("warning: {}: skipped {} broken games", path.shown(), games.0);
    }
    Ok(())
}

/// Reports `left` bytes or lines of an incomplete entry after `count` complete ones.
fn check_end(path: &Path, format: Format, strict: bool, left: usize, count: u64) -> Result<()> {
    if left == 0 {
        return Ok(());
    }
    let (path, parts) = (path.shown(), format.parts());
    if count == 0 {
        bail!("{path} is not {}, or it is damaged: it has only {left} {parts}", format.kind().name);
    }
    if strict {
        bail!(
            "{path} ends with {left} {parts}, after {count} positions: the file is truncated. Add --lenient to use the \
             rest of it"
        );
    }
    eprintln!("warning: {path}: skipped {left} {parts} at the end");
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
