//! File identity. A file can have several names (relative paths, symbolic links, hard links), and a standard stream can
//! be redirected to it.

use std::fs::File;
use std::io;
use std::path::Path;

use anyhow::{Result, bail};

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
