//! The result of an evaluation.

/// Divides a raw network output into engine units (Stockfish's internal units).
const OUTPUT_SCALE: i32 = 16;

/// The network's evaluation of a position, from the side to move's point of view.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct NetOutput {
    /// The piece-square part; 0 for networks without one.
    pub psqt: i32,
    /// The output of the dense layers.
    pub positional: i32,
    /// Index of the layer stack that was used; 0 for networks with one stack.
    pub bucket: usize,
}

impl NetOutput {
    /// The sum of both parts, in sixteenths of engine units.
    #[inline]
    pub fn raw(self) -> i32 {
        self.psqt.wrapping_add(self.positional)
    }

    /// The value in engine units (Stockfish's internal units): the sum of the parts divided by 16 and truncated once,
    /// as in the engine that the network was made for. Newer engines (of SFNNv10 and SFNNv16) truncate each part before
    /// the addition. Their value differs by one unit where the remainders add up to a unit or have opposite signs.
    #[inline]
    pub fn value(self) -> i32 {
        self.raw() / OUTPUT_SCALE
    }
}
