//! File names of a run.

use std::fs;
use std::path::{Path, PathBuf};

use crate::util::text::Shown as _;
use anyhow::{Context, Result};

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
            remove(&crate::datagen::store::state_path(&block))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_blocks_are_removed_down_to_the_limit() {
        let temporary = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(temporary.path());
        for round in 1..=5 {
            fs::write(folder.block(round), [0; 100]).expect("room");
            fs::write(crate::datagen::store::state_path(&folder.block(round)), "{}").expect("room");
        }
        let numbers = |round| -> Vec<u64> {
            folder.blocks(round).expect("a folder").into_iter().map(|block| block.number).collect()
        };
        folder.prune_blocks(4, 250, 1).expect("removed");
        assert_eq!(numbers(9), [3, 4, 5]);
        assert!(!crate::datagen::store::state_path(&folder.block(1)).exists());
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
