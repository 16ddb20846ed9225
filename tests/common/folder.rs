//! Temporary folders for tests, and training data to put into them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use zoothera::board::Position;
use zoothera::board::openings::random_walk;
use zoothera::data::reader::EntryWriter;
use zoothera::data::reader::Format;
use zoothera::data::{Entry, reader};
use zoothera::util::rng::SplitMix64;

use super::seed;

/// A temporary folder for one test, removed when it is dropped.
pub struct Folder(TempDir);

impl Folder {
    /// Creates a folder with `name` in its name.
    pub fn new(name: &str) -> Self {
        let folder = TempDir::with_prefix(format!("zoothera-{name}-"));
        Self(folder.expect("a folder for the test"))
    }

    /// The path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file in the folder and returns its path.
    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, bytes).expect("a file for the test");
        path
    }

    /// The sorted names of the files in the folder.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("the folder");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// Random durations below `max_ms` milliseconds. They differ in every run of the test unless `ZOOTHERA_SEED` is set.
pub fn pauses(count: usize, max_ms: usize) -> Vec<Duration> {
    let mut rng = SplitMix64::new(seed::seed(seed::from_clock()));
    (0..count).map(|_| Duration::from_millis(rng.below(max_ms) as u64)).collect()
}

/// Reads all entries of a file.
pub fn entries(path: &Path) -> Vec<Entry> {
    let mut entries = Vec::new();
    let read = reader::for_each(path, |entry| {
        entries.push(*entry);
        Ok(())
    });
    read.expect("a readable file");
    entries
}

/// Encodes entries as the bytes of a file.
pub fn encode(format: Format, entries: &[Entry]) -> Vec<u8> {
    let mut writer = EntryWriter::new(format, Vec::new()).expect("a writer");
    for entry in entries {
        writer.write(entry).expect("a valid entry");
    }
    writer.finish().expect("writing to a vector")
}

/// Random games of at most 40 plies with random scores. Many of them share their first plies.
pub fn random_games(seed: u64, count: usize) -> Vec<Entry> {
    let mut rng = SplitMix64::new(seed);
    let mut all = Vec::new();
    for _ in 0..count {
        let mut position = random_walk(&Position::startpos(), 1, &mut rng).expect("a position");
        let mut result = rng.below(3) as i8 - 1;
        for _ in 0..40 {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            let m = moves[rng.below(moves.len())];
            all.push(Entry { m: Some(m), score: rng.below(6000) as i16 - 3000, result, ..Entry::of(&position) });
            position.do_move(m);
            result = -result;
        }
    }
    all
}
