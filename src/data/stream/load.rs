//! Decoding of single chunks, and loader threads that read chunks ahead of their use and deliver them in order.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use crossbeam::channel::{Receiver, Sender, unbounded};

use super::Options;
use super::plan::{Chunk, InputFile, Order, Plan};
use crate::data::entry::{Entry, Record};
use crate::data::reader::Format;
use crate::data::tree::{Decoder, HEADER_BYTES, Header};
use crate::data::{bin, binpack, bulletformat, lines, plain, units, viriformat};
use crate::util::sync;

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
    let mut visit = |entry: &Entry| if is_foreign { visit(&units::scaled(entry, factor)) } else { visit(entry) };
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

// Loader threads that read chunks ahead of their use and deliver them in order.

/// Number of chunks that are requested ahead.
const AHEAD: u64 = 4;

/// Seed modifier that makes the order of chunks independent of the order of records.
const CHUNK_ORDER: u64 = 0xC0DE_C0DE_C0DE_C0DE;

/// A loaded chunk: its number in the sequence over all epochs, and its records.
type Loaded = (u64, Result<Vec<Record>>);

/// Endless sequence of chunks, epoch after epoch, each epoch in its own random order.
pub struct Feed {
    /// Number of the next chunk to deliver.
    next: u64,
    /// Number of the next chunk to request.
    next_request: u64,
    requests: Sender<u64>,
    loaded: Receiver<Loaded>,
    /// Loads chunks on platforms without threads.
    loader: Loader,
    /// Chunks that arrived before their turn.
    early: BTreeMap<u64, Result<Vec<Record>>>,
}

impl Feed {
    /// Creates a feed that starts with chunk number `first` of the sequence.
    pub fn new(plan: Arc<Plan>, options: &Options, first: u64) -> Self {
        let (requests, taken) = unbounded();
        let (sender, loaded) = unbounded();
        let loader = Loader { chunks: plan.training().into(), plan, seed: options.seed };
        let threads = if sync::THREADS_EXIST { options.threads.clamp(1, AHEAD as usize) } else { 0 };
        for _ in 0..threads {
            let (loader, taken, sender) = (loader.clone(), taken.clone(), sender.clone());
            // Threads exit when the request channel is closed. If one cannot be started, the others do its work.
            let _ =
                std::thread::Builder::new().name("chunks".to_owned()).spawn(move || serve(&loader, &taken, &sender));
        }
        Self { loader, next: first, next_request: first, requests, loaded, early: BTreeMap::new() }
    }

    /// The plan whose chunks are delivered.
    pub fn plan(&self) -> &Plan {
        &self.loader.plan
    }

    /// Number of chunks per epoch.
    pub fn epoch_chunks(&self) -> u64 {
        self.loader.chunks.len() as u64
    }

    /// Number of the next chunk.
    pub fn next_chunk(&self) -> u64 {
        self.next
    }

    /// Returns the records of the next chunk, which may be empty.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is damaged.
    pub fn take(&mut self) -> Result<Vec<Record>> {
        if !sync::THREADS_EXIST {
            self.next += 1;
            return self.loader.load(self.next - 1);
        }
        while self.next_request < self.next.saturating_add(AHEAD) {
            self.requests.send(self.next_request).ok().context(NO_THREAD)?;
            self.next_request += 1;
        }
        while !self.early.contains_key(&self.next) {
            let (number, records) = self.loaded.recv().ok().context(NO_THREAD)?;
            self.early.insert(number, records);
        }
        let records = self.early.remove(&self.next).context(NO_THREAD)?;
        self.next += 1;
        records
    }
}

/// Error message if there is no loader thread.
const NO_THREAD: &str = "cannot start the threads that read the files";

/// Loader of chunks.
#[derive(Clone)]
struct Loader {
    plan: Arc<Plan>,
    chunks: Arc<[Chunk]>,
    seed: u64,
}

impl Loader {
    /// Loads chunk `number` of the sequence over all epochs.
    fn load(&self, number: u64) -> Result<Vec<Record>> {
        let count = self.chunks.len() as u64;
        let order = Order::new(count, self.seed ^ CHUNK_ORDER, number / count);
        self.plan.training_records(&self.chunks[order.at(number % count) as usize])
    }
}

/// Main loop of a loader thread: loads the requested chunks until the channel is closed.
fn serve(loader: &Loader, requests: &Receiver<u64>, loaded: &Sender<Loaded>) {
    for number in requests {
        let records = catch_unwind(AssertUnwindSafe(|| loader.load(number)));
        let records =
            records.unwrap_or_else(|_| Err(anyhow!("reading a file failed; this is a bug, please report it")));
        if loaded.send((number, records)).is_err() {
            return;
        }
    }
}
