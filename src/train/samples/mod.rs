//! What is learned from: records out of the stream of `src/data/stream`, in batches ([`batches`]), and what a net sees
//! of one ([`active`], [`board`]).

pub(super) mod active;
pub(super) mod batches;
mod board;

use crate::data::Record;

/// A position as a batch shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    /// The position.
    pub record: Record,
    /// Whether its left-to-right mirror image is shown.
    pub mirrored: bool,
}

impl Sample {
    /// The position as it is.
    pub fn plain(record: Record) -> Self {
        Self {
            record,
            mirrored: false,
        }
    }
}
