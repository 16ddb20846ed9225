//! State of a match: the results so far, and the file from which the match is resumed.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::score::Score;
use super::table::PlayedGame;
use crate::game::ending::Cause;
use crate::util::atomic::AtomicFile;
use crate::util::encoding::read_bytes;
use crate::util::text::Shown as _;

/// Maximum size of a state file in bytes.
const LARGEST: u64 = 1 << 20;

/// Results so far, in the order of the games' numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Settings that the games depend on, by name.
    pub settings: BTreeMap<String, String>,
    /// Date of the first game, in the format of PGN.
    pub date: String,
    /// Number of finished games, which is also the number of the next game.
    pub games: u64,
    /// Player A's results.
    pub score: Score,
    /// Number of games by the cause of their end.
    pub endings: BTreeMap<Cause, u32>,
    /// Games lost on time by A and B.
    pub late: [u32; 2],
    /// Size of the PGN file in bytes.
    pub pgn_bytes: u64,
    /// CRC-32 of these bytes.
    pub pgn_crc: Option<u32>,
    /// Playing time in seconds.
    pub seconds: f64,
}

impl State {
    /// The state of a new match.
    pub fn new(settings: BTreeMap<String, String>, date: String) -> Self {
        Self { settings, date, ..Self::default() }
    }

    /// Counts the next game. Returns whether it completes a pair.
    pub fn count(&mut self, game: &PlayedGame) -> bool {
        self.games += 1;
        *self.endings.entry(game.ending.cause).or_default() += 1;
        if let Some(side) = game.late {
            self.late[side] += 1;
        }
        self.score.count(game.result)
    }

    /// Reads a state file; `None` if it does not exist.
    ///
    /// # Errors
    /// Fails if the file cannot be read, is not a state file, or belongs to a match with other settings.
    pub fn load(path: &Path, settings: &BTreeMap<String, String>) -> Result<Option<Self>> {
        if !path.exists() {
            return Ok(None);
        }
        let bytes = read_bytes(path, LARGEST);
        let bytes = bytes.with_context(|| format!("cannot read {}", path.shown()))?;
        let state: Self =
            serde_json::from_slice(&bytes).with_context(|| format!("{} is not the state of a match", path.shown()))?;
        let differences = differences(&state.settings, settings);
        if !differences.is_empty() {
            bail!(
                "{} belongs to a match with other settings: {}. Use the same settings, or another --state",
                path.shown(),
                differences.join("; ")
            );
        }
        Ok(Some(state))
    }

    /// Replaces the file atomically.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut file = AtomicFile::create(path)?;
        let written = file.write_all(&serde_json::to_vec_pretty(self)?);
        written.with_context(|| format!("cannot write {}", path.shown()))?;
        file.commit_without_sync()
    }
}

/// Each setting that differs, with both values.
pub fn differences(there: &BTreeMap<String, String>, here: &BTreeMap<String, String>) -> Vec<String> {
    let names = there.keys().chain(here.keys());
    let mut names: Vec<&String> = names.collect();
    names.sort();
    names.dedup();
    let value = |map: &BTreeMap<String, String>, name: &String| {
        map.get(name).map_or_else(|| "unknown".to_owned(), Clone::clone)
    };
    let differing = names.into_iter().filter(|name| there.get(*name) != here.get(*name));
    differing
        .map(|name| {
            let (there, here) = (value(there, name), value(here, name));
            format!("{name} was {there} and is now {here}")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Color;
    use crate::game::ending::Ending;

    fn settings(nodes: &str) -> BTreeMap<String, String> {
        [("nodes".to_owned(), nodes.to_owned())].into()
    }

    #[test]
    fn state_round_trips_and_rejects_other_settings_by_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state.json");
        let load = |nodes| State::load(&path, &settings(nodes));
        assert_eq!(load("5").expect("no file"), None);
        let mut state = State::new(settings("5"), "2026.11.26".into());
        let game = PlayedGame { ending: Ending::win(Color::White, Cause::Time), result: -1, late: Some(0), pgn: None };
        assert!(!state.count(&game) && state.count(&game));
        state.save(&path).expect("room");
        assert_eq!(load("5").expect("a state"), Some(state));
        let error = load("6").expect_err("other settings").to_string();
        assert!(error.contains("nodes was 5 and is now 6"), "{error}");
        std::fs::write(&path, "{}").expect("room");
        let error = load("5").expect_err("no state").to_string();
        assert!(error.contains("is not the state of a match"), "{error}");
    }
}
