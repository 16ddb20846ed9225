//! Plan of a stream: the chunks of all files, and the held-out ones.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use anyhow::{Context, Result, bail, ensure};

use super::Options;
use super::chunk::{Chunk, InputFile, load};
use crate::data::bin::{RECORD_BYTES, fill};
use crate::data::bulletformat;
use crate::data::entry::{Filter, Record};
use crate::data::format::Format;
use crate::data::viriformat::{MOVE_BYTES, START_BYTES};
use crate::util::rng::SplitMix64;
use crate::util::text::Shown as _;

/// Records per chunk of a `.bin`.
const BIN_RECORDS: u64 = 1 << 14;
/// Bytes per chunk of a `.tree`, about 8,000 positions.
const TREE_BYTES: u64 = 1 << 16;
/// Bytes per chunk of a `.plain`.
const PLAIN_BYTES: u64 = 1 << 20;
/// Smallest chunk of a `.binpack` in bytes, except the last; its blocks are of any size.
const MIN_BINPACK_BYTES: u64 = 1 << 17;
/// First four bytes of a `.binpack` block; its length follows in four bytes.
const BINPACK_MAGIC: &[u8; 4] = b"BINP";

/// The files of a stream, their chunks, and the filter of their positions.
#[derive(Clone, Debug)]
pub struct Plan {
    files: Vec<InputFile>,
    chunks: Vec<Chunk>,
    filter: Filter,
    thin_beyond: u16,
    seed: u64,
    estimated_len: u64,
    fingerprint: u64,
}

impl Plan {
    /// Divides the files into chunks.
    ///
    /// # Errors
    /// Fails if a file cannot be read or its format differs from its extension, and if no training position remains.
    pub fn new(options: &Options) -> Result<Self> {
        let mut files = Vec::new();
        let mut all = Vec::new();
        for source in &options.sources {
            let path = &source.path;
            Format::of(path)?;
            let size = std::fs::metadata(path).with_context(|| format!("cannot read {}", path.shown()))?;
            ensure!(
                size.is_file(),
                "{} is not a regular file: training reads positions in random order, so copy it to a file first",
                path.shown()
            );
            let format = Format::of_file(path)?;
            let input = InputFile {
                path: path.clone(),
                format,
                size: size.len(),
                sampled: source.sampled,
                warned: Arc::default(),
            };
            all.push(chunks_of(&input, files.len()).with_context(|| path.shown())?);
            files.push(input);
        }
        let sizes: Vec<u64> = files.iter().map(|file| file.size).collect();
        let mut plan = Self {
            files,
            chunks: Vec::new(),
            filter: options.filter,
            thin_beyond: options.thin_beyond,
            seed: options.seed,
            estimated_len: 0,
            fingerprint: super::fingerprint(options, &sizes)?,
        };
        let total = plan.estimate(&all)?;
        let limit = options.holdout_limit as f64 / total.max(1.0);
        let share = options.holdout.clamp(0.0, 1.0).min(limit);
        plan.estimated_len = (total * (1.0 - share)) as u64;
        all.iter_mut().for_each(|chunks| hold_out(chunks, share));
        plan.chunks = all.concat();
        ensure!(
            plan.chunks.iter().any(|chunk| chunk.held_out < 1.0),
            "no positions to train on: the files are empty, or all positions are filtered out or held out"
        );
        Ok(plan)
    }

    /// Estimates the number of records from one chunk of each file.
    fn estimate(&self, all: &[Vec<Chunk>]) -> Result<f64> {
        let mut total = 0.0;
        for chunks in all {
            if let Some(middle) = chunks.get(chunks.len() / 2) {
                let size = chunks.last().map_or(0, |last| last.end) as f64;
                let length = (middle.end - middle.start) as f64;
                total += self.records(middle)?.len() as f64 / length * size;
            }
        }
        Ok(total)
    }

    /// The chunks that are not entirely held out.
    pub fn training(&self) -> Vec<Chunk> {
        let is_training = |chunk: &&Chunk| chunk.held_out < 1.0;
        self.chunks.iter().filter(is_training).copied().collect()
    }

    /// Estimated number of training records.
    pub fn estimated_len(&self) -> u64 {
        self.estimated_len
    }

    /// Hash of the options and file sizes, which identifies the stream of a bookmark.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Reads the records of a chunk that pass the filter.
    fn records(&self, chunk: &Chunk) -> Result<Vec<Record>> {
        let input = &self.files[chunk.file];
        let any = Filter { quiet: false, ..self.filter };
        // Enough for most chunks, to avoid reallocation.
        let mut records = Vec::with_capacity(BIN_RECORDS as usize);
        let loaded = load(input, chunk, |entry| {
            let filter = if input.sampled || entry.score_alone { &any } else { &self.filter };
            if filter.keeps(entry) {
                let mut record = entry.record();
                if input.sampled {
                    record.trust_score_alone();
                }
                records.push(record);
            }
            Ok(())
        });
        let left = loaded.with_context(|| input.path.shown())?;
        if left > 0 && !input.warned.swap(true, Relaxed) {
            let is_text = input.format == Format::Plain;
            warn(&input.path, left, if is_text { "lines" } else { "bytes" });
        }
        Ok(records)
    }

    /// Reads the training records of a chunk.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is damaged.
    pub fn training_records(&self, chunk: &Chunk) -> Result<Vec<Record>> {
        let mut records = self.records(chunk)?;
        records.truncate(kept(records.len(), chunk.held_out));
        let number = (chunk.file as u64) << 48 ^ chunk.start;
        let mut rng = SplitMix64::new(self.seed ^ number);
        let thin_beyond = self.thin_beyond;
        records.retain(|record| record.score.unsigned_abs() <= thin_beyond || rng.next_u64() >> 63 == 0);
        Ok(records)
    }

    /// Reads the held-out records, in the order of the files.
    ///
    /// # Errors
    /// As [`Plan::training_records`].
    pub fn held_out(&self) -> Result<Vec<Record>> {
        let mut all = Vec::new();
        for chunk in self.chunks.iter().filter(|chunk| chunk.held_out > 0.0) {
            let records = self.records(chunk)?;
            all.extend_from_slice(&records[kept(records.len(), chunk.held_out)..]);
        }
        Ok(all)
    }
}

/// Number of `len` records that are not held out.
fn kept(len: usize, held_out: f64) -> usize {
    len - ((len as f64 * held_out) as usize).min(len)
}

/// Holds out the end of a file: a fraction of one chunk, and all chunks after it.
fn hold_out(chunks: &mut [Chunk], share: f64) {
    let boundary = chunks.last().map_or(0.0, |last| last.end as f64) * (1.0 - share);
    for chunk in chunks {
        let length = (chunk.end - chunk.start) as f64;
        chunk.held_out = ((chunk.end as f64 - boundary) / length).clamp(0.0, 1.0);
    }
}

/// Divides a file into chunks.
fn chunks_of(input: &InputFile, file: usize) -> Result<Vec<Chunk>> {
    let size = match input.format {
        Format::Bin => BIN_RECORDS * RECORD_BYTES as u64,
        Format::Tree => TREE_BYTES,
        Format::Plain | Format::BulletText | Format::Epd => PLAIN_BYTES,
        Format::Bulletformat => BIN_RECORDS * bulletformat::RECORD_BYTES as u64,
        Format::Binpack => return blocks_of(&input.path, input.size, file),
        Format::Viriformat => return games_of(&input.path, file),
        Format::Pgn => bail!(
            "games in PGN cannot be read in random order: convert them first (zoothera data convert {} games.binpack)",
            input.path.shown()
        ),
    };
    let starts = (0..input.size).step_by(size as usize);
    Ok(starts.map(|start| chunk(file, start, (start + size).min(input.size))).collect())
}

fn chunk(file: usize, start: u64, end: u64) -> Chunk {
    Chunk { file, start, end, held_out: 0.0 }
}

/// Divides a `.binpack` into chunks of whole blocks. A truncated block at the end is skipped with a warning.
fn blocks_of(path: &Path, size: u64, file: usize) -> Result<Vec<Chunk>> {
    let mut source = File::open(path)?;
    let (mut chunks, mut start, mut at) = (Vec::new(), 0, 0);
    while at + 8 <= size {
        source.seek(SeekFrom::Start(at))?;
        let mut header = [0; 8];
        source.read_exact(&mut header)?;
        let [m0, m1, m2, m3, length @ ..] = header;
        if [m0, m1, m2, m3] != *BINPACK_MAGIC {
            bail!("the block at byte {at} has no valid header");
        }
        let end = at + 8 + u64::from(u32::from_le_bytes(length));
        if end > size {
            break;
        }
        at = end;
        if at - start >= MIN_BINPACK_BYTES {
            chunks.push(chunk(file, start, at));
            start = at;
        }
    }
    if at > start {
        chunks.push(chunk(file, start, at));
    }
    if at < size {
        warn(path, size - at, "bytes");
    }
    Ok(chunks)
}

/// Divides a viriformat file into chunks of whole games. An incomplete game at the end is skipped with a warning.
fn games_of(path: &Path, file: usize) -> Result<Vec<Chunk>> {
    let mut source = BufReader::with_capacity(1 << 20, File::open(path)?);
    let (mut chunks, mut start, mut end, mut at) = (Vec::new(), 0, 0, 0);
    loop {
        let mut position = [0; START_BYTES];
        at += fill(&mut source, &mut position)? as u64;
        let mut bytes = [1; MOVE_BYTES];
        while bytes != [0; MOVE_BYTES] {
            let length = fill(&mut source, &mut bytes)?;
            at += length as u64;
            if length < MOVE_BYTES {
                if end > start {
                    chunks.push(chunk(file, start, end));
                }
                if at > end {
                    warn(path, at - end, "bytes");
                }
                return Ok(chunks);
            }
        }
        end = at;
        if end - start >= MIN_BINPACK_BYTES {
            chunks.push(chunk(file, start, end));
            start = end;
        }
    }
}

/// Warns of an incomplete entry or block at the end of a file.
fn warn(path: &Path, left: u64, unit: &str) {
    let path = path.shown();
    eprintln!("warning: {path}: skipped {left} {unit} of an incomplete entry at the end");
}
