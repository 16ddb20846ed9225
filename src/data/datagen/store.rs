//! The file that games are appended to, and beside it a small one that says how far it is whole.
//!
//! A game is appended first, then the state is replaced by renaming. Whatever happens between the two, continuing
//! cuts the file back to what the state says, and the game is played again, with the same outcome. The state has a
//! checksum of itself and one of all the data: what was edited or damaged since is not continued.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::util::append::AppendFile;
use crate::util::atomic::AtomicFile;
use crate::util::input::read_bytes;

/// A state is a few hundred bytes; what is larger is none.
const LARGEST_STATE: u64 = 1 << 20;

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
    /// CRC-32 of these bytes; absent from states of version 0.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_crc: Option<u32>,
}

/// A state as it is in its file.
#[derive(Serialize, Deserialize)]
struct SealedState {
    #[serde(flatten)]
    state: State,
    /// CRC-32 of the state as JSON without blanks; absent from states of version 0.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state_crc: Option<u32>,
}

impl State {
    fn crc(&self) -> Result<u32> {
        Ok(crc32fast::hash(&serde_json::to_vec(self)?))
    }

    /// Reads the state of the data file `data`.
    fn read(path: &Path, data: &Path) -> Result<Self> {
        let name = path.display();
        let bytes = read_bytes(path, LARGEST_STATE)
            .with_context(|| format!("{name} tells where to continue, but cannot be read"))?;
        let sealed: SealedState =
            serde_json::from_slice(&bytes).with_context(|| format!("{name} is no state"))?;
        let state = sealed.state;
        match sealed.state_crc {
            Some(crc) => ensure!(
                crc == state.crc()?,
                "{name} was edited or damaged: its checksum is wrong. Put the original back, or begin a new file; the \
                 positions that are there can still be read"
            ),
            None => {
                ensure!(
                    state.data_crc.is_none(),
                    "{name} was edited: it has a checksum of the data, but none of itself"
                );
                eprintln!(
                    "warning: {name} was written by an earlier version and has no checksums: {} is continued \
                     without a check of what is there",
                    data.display()
                );
            }
        }
        Ok(state)
    }
}

/// An open file of games.
pub struct Store {
    path: PathBuf,
    file: AppendFile,
    state: State,
}

impl Store {
    /// Opens a file for games: a new one, or with `resume` one that is there.
    ///
    /// # Errors
    /// Fails on an I/O error, if the file exists and is not to be continued, was made with other settings, is in use,
    /// or is not as its state says.
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
        let mut file = AppendFile::open(path)?;
        let length = file.bytes();
        let state = if length == 0 && !state_path.exists() {
            State {
                settings: settings.clone(),
                ..State::default()
            }
        } else {
            State::read(&state_path, path)?
        };
        ensure!(
            state.settings == settings,
            "it was made with other settings:\n  then: {}\n  now:  {settings}",
            state.settings
        );
        file.continue_at(state.bytes, state.data_crc)?;
        let mut store = Self {
            path: path.to_path_buf(),
            file,
            state,
        };
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
    /// Fails on an I/O error; the file can be continued all the same.
    pub fn append(&mut self, bytes: &[u8], positions: u64) -> Result<()> {
        self.file.append(bytes)?;
        self.state.games += 1;
        self.state.positions += positions;
        self.state.bytes += bytes.len() as u64;
        self.save()
    }

    /// Makes sure that everything has reached the disk.
    ///
    /// # Errors
    /// Fails on an I/O error.
    pub fn finish(&mut self) -> Result<()> {
        self.file.sync()
    }

    /// Replaces the state on the disk at one stroke. Not synced, because sampling ends a hundred games a second: this
    /// holds against a killed process; after a power failure the file can be read but perhaps not continued.
    fn save(&mut self) -> Result<()> {
        self.state.data_crc = Some(self.file.crc());
        let sealed = SealedState {
            state_crc: Some(self.state.crc()?),
            state: self.state.clone(),
        };
        let path = state_path(&self.path);
        let mut file = AtomicFile::create(&path)?;
        let written = file.write_all(&serde_json::to_vec_pretty(&sealed)?);
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
    use std::fs;

    use super::*;

    /// Opens a store of the test's settings to continue it.
    fn resume(path: &Path) -> Result<Store> {
        Store::open(path, "seed 1".to_owned(), true)
    }

    fn refusal(path: &Path) -> String {
        format!("{:#}", resume(path).err().expect("it is refused"))
    }

    /// A finished store of two games in a folder.
    fn two_games(folder: &Path) -> PathBuf {
        let path = folder.join("a.tree");
        let mut store = resume(&path).expect("a new file");
        store.append(b"one", 3).expect("room");
        store.append(b"two", 4).expect("room");
        path
    }

    #[test]
    fn edited_state_is_refused_by_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = two_games(folder.path());
        let sound = fs::read_to_string(state_path(&path)).expect("a state");
        let crc = sound.find("\"state_crc\"").expect("a checksum");
        let comma = sound[..crc].rfind(',').expect("it is the last field");
        for edited in [
            sound.replace("\"games\": 2", "\"games\": 1"),
            sound.replace("\"positions\": 7", "\"positions\": 8"),
            sound.replace("\"bytes\": 6", "\"bytes\": 3"),
            // Without its own checksum, but with that of the data.
            format!("{}\n}}", &sound[..comma]),
        ] {
            assert_ne!(edited, sound);
            fs::write(state_path(&path), &edited).expect("room");
            let error = refusal(&path);
            assert!(error.contains("a.tree.state was edited"), "{error}");
        }
        fs::write(state_path(&path), &sound).expect("room");
        assert_eq!(resume(&path).expect("as it was").state().games, 2);
        assert_eq!(fs::read(&path).expect("a file"), b"onetwo");
    }

    #[test]
    fn flipped_bit_in_the_data_is_refused_wherever_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = two_games(folder.path());
        for at in 0..6 {
            let mut bytes = b"onetwo".to_vec();
            bytes[at] ^= 1;
            fs::write(&path, &bytes).expect("room");
            let error = refusal(&path);
            assert!(
                error.contains("a.tree: it was changed or damaged"),
                "{error}"
            );
            assert_eq!(fs::read(&path).expect("a file"), bytes, "it was touched");
        }
        fs::write(&path, b"onetwo").expect("room");
        assert_eq!(resume(&path).expect("as it was").state().positions, 7);
    }

    #[test]
    fn state_without_checksums_is_continued_and_gets_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.tree");
        fs::write(&path, b"one").expect("room");
        let old = r#"{"settings": "seed 1", "games": 1, "positions": 3, "bytes": 3}"#;
        fs::write(state_path(&path), old).expect("room");
        drop(resume(&path).expect("an old one"));
        let state = fs::read_to_string(state_path(&path)).expect("a state");
        assert!(
            state.contains("state_crc") && state.contains("data_crc"),
            "{state}"
        );
        fs::write(&path, b"onf").expect("room");
        assert!(refusal(&path).contains("changed or damaged"));
    }

    #[cfg(unix)]
    #[test]
    fn pipe_as_output_is_refused_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.tree");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.expect("there is a mkfifo").success());
        assert!(refusal(&path).contains("not a regular file"));
    }

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
        let mut file = fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .expect("a file");
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
