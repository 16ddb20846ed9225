//! What an evaluation says.

/// Divides a raw network output into engine units (Stockfish's internal units).
const OUTPUT_SCALE: i32 = 16;

/// What a network says about a position, from the view of the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct NetOutput {
    /// The piece-square part; 0 for networks without one.
    pub psqt: i32,
    /// The output of the dense layers.
    pub positional: i32,
    /// The stack of dense layers that spoke; 0 for networks with one.
    pub bucket: usize,
}

impl NetOutput {
    /// Both parts together, in sixteenths of engine units.
    #[inline]
    pub fn raw(self) -> i32 {
        self.psqt.wrapping_add(self.positional)
    }

    /// The value in engine units (Stockfish's internal units), as the engine of the network used it: the sum divided,
    /// truncated once. Newer engines (those of SFNNv10 and SFNNv16) truncate each part before they add, so that their
    /// value differs by a unit where the parts' rests add up to one, or have unlike signs; the parts are the same.
    #[inline]
    pub fn value(self) -> i32 {
        self.raw() / OUTPUT_SCALE
    }
}
