//! Networks: file format, feature sets, accumulators, and the SIMD forward pass.
//!
//! A net is parsed, never transmuted: [`file`] checks the container, [`architecture`] says what a
//! header promises, [`network`] holds the parameters. [`accumulator`] keeps the first layer up to
//! date through a game, and [`simd`] does the arithmetic with the best kernel this processor has.
//! The scalar kernel is the specification of all the others.

pub mod accumulator;
pub mod architecture;
mod cache;
pub mod error;
pub mod features;
pub mod file;
pub mod layers;
pub mod leb128;
pub mod network;
pub mod own;
pub mod simd;
mod sums;
#[doc(hidden)]
pub mod synthetic;
pub mod transformer;
mod view;

pub use accumulator::{AccumulatorStack, Output};
pub use architecture::Architecture;
pub use error::NetError;
pub use network::{NetInfo, Network};
pub use simd::{Kernel, Kernels};
pub use view::BoardView;

/// Divides a raw network output into engine units (Stockfish's internal units).
const OUTPUT_SCALE: i32 = 16;
