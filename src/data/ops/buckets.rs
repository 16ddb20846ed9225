//! Temporary files that share out what does not fit into memory: each can be read back whole.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::data::reader::Format;

/// Most buckets: every one is an open file with a buffer.
const MOST: u64 = 256;
/// Bytes of such a buffer.
const BUFFER: usize = 1 << 17;

/// Temporary files in a folder beside the output; they go with this value.
pub struct Buckets {
    folder: PathBuf,
    files: Vec<BufWriter<File>>,
}

impl Buckets {
    /// Opens `count` empty buckets beside `out`.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn new(out: &Path, count: usize) -> Result<Self> {
        // No other process uses this name.
        let mut folder = out.as_os_str().to_owned();
        folder.push(format!(".{}.buckets", std::process::id()));
        let folder = PathBuf::from(folder);
        let mut buckets = Self {
            files: Vec::with_capacity(count),
            folder,
        };
        let folder = &buckets.folder;
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        for index in 0..count {
            let path = path(folder, index);
            let file = File::create(&path);
            let file = file.with_context(|| format!("cannot create {}", path.display()))?;
            buckets.files.push(BufWriter::with_capacity(BUFFER, file));
        }
        Ok(buckets)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.files.len()
    }

    /// Appends to a bucket.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn put(&mut self, index: usize, bytes: &[u8]) -> Result<()> {
        let put = self.files[index].write_all(bytes);
        put.with_context(|| format!("cannot write to {}", self.folder.display()))
    }

    /// Everything that was put into a bucket.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn take(&mut self, index: usize) -> Result<Vec<u8>> {
        let path = path(&self.folder, index);
        let taken = self.files[index].flush().and_then(|()| fs::read(&path));
        let taken = taken.with_context(|| format!("cannot read {}", path.display()))?;
        // The disk may need the room for the output.
        let _ = fs::remove_file(&path);
        Ok(taken)
    }
}

impl Drop for Buckets {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn path(folder: &Path, index: usize) -> PathBuf {
    folder.join(format!("{index}"))
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
