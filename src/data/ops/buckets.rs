//! Temporary files that share out what does not fit into memory: each can be read back whole.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::data::reader::Format;

/// Most buckets: every one is an open file with a buffer.
const MOST: u64 = 256;
/// Bytes of such a buffer.
const BUFFER: usize = 1 << 17;

/// Temporary files without a name, in the folder of the output. The system removes them with the process, however that
/// ends.
pub struct Buckets {
    folder: PathBuf,
    /// `None` once a bucket was taken.
    files: Vec<Option<BufWriter<File>>>,
}

impl Buckets {
    /// Opens `count` empty buckets beside `out`.
    ///
    /// # Errors
    /// Fails on an I/O error.
    pub fn new(out: &Path, count: usize) -> Result<Self> {
        let folder = match out.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let open = |_| {
            let file = tempfile::tempfile_in(folder);
            let file = file.with_context(|| {
                format!("cannot create temporary files in {}", folder.display())
            })?;
            Ok(Some(BufWriter::with_capacity(BUFFER, file)))
        };
        Ok(Self {
            files: (0..count).map(open).collect::<Result<_>>()?,
            folder: folder.to_path_buf(),
        })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.files.len()
    }

    /// Appends to a bucket.
    ///
    /// # Errors
    /// Fails on an I/O error, and if the bucket was taken.
    pub fn put(&mut self, index: usize, bytes: &[u8]) -> Result<()> {
        let bucket = self.files[index].as_mut().context("the bucket was taken")?;
        let put = bucket.write_all(bytes);
        put.with_context(|| format!("cannot write temporary files in {}", self.folder.display()))
    }

    /// Takes everything that was put into a bucket; its file is removed, because the disk may need the room for the
    /// output.
    ///
    /// # Errors
    /// As [`Self::put`].
    pub fn take(&mut self, index: usize) -> Result<Vec<u8>> {
        let bucket = self.files[index].take().context("the bucket was taken")?;
        let read = || -> std::io::Result<Vec<u8>> {
            let mut file = bucket.into_inner()?;
            file.rewind()?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        read().with_context(|| format!("cannot read temporary files in {}", self.folder.display()))
    }
}

/// How many buckets are needed so that one, with `bytes_each` for every entry, takes about half of `memory_mib`.
///
/// # Errors
/// When a file cannot be looked at.
pub fn needed(inputs: &[PathBuf], bytes_each: u64, memory_mib: u32) -> Result<usize> {
    let mut entries = 0;
    for path in inputs {
        let size = fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
        // Guesses on the large side, where the format does not tell.
        entries += size.len()
            / match Format::of(path)? {
                Format::Bin => 40,
                Format::Binpack => 2,
                Format::Plain => 80,
                Format::Tree => 4,
            };
    }
    let half = u64::from(memory_mib) << 19;
    Ok((entries.saturating_mul(bytes_each) / half + 1).min(MOST) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_have_no_names_and_return_what_was_put_in() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut buckets = Buckets::new(&folder.path().join("out.bin"), 3).expect("room");
        for (index, bytes) in [(0, b"ab"), (2, b"cd"), (0, b"ef")] {
            buckets.put(index, bytes).expect("room");
        }
        // Windows removes them at the end; Unix has removed their names.
        if cfg!(unix) {
            let names = fs::read_dir(folder.path()).expect("the folder").count();
            assert_eq!(names, 0);
        }
        let taken: Vec<_> = (0..3)
            .map(|index| buckets.take(index).expect("it"))
            .collect();
        assert_eq!(taken, [b"abef".to_vec(), vec![], b"cd".to_vec()]);
        assert!(buckets.take(0).is_err());
        drop(buckets);
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
    }
}
