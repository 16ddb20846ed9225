//! Files that only one process may own at a time (temporary files and locks), free space, and permission to write.
//!
//! A claimed file is created exclusively, never through a link, and stays locked until it is removed. The file of a
//! killed process is not locked any more, so the next claim of the same name removes it.

use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context, Result};

use super::identity;
use super::text::Shown as _;

/// Maximum number of attempts of a claim, in case other processes create and remove the file at the same time.
const ATTEMPTS: usize = 100;

/// Part of the name of every hidden file of this program.
pub const OWN: &str = ".zoothera.";

/// Path of the hidden file next to `path` that this program uses for a purpose: `.NAME.zoothera.PURPOSE`.
pub fn hidden_path(path: &Path, purpose: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(OWN);
    name.push(purpose);
    path.with_file_name(name)
}

/// Creates and locks `path`. Returns `None` if another process has locked it.
///
/// # Errors
/// Fails on an I/O error, and if `path` exists and is not a regular file.
pub fn claim(path: &Path) -> Result<Option<File>> {
    try_claim(path).with_context(|| format!("cannot create {}", path.shown()))
}

fn try_claim(path: &Path) -> io::Result<Option<File>> {
    for _ in 0..ATTEMPTS {
        match OpenOptions::new().write(true).create_new(true).open(path) {
            Ok(file) if is_locked_elsewhere(&file) => return Ok(None),
            // Between creation and lock, another process may have removed the file as abandoned.
            Ok(file) if identity::names(path, &file) => return Ok(Some(file)),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                if !remove_abandoned(path)? {
                    return Ok(None);
                }
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("other processes keep creating and removing it; try again"))
}

/// Removes a file that no process has locked. Returns false if another process has locked it.
fn remove_abandoned(path: &Path) -> io::Result<bool> {
    let gone = |error: &io::Error| error.kind() == ErrorKind::NotFound;
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => {}
        Ok(_) => return Err(io::Error::other("it is not a regular file: remove it")),
        Err(error) if gone(&error) => return Ok(true),
        Err(error) => return Err(error),
    }
    let file = match open_existing(path) {
        Ok(file) => file,
        Err(error) if gone(&error) => return Ok(true),
        Err(error) => return Err(error),
    };
    if is_locked_elsewhere(&file) {
        return Ok(false);
    }
    if identity::names(path, &file) {
        fs::remove_file(path).or_else(|error| if gone(&error) { Ok(()) } else { Err(error) })?;
    }
    Ok(true)
}

/// Opens an existing file for writing. Does not follow a link as the last component of `path`, and does not wait for
/// the other end of a pipe.
pub fn open_existing(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    options.open(path)
}

/// Tries to lock a file. Returns true if another process has locked it, and false on systems without locks.
pub fn is_locked_elsewhere(file: &File) -> bool {
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// A lock that is held until this value is dropped or the process ends.
pub struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    /// Locks `path` by means of a hidden file next to it. Returns `None` if another process has the lock.
    ///
    /// # Errors
    /// As for [`claim`].
    pub fn of(path: &Path) -> Result<Option<Self>> {
        let path = hidden_path(path, "lock");
        Ok(claim(&path)?.map(|file| Self { path, file }))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        remove(&self.path, &self.file);
    }
}

/// Removes a claimed file, unless `path` has become the name of another file, and unlocks it.
pub fn remove(path: &Path, file: &File) {
    if identity::names(path, file) {
        let _ = fs::remove_file(path);
    }
    unlock(file);
}

/// Unlocks a file before it is closed. Closing alone is not enough: a child process that another thread is starting
/// holds a copy of the open file, and with it the lock, until it executes its program.
pub fn unlock(file: &File) {
    let _ = file.unlock();
}

// Free disk space, and whether files may be written.

/// Whether a file is read-only. Always `false` under WASI, which has no permissions of files.
pub fn is_read_only(file: &Metadata) -> bool {
    !cfg!(target_family = "wasm") && file.permissions().readonly()
}

/// Free space for files in `folder`, in bytes; `None` if it cannot be determined.
#[cfg(not(target_family = "wasm"))]
pub fn free_bytes(folder: &Path) -> Option<u64> {
    fs4::available_space(folder).ok()
}

/// Always `None`, because WASI has no such call.
#[cfg(target_family = "wasm")]
pub fn free_bytes(_folder: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("the folder");
        let name = |entry: io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<_> = entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn lock_excludes_others_until_it_is_dropped() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.nnue");
        let lock = Lock::of(&path).expect("room").expect("a free lock");
        assert!(Lock::of(&path).expect("room").is_none());
        assert_eq!(names(folder.path()), [".run.nnue.zoothera.lock"]);
        drop(lock);
        assert!(names(folder.path()).is_empty());
        assert!(Lock::of(&path).expect("room").is_some());
    }

    #[test]
    fn lock_file_of_killed_process_does_not_block() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.nnue");
        fs::write(hidden_path(&path, "lock"), "abandoned").expect("room");
        assert!(Lock::of(&path).expect("room").is_some());
        assert!(names(folder.path()).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn claim_rejects_link_and_pipe_without_following_or_waiting() {
        let folder = tempfile::tempdir().expect("a folder");
        let [victim, link, pipe] = ["victim", "link", "pipe"].map(|name| folder.path().join(name));
        fs::write(&victim, "precious").expect("room");
        std::os::unix::fs::symlink(&victim, &link).expect("the disk has symbolic links");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("there is a mkfifo").success());
        for path in [&link, &pipe] {
            let error = format!("{:#}", claim(path).expect_err("not a regular file"));
            assert!(error.contains("it is not a regular file"), "{error}");
        }
        assert_eq!(fs::read_to_string(&victim).expect("a file"), "precious");
        assert_eq!(names(folder.path()), ["link", "pipe", "victim"]);
    }
}

#[cfg(all(test, not(target_family = "wasm")))]
mod disk_tests {
    use super::*;

    #[test]
    fn free_bytes_is_positive_for_folder_and_none_for_missing_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(free_bytes(folder.path()).is_some_and(|bytes| bytes > 0));
        assert_eq!(free_bytes(&folder.path().join("missing")), None);
    }
}
