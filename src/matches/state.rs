//! The state of a match: what has been counted so far, and the file from which it is continued.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::score::Score;
use super::table::PlayedGame;
use crate::game::ending::Cause;
use crate::util::atomic::AtomicFile;
use crate::util::input::read_bytes;
use crate::util::text::Shown as _;

/// Bytes of the largest state that is read.
const LARGEST: u64 = 1 << 20;

/// What has been played, in the order of the games' numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// What the games depend on, by name.
    pub settings: BTreeMap<String, String>,
    /// Date of the first game, as PGN writes it.
    pub date: String,
    /// Games that are over: also the number of the next one.
    pub games: u64,
    /// Player A's results.
    pub score: Score,
    /// How many games ended for each cause.
    pub endings: BTreeMap<Cause, u32>,
    /// Games lost on time by A and B.
    pub late: [u32; 2],
    /// Size of the PGN file in bytes.
    pub pgn_bytes: u64,
    /// CRC-32 of these bytes.
    pub pgn_crc: Option<u32>,
    /// Seconds of playing.
    pub seconds: f64,
}

impl State {
    /// A match that has not begun.
    pub fn new(settings: BTreeMap<String, String>, date: String) -> Self {
        Self { settings, date, ..Self::default() }
    }

    /// Counts the next game. Whether it completes a pair.
    pub fn count(&mut self, game: &PlayedGame) -> bool {
        self.games += 1;
        *self.endings.entry(game.ending.cause).or_default() += 1;
        if let Some(side) = game.late {
            self.late[side] += 1;
        }
        self.score.count(game.result)
    }

    /// The state of a file; `None` where there is no file.
    ///
    /// # Errors
    /// When the file cannot be read, is no state, or is the state of a match with other settings.
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
                "{} belongs to a match with other settings: {}. Give the same settings, or another --state",
                path.shown(),
                differences.join("; ")
            );
        }
        Ok(Some(state))
    }

    /// Replaces the file at once, so that a killed process leaves a whole one.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut file = AtomicFile::create(path)?;
        let written = file.write_all(&serde_json::to_vec_pretty(self)?);
        written.with_context(|| format!("cannot write {}", path.shown()))?;
        file.commit_without_sync()
    }
}

/// Each setting that differs, with both values.
fn differences(there: &BTreeMap<String, String>, here: &BTreeMap<String, String>) -> Vec<String> {
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
            format!("{name} is {there} there and {here} here")
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
    fn state_is_read_back_and_refuses_other_settings_by_name() {
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
        assert!(error.contains("nodes is 5 there and 6 here"), "{error}");
        std::fs::write(&path, "{}").expect("room");
        let error = load("5").expect_err("no state").to_string();
        assert!(error.contains("is not the state of a match"), "{error}");
    }
}
