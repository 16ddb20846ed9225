//! Input files, the chunks into which they are divided, and the decoding of single chunks.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use anyhow::{Context, Result, bail};

use crate::data::entry::Entry;
use crate::data::reader::Format;
use crate::data::tree::{Decoder, HEADER_BYTES, Header};
use crate::data::{bin, binpack, bulletformat, entry, lines, plain, viriformat};

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

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
