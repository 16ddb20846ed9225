//! Reader and writer of training data. The reader opens a file of any format by its extension and visits its entries in
//! order.
//!
//! A generator may be killed at any moment, so a file may end inside a record. The incomplete record is an error, or it
//! is skipped with a warning on standard error ([`ReadOptions::strict`]). Damage anywhere else is an error, and so is a
//! file without any complete entry.

use crate::data::games::PgnGame;
use crate::data::viriformat::GameBytes;
use std::cell::Cell;
use std::fmt;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::binpack::BinpackWriter;
use super::entry::{Entry, Filter, NO_SCORE, Record, ScoreUnit, UNITS_PER_CENTIPAWN, scaled};
pub use super::format::Format;
use super::format::{Content, FileFormat};
use super::games::GameWriter;
use super::tree::{Place, TreeWriter};
use super::{bin, binpack, bulletformat, entry, format, games, lines, plain, tree, viriformat};
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
        if convert { visit(&entry::scaled(entry, factor), place) } else { visit(entry, place) }
    };
    let mut games = games::Skipped::default();
    let left = match format {
        Format::Bin => bin::for_each(source, |entry| counted(entry, None)),
        Format::Binpack => binpack::for_each(source, |entry| counted(entry, None)),
        Format::Plain => plain::for_each(source, |entry| counted(entry, None)),
        Format::Bulletformat => bulletformat::for_each(source, |entry| counted(entry, None)),
        Format::Viriformat => viriformat::for_each(source, |entry| counted(entry, None)),
        Format::BulletText => lines::for_each(source, lines::bullet, |entry| counted(entry, None)),
        Format::Epd => lines::for_each(source, lines::epd, |entry| counted(entry, None)),
        Format::Pgn => games::for_each(&mut source, !options.strict, |entry| counted(entry, None)).map(|skipped| {
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

// Writer of entries in any format.

/// Error message for a position that a format of games cannot store.
const UNRELATED: &str = "a .tree file requires the moves that led to each position: write .bin instead; only \
    `datagen sample` writes a .tree, or `data convert`, `filter`, `relabel`, `dedupe` and `split` from .tree files";

/// Rejects an output format that cannot store unrelated positions, before hours of work are lost.
///
/// # Errors
/// Fails if the format requires the moves that led to each position.
pub fn check_holds_unrelated(format: Format) -> Result<()> {
    if format == Format::Tree {
        bail!(UNRELATED);
    }
    Ok(())
}

/// Writer of entries into a sink.
pub enum EntryWriter<W: Write> {
    /// Records of 40 bytes.
    Bin(W),
    /// Chains of moves and scores; boxed because the encoder is large.
    Binpack(Box<BinpackWriter<W>>),
    /// Six lines of text per position.
    Plain(W),
    /// bullet's records of 32 bytes.
    Bulletformat(W),
    /// `FEN | score | result` lines.
    BulletText(W),
    /// EPD with scores and results.
    Epd(W),
    /// Games as moves and scores.
    Viriformat(GameWriter<W, GameBytes>),
    /// Games with evaluations.
    Pgn(GameWriter<W, PgnGame>),
    /// Samples in the search trees of their games; boxed because the open block is large.
    Tree(Box<TreeWriter<W>>),
}

impl<W: Write> EntryWriter<W> {
    /// Creates a writer of `format` into `sink`, which should be buffered.
    ///
    /// # Errors
    /// Fails if the encoder cannot be created.
    pub fn new(format: Format, sink: W) -> Result<Self> {
        Ok(match format {
            Format::Bin => Self::Bin(sink),
            Format::Binpack => Self::Binpack(Box::new(BinpackWriter::new(sink)?)),
            Format::Plain => Self::Plain(sink),
            Format::Bulletformat => Self::Bulletformat(sink),
            Format::BulletText => Self::BulletText(sink),
            Format::Epd => Self::Epd(sink),
            Format::Viriformat => Self::Viriformat(GameWriter::new(sink)),
            Format::Pgn => Self::Pgn(GameWriter::new(sink)),
            Format::Tree => Self::Tree(Box::new(TreeWriter::new(sink))),
        })
    }

    /// Writes an entry.
    ///
    /// # Errors
    /// Fails if the format cannot store the entry, and on a write error.
    pub fn write(&mut self, entry: &Entry) -> Result<()> {
        self.write_placed(entry, None)
    }

    /// Writes an entry and, for a `.tree`, the place in the `.tree` from which it was read.
    ///
    /// # Errors
    /// As [`EntryWriter::write`].
    pub fn write_placed(&mut self, entry: &Entry, place: Option<Place>) -> Result<()> {
        match self {
            Self::Bin(sink) => Ok(sink.write_all(&bin::encode(entry)?)?),
            Self::Binpack(writer) => writer.write(entry),
            Self::Plain(sink) => plain::write(entry, sink),
            Self::Bulletformat(sink) => Ok(sink.write_all(&bulletformat::encode(labelled(entry)?)?)?),
            Self::BulletText(sink) => lines::write_bullet(labelled(entry)?, sink),
            Self::Epd(sink) => lines::write_epd(&scaled(entry, 1.0 / UNITS_PER_CENTIPAWN), sink),
            Self::Viriformat(writer) => writer.write(entry),
            Self::Pgn(writer) => writer.write(&scaled(entry, 1.0 / UNITS_PER_CENTIPAWN)),
            Self::Tree(writer) => writer.write(place.context(UNRELATED)?, entry.score),
        }
    }

    /// Writes buffered entries and returns the sink.
    ///
    /// # Errors
    /// Fails on a write error.
    pub fn finish(self) -> Result<W> {
        match self {
            Self::Bin(sink)
            | Self::Plain(sink)
            | Self::Bulletformat(sink)
            | Self::BulletText(sink)
            | Self::Epd(sink) => Ok(sink),
            Self::Binpack(writer) => writer.finish(),
            Self::Viriformat(writer) => writer.finish(),
            Self::Pgn(writer) => writer.finish(),
            Self::Tree(writer) => writer.finish(),
        }
    }
}

/// The entry, if it has a score.
fn labelled(entry: &Entry) -> Result<&Entry> {
    ensure!(entry.score != NO_SCORE, "a position without a score, which bullet's formats cannot store");
    Ok(entry)
}
