//! File identity. A file can have several names (relative paths, symbolic links, hard links), and a standard stream can
//! be redirected to it. And kinds of files: an output replaces only files of its own kind.

use std::fs::File;
use std::io;
use std::io::Read;
use std::path::Path;

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
