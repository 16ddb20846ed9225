//! A file that appears under its name only when it is complete.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::{STOPPED, STRIDE};
use crate::data::entry::Entry;
use crate::data::reader::{Format, Place};
use crate::data::writer::EntryWriter;
use crate::util::atomic::AtomicFile;
use crate::util::interrupt::Interrupt;

/// A file of entries in the making.
pub struct OutputFile {
    path: PathBuf,
    writer: EntryWriter<AtomicFile>,
    count: u64,
    interrupt: Interrupt,
}

impl OutputFile {
    /// Begins a file of the format that the name tells, under a temporary name.
    ///
    /// # Errors
    /// Fails if the extension tells no format, a file of another format has the name, or the file cannot be created.
    pub fn create(path: &Path) -> Result<Self> {
        let format = Format::of(path)?;
        let file = AtomicFile::create_over(path, &format.kind())?;
        Ok(Self {
            path: path.to_path_buf(),
            writer: EntryWriter::new(format, file)?,
            count: 0,
            interrupt: Interrupt::noticed(),
        })
    }

    /// Appends an entry.
    ///
    /// # Errors
    /// Fails if the format cannot hold it, on an I/O error, and after a request to end.
    pub fn write(&mut self, entry: &Entry) -> Result<()> {
        self.write_placed(entry, None)
    }

    /// Appends an entry that was read from a known place.
    ///
    /// # Errors
    /// As [`OutputFile::write`].
    pub fn write_placed(&mut self, entry: &Entry, place: Option<Place>) -> Result<()> {
        self.count += 1;
        if self.count.is_multiple_of(STRIDE) {
            ensure!(!self.interrupt.is_heard(), STOPPED);
        }
        let written = self.writer.write_placed(entry, place);
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Entries so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// When the disk refuses; the file that was there before stays.
    pub fn finish(self) -> Result<u64> {
        let written = self.writer.finish();
        let file = written.with_context(|| format!("cannot write {}", self.path.display()))?;
        file.commit()?;
        Ok(self.count)
    }
}
