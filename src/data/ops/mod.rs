//! Operations on files of training data of any size: entries are streamed from the reader to the writer.
//!
//! * [`info`], [`convert`], [`filter`] (also by random choice), [`relabel`], [`split`]: one pass
//! * [`shuffle`], [`dedupe`]: two passes, with temporary files ([`buckets`]) that fit into memory one at a time
//! * [`output`]: output files that get their name only when they are complete

pub mod buckets;
pub mod convert;
pub mod dedupe;
pub mod filter;
pub mod info;
pub mod output;
pub mod relabel;
pub mod shuffle;
pub mod split;

use std::cell::Cell;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::entry::Entry;
use super::reader::{self, Enough, Place, ReadOptions};
use super::units::ScoreUnit;
use crate::util::console::ProgressLine;
use crate::util::console::{Interrupt, Interrupted};
use crate::util::identity::check_distinct;
use crate::util::quantity::{short_number, short_time};

/// Input files, followed by the output file.
#[derive(clap::Args, Clone, Debug)]
pub struct Paths {
    /// Files to read, followed by the file to write: .bin, .binpack, .plain, .tree, .bf (bulletformat), .bullet.txt or
    /// .epd; .vf (viriformat) and .pgn can be read; all also with .gz or .zst
    #[arg(required = true, num_args = 2.., value_names = ["IN", "OUT"])]
    pub files: Vec<PathBuf>,
    /// Replace an existing output
    #[arg(long)]
    pub force: bool,
    /// How the inputs are read.
    #[command(flatten)]
    pub input: InputArgs,
}

/// How inputs are read.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub struct InputArgs {
    /// Use what can be read of a truncated file, and skip broken games of a .pgn, with a warning; otherwise both are
    /// errors
    #[arg(long)]
    pub lenient: bool,
    /// Unit of the scores in the inputs: engine, the unit of a net's output (200 of them are a pawn, the advantage that
    /// wins half of the games); cp, centipawns; or the number of engine units in a unit. They are converted to engine
    /// units [default: cp for .epd and .pgn, engine for the others]
    #[arg(long, value_name = "engine|cp|N")]
    pub score_unit: Option<ScoreUnit>,
}

impl InputArgs {
    /// The options of the reader.
    fn options(self) -> ReadOptions {
        ReadOptions { strict: !self.lenient, unit: self.score_unit.unwrap_or_default() }
    }
}

impl Paths {
    /// Splits the names into the inputs and the output.
    ///
    /// # Errors
    /// Fails if there are fewer than two names, and if the output is one of the inputs.
    pub fn split(&self) -> Result<(&[PathBuf], &Path)> {
        let (out, inputs) = self.files.split_last().context("no file given")?;
        ensure!(!inputs.is_empty(), "no output file given");
        let read: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
        check_distinct(&[out], &read)?;
        Ok((inputs, out))
    }
}

/// Number of entries between two checks of the clock and of interrupts.
const STRIDE: u64 = 1 << 14;

/// Fails after an interrupt.
fn check_interrupt(interrupt: &Interrupt) -> Result<()> {
    if interrupt.is_set() {
        return Err(Interrupted::error("interrupted; no output was written, and existing files are unchanged"));
    }
    Ok(())
}

/// Calls `visit` with the entries of all files in order, and shows progress with the label `what`. Block numbers
/// continue from file to file. Returns the number of entries.
///
/// # Errors
/// Fails if a file cannot be read or is damaged, if `visit` fails, and after an interrupt. With [`Enough`] as the
/// error, `visit` ends the reading without a failure.
fn for_each(
    inputs: &[PathBuf],
    read: InputArgs,
    what: &str,
    mut visit: impl FnMut(&Entry, Option<Place>) -> Result<()>,
) -> Result<u64> {
    let interrupt = Interrupt::shared();
    let sizes = inputs.iter().filter_map(|path| path.metadata().ok());
    let total: u64 = sizes.map(|metadata| metadata.len()).sum();
    let mut progress = ProgressLine::new();
    let mut count = 0_u64;
    let bytes = Cell::new(0);
    let line = |count: u64, seconds: f64| {
        let done = bytes.get() as f64 / total.max(1) as f64;
        format!(
            "{what}: {} positions, {}/s, {} left",
            short_number(count as f64),
            short_number(count as f64 / seconds.max(1e-9)),
            short_time(seconds * (1.0 - done).max(0.0) / done)
        )
    };
    let mut blocks = 0;
    for path in inputs {
        let first_block = blocks;
        let found = reader::for_each_placed(path, read.options(), &bytes, |entry, mut place| {
            count += 1;
            if count.is_multiple_of(STRIDE) {
                check_interrupt(&interrupt)?;
                progress.tick(|seconds| line(count, seconds));
            }
            if let Some(place) = &mut place {
                place.block += first_block;
                blocks = place.block + 1;
            }
            visit(entry, place)
        });
        match found {
            Err(error) if error.is::<Enough>() => break,
            found => found?,
        }
    }
    progress.finish(&line(count, progress.seconds()));
    Ok(count)
}
