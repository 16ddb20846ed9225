//! An observer of the positions that a search evaluates, for the generation of training data.

use crate::board::Position;
use crate::search::score::Value;

/// Receives every position that the network evaluates. The positions are never in check.
///
/// Called from inside the search, so it must be quick.
pub trait Sampler: Send {
    /// `value` is the network's output in engine units, for the side to move. It excludes the scaling by material, the
    /// 50-move counter and the corrections, which are part of the search.
    fn evaluated(&mut self, position: &Position, value: Value);
}
