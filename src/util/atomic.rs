//! Files that are there whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Bytes that go to the system at once.
const BUFFER: usize = 1 << 16;

/// A file in the making. It is written beside its name (as `NAME.tmp`) and takes the name when it is complete, so that
/// a reader never sees half of it, and what was there before is lost only then. One that is dropped before leaves
/// nothing behind; one whose process was killed leaves its `.tmp`, which the next one replaces.
pub struct AtomicFile {
    path: PathBuf,
    beside: PathBuf,
    file: BufWriter<File>,
    complete: bool,
}

impl AtomicFile {
    /// Begins a file.
    ///
    /// # Errors
    /// When the disk refuses, the same file is being written already, or the name is that of a device, a pipe or a
    /// folder, which a file must not replace; the error names it.
    pub fn create(path: &Path) -> Result<Self> {
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            bail!("cannot write {}: it is no regular file", path.display());
        }
        let mut beside = OsString::from(path);
        beside.push(".tmp");
        let beside = PathBuf::from(beside);
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false);
        let file = file.open(&beside);
        let file = file.with_context(|| format!("cannot create {}", beside.display()))?;
        // Where the system has no locks, there is no check.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            bail!("{} is being written already", path.display());
        }
        let atomic = Self {
            path: path.to_path_buf(),
            beside,
            file: BufWriter::with_capacity(BUFFER, file),
            complete: false,
        };
        let emptied = atomic.file.get_ref().set_len(0);
        emptied.with_context(|| format!("cannot write {}", path.display()))?;
        Ok(atomic)
    }

    /// Gives the file its name, once all of it has reached the disk.
    ///
    /// # Errors
    /// When the disk refuses; the file that was there before stays.
    pub fn commit(mut self) -> Result<()> {
        let synced = self.flush().and_then(|()| self.file.get_ref().sync_all());
        synced.with_context(|| format!("cannot write {}", self.path.display()))?;
        self.commit_without_sync()
    }

    /// Gives the file its name, whether or not it has reached the disk: whole for every other process, also when this
    /// one is killed, but perhaps not after a power failure. For small files that are written very often.
    ///
    /// # Errors
    /// As [`Self::commit`].
    pub fn commit_without_sync(mut self) -> Result<()> {
        let renamed = self
            .flush()
            .and_then(|()| fs::rename(&self.beside, &self.path));
        self.complete = renamed.is_ok();
        renamed.with_context(|| format!("cannot write {}", self.path.display()))
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.complete {
            let _ = fs::remove_file(&self.beside);
        }
    }
}

/// Writes a file that is there whole or not at all, and on the disk when this returns.
///
/// # Errors
/// When `fill` fails, or the disk does.
pub fn write_atomically(
    path: &Path,
    fill: impl FnOnce(&mut AtomicFile) -> io::Result<()>,
) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    fill(&mut file).with_context(|| format!("cannot write {}", path.display()))?;
    file.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_old_one_until_it_is_the_new_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.txt");
        let names = || fs::read_dir(folder.path()).expect("the folder").count();
        let text = || fs::read_to_string(&path).unwrap_or_default();
        write_atomically(&path, |file| file.write_all(b"old")).expect("room");
        // A longer one that a killed process left behind.
        fs::write(folder.path().join("a.txt.tmp"), "left behind").expect("room");
        let mut file = AtomicFile::create(&path).expect("room");
        file.write_all(b"new").expect("room");
        assert!(AtomicFile::create(&path).is_err(), "it is being written");
        assert_eq!((text().as_str(), names()), ("old", 2));
        file.commit().expect("room");
        assert_eq!((text().as_str(), names()), ("new", 1));
        let failed = write_atomically(&path, |_| Err(io::Error::other("no more room")));
        let error = format!("{:#}", failed.expect_err("it fails"));
        assert!(
            error.contains("a.txt") && error.contains("no more room"),
            "{error}"
        );
        assert_eq!((text().as_str(), names()), ("new", 1));
        assert!(AtomicFile::create(&folder.path().join("no folder/a")).is_err());
    }

    #[test]
    fn what_is_no_file_is_not_replaced_by_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).expect("room");
        let refused = AtomicFile::create(&inner).err().map(|e| e.to_string());
        assert!(refused.is_some_and(|text| text.contains("inner: it is no regular file")));
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1);
    }
}
