//! `zoothera train` end to end: killing and resuming runs, exporting checkpoints, settings from a file.

#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "gpu")]
mod gpu;
mod resume;
mod runs;
mod settings;
