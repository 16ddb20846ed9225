//! Options of a stream, its input files, their division into chunks, some of which are held out, and the decoding of
//! single chunks.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use anyhow::{Context, Result, bail, ensure};

use super::bin::{RECORD_BYTES, fill};
use super::entry::{Entry, Filter, Record};
use super::format::Format;
use super::tree::{Decoder, HEADER_BYTES, Header};
use super::viriformat::{MOVE_BYTES, START_BYTES};
use super::{bin, binpack, bulletformat, entry, lines, plain, viriformat};
use crate::util::rng::SplitMix64;
use crate::util::text::Shown as _;

/// Upper bound of the memory for chunks being loaded, in bytes.
const RESERVED: usize = 96 << 20;
/// Smallest window in records; in smaller ones the positions of a game would be too close together.
const MIN_WINDOW: usize = 1 << 16;
/// Smallest memory for a stream, in bytes.
pub const MIN_MEMORY: usize = RESERVED + MIN_WINDOW * size_of::<Record>();

/// A file with training positions.
#[derive(Clone, Debug)]
pub struct Source {
    /// Path of the file; the extension determines the format.
    pub path: PathBuf,
    /// Whether its positions were sampled from search trees: only their scores are labels, and they need not be quiet.
    pub sampled: bool,
}

/// Options of a stream.
#[derive(Clone, Debug)]
pub struct Options {
    /// The files.
    pub sources: Vec<Source>,
    /// Filter of the positions; sampled ones need not be quiet.
    pub filter: Filter,
    /// Keep one in two positions with a |score| above this, in engine units.
    pub thin_beyond: u16,
    /// Fraction of every file, at its end, that is held out.
    pub holdout: f64,
    /// Approximate maximum number of held-out positions in all.
    pub holdout_limit: usize,
    /// Random seed.
    pub seed: u64,
    /// Memory in bytes, not including the held-out positions.
    pub memory: usize,
    /// Number of loader threads; at most four are used.
    pub threads: usize,
}

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

/// Bytes per read after the end of a text chunk, while searching for the start of the next entry.
const STEP: u64 = 1 << 12;

/// Calls `visit` with every entry that starts in the chunk, in order. Returns the size of an incomplete entry or block
/// at the end of the file, in bytes, or for text in lines.
///
/// # Errors
/// Fails if the file cannot be read or is damaged, and if `visit` fails. The error has the offset of the chunk.
pub fn load(input: &InputFile, chunk: &Chunk, mut visit: impl FnMut(&Entry) -> Result<()>) -> Result<u64> {
    let mut part = ChunkPart::read(input, chunk)?;
    let (factor, is_foreign) = (input.format.unit(), input.format.is_foreign());
    let mut visit = |entry: &Entry| if is_foreign { visit(&entry::scaled(entry, factor)) } else { visit(entry) };
    let loaded = match input.format {
        Format::Bin => bin::for_each(part.bytes.as_slice(), visit).map(|left| left as u64),
        Format::Binpack => binpack::for_each(part.bytes.as_slice(), visit).map(|left| left as u64),
        Format::Plain => load_plain(&mut part, chunk, &mut visit),
        Format::Bulletformat => bulletformat::for_each(part.bytes.as_slice(), visit).map(|left| left as u64),
        Format::Viriformat => viriformat::for_each(part.bytes.as_slice(), visit).map(|left| left as u64),
        Format::BulletText => load_lines(&mut part, chunk, lines::bullet, &mut visit),
        Format::Epd => load_lines(&mut part, chunk, lines::epd, &mut visit),
        Format::Pgn => bail!("PGN has no chunks"),
        Format::Tree => load_tree(&mut part, chunk, &mut visit),
    };
    loaded.with_context(|| format!("in the chunk at byte {}", chunk.start))
}

/// The part of a file that was read for a chunk.
struct ChunkPart {
    file: File,
    /// Size of the file in bytes.
    size: u64,
    /// Offset of `bytes` in the file.
    start: u64,
    bytes: Vec<u8>,
}

impl ChunkPart {
    fn read(input: &InputFile, chunk: &Chunk) -> Result<Self> {
        let mut file = File::open(&input.path).context("cannot open the file")?;
        file.seek(SeekFrom::Start(chunk.start))?;
        let mut part = Self { file, size: input.size, start: chunk.start, bytes: Vec::new() };
        part.extend_to(chunk.end)?;
        Ok(part)
    }

    /// Reads on up to offset `end`, or to the end of the file.
    fn extend_to(&mut self, end: u64) -> Result<()> {
        let length = (end.min(self.size) - self.start) as usize;
        let old_length = self.bytes.len();
        if length > old_length {
            self.bytes.resize(length, 0);
            let read = self.file.read_exact(&mut self.bytes[old_length..]);
            read.context("the file has become shorter since it was opened")?;
        }
        Ok(())
    }

    /// Decodes the block header at an offset in the file.
    fn header(&mut self, at: u64) -> Result<Option<Header>> {
        self.extend_to(at + HEADER_BYTES as u64)?;
        let bytes = self.bytes.get((at - self.start) as usize..);
        Ok(bytes.and_then(|b| b.first_chunk()).and_then(Header::decode))
    }
}

/// Decodes the blocks that start in the chunk. Also checks the header of the first block after it, because the reader
/// of the next chunk searches for a header and would skip a damaged one.
fn load_tree(part: &mut ChunkPart, chunk: &Chunk, visit: &mut impl FnMut(&Entry) -> Result<()>) -> Result<u64> {
    let Some(mut at) = first_block(part, chunk)? else {
        return Ok(0);
    };
    let mut decoder = Decoder::default();
    loop {
        if at + HEADER_BYTES as u64 > part.size {
            return Ok(part.size - at); // The end of the file, or a truncated header.
        }
        let place = || format!("the block at byte {at}");
        let header = part.header(at)?.with_context(|| format!("{} has no valid header", place()))?;
        if at >= chunk.end {
            return Ok(0);
        }
        let begin = at + HEADER_BYTES as u64;
        let end = begin + header.payload as u64;
        if end > part.size {
            return Ok(part.size - at); // A truncated block.
        }
        part.extend_to(end)?;
        let [from, to] = [begin, end].map(|byte| (byte - part.start) as usize);
        let decoded = decoder.decode(&header, &part.bytes[from..to], |entry, _| visit(entry));
        decoded.with_context(place)?;
        at = end;
    }
}

/// Offset in the file of the first block that starts in the chunk.
fn first_block(part: &mut ChunkPart, chunk: &Chunk) -> Result<Option<u64>> {
    if chunk.start == 0 {
        return Ok(Some(0));
    }
    part.extend_to(chunk.end + HEADER_BYTES as u64 - 1)?;
    let mut windows = part.bytes.windows(HEADER_BYTES);
    let found = windows.position(|bytes| bytes.first_chunk().and_then(Header::decode).is_some());
    Ok(found.map(|at| chunk.start + at as u64))
}

/// Decodes the entries whose first line starts in the chunk.
fn load_plain(part: &mut ChunkPart, chunk: &Chunk, visit: &mut impl FnMut(&Entry) -> Result<()>) -> Result<u64> {
    const FEN: &[u8] = b"\nfen ";
    // Finds the start of an entry after a line break.
    let find = |bytes: &[u8], from: usize| {
        let mut windows = bytes[from..].windows(FEN.len());
        windows.position(|text| text == FEN).map(|at| from + at + 1)
    };
    let begin = if chunk.start == 0 { Some(0) } else { find_first(part, chunk)? };
    let Some(begin) = begin else {
        return Ok(0);
    };
    let chunk_length = (chunk.end - chunk.start) as usize;
    let end = loop {
        // The line break before the next entry may be the last byte of the chunk.
        if let Some(end) = find(&part.bytes, chunk_length.saturating_sub(1)) {
            break end;
        }
        let length = part.bytes.len();
        part.extend_to(part.start + length as u64 + STEP)?;
        if part.bytes.len() == length {
            break length;
        }
    };
    Ok(plain::for_each(&part.bytes[begin..end], visit)? as u64)
}

/// Index in `part.bytes` of the first text entry that starts in the chunk. The byte before the chunk may be the line
/// break before the entry.
fn find_first(part: &mut ChunkPart, chunk: &Chunk) -> Result<Option<usize>> {
    let before = byte_before(part, chunk)?.context("the first chunk has no byte before it")?;
    part.extend_to(chunk.end + 3)?;
    let chunk_length = (chunk.end - chunk.start) as usize;
    let begins = |at: &usize| {
        let line = if *at == 0 { before } else { part.bytes[at - 1] } == b'\n';
        line && part.bytes[*at..].starts_with(b"fen ")
    };
    Ok((0..chunk_length).find(begins))
}

/// Decodes the lines that start in the chunk.
fn load_lines(
    part: &mut ChunkPart,
    chunk: &Chunk,
    parse: fn(&str) -> Result<Option<Entry>>,
    visit: &mut impl FnMut(&Entry) -> Result<()>,
) -> Result<u64> {
    let find = |bytes: &[u8]| bytes.iter().position(|&byte| byte == b'\n');
    let chunk_length = (chunk.end - chunk.start) as usize;
    // The line before the chunk ends with the line break at or after the last byte before the chunk.
    let begin = match byte_before(part, chunk)? {
        None | Some(b'\n') => 0,
        Some(_) => match find(&part.bytes) {
            Some(at) if at + 1 < chunk_length => at + 1,
            _ => return Ok(0),
        },
    };
    let end = loop {
        let from = chunk_length - 1;
        if let Some(at) = find(&part.bytes[from..]) {
            break from + at + 1;
        }
        let length = part.bytes.len();
        part.extend_to(part.start + length as u64 + STEP)?;
        if part.bytes.len() == length {
            break length;
        }
    };
    Ok(lines::for_each(&part.bytes[begin..end], parse, visit)? as u64)
}

/// The byte before the chunk, unless it is at the start of the file.
fn byte_before(part: &mut ChunkPart, chunk: &Chunk) -> Result<Option<u8>> {
    if chunk.start == 0 {
        return Ok(None);
    }
    let mut before = [0];
    let mut file = &part.file;
    file.seek(SeekFrom::Start(chunk.start - 1))?;
    file.read_exact(&mut before)?;
    file.seek(SeekFrom::Start(part.start + part.bytes.len() as u64))?;
    Ok(Some(before[0]))
}

// Plan of a stream: the chunks of all files, and the held-out ones.

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
            fingerprint: fingerprint(options, &sizes)?,
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

/// Number of records in the window, as the memory allows.
pub(super) fn window_records(options: &Options) -> Result<usize> {
    let left = options.memory.checked_sub(RESERVED);
    let records = left.map_or(0, |bytes| bytes / size_of::<Record>());
    ensure!(
        records >= MIN_WINDOW,
        "{} MiB of memory are too little: file buffers need {} MiB and the smallest window of positions {} MiB",
        options.memory >> 20,
        RESERVED >> 20,
        (MIN_WINDOW * size_of::<Record>()) >> 20
    );
    Ok(records)
}

/// Hash of the options and file sizes, which identifies the stream of a bookmark.
fn fingerprint(options: &Options, sizes: &[u64]) -> Result<u64> {
    let window = window_records(options)? as u64;
    let mut words = vec![
        options.seed,
        window,
        options.thin_beyond.into(),
        options.holdout.to_bits(),
        options.holdout_limit as u64,
        options.filter.max_score as u64,
        options.filter.min_ply.into(),
        options.filter.min_pieces.into(),
        options.filter.quiet.into(),
    ];
    words.extend(sizes);
    words.extend(options.sources.iter().map(|source| u64::from(source.sampled)));
    let mix = |key: u64, word: &u64| SplitMix64::new(key ^ word).next_u64();
    Ok(words.iter().fold(0, mix))
}
