//! Description of a checkpoint: the part of `net info` for files that are no nets.

use std::io::Write;
use std::path::Path;

use anyhow::Result;

use super::checkpoint;
use super::display::short_rate;
use super::outputs::millions;
use crate::util::quantity::short_time;
use crate::util::text::Shown as _;

pub use super::checkpoint::is_checkpoint;

/// Prints the progress and the settings of a checkpoint.
///
/// # Errors
/// Fails if the file is not a valid checkpoint, or a write fails.
pub fn write(path: &Path, out: &mut dyn Write) -> Result<()> {
    let checkpoint::Checkpoint { state, parameters, .. } = checkpoint::read(path)?;
    let architecture = parameters.model.architecture;
    writeln!(out, "File          {}", path.shown())?;
    writeln!(out, "Checkpoint    of a training run of {architecture}")?;
    writeln!(out, "Positions     {} M of {} M shown", millions(state.shown), state.config.millions)?;
    writeln!(out, "Time          {}", short_time(state.seconds))?;
    match state.history.last() {
        Some(last) => {
            let held_out = last.measured().map_or_else(|| "none".to_owned(), |loss| loss.to_string());
            let (at, rate) = (millions(last.shown), short_rate(last.rate));
            writeln!(out, "Loss          training {:.6}, held out {held_out}, at {at} M with rate {rate}", last.train)?;
        }
        None => writeln!(out, "Loss          no validation yet")?,
    }
    writeln!(out, "Moments       of {} steps", parameters.moments.steps)?;
    writeln!(out, "Averaged      {} models", state.averaged)?;
    writeln!(out, "Settings")?;
    for (name, value) in state.config.values() {
        writeln!(out, "  {name:<16}  {value}")?;
    }
    Ok(())
}
