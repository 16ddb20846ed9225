//! Small things without a chess idea in them.

pub mod atomic;
pub mod memory;
pub mod prefetch;
pub mod progress;
pub mod rng;
pub mod threads;
