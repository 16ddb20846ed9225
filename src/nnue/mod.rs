//! Networks: file format, feature sets, accumulators, and the SIMD forward pass.

pub mod accumulator;
pub mod network;

pub use accumulator::AccumulatorStack;
pub use network::Network;

/// Divides a raw network output into engine units (Stockfish's internal units).
pub const OUTPUT_SCALE: i32 = 16;
