//! Support for threads.

/// Whether the target supports threads. WebAssembly supports them only as `wasm32-wasip1-threads`. Without
/// threads, searches, output and training run in the caller's thread.
pub const EXIST: bool = cfg!(has_threads);
