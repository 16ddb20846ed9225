//! The files of a run: their names, and the record of its settings and results.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::matches::report::differences;
use crate::util::atomic::AtomicFile;
use crate::util::text::{Shown as _, read_bytes};

/// Extensions of the files that a training run writes.
const OF_TRAINING: [&str; 5] = ["nnue", "checkpoint", "checkpoint.old", "tsv", "svg"];

/// The folder of a run.
pub struct Folder(PathBuf);

/// The file with the new positions of a round.
pub struct Block {
    /// Number of the round.
    pub number: u64,
    /// Size of the file.
    pub bytes: u64,
}

impl Folder {
    /// The folder at `path`.
    pub fn new(path: &Path) -> Self {
        Self(path.to_path_buf())
    }

    /// The folder's path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The state file with the results of all rounds.
    pub fn state(&self) -> PathBuf {
        self.0.join("distill.json")
    }

    /// The student before the first round.
    pub fn start(&self) -> PathBuf {
        self.0.join("start.nnue")
    }

    /// The newest net.
    pub fn newest(&self) -> PathBuf {
        self.0.join("newest.nnue")
    }

    /// The best net so far, by matches.
    pub fn best(&self) -> PathBuf {
        self.0.join("best.nnue")
    }

    /// Positions that are not trained on.
    pub fn held_out(&self) -> PathBuf {
        self.0.join("held-out.tree")
    }

    /// The table of all rounds.
    pub fn table(&self) -> PathBuf {
        self.0.join("progress.tsv")
    }

    /// The plot of loss and Elo.
    pub fn picture(&self) -> PathBuf {
        self.0.join("progress.svg")
    }

    /// The new positions of a round.
    pub fn block(&self, round: u64) -> PathBuf {
        self.0.join(format!("block-{round:05}.tree"))
    }

    /// The net of a round.
    pub fn net(&self, round: u64) -> PathBuf {
        self.0.join(format!("round-{round:05}.nnue"))
    }

    /// The checkpoint of a round.
    pub fn checkpoint(&self, round: u64) -> PathBuf {
        self.net(round).with_extension("checkpoint")
    }

    /// The state of the match after a round.
    pub fn match_state(&self, round: u64) -> PathBuf {
        self.0.join(format!("match-{round:05}.json"))
    }

    /// The blocks of the rounds up to `round` that exist, oldest first.
    ///
    /// # Errors
    /// Fails if the folder cannot be read.
    pub fn blocks(&self, round: u64) -> Result<Vec<Block>> {
        let mut blocks = Vec::new();
        let entries = fs::read_dir(&self.0).with_context(|| format!("cannot read {}", self.0.shown()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix("block-")?.strip_suffix(".tree"));
            if let Some(number) = number.and_then(|number| number.parse().ok())
                && number <= round
            {
                blocks.push(Block { number, bytes: entry.metadata()?.len() });
            }
        }
        blocks.sort_unstable_by_key(|block| block.number);
        Ok(blocks)
    }

    /// Removes the oldest blocks until the rest has at most `limit` bytes, but keeps the `newest` newest blocks.
    ///
    /// # Errors
    /// Fails if a file cannot be removed.
    pub fn prune_blocks(&self, round: u64, limit: u64, newest: u64) -> Result<()> {
        let blocks = self.blocks(round)?;
        let mut total: u64 = blocks.iter().map(|block| block.bytes).sum();
        for Block { number, bytes } in blocks {
            if total <= limit || number + newest > round {
                break;
            }
            let block = self.block(number);
            // Removes the state first, because a state without its data could not be resumed.
            remove(&crate::datagen::games::state_path(&block))?;
            remove(&block)?;
            total -= bytes;
        }
        Ok(())
    }

    /// Removes the files of rounds older than the one before `round`, except blocks.
    ///
    /// # Errors
    /// Fails if a file cannot be removed.
    pub fn prune_nets(&self, round: u64) -> Result<()> {
        // If a run was killed while it removed files, some files of recent rounds can still exist.
        for old in round.saturating_sub(4)..round.saturating_sub(1) {
            for extension in OF_TRAINING {
                remove(&self.net(old).with_extension(extension))?;
            }
            remove(&self.match_state(old))?;
        }
        Ok(())
    }
}

/// Removes a file, if there is one.
fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.shown()))
        }
        _ => Ok(()),
    }
}

// Record of a run: its settings, and the results of each round.

/// Largest accepted state file in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// State of a run. It changes only at the end of a round: an unfinished phase resumes from its own files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Settings that determine the positions and nets, by name.
    pub settings: BTreeMap<String, String>,
    /// The finished rounds.
    pub rounds: Vec<Round>,
    /// The round of the best net so far; 0 for the initial net, if it was trained.
    pub best: Option<u64>,
    /// Seconds in finished rounds.
    pub seconds: f64,
    /// Millions of new positions in a round, if they depend on the time.
    #[serde(default)]
    pub block: Option<f64>,
    /// Held-out positions, if their number depends on the time.
    #[serde(default)]
    pub held_out: Option<u64>,
}

/// Results of a round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Number of the round, from 1.
    pub number: u64,
    /// New positions.
    pub positions: u64,
    /// Learning rate at the start of the round.
    pub rate: f64,
    /// Loss in training.
    pub training: f64,
    /// Loss on positions of games that are not trained on.
    pub held_out: f64,
    /// Mean quantisation error in engine units.
    pub quantisation: f64,
    /// Accumulator units that are never active.
    pub dead: usize,
    /// Match after the round, if there was one.
    pub played: Option<Played>,
    /// Seconds of sampling and of training in the process that finished the round.
    pub seconds: [f64; 2],
}

/// Result of a match against the best net so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Played {
    /// Round of the opponent.
    pub against: u64,
    /// Games.
    pub games: u32,
    /// Elo difference, with half of its 95 % interval; absent if the results do not determine it.
    pub elo: Option<(f64, f64)>,
    /// Elo above the first net that played, summed over the matches of the best nets.
    pub total: f64,
    /// Whether the net became the best.
    pub won: bool,
}

impl State {
    /// The record of a run with these settings: from `path`, or a new one if there is no file.
    ///
    /// # Errors
    /// Fails if the file cannot be read, is damaged, or belongs to a run with other settings.
    pub fn load(path: &Path, settings: BTreeMap<String, String>) -> Result<Self> {
        if !path.exists() {
            return Ok(Self { settings, ..Self::default() });
        }
        let bytes = read_bytes(path, MAX_BYTES).with_context(|| format!("cannot read {}", path.shown()))?;
        let mut state: Self = serde_json::from_slice(&bytes)
            .with_context(|| format!("{} is not the record of a run of distill", path.shown()))?;
        state.settings = renamed(state.settings, &settings);
        let differing = differences(&state.settings, &settings);
        if !differing.is_empty() {
            bail!(
                "{} belongs to a run with other settings: {}. Give the same settings, or another --out",
                path.shown(),
                differing.join("; ")
            );
        }
        let numbers = state.rounds.iter().map(|round| round.number);
        ensure!(numbers.eq(1..=state.rounds.len() as u64), "{} is damaged: a round is missing", path.shown());
        Ok(state)
    }

    /// Replaces the file atomically: a killed process leaves a complete file.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut file = AtomicFile::create(path)?;
        let written = file.write_all(&serde_json::to_vec_pretty(self)?);
        written.with_context(|| format!("cannot write {}", path.shown()))?;
        file.commit()
    }

    /// Number of the next round.
    pub fn next(&self) -> u64 {
        self.rounds.len() as u64 + 1
    }

    /// New positions of all rounds.
    pub fn positions(&self) -> u64 {
        self.rounds.iter().map(|round| round.positions).sum()
    }

    /// Elo of a round's net above the first net that played; 0 if the round had no match.
    pub fn total_of(&self, round: u64) -> f64 {
        let played = self.rounds.iter().find(|of| of.number == round).and_then(|of| of.played);
        played.map_or(0.0, |played| played.total)
    }
}

/// The settings of a record with the names of this version. Version 0.2 recorded sampling and training under two names
/// that cannot be compared.
fn renamed(mut there: BTreeMap<String, String>, here: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    if [there.remove("sampling"), there.remove("training")].iter().any(Option::is_some) {
        for (name, value) in here {
            there.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    there
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_blocks_are_removed_down_to_the_limit() {
        let temporary = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(temporary.path());
        for round in 1..=5 {
            fs::write(folder.block(round), [0; 100]).expect("room");
            fs::write(crate::datagen::games::state_path(&folder.block(round)), "{}").expect("room");
        }
        let numbers = |round| -> Vec<u64> {
            folder.blocks(round).expect("a folder").into_iter().map(|block| block.number).collect()
        };
        folder.prune_blocks(4, 250, 1).expect("removed");
        assert_eq!(numbers(9), [3, 4, 5]);
        assert!(!crate::datagen::games::state_path(&folder.block(1)).exists());
        folder.prune_blocks(5, 1, 2).expect("removed");
        assert_eq!(numbers(9), [4, 5]);
        assert_eq!(numbers(4), [4]);
    }

    #[test]
    fn files_of_older_rounds_are_removed() {
        let temporary = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(temporary.path());
        for round in 1..=3 {
            fs::write(folder.net(round), "").expect("room");
            fs::write(folder.checkpoint(round), "").expect("room");
        }
        folder.prune_nets(4).expect("removed");
        let left = [1, 2, 3].map(|round| folder.net(round).exists() || folder.checkpoint(round).exists());
        assert_eq!(left, [false, false, true]);
    }
}

#[cfg(test)]
mod state_tests {
    use super::*;

    fn settings(seed: &str) -> BTreeMap<String, String> {
        [("seed".to_owned(), seed.to_owned())].into()
    }

    fn round(number: u64) -> Round {
        Round {
            number,
            positions: 5,
            rate: 0.1,
            training: 0.2,
            held_out: 0.3,
            quantisation: 1.0,
            dead: 2,
            played: None,
            seconds: [1.0, 2.0],
        }
    }

    #[test]
    fn record_is_read_back_and_refuses_other_settings_by_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("distill.json");
        let mut state = State::load(&path, settings("1")).expect("a new record");
        state.rounds.push(round(1));
        state.save(&path).expect("room");
        assert_eq!(State::load(&path, settings("1")).expect("the record"), state);
        let error = State::load(&path, settings("2")).expect_err("other settings").to_string();
        assert!(error.contains("seed was 1 and is now 2"), "{error}");
        // A record of version 0.2.
        let mut older = state.clone();
        older.settings.insert("sampling".into(), "SamplingArgs { block: 1.0 }".into());
        older.save(&path).expect("room");
        let mut more = settings("1");
        more.insert("block".into(), "15".into());
        assert_eq!(State::load(&path, more.clone()).expect("the record").settings, more);
        state.rounds.push(round(3));
        state.save(&path).expect("room");
        let error = State::load(&path, settings("1")).expect_err("a gap").to_string();
        assert!(error.contains("a round is missing"), "{error}");
        std::fs::write(&path, "{}").expect("room");
        let error = State::load(&path, settings("1")).expect_err("no record").to_string();
        assert!(error.contains("is not the record"), "{error}");
    }
}
