//! A file that appears under its name only when it is complete.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::data::entry::Entry;
use crate::data::reader::{Format, Place};
use crate::data::writer::EntryWriter;

/// Bytes that are written to the disk at once.
const BUFFER: usize = 1 << 20;

/// A file of entries in the making.
pub struct Output {
    path: PathBuf,
    beside: PathBuf,
    /// `None` once it is finished.
    writer: Option<EntryWriter<BufWriter<File>>>,
    count: u64,
}

impl Output {
    /// Begins a file of the format that the name tells, under a temporary name.
    ///
    /// # Errors
    /// When the extension tells no format or the file cannot be created.
    pub fn create(path: &Path) -> Result<Self> {
        let format = Format::of(path)?;
        let beside = temporary(path);
        let file = File::create(&beside);
        let file = file.with_context(|| format!("cannot create {}", beside.display()))?;
        let writer = EntryWriter::new(format, BufWriter::with_capacity(BUFFER, file))?;
        Ok(Self {
            path: path.to_path_buf(),
            beside,
            writer: Some(writer),
            count: 0,
        })
    }

    /// Appends an entry.
    ///
    /// # Errors
    /// When the format cannot hold it, or the disk refuses.
    pub fn write(&mut self, entry: &Entry) -> Result<()> {
        self.write_placed(entry, None)
    }

    /// Appends an entry that was read from a known place.
    ///
    /// # Errors
    /// As [`Output::write`].
    pub fn write_placed(&mut self, entry: &Entry, place: Option<Place>) -> Result<()> {
        self.count += 1;
        let writer = self.writer.as_mut().context("the file is finished")?;
        writer
            .write_placed(entry, place)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Entries so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// When the disk refuses; the file that was there before stays.
    pub fn finish(mut self) -> Result<u64> {
        let writer = self.writer.take().context("the file is finished")?;
        let complete = || -> Result<()> {
            let file = writer.finish()?.into_inner().map_err(|e| e.into_error())?;
            file.sync_all()?;
            Ok(fs::rename(&self.beside, &self.path)?)
        };
        let completed = complete();
        if completed.is_err() {
            let _ = fs::remove_file(&self.beside);
        }
        completed.with_context(|| format!("cannot write {}", self.path.display()))?;
        Ok(self.count)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if self.writer.take().is_some() {
            let _ = fs::remove_file(&self.beside);
        }
    }
}

/// A name beside `path` that no other process uses.
pub fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    name.into()
}
