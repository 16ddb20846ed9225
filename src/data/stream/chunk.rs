//! Input files and the chunks into which they are divided.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::data::reader::Format;

/// An input file.
#[derive(Clone, Debug)]
pub struct InputFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Format of the entries.
    pub format: Format,
    /// Size in bytes.
    pub size: u64,
    /// Whether only the scores are labels: the game results are unrelated to the positions.
    pub sampled: bool,
    /// Whether the warning about a truncated end was printed.
    pub warned: Arc<AtomicBool>,
}

/// A byte range of a file: the entries, games or blocks that start in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chunk {
    /// Index of the file.
    pub file: usize,
    /// Offset of the first byte.
    pub start: u64,
    /// Offset after the last byte.
    pub end: u64,
    /// Fraction of the records, at the end of the chunk, that are held out.
    pub held_out: f64,
}
