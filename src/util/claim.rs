//! Files that one process at a time may have: temporary files and locks.
//!
//! A claimed file is created exclusively, never through a link, and locked until it is removed. A file that a killed
//! process left behind is not locked any more: the next claim of the same name removes it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::identity;

/// How often a claim is repeated when other processes create and remove the file at the same time.
const ATTEMPTS: usize = 100;

/// The hidden file beside `path` that this program uses for a purpose: `.NAME.zoothera.PURPOSE`.
pub fn beside(path: &Path, purpose: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".zoothera.");
    name.push(purpose);
    path.with_file_name(name)
}

/// Creates and locks `path`. `None` if another process has it.
///
/// # Errors
/// Fails on an I/O error, and if something that is not a regular file has the name.
pub fn claim(path: &Path) -> Result<Option<File>> {
    try_claim(path).with_context(|| format!("cannot create {}", path.display()))
}

fn try_claim(path: &Path) -> io::Result<Option<File>> {
    for _ in 0..ATTEMPTS {
        match OpenOptions::new().write(true).create_new(true).open(path) {
            Ok(file) if is_locked_elsewhere(&file) => return Ok(None),
            // Between creation and lock another process may have taken it for one that was left behind.
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
    Err(io::Error::other(
        "other processes create and remove it all the time",
    ))
}

/// Removes a file that no process has locked. False if one has.
fn remove_abandoned(path: &Path) -> io::Result<bool> {
    let gone = |error: &io::Error| error.kind() == ErrorKind::NotFound;
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => {}
        Ok(_) => return Err(io::Error::other("no regular file has this name: remove it")),
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

/// Opens a file that exists for writing, without following a link as the last part of `path`, and without waiting for
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

/// Locks a file, or finds that another process has locked it. Where the system has no locks, no file is locked.
pub fn is_locked_elsewhere(file: &File) -> bool {
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// A lock that lasts as long as this value, or the process.
pub struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    /// Locks whatever `path` stands for, by a hidden file beside it. `None` if another process has the lock.
    ///
    /// # Errors
    /// As [`claim`].
    pub fn of(path: &Path) -> Result<Option<Self>> {
        let path = beside(path, "lock");
        Ok(claim(&path)?.map(|file| Self { path, file }))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        remove(&self.path, &self.file);
    }
}

/// Removes a claimed file, unless its name has become that of another one.
pub fn remove(path: &Path, file: &File) {
    if identity::names(path, file) {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("the folder");
        let name = |entry: io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<_> = entries
            .map(|entry| name(entry).to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn lock_excludes_others_until_it_is_dropped() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.nnue");
        let lock = Lock::of(&path).expect("room").expect("it is free");
        assert!(Lock::of(&path).expect("room").is_none());
        assert_eq!(names(folder.path()), [".run.nnue.zoothera.lock"]);
        drop(lock);
        assert!(names(folder.path()).is_empty());
        assert!(Lock::of(&path).expect("room").is_some());
    }

    #[test]
    fn lock_left_by_a_killed_process_does_not_block() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.nnue");
        fs::write(beside(&path, "lock"), "left behind").expect("room");
        assert!(Lock::of(&path).expect("room").is_some());
        assert!(names(folder.path()).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn claim_follows_no_link_and_waits_for_no_pipe() {
        let folder = tempfile::tempdir().expect("a folder");
        let [victim, link, pipe] = ["victim", "link", "pipe"].map(|name| folder.path().join(name));
        fs::write(&victim, "precious").expect("room");
        std::os::unix::fs::symlink(&victim, &link).expect("the disk has symbolic links");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("there is a mkfifo").success());
        for path in [&link, &pipe] {
            let error = format!("{:#}", claim(path).expect_err("it is in the way"));
            assert!(error.contains("no regular file"), "{error}");
        }
        assert_eq!(fs::read_to_string(&victim).expect("it"), "precious");
        assert_eq!(names(folder.path()), ["link", "pipe", "victim"]);
    }
}
