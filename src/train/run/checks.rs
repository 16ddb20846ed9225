//! Checks before a run: whether its outputs can be written.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use super::checkpoint;
use super::config::Config;
use super::outputs::{LOG, PICTURE, beside};
use crate::nnue;
use crate::util::atomic::AtomicFile;
use crate::util::claim::free_bytes;
use crate::util::identity::Kind;
use crate::util::identity::check_distinct;
use crate::util::text::Shown as _;

/// Checks that the net, checkpoint, log and picture of a run can be written, that none is an input, that they replace
/// no other files of the user, and that the disk has room for them. Changes and creates no file.
///
/// # Errors
/// Describes the problem and names the file.
pub fn check_outputs(config: &Config, inputs: &[&Path], resume: bool) -> Result<()> {
    let outputs = outputs(config)?;
    let paths: Vec<&Path> = outputs.iter().map(|(path, _)| path.as_path()).collect();
    check_distinct(&paths, inputs)?;
    for (output, kind) in &outputs {
        // Dropping it without a commit removes the temporary file.
        AtomicFile::create_over(output, kind)?;
    }
    let folder = config.out.parent().unwrap_or(Path::new("."));
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    // New files coexist with the old ones until they are complete.
    let resumed = resume && beside(&config.out, "checkpoint").exists();
    let needed = needed_bytes(config)? * if resumed { 1 } else { 2 };
    check_room(folder, free_bytes(folder), needed)
}

/// Returns the files of a run and their kinds. The files must have different names.
fn outputs(config: &Config) -> Result<Vec<(PathBuf, Kind)>> {
    let out = &config.out;
    let kinds = [("checkpoint", checkpoint::KIND), ("tsv", LOG), ("svg", PICTURE)].into_iter().chain(config.log.file());
    let mut others: Vec<(PathBuf, Kind)> = kinds.map(|(extension, kind)| (beside(out, extension), kind)).collect();
    let taken = others.iter().find(|(other, _)| other == out);
    ensure!(
        taken.is_none(),
        "out is {}, a name that the run uses for another file: choose a name ending in .nnue",
        out.shown()
    );
    others.insert(0, (out.clone(), nnue::KIND));
    Ok(others)
}

/// Returns the approximate size of a checkpoint and a net in bytes.
fn needed_bytes(config: &Config) -> Result<u64> {
    /// Log, picture, and the state in the checkpoint.
    const SMALL: u64 = 1 << 20;
    let architecture = config.architecture()?;
    let net = architecture.transformer_size() + architecture.stacks_size();
    Ok(checkpoint::bytes(architecture, config.average > 0.0) + net as u64 + SMALL)
}

/// Checks that `needed` bytes are free, if the number of free bytes is known.
fn check_room(folder: &Path, free: Option<u64>, needed: u64) -> Result<()> {
    let gigabytes = |bytes: u64| bytes as f64 / 1e9;
    let free = free.unwrap_or(u64::MAX);
    ensure!(
        free >= needed,
        "disk full: {} has {:.2} GB left, but writing the checkpoint and net of this run needs {:.2} GB",
        folder.shown(),
        gigabytes(free),
        gigabytes(needed)
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::run::config::LogKind;

    #[test]
    fn too_little_disk_space_is_an_error() {
        let room = |free| check_room(Path::new("there"), free, 2_000_000_000);
        assert!(room(None).is_ok() && room(Some(2_000_000_000)).is_ok());
        let error = room(Some(1_990_000_000)).expect_err("too little").to_string();
        assert!(error.contains("there has 1.99 GB left") && error.contains("2.00 GB"));
    }

    #[test]
    fn outputs_must_have_different_names() {
        let config = |name: &str| Config { out: name.into(), log: LogKind::Csv, ..Config::default() };
        assert!(outputs(&config("a.nnue")).is_ok_and(|outputs| outputs.len() == 5));
        for name in ["a.checkpoint", "a.tsv", "a.svg", "a.csv"] {
            assert!(outputs(&config(name)).is_err(), "{name}");
        }
    }
}
