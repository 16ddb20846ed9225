//! Before the work starts: whether what it makes can be written.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use super::checkpoint;
use super::config::Config;
use super::outputs::{LOG, PICTURE, beside, old_checkpoint};
use crate::nnue;
use crate::util::atomic::AtomicFile;
use crate::util::disk::free_bytes;
use crate::util::identity::check_distinct;

/// Checks that net, checkpoint, log and picture of a run can be written, that none of them is an input, that they
/// replace no other files of the user, and that the disk has room for them. Nothing is left behind or changed.
///
/// # Errors
/// What is wrong, by the name of the file.
pub fn check_outputs(config: &Config, inputs: &[&Path], resume: bool) -> Result<()> {
    let outputs = outputs(&config.out)?;
    check_distinct(&outputs.each_ref().map(PathBuf::as_path), inputs)?;
    let kinds = [nnue::KIND, checkpoint::KIND, LOG, PICTURE];
    for (output, kind) in outputs.iter().zip(&kinds) {
        // It leaves nothing behind when it is dropped.
        AtomicFile::create_over(output, kind)?;
    }
    checkpoint::KIND.check(&old_checkpoint(&outputs[1]))?;
    let folder = config.out.parent().unwrap_or(Path::new("."));
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    // What is written takes the place of what was there when it is whole.
    let resumed = resume && outputs[1].exists();
    let needed = needed_bytes(config)? * if resumed { 1 } else { 2 };
    check_room(folder, free_bytes(folder), needed)
}

/// The files of a run, which must have different names.
fn outputs(out: &Path) -> Result<[PathBuf; 4]> {
    let others = ["checkpoint", "tsv", "svg"].map(|extension| beside(out, extension));
    let taken = others.iter().find(|other| *other == out);
    ensure!(
        taken.is_none(),
        "out is {}, but that name is for another file of the run: give one that ends in .nnue",
        out.display()
    );
    let [checkpoint, log, picture] = others;
    Ok([out.to_path_buf(), checkpoint, log, picture])
}

/// Bytes of a checkpoint and a net, about.
fn needed_bytes(config: &Config) -> Result<u64> {
    /// Log, picture, and the state in the checkpoint.
    const SMALL: u64 = 1 << 20;
    let architecture = config.architecture()?;
    let net = architecture.transformer_size() + architecture.stacks_size();
    Ok(checkpoint::bytes(architecture, config.average > 0.0) + net as u64 + SMALL)
}

/// Checks that so many bytes are free, where that is known.
fn check_room(folder: &Path, free: Option<u64>, needed: u64) -> Result<()> {
    let gigabytes = |bytes: u64| bytes as f64 / 1e9;
    let free = free.unwrap_or(u64::MAX);
    ensure!(
        free >= needed,
        "the disk of {} has {:.2} GB left, but checkpoint and net of this run take {:.2} GB while they are written",
        folder.display(),
        gigabytes(free),
        gigabytes(needed)
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_without_room_is_told() {
        let room = |free| check_room(Path::new("there"), free, 2_000_000_000);
        assert!(room(None).is_ok() && room(Some(2_000_000_000)).is_ok());
        let error = room(Some(1_990_000_000))
            .expect_err("too little")
            .to_string();
        assert!(error.contains("there has 1.99 GB left") && error.contains("2.00 GB"));
    }

    #[test]
    fn the_names_of_a_run_are_different() {
        assert!(outputs(Path::new("a.nnue")).is_ok());
        for name in ["a.checkpoint", "a.tsv", "a.svg"] {
            assert!(outputs(Path::new(name)).is_err(), "{name}");
        }
    }
}
