//! Output file that is renamed to its final name only when complete.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::{STRIDE, check_interrupt};
use crate::data::entry::Entry;
use crate::data::reader::{Format, Place};
use crate::data::writer::EntryWriter;
use crate::util::atomic::AtomicFile;
use crate::util::interrupt::Interrupt;
use crate::util::text::Shown as _;

/// Writer of entries into a temporary file that replaces the output at the end.
pub struct OutputFile {
    path: PathBuf,
    writer: EntryWriter<AtomicFile>,
    count: u64,
    interrupt: Interrupt,
}

impl OutputFile {
    /// Creates a temporary file for the output `path`. Its extension determines the format.
    ///
    /// # Errors
    /// Fails if the extension is unknown, `path` has content and `force` is false, it is a file of another format, or
    /// the temporary file cannot be created.
    pub fn create(path: &Path, force: bool) -> Result<Self> {
        let format = Format::of(path)?;
        let file = AtomicFile::create_over(path, &format.kind())?;
        if !force && path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0) {
            bail!("{} exists; give another name, or --force to replace it", path.shown());
        }
        Ok(Self {
            path: path.to_path_buf(),
            writer: EntryWriter::new(format, file)?,
            count: 0,
            interrupt: Interrupt::shared(),
        })
    }

    /// Appends an entry.
    ///
    /// # Errors
    /// Fails if the format cannot store the entry, on an I/O error, and after an interrupt.
    pub fn write(&mut self, entry: &Entry) -> Result<()> {
        self.write_placed(entry, None)
    }

    /// Appends an entry and, for a `.tree`, the place from which it was read.
    ///
    /// # Errors
    /// Fails like [`OutputFile::write`].
    pub fn write_placed(&mut self, entry: &Entry, place: Option<Place>) -> Result<()> {
        self.count += 1;
        if self.count.is_multiple_of(STRIDE) {
            check_interrupt(&self.interrupt)?;
        }
        let written = self.writer.write_placed(entry, place);
        written.with_context(|| format!("cannot write {}", self.path.shown()))
    }

    /// Number of entries so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Completes the file and renames it to the output. Returns the number of entries.
    ///
    /// # Errors
    /// Fails on an I/O error; an existing output is then unchanged.
    pub fn finish(self) -> Result<u64> {
        let written = self.writer.finish();
        let file = written.with_context(|| format!("cannot write {}", self.path.shown()))?;
        file.commit()?;
        Ok(self.count)
    }
}
