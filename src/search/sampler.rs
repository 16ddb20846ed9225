//! An observer of the positions that a search evaluates, for the generation of training data.

use super::score::Value;
use crate::board::Position;

/// Receives every position that the network evaluates. The positions are never in check.
///
/// Called from inside the search, so it must be quick.
pub trait Sampler: Send {
    /// `value` is the network's own, in engine units, from the side to move's view: before the scaling by material,
    /// the 50-move counter and the corrections, which belong to the search and not to the network.
    fn evaluated(&mut self, position: &Position, value: Value);
}
