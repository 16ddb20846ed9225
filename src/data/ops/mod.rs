//! Operations on files of training data of any size: entries are streamed from the reader to the writer.
//!
//! * [`filter`]: filters, also by random choice, conversion and splits, in one pass; duplicates and shuffles, in two
//!   passes, with temporary files that fit into memory one at a time
//! * [`info`], [`relabel`]: statistics and new labels, in one pass
//!
//! Output files get their name only when they are complete.

pub mod filter;
pub mod info;
pub mod relabel;

use std::cell::Cell;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::entry::{Entry, NO_SCORE, ScoreUnit};
use super::format::{Compressor, FileFormat, Format};
use super::reader::{self, Enough, EntryWriter, ReadOptions};
use super::tree::Place;
use crate::util::atomic::AtomicFile;
use crate::util::console::{Interrupt, Interrupted, ProgressLine};
use crate::util::files::check_distinct;
use crate::util::quantity::{short_number, short_time};
use crate::util::text::Shown as _;

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

// Output file that is renamed to its final name only when complete.

/// Writer of entries into a temporary file that replaces the output at the end.
pub struct OutputFile {
    path: PathBuf,
    format: Format,
    writer: EntryWriter<Compressor<AtomicFile>>,
    count: u64,
    left_out: LeftOut,
    interrupt: Interrupt,
}

/// What the output's format cannot store.
#[derive(Default)]
struct LeftOut {
    /// Entries without a score.
    unscored: u64,
    /// Entries whose score alone was the label, in a format that cannot say so.
    unmarked: u64,
}

impl OutputFile {
    /// Creates a temporary file for the output `path`. Its extension determines the format.
    ///
    /// # Errors
    /// Fails if the extension is unknown, `path` has content and `force` is false, it is a file of another format, or
    /// the temporary file cannot be created.
    pub fn create(path: &Path, force: bool) -> Result<Self> {
        let FileFormat { format, compression } = FileFormat::of(path)?;
        let file = AtomicFile::create_over(path, &FileFormat { format, compression }.kind())?;
        if !force && path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0) {
            bail!("{} exists; give another name, or --force to replace it", path.shown());
        }
        let writer = EntryWriter::new(format, Compressor::new(compression, file));
        Ok(Self {
            path: path.to_path_buf(),
            format,
            writer: writer.with_context(|| format!("cannot write {}", path.shown()))?,
            count: 0,
            left_out: LeftOut::default(),
            interrupt: Interrupt::shared(),
        })
    }

    /// Appends an entry.
    ///
    /// # Errors
    /// Fails if the format cannot store the entry, on an I/O error, and after an interrupt.
    pub fn write(&mut self, entry: &Entry) -> Result<()> {
        self.write_placed(entry, None)
    }

    /// Appends an entry and, for a `.tree`, the place from which it was read. Leaves out an entry without a score if
    /// the format requires one.
    ///
    /// # Errors
    /// Fails like [`OutputFile::write`].
    pub fn write_placed(&mut self, entry: &Entry, place: Option<Place>) -> Result<()> {
        if self.format.is_fully_labelled() && entry.score == NO_SCORE {
            self.left_out.unscored += 1;
            return Ok(());
        }
        if entry.score_alone && !self.format.marks_score_alone() {
            self.left_out.unmarked += 1;
        }
        self.count += 1;
        if self.count.is_multiple_of(STRIDE) {
            check_interrupt(&self.interrupt)?;
        }
        let written = self.writer.write_placed(entry, place);
        written.with_context(|| format!("cannot write {}", self.path.shown()))
    }

    /// Number of entries so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Completes the file and renames it to the output. Returns the number of entries.
    ///
    /// # Errors
    /// Fails if there is no entry, and on an I/O error; an existing output is then unchanged.
    pub fn finish(self) -> Result<u64> {
        ensure!(self.count > 0, "there is no position to write, so {} was not written", self.path.shown());
        self.finish_part()
    }

    /// As [`Self::finish`], for one of several outputs, which may be empty.
    ///
    /// # Errors
    /// Fails on an I/O error; an existing output is then unchanged.
    pub fn finish_part(self) -> Result<u64> {
        let shown = self.path.shown();
        let written = self.writer.finish().and_then(|sink| Ok(sink.finish()?));
        let file = written.with_context(|| format!("cannot write {shown}"))?;
        file.commit()?;
        let LeftOut { unscored, unmarked } = self.left_out;
        if unscored > 0 {
            eprintln!("{shown}: left out {unscored} positions without a score, which the format cannot store");
        }
        if unmarked > 0 {
            eprintln!(
                "{shown}: the results of {unmarked} positions are no labels, and the format cannot mark that: train \
                 with --sampled, or elsewhere on scores alone"
            );
        }
        Ok(self.count)
    }
}
