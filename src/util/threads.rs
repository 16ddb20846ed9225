//! Support for threads.

/// Whether the target supports threads. WebAssembly supports them only with atomics (`wasm32-wasip1-threads`). Without
/// threads, searches, output and training run in the caller's thread.
pub const EXIST: bool = cfg!(any(not(target_family = "wasm"), target_feature = "atomics"));
