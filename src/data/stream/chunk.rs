//! Files, and the parts that they are cut into.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::data::reader::Format;

/// A file.
#[derive(Clone, Debug)]
pub struct InputFile {
    /// Where it is.
    pub path: PathBuf,
    /// How it holds its entries.
    pub format: Format,
    /// Bytes.
    pub size: u64,
    /// Whether its scores alone are labels.
    pub sampled: bool,
    /// Whether it was told that the end of the file was cut off.
    pub warned: Arc<AtomicBool>,
}

/// A part of a file: the entries, games or blocks that begin in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chunk {
    /// Number of the file.
    pub file: usize,
    /// First byte.
    pub start: u64,
    /// The byte after the last.
    pub end: u64,
    /// Share of its records that are held out, at its end.
    pub held_out: f64,
}
