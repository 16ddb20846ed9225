//! State file and selection of parameters, for SPSA and screening runs.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::search::params::{self, Parameter};
use crate::search::rules;
use crate::util::atomic::write_atomically;
use crate::util::text::Shown as _;

/// Prefixes of the names of parameters that have no effect in games on one thread, at a fixed number of nodes and
/// without tablebases.
const NOT_TUNED: [&str; 3] = ["time_", "vote_", "tb_"];

/// The parameters that have an effect in the games.
pub(super) fn tunable() -> impl Iterator<Item = &'static Parameter> {
    let is_tunable = |name: &str| !NOT_TUNED.iter().any(|other| name.starts_with(other));
    params::TABLE.iter().filter(move |p| is_tunable(p.name))
}

/// The parameters that have an effect in the games, and the switches of rules.
pub(super) fn screenable() -> impl Iterator<Item = &'static Parameter> {
    tunable().chain(rules::SWITCHES)
}

/// Parses a number above 0 on the command line.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if x > 0.0 && f64::is_finite(x) => Ok(x),
        _ => Err("expected a number above 0".into()),
    }
}

/// Reads a state file of a run of this `kind`; `None` if there is no file.
pub(super) fn load<T: DeserializeOwned>(path: &Path, kind: &str) -> Result<Option<T>> {
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(path);
    let text = text.with_context(|| format!("cannot read {}", path.shown()))?;
    let state =
        serde_json::from_str(&text).with_context(|| format!("{} is not the state file of a {kind}", path.shown()))?;
    Ok(Some(state))
}

/// Writes the state file atomically.
pub(super) fn save(path: &Path, state: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(state)?;
    write_atomically(path, |file| file.write_all(text.as_bytes()))
}
