//! Whether there are threads.

/// Whether the system has threads: all but WebAssembly, whose WASI (preview 1) has none. Without them searches, output
/// and training run in the caller's thread.
pub const EXIST: bool = cfg!(not(target_family = "wasm"));
