//! Training samples: records from the stream of `src/data/stream` in batches ([`batches`]), and the active features
//! of a record ([`active`]). Tests use positions of random games (`random_games`).

pub(super) mod active;
pub(super) mod batches;
#[cfg(any(test, feature = "gpu"))]
pub(super) mod random_games;

use crate::data::Record;

/// A position in a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    /// The position.
    pub record: Record,
    /// Whether the left-to-right mirror image is used.
    pub mirrored: bool,
}

impl Sample {
    /// Returns a sample that is not mirrored.
    pub fn plain(record: Record) -> Self {
        Self { record, mirrored: false }
    }
}
