//! What both kinds of runs share: the file of their state, and the choice of parameters.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::search::params::{self, Parameter};
use crate::util::atomic::write_atomically;
use crate::util::text::Shown as _;

/// Beginnings of the names of parameters that games on one thread, at a fixed number of nodes and without tablebases,
/// say nothing of.
const NOT_TUNED: [&str; 3] = ["time_", "vote_", "tb_"];

/// The parameters that games say something of.
pub(super) fn tunable() -> impl Iterator<Item = &'static Parameter> {
    let is_tunable = |name: &str| !NOT_TUNED.iter().any(|other| name.starts_with(other));
    params::TABLE.iter().filter(move |p| is_tunable(p.name))
}

/// A number above zero, from the command line.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if x > 0.0 && f64::is_finite(x) => Ok(x),
        _ => Err("it must be a number above zero".into()),
    }
}

/// The state in the file, `None` where there is no file. `kind` is what it must be the state of.
pub(super) fn load<T: DeserializeOwned>(path: &Path, kind: &str) -> Result<Option<T>> {
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(path);
    let text = text.with_context(|| format!("cannot read {}", path.shown()))?;
    let state = serde_json::from_str(&text).with_context(|| format!("{} is no state of a {kind}", path.shown()))?;
    Ok(Some(state))
}

/// Writes the state, whole or not at all.
pub(super) fn save(path: &Path, state: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(state)?;
    write_atomically(path, |file| file.write_all(text.as_bytes()))
}
