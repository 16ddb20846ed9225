//! Output files of a run other than the checkpoint: the net, the log and the picture.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::checkpoint::Validation;
use super::picture;
use crate::nnue::{self, Network};
use crate::util::atomic::write_over;
use crate::util::kind::Kind;
use crate::util::text::Shown as _;

/// First line of a log.
const LOG_HEADER: &str = "positions\ttrain\theld_out\trate\tlambda\tseconds\n";
/// Title of every picture, after the name of the net.
const PICTURE_TITLE: &str = "loss by positions shown";
/// The kind of file that a log may replace.
pub const LOG: Kind = Kind { name: "the log of a training run", is: |head| head.starts_with(LOG_HEADER.as_bytes()) };
/// The kind of file that a picture may replace.
pub const PICTURE: Kind = Kind {
    name: "the plot of a training run",
    is: |head| {
        let head = String::from_utf8_lossy(head);
        head.starts_with("<svg ") && head.contains(PICTURE_TITLE)
    },
};

/// Returns the path of the net with another extension.
pub fn beside(out: &Path, extension: &str) -> PathBuf {
    out.with_extension(extension)
}

/// Converts positions to millions.
pub fn millions(positions: u64) -> f64 {
    positions as f64 / 1e6
}

/// Renames the checkpoint of an older run, so that a new run does not overwrite it.
///
/// # Errors
/// Fails if the checkpoint cannot be renamed, or if a file of another kind already has the new name.
pub fn keep_old(checkpoint: &Path) -> Result<()> {
    if !checkpoint.exists() {
        return Ok(());
    }
    let old = old_checkpoint(checkpoint);
    super::checkpoint::KIND.check(&old)?;
    eprintln!(
        "{} exists from another run (--resume would have continued it): renamed to {}",
        checkpoint.shown(),
        old.shown()
    );
    std::fs::rename(checkpoint, &old).with_context(|| format!("cannot rename {}", checkpoint.shown()))
}

/// Returns the new name for the checkpoint of an older run.
pub fn old_checkpoint(checkpoint: &Path) -> PathBuf {
    beside(checkpoint, "checkpoint.old")
}

/// Writes the net.
pub fn write_net(path: &Path, net: &Network) -> Result<()> {
    let bytes = net.to_bytes();
    write_over(path, &nnue::KIND, |file| file.write_all(&bytes))
}

/// Writes the log and the picture next to the net.
pub fn write_curves(out: &Path, history: &[Validation]) -> Result<()> {
    write_over(&beside(out, "tsv"), &LOG, |file| file.write_all(log_of(history).as_bytes()))?;
    write_picture(&beside(out, "svg"), out, history)
}

/// Writes the loss curves of the run that made `net`.
pub fn write_picture(path: &Path, net: &Path, history: &[Validation]) -> Result<()> {
    let picture = picture::svg(&picture_title(net), history);
    write_over(path, &PICTURE, |file| file.write_all(picture.as_bytes()))
}

/// Returns a title with the net's file name, without its folder.
fn picture_title(net: &Path) -> String {
    let name = net.file_name().unwrap_or_default();
    format!("{}: {PICTURE_TITLE}", name.shown())
}

/// Returns the log: one line per validation.
fn log_of(history: &[Validation]) -> String {
    history.iter().fold(LOG_HEADER.to_owned(), |log, report| {
        log + &format!(
            "{}\t{:.8}\t{:.8}\t{:.8}\t{:.4}\t{:.1}\n",
            report.shown, report.train, report.held_out, report.rate, report.lambda, report.seconds
        )
    })
}
