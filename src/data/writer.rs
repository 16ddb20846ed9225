//! Writer of entries in any format.

use std::io::Write;

use anyhow::{Context, Result, bail, ensure};

use super::binpack::BinpackWriter;
use super::entry::{Entry, NO_SCORE};
use super::games::{PgnWriter, ViriWriter};
use super::reader::{Format, Place};
use super::tree::TreeWriter;
use super::units::{UNITS_PER_CENTIPAWN, scaled};
use super::{bin, bulletformat, lines, plain};

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
    Viriformat(ViriWriter<W>),
    /// Games with evaluations.
    Pgn(PgnWriter<W>),
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
            Format::Viriformat => Self::Viriformat(ViriWriter::new(sink)),
            Format::Pgn => Self::Pgn(PgnWriter::new(sink)),
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
