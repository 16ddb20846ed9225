//! Small helpers that are independent of chess.

pub(crate) mod append;
pub(crate) mod arguments;
pub(crate) mod atomic;
#[cfg(feature = "full")]
pub(crate) mod city;
pub(crate) mod claim;
pub(crate) mod console;
pub(crate) mod disk;
pub(crate) mod encoding;
pub(crate) mod identity;
pub(crate) mod input;
pub(crate) mod interrupt;
pub(crate) mod kind;
pub(crate) mod memory;
pub(crate) mod polling;
pub(crate) mod prefetch;
pub(crate) mod progress;
pub(crate) mod quantity;
pub(crate) mod quiet;
pub(crate) mod reason;
pub mod rng;
pub(crate) mod scale;
pub(crate) mod sync;
pub(crate) mod text;
pub(crate) mod threads;

/// Number of threads that can run in parallel; 1 if it cannot be determined.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
