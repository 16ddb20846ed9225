//! Small things without a chess idea in them.

pub mod atomic;
pub mod memory;
pub mod prefetch;
pub mod progress;
pub mod quantity;
pub mod rng;
pub mod text;

/// How many threads can run at once; 1 where the system does not tell.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
