//! The files of a run beside its checkpoint: the net, the log, and the picture.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::checkpoint::Validation;
use super::picture;
use crate::nnue::Network;
use crate::util::atomic::write_atomically;

/// The file beside the net that has this extension.
pub fn beside(out: &Path, extension: &str) -> PathBuf {
    out.with_extension(extension)
}

/// Positions in millions.
pub fn millions(positions: u64) -> f64 {
    positions as f64 / 1e6
}

/// A new run does not throw away what an older one has left: its checkpoint gets another name.
///
/// # Errors
/// When it cannot be renamed.
pub fn keep_old(checkpoint: &Path) -> Result<()> {
    if !checkpoint.exists() {
        return Ok(());
    }
    let old = beside(checkpoint, "checkpoint.old");
    eprintln!(
        "{} is there from another run (--resume would have gone on from it): kept as {}",
        checkpoint.display(),
        old.display()
    );
    rename(checkpoint, &old)
}

/// Gives a file another name.
///
/// # Errors
/// When the system refuses.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to).with_context(|| format!("cannot rename {}", from.display()))
}

/// Writes the net.
pub fn write_net(path: &Path, net: &Network) -> Result<()> {
    let bytes = net.to_bytes();
    write_atomically(path, |file| file.write_all(&bytes))
}

/// Writes log and picture beside the net.
pub fn write_curves(out: &Path, history: &[Validation]) -> Result<()> {
    write_atomically(&beside(out, "tsv"), |file| {
        file.write_all(log_of(history).as_bytes())
    })?;
    write_picture(&beside(out, "svg"), out, history)
}

/// Writes the loss curves of the run that made `net`.
pub fn write_picture(path: &Path, net: &Path, history: &[Validation]) -> Result<()> {
    let picture = picture::svg(&picture_title(net), history);
    write_atomically(path, |file| file.write_all(picture.as_bytes()))
}

/// Names the net, but not the folder where it happens to lie.
fn picture_title(net: &Path) -> String {
    let name = net.file_name().unwrap_or_default();
    format!("{}: loss by positions shown", name.display())
}

/// The log: a line per validation.
fn log_of(history: &[Validation]) -> String {
    let header = "positions\ttrain\theld_out\trate\tlambda\tseconds\n".to_owned();
    history.iter().fold(header, |log, report| {
        log + &format!(
            "{}\t{:.8}\t{:.8}\t{:.8}\t{:.4}\t{:.1}\n",
            report.shown, report.train, report.held_out, report.rate, report.lambda, report.seconds
        )
    })
}
