//! Writes entries in any format.

use std::io::Write;

use anyhow::Result;

use super::binpack::BinpackWriter;
use super::entry::Entry;
use super::reader::Format;
use super::{bin, plain};

/// A sink of entries.
pub enum EntryWriter<W: Write> {
    /// 40 bytes each.
    Bin(W),
    /// Chains; boxed, because the encoder is large.
    Binpack(Box<BinpackWriter<W>>),
    /// Lines of text.
    Plain(W),
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
        })
    }

    /// Writes an entry.
    ///
    /// # Errors
    /// When the format cannot hold the entry, or the sink fails.
    pub fn write(&mut self, entry: &Entry) -> Result<()> {
        match self {
            Self::Bin(sink) => Ok(sink.write_all(&bin::encode(entry)?)?),
            Self::Binpack(writer) => writer.write(entry),
            Self::Plain(sink) => plain::write(entry, sink),
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
        }
    }
}
