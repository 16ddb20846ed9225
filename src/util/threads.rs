//! Support for threads.

/// Whether the target supports threads. WebAssembly with WASI preview 1 does not. Without threads, searches, output and
/// training run in the caller's thread.
pub const EXIST: bool = cfg!(not(target_family = "wasm"));
