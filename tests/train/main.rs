//! `zoothera train` end to end: killing and resuming runs, exporting checkpoints, settings from a file.

#[path = "../engine/mod.rs"]
mod engine;
#[path = "../folder/mod.rs"]
mod folder;
#[cfg(feature = "gpu")]
mod gpu;
mod resume;
mod runs;
mod settings;
