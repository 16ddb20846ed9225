//! Writes entries in any format.

use std::io::Write;

use anyhow::{Context, Result, bail};

use super::binpack::BinpackWriter;
use super::entry::Entry;
use super::reader::{Format, Place};
use super::tree::TreeWriter;
use super::{bin, plain};

/// Why a format of games refuses a position.
const UNRELATED: &str = "a position without the way to it in its game: a .tree is written by `datagen sample`, and by \
    `data convert`, `filter`, `dedupe` and `split` from other .tree files; write .bin instead";

/// Refuses what could only fail after hours of work.
///
/// # Errors
/// When the format cannot hold positions out of their order.
pub fn check_holds_unrelated(format: Format) -> Result<()> {
    if format == Format::Tree {
        bail!(UNRELATED);
    }
    Ok(())
}

/// A sink of entries.
pub enum EntryWriter<W: Write> {
    /// 40 bytes each.
    Bin(W),
    /// Chains; boxed, because the encoder is large.
    Binpack(Box<BinpackWriter<W>>),
    /// Lines of text.
    Plain(W),
    /// Samples on the trees of their games; boxed, because what is open is large.
    Tree(Box<TreeWriter<W>>),
}

impl<W: Write> EntryWriter<W> {
    /// A writer of `format` into `sink`, which should be buffered.
    ///
    /// # Errors
    /// When the encoder does not start.
    pub fn new(format: Format, sink: W) -> Result<Self> {
        Ok(match format {
            Format::Bin => Self::Bin(sink),
            Format::Binpack => Self::Binpack(Box::new(BinpackWriter::new(sink)?)),
            Format::Plain => Self::Plain(sink),
            Format::Tree => Self::Tree(Box::new(TreeWriter::new(sink))),
        })
    }

    /// Writes an entry.
    ///
    /// # Errors
    /// When the format cannot hold the entry, or the sink fails.
    pub fn write(&mut self, entry: &Entry) -> Result<()> {
        self.write_placed(entry, None)
    }

    /// Writes an entry of which it may be known where it was read: a `.tree` takes what came from one.
    ///
    /// # Errors
    /// As [`EntryWriter::write`].
    pub fn write_placed(&mut self, entry: &Entry, place: Option<Place>) -> Result<()> {
        match self {
            Self::Bin(sink) => Ok(sink.write_all(&bin::encode(entry)?)?),
            Self::Binpack(writer) => writer.write(entry),
            Self::Plain(sink) => plain::write(entry, sink),
            Self::Tree(writer) => writer.write(place.context(UNRELATED)?, entry.score),
        }
    }

    /// Writes what is held back, and gives the sink back.
    ///
    /// # Errors
    /// When the sink fails.
    pub fn finish(self) -> Result<W> {
        match self {
            Self::Bin(sink) | Self::Plain(sink) => Ok(sink),
            Self::Binpack(writer) => writer.finish(),
            Self::Tree(writer) => writer.finish(),
        }
    }
}
