//! Files: which file a name denotes and of what kind it is, and files that only one process may own at a time.
//!
//! A file can have several names (relative paths, symbolic links, hard links), and a standard stream can be redirected
//! to it. An output replaces only files of its own kind.

use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context, Result, bail};

use super::text::Shown as _;

/// Name for standard input as an input, and for standard output as an output.
const STANDARD: &str = "-";

/// Identity of a file. Two paths with equal identities refer to the same file.
#[cfg(unix)]
type FileId = (u64, u64);
#[cfg(windows)]
type FileId = same_file::Handle;
#[cfg(not(any(unix, windows)))]
type FileId = std::path::PathBuf;

/// Returns an error if an output is also an input, or if two outputs are the same file. `-` means the standard streams.
///
/// # Errors
/// The message names both paths and suggests a different name.
pub fn check_distinct(outputs: &[&Path], inputs: &[&Path]) -> Result<()> {
    let read: Vec<_> = inputs.iter().filter_map(|path| Some((path, id_of_input(path)?))).collect();
    let mut written: Vec<(&Path, FileId)> = Vec::new();
    for &output in outputs {
        let Some(id) = id_of_output(output) else {
            continue;
        };
        if let Some((input, _)) = read.iter().find(|(_, other)| *other == id) {
            bail!(
                "{} is also an input ({}) and would be overwritten: use another name for the output",
                shown(output, "standard output"),
                shown(input, "standard input")
            );
        }
        if let Some((other, _)) = written.iter().find(|(_, other)| *other == id) {
            bail!(
                "{} and {} are the same file: use a different name for each output",
                shown(other, "standard output"),
                shown(output, "standard output")
            );
        }
        written.push((output, id));
    }
    Ok(())
}

/// Whether `path` still refers to the open `file`. On systems without file identities, only checks that both exist.
pub fn names(path: &Path, file: &File) -> bool {
    #[cfg(unix)]
    return std::fs::symlink_metadata(path)
        .is_ok_and(|found| file.metadata().is_ok_and(|open| id(&found) == id(&open)));
    #[cfg(windows)]
    return file.try_clone().is_ok_and(|open| {
        let open = same_file::Handle::from_file(open);
        open.is_ok_and(|open| id_of(path).is_some_and(|found| found == open))
    });
    #[cfg(not(any(unix, windows)))]
    return path.exists() && file.metadata().is_ok();
}

/// The path for a message, or `standard` for a standard stream.
fn shown(path: &Path, standard: &str) -> String {
    if path == Path::new(STANDARD) {
        return standard.to_owned();
    }
    path.shown()
}

/// Identity of an input; `None` if it is not a regular file.
fn id_of_input(path: &Path) -> Option<FileId> {
    if path == Path::new(STANDARD) {
        return id_of_stream(io::stdin());
    }
    id_of(path)
}

/// Identity of an output; `None` if it is not a regular file. Terminals, pipes and devices can be input and output at
/// the same time.
fn id_of_output(path: &Path) -> Option<FileId> {
    if path == Path::new(STANDARD) {
        return id_of_stream(io::stdout());
    }
    id_of(path)
}

#[cfg(unix)]
fn id(found: &std::fs::Metadata) -> FileId {
    use std::os::unix::fs::MetadataExt;
    (found.dev(), found.ino())
}

#[cfg(unix)]
fn id_of(path: &Path) -> Option<FileId> {
    let found = std::fs::metadata(path).ok()?;
    found.is_file().then(|| id(&found))
}

#[cfg(windows)]
fn id_of(path: &Path) -> Option<FileId> {
    let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
    is_file.then(|| same_file::Handle::from_path(path).ok()).flatten()
}

#[cfg(not(any(unix, windows)))]
fn id_of(path: &Path) -> Option<FileId> {
    path.canonicalize().ok()
}

/// Identity of the regular file that a standard stream was redirected to.
#[cfg(unix)]
fn id_of_stream(stream: impl std::os::fd::AsFd) -> Option<FileId> {
    let file = File::from(stream.as_fd().try_clone_to_owned().ok()?);
    let found = file.metadata().ok()?;
    found.is_file().then(|| id(&found))
}

#[cfg(not(unix))]
fn id_of_stream<T>(_stream: T) -> Option<FileId> {
    None
}

// Kinds of files. An output may replace a file of its own kind, but not other files of the user.

/// Number of bytes at the start of a file that are read to determine its kind.
pub const HEAD: u64 = 4096;

/// A kind of file.
#[derive(Clone, Copy)]
pub struct Kind {
    /// Name with its article, as in "a network".
    pub name: &'static str,
    /// Whether a file of this kind can begin with these bytes: the first [`HEAD`], or the whole file if it is shorter.
    pub is: fn(&[u8]) -> bool,
}

impl Kind {
    /// Checks that an output may replace the file at `path`, if there is one: it must be empty or of this kind.
    ///
    /// # Errors
    /// Fails if the file is of another kind or cannot be read.
    pub fn check(&self, path: &Path) -> Result<()> {
        // Other checks reject paths that are not regular files when they are opened for writing.
        if !path.metadata().is_ok_and(|found| found.is_file()) {
            return Ok(());
        }
        let mut head = Vec::new();
        let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
        read.with_context(|| {
            let name = self.name;
            let path = path.shown();
            format!("cannot replace {path}: cannot check whether it is {name}")
        })?;
        if !head.is_empty() && !(self.is)(&head) {
            bail!("{} exists and is not {}: use another name, or remove the file first", path.shown(), self.name);
        }
        Ok(())
    }
}

/// Whether the start of a file looks like text: no control characters except tabs, line ends, form feeds and escapes.
pub fn is_text(head: &[u8]) -> bool {
    let control = |byte: &u8| *byte < 32 && !b"\t\n\r\x0c\x1b".contains(byte);
    !head.iter().any(control)
}

/// The start of the text after a byte order mark and white space.
pub fn text_start(head: &[u8]) -> &[u8] {
    head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start()
}

// Temporary files and locks, free space, and permission to write.
//
// A claimed file is created exclusively, never through a link, and stays locked until it is removed. The file of a
// killed process is not locked any more, so the next claim of the same name removes it.

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
            Ok(file) if names(path, &file) => return Ok(Some(file)),
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
    if names(path, &file) {
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
    if names(path, file) {
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
    use std::fs;

    #[test]
    fn check_distinct_resolves_paths_and_links() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a"), "a").expect("room");
        fs::write(path("b"), "a").expect("room");
        fs::create_dir(path("c")).expect("room");
        let mut names = vec![path("a"), path("./a"), path("c/../a")];
        if cfg!(any(unix, windows)) {
            fs::hard_link(path("a"), path("hard")).expect("the disk has hard links");
            names.push(path("hard"));
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("a", path("soft")).expect("the disk has symbolic links");
            names.push(path("soft"));
        }
        for name in &names {
            let error = check_distinct(&[name], &[&path("b"), &path("a")]);
            let error = error.expect_err("an error").to_string();
            assert!(error.contains("is also an input"), "{error}");
            assert!(check_distinct(&[&path("b"), name, &path("a")], &[]).is_err());
        }
        assert!(check_distinct(&[&path("b"), &path("new")], &[&path("a"), &path("new")]).is_ok());
    }

    #[test]
    fn names_is_false_after_file_was_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        let file = File::create(&path).expect("room");
        assert!(names(&path, &file));
        if cfg!(unix) {
            fs::rename(&path, folder.path().join("b")).expect("room");
            assert!(!names(&path, &file));
            File::create(&path).expect("room");
            assert!(!names(&path, &file));
        }
    }
}

#[cfg(test)]
mod kind_tests {
    use super::*;

    const KIND: Kind = Kind { name: "a list", is: |head| head.starts_with(b"- ") };

    #[test]
    fn check_allows_missing_empty_and_same_kind_files_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        assert!(KIND.check(&path).is_ok(), "a missing file");
        for (content, allowed) in [("", true), ("- one", true), ("thesis", false)] {
            std::fs::write(&path, content).expect("room");
            assert_eq!(KIND.check(&path).is_ok(), allowed, "{content}");
        }
        let error = KIND.check(&path).expect_err("another kind").to_string();
        assert!(error.contains("exists and is not a list"), "{error}");
    }

    #[test]
    fn is_text_rejects_control_characters() {
        assert!(is_text("[Event \"Zürich\"]\r\n".as_bytes()));
        assert!(!is_text(b"NNUE\0"));
        assert_eq!(text_start(b"\xef\xbb\xbf \n[Event"), b"[Event");
    }
}

#[cfg(test)]
mod claim_tests {
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
