//! Output file that is renamed to its final name only when complete.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::{STRIDE, check_interrupt};
use crate::data::compression::Compressor;
use crate::data::entry::{Entry, NO_SCORE};
use crate::data::format::{FileFormat, Format};
use crate::data::reader::{EntryWriter, Place};
use crate::util::atomic::AtomicFile;
use crate::util::console::Interrupt;
use crate::util::text::Shown as _;

/// Writer of entries into a temporary file that replaces the output at the end.
pub struct OutputFile {
    path: PathBuf,
    format: Format,
    writer: EntryWriter<Compressor<AtomicFile>>,
    count: u64,
    left_out: LeftOut,
    interrupt: Interrupt,
}

/// What the output's format cannot store.
#[derive(Default)]
struct LeftOut {
    /// Entries without a score.
    unscored: u64,
    /// Entries whose score alone was the label, in a format that cannot say so.
    unmarked: u64,
}

impl OutputFile {
    /// Creates a temporary file for the output `path`. Its extension determines the format.
    ///
    /// # Errors
    /// Fails if the extension is unknown, `path` has content and `force` is false, it is a file of another format, or
    /// the temporary file cannot be created.
    pub fn create(path: &Path, force: bool) -> Result<Self> {
        let FileFormat { format, compression } = FileFormat::of(path)?;
        let file = AtomicFile::create_over(path, &FileFormat { format, compression }.kind())?;
        if !force && path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0) {
            bail!("{} exists; give another name, or --force to replace it", path.shown());
        }
        let writer = EntryWriter::new(format, Compressor::new(compression, file));
        Ok(Self {
            path: path.to_path_buf(),
            format,
            writer: writer.with_context(|| format!("cannot write {}", path.shown()))?,
            count: 0,
            left_out: LeftOut::default(),
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

    /// Appends an entry and, for a `.tree`, the place from which it was read. Leaves out an entry without a score if
    /// the format requires one.
    ///
    /// # Errors
    /// Fails like [`OutputFile::write`].
    pub fn write_placed(&mut self, entry: &Entry, place: Option<Place>) -> Result<()> {
        if self.format.is_fully_labelled() && entry.score == NO_SCORE {
            self.left_out.unscored += 1;
            return Ok(());
        }
        if entry.score_alone && !self.format.marks_score_alone() {
            self.left_out.unmarked += 1;
        }
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
    /// Fails if there is no entry, and on an I/O error; an existing output is then unchanged.
    pub fn finish(self) -> Result<u64> {
        ensure!(self.count > 0, "there is no position to write, so {} was not written", self.path.shown());
        self.finish_part()
    }

    /// As [`Self::finish`], for one of several outputs, which may be empty.
    ///
    /// # Errors
    /// Fails on an I/O error; an existing output is then unchanged.
    pub fn finish_part(self) -> Result<u64> {
        let shown = self.path.shown();
        let written = self.writer.finish().and_then(|sink| Ok(sink.finish()?));
        let file = written.with_context(|| format!("cannot write {shown}"))?;
        file.commit()?;
        let LeftOut { unscored, unmarked } = self.left_out;
        if unscored > 0 {
            eprintln!("{shown}: left out {unscored} positions without a score, which the format cannot store");
        }
        if unmarked > 0 {
            eprintln!(
                "{shown}: the results of {unmarked} positions are no labels, and the format cannot mark that: train \
                 with --sampled, or elsewhere on scores alone"
            );
        }
        Ok(self.count)
    }
}
