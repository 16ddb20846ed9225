//! Append-only files that a later process can continue.

use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use crc32fast::Hasher;

use super::claim;
use super::disk::is_read_only;
use super::text::Shown as _;

/// Size in bytes of the blocks in which the checksum is computed.
const BUFFER: usize = 1 << 20;

/// An append-only file with a checksum of all its bytes, locked against other processes.
pub struct AppendFile {
    path: PathBuf,
    file: File,
    /// Size of the file in bytes.
    bytes: u64,
    crc: Hasher,
}

impl AppendFile {
    /// Opens or creates the file without changing its content.
    ///
    /// # Errors
    /// Fails on an I/O error, if the file is read-only or not a regular file, and if another process is writing to it.
    /// The error does not name the file.
    pub fn open(path: &Path) -> Result<Self> {
        let file = open_data(path)?;
        if claim::is_locked_elsewhere(&file) {
            bail!("another process is writing to it");
        }
        let bytes = file.metadata()?.len();
        Ok(Self { path: path.to_path_buf(), file, bytes, crc: Hasher::new() })
    }

    /// Size of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// CRC-32 of the file, after [`Self::continue_at`].
    pub fn crc(&self) -> u32 {
        self.crc.clone().finalize()
    }

    /// Truncates the file to its first `bytes` bytes, whose checksum must be `crc` if one is given. Later data is
    /// appended after them.
    ///
    /// # Errors
    /// Fails on an I/O error, and if the file is shorter or the checksum differs. The error does not name the file.
    pub fn continue_at(&mut self, bytes: u64, crc: Option<u32>) -> Result<()> {
        ensure!(
            self.bytes >= bytes,
            "it has {} bytes, fewer than the {bytes} that were written: it can be read but not continued",
            self.bytes
        );
        self.crc = crc_of(&mut self.file, bytes)?;
        let found = self.crc();
        ensure!(
            crc.is_none_or(|stored| stored == found),
            "it was changed or damaged after it was written: the checksum of its first {bytes} bytes is {found:08x}, \
             not {:08x}; restore the original file or start a new one",
            crc.unwrap_or_default()
        );
        self.file.set_len(bytes)?;
        self.file.seek(SeekFrom::End(0))?;
        self.bytes = bytes;
        Ok(())
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// Fails on an I/O error. The file can still be continued later.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.file.write_all(bytes);
        written.with_context(|| format!("cannot write {}", self.path.shown()))?;
        self.crc.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Syncs the file to the disk.
    ///
    /// # Errors
    /// Fails on an I/O error.
    pub fn sync(&self) -> Result<()> {
        let synced = self.file.sync_all();
        synced.with_context(|| format!("cannot write {}", self.path.shown()))
    }
}

impl Drop for AppendFile {
    fn drop(&mut self) {
        claim::unlock(&self.file);
    }
}

/// Opens the file for reading and writing, or creates it.
fn open_data(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    match fs::metadata(path) {
        Ok(found) => {
            // Checked first, because opening a pipe would wait for its other end.
            ensure!(found.is_file(), "it is not a regular file");
            let readonly = is_read_only(&found);
            ensure!(!readonly, "it is read-only; make it writable or use another name");
        }
        Err(_) => {
            options.create_new(true);
        }
    }
    Ok(options.open(path)?)
}

/// CRC-32 of the first `bytes` bytes of a file.
fn crc_of(file: &mut File, bytes: u64) -> Result<Hasher> {
    let mut crc = Hasher::new();
    file.rewind()?;
    let mut source = BufReader::with_capacity(BUFFER, file).take(bytes);
    let mut buffer = vec![0; BUFFER];
    loop {
        match source.read(&mut buffer)? {
            0 => return Ok(crc),
            count => crc.update(&buffer[..count]),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn closed_file_is_not_locked_by_a_copy_of_the_handle() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.bin");
        let file = AppendFile::open(&path).expect("a new file");
        let copy = file.file.try_clone().expect("a copy, as a child process has it");
        assert!(AppendFile::open(&path).is_err());
        drop(file);
        assert!(AppendFile::open(&path).is_ok());
        drop(copy);
    }
}
