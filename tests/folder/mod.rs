//! Folders for tests, and the shared one.

#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use zoothera::data::{Entry, reader};
use zoothera::util::rng::SplitMix64;

/// A folder of its own for a test, removed when the test has ended.
pub struct Folder(PathBuf);

impl Folder {
    /// A new folder.
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("zoothera-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder for the test");
        Self(path)
    }

    /// A name in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A file in the folder.
    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, bytes).expect("a file for the test");
        path
    }

    /// The names in the folder, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("the folder");
        let mut names: Vec<_> = entries
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Random times of at most so many milliseconds, other ones in every run of the test.
pub fn pauses(count: usize, longest: usize) -> Vec<Duration> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let seed = now.map_or(0, |time| time.as_nanos() as u64);
    let mut rng = SplitMix64::new(seed);
    (0..count)
        .map(|_| Duration::from_millis(rng.below(longest) as u64))
        .collect()
}

/// All entries of a file.
pub fn entries(path: &Path) -> Vec<Entry> {
    let mut entries = Vec::new();
    let read = reader::for_each(path, |entry| {
        entries.push(*entry);
        Ok(())
    });
    read.expect("a readable file");
    entries
}
