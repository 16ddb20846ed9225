//! Kinds of files. An output may replace a file of its own kind, but not other files of the user.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::text::Shown as _;

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
