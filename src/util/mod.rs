//! Small helpers that are independent of chess.

pub(crate) mod atomic;
#[cfg(feature = "full")]
pub(crate) mod city;
pub(crate) mod console;
pub(crate) mod files;
pub(crate) mod memory;
pub(crate) mod quantity;
pub(crate) mod reason;
pub mod rng;
pub(crate) mod sync;
pub(crate) mod text;

/// Number of threads that can run in parallel; 1 if it cannot be determined.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
