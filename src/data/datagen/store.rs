//! The file that games are appended to, and beside it a small one that says how far it is whole.
//!
//! A game is appended first, then the state is replaced by renaming. Whatever happens between the two, continuing
//! cuts the file back to what the state says, and the game is played again, with the same outcome.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::util::atomic::AtomicFile;

/// What the file holds when it is whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// What the data depend on; only the same settings continue the same file.
    pub settings: String,
    /// Games in the file: also the number of the next one.
    pub games: u64,
    /// Positions in the file.
    pub positions: u64,
    /// Bytes of the file.
    pub bytes: u64,
}

/// An open file of games.
pub struct Store {
    path: PathBuf,
    file: File,
    state: State,
}

impl Store {
    /// Opens a file for games: a new one, or with `resume` one that is there.
    ///
    /// # Errors
    /// When the file exists and is not to be continued, was made with other settings, or is in use; when the disk
    /// refuses.
    pub fn open(path: &Path, settings: String, resume: bool) -> Result<Self> {
        let store = Self::try_open(path, settings, resume);
        store.with_context(|| path.display().to_string())
    }

    fn try_open(path: &Path, settings: String, resume: bool) -> Result<Self> {
        let state_path = state_path(path);
        if !resume {
            ensure!(
                !path.exists() && !state_path.exists(),
                "the file is there already: --resume continues it; to begin anew remove it and its .state"
            );
        }
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        // Where the system has no locks, there is no check.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            bail!("another process writes to the file");
        }
        let length = file.metadata()?.len();
        let state = match fs::read(&state_path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .with_context(|| format!("{} is no state", state_path.display()))?,
            Err(_) if length == 0 => State {
                settings: settings.clone(),
                ..State::default()
            },
            Err(error) => {
                return Err(error).with_context(|| {
                    format!(
                        "{} tells where to continue, but cannot be read",
                        state_path.display()
                    )
                });
            }
        };
        ensure!(
            state.settings == settings,
            "it was made with other settings:\n  then: {}\n  now:  {settings}",
            state.settings
        );
        ensure!(
            length >= state.bytes,
            "it has {length} bytes, fewer than the {} that were written; it can be read, but not continued",
            state.bytes
        );
        let mut store = Self {
            path: path.to_path_buf(),
            file,
            state,
        };
        store.file.set_len(store.state.bytes)?;
        store.file.seek(SeekFrom::End(0))?;
        store.save()?;
        Ok(store)
    }

    /// How far the file is.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Appends a game.
    ///
    /// # Errors
    /// When the disk refuses; the file can be continued all the same.
    pub fn append(&mut self, bytes: &[u8], positions: u64) -> Result<()> {
        let written = self.file.write_all(bytes);
        written.with_context(|| format!("cannot write {}", self.path.display()))?;
        self.state.games += 1;
        self.state.positions += positions;
        self.state.bytes += bytes.len() as u64;
        self.save()
    }

    /// Makes sure that everything has reached the disk.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn finish(&mut self) -> Result<()> {
        let synced = self.file.sync_all();
        synced.with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Replaces the state on the disk at one stroke. Not synced, because sampling ends a hundred games a second: this
    /// holds against a killed process; after a power failure the file can be read but perhaps not continued.
    fn save(&self) -> Result<()> {
        let path = state_path(&self.path);
        let mut file = AtomicFile::create(&path)?;
        let written = file.write_all(&serde_json::to_vec_pretty(&self.state)?);
        written.with_context(|| format!("cannot write {}", path.display()))?;
        file.commit_without_sync()
    }
}

/// Where the state of a file is.
pub fn state_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".state");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_acknowledged_is_cut_off() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.bin");
        let open = |settings: &str, resume| Store::open(&path, settings.to_owned(), resume);
        let mut store = open("seed 1", false).expect("a new file");
        store.append(b"one", 3).expect("room");
        assert!(open("seed 1", true).is_err(), "it is in use");
        drop(store);
        // Killed between the game and the state.
        let mut file = OpenOptions::new().append(true).open(&path).expect("a file");
        file.write_all(b"half a ga").expect("room");
        drop(file);
        assert!(open("seed 1", false).is_err());
        assert!(open("seed 2", true).is_err());
        let mut store = open("seed 1", true).expect("the same file");
        assert_eq!((store.state().games, store.state().positions), (1, 3));
        store.append(b"two", 3).expect("room");
        drop(store);
        assert_eq!(fs::read(&path).expect("a file"), b"onetwo");
        // Someone cut it too short, or took the state away.
        fs::write(&path, b"on").expect("room");
        assert!(open("seed 1", true).is_err());
        fs::remove_file(state_path(&path)).expect("the state");
        assert!(open("seed 1", true).is_err());
    }
}
