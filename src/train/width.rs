//! How wide the accumulators are: a setting of a run, but a constant for the loops that its time goes into.
//!
//! What holds a model for longer than a step (the model, the moments, checkpoints, the integer net) is as wide as it
//! was made. What computes on it (kernels, snapshot, shares, trainer) has the width as a parameter, so that the
//! compiler knows every trip count; a run chooses among the three once, when it begins.

use anyhow::{Result, bail};

/// The widths that can be trained, which are those of our own HalfKP nets that the engine reads.
pub const ALL: [usize; 3] = [128, 256, 512];

/// The width of the published HalfKP nets, and the default.
pub const PUBLISHED: usize = 256;

/// Refuses a width that cannot be trained.
///
/// # Errors
/// When `l1` is not one of [`ALL`].
pub fn check(l1: usize) -> Result<()> {
    if !ALL.contains(&l1) {
        bail!("l1 is {l1}, but must be 128, 256 or 512");
    }
    Ok(())
}
