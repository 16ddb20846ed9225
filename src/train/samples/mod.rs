//! What is learned from.

pub(super) mod active;
mod board;
pub(super) mod dataset;
mod epoch_order;

use crate::data::Record;

/// A position as a batch shows it.
#[derive(Clone, Copy, Debug)]
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

/// Where the samples of a batch come from. The threads ask for their shards of it at the same time.
pub(super) trait SampleSource: Sync {
    /// Puts `count` samples in place of what is in `out`, from number `first` of the batch on. The same numbers must
    /// give the same samples, whoever asks, and however they are cut into shards.
    fn fill(&self, first: usize, count: usize, out: &mut Vec<Sample>);
}
