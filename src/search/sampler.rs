//! An observer of the positions that a search evaluates: how training data is gathered.

use super::score::Value;
use crate::board::Position;

/// Hears of every position that the network has just been asked about. It is never in check.
///
/// Called from inside the search, so it must be quick.
pub trait Sampler: Send {
    /// `value` is the network's own, in engine units, from the side to move's view: before the scaling by material,
    /// the 50-move counter and the corrections, which are the search's and not the network's.
    fn evaluated(&mut self, position: &Position, value: Value);
}
