//! Temporary files that partition data larger than memory. Each bucket fits into memory.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::data::compression::Compression;
use crate::data::format::{FileFormat, Format};
use crate::util::text::Shown as _;

/// Largest number of buckets; each is an open file with a buffer.
const MAX_BUCKETS: u64 = 256;
/// Size of a bucket's buffer in bytes.
const BUFFER: usize = 1 << 17;

/// Anonymous temporary files in the folder of the output. The system removes them when the process ends, even if it is
/// killed.
pub struct Buckets {
    folder: PathBuf,
    /// One file per bucket, `None` after the bucket was taken.
    files: Vec<Option<BufWriter<File>>>,
}

impl Buckets {
    /// Creates `count` empty buckets in the folder of `out`.
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
            let file = file.with_context(|| format!("cannot create temporary files in {}", folder.shown()))?;
            Ok(Some(BufWriter::with_capacity(BUFFER, file)))
        };
        Ok(Self { files: (0..count).map(open).collect::<Result<_>>()?, folder: folder.to_path_buf() })
    }

    /// Number of buckets.
    pub fn count(&self) -> usize {
        self.files.len()
    }

    /// Appends to a bucket.
    ///
    /// # Errors
    /// Fails on an I/O error, and if the bucket was already taken.
    pub fn put(&mut self, index: usize, bytes: &[u8]) -> Result<()> {
        let bucket = self.files[index].as_mut().context("the bucket was already taken")?;
        let put = bucket.write_all(bytes);
        put.with_context(|| format!("cannot write temporary files in {}", self.folder.shown()))
    }

    /// Returns the content of a bucket and removes its file, which frees disk space for the output.
    ///
    /// # Errors
    /// As [`Self::put`].
    pub fn take(&mut self, index: usize) -> Result<Vec<u8>> {
        let bucket = self.files[index].take().context("the bucket was already taken")?;
        let read = || -> std::io::Result<Vec<u8>> {
            let mut file = bucket.into_inner()?;
            file.rewind()?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        read().with_context(|| format!("cannot read temporary files in {}", self.folder.shown()))
    }
}

/// Number of buckets such that a bucket needs about half of `memory_mib` MiB, at `bytes_each` bytes per entry.
///
/// # Errors
/// Fails if the size or format of an input cannot be determined.
pub fn needed(inputs: &[PathBuf], bytes_each: u64, memory_mib: u32) -> Result<usize> {
    let mut entries = 0;
    for path in inputs {
        let size = fs::metadata(path).with_context(|| format!("cannot read {}", path.shown()))?;
        // Bytes per entry. Formats of variable size have low estimates, so that buckets are small enough.
        entries += size.len()
            / match FileFormat::of(path)? {
                FileFormat { compression: Compression::Gzip | Compression::Zstd, .. } => 2,
                FileFormat { format, .. } => match format {
                    Format::Bin => 40,
                    Format::Bulletformat => 32,
                    Format::Binpack => 2,
                    Format::Plain => 80,
                    Format::Tree | Format::Viriformat => 4,
                    Format::BulletText | Format::Epd => 20,
                    Format::Pgn => 5,
                },
            };
    }
    let half = u64::from(memory_mib) << 19;
    Ok((entries.saturating_mul(bytes_each) / half + 1).min(MAX_BUCKETS) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_anonymous_and_return_their_content() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut buckets = Buckets::new(&folder.path().join("out.bin"), 3).expect("a writable folder");
        for (index, bytes) in [(0, b"ab"), (2, b"cd"), (0, b"ef")] {
            buckets.put(index, bytes).expect("a writable folder");
        }
        // Unix removes the names at once, Windows when the files are closed.
        if cfg!(unix) {
            let names = fs::read_dir(folder.path()).expect("the folder").count();
            assert_eq!(names, 0);
        }
        let taken: Vec<_> = (0..3).map(|index| buckets.take(index).expect("a full bucket")).collect();
        assert_eq!(taken, [b"abef".to_vec(), vec![], b"cd".to_vec()]);
        assert!(buckets.take(0).is_err());
        drop(buckets);
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
    }
}
