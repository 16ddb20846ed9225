//! Blocks, the unit of writing, checking, reading and splitting.
//!
//! ```text
//! bytes  0..4   "ZTR1"
//!        4..8   size of the payload in bytes, at most 1 MiB
//!        8..12  number of samples
//!       12..16  CRC-32 of the payload
//!       16..20  CRC-32 of bytes 0..16
//!       20..    payload: the root (32 bytes) and the sample bits
//! ```
//!
//! Numbers are little endian. Blocks are independent, and a header can be recognised from any starting point. Files are
//! therefore read in chunks, in any order, without an index.

use std::io::{Read, Write};

use anyhow::{Context, Result, ensure};

use super::bits::{BitReader, PADDING};
use super::code::{SampleHead, take_move};
use super::packed_position::{PackedMove, PackedPosition};
use super::root::{ROOT_BYTES, Root};
use crate::data::bin::fill;
use crate::data::entry::Entry;
use crate::util::kind::Kind;

/// First four bytes of a block.
const MAGIC: &[u8; 4] = b"ZTR1";
/// Kind of a `.tree` file: it starts with a block.
pub const KIND: Kind = Kind { name: "a .tree file of positions", is: |head| head.starts_with(MAGIC) };
/// Size of a header in bytes.
pub const HEADER_BYTES: usize = 20;
/// Largest payload in bytes.
pub const MAX_PAYLOAD: usize = 1 << 20;
/// Largest number of moves from a root: more than any game and search have.
const MAX_PATH: usize = 1 << 14;

/// Path from the root of a block to a sample.
#[derive(Clone, Copy, Debug)]
pub struct SamplePath<'a> {
    /// The root of the block.
    pub root: &'a Root,
    /// The moves from the root, of the game and then of the search.
    pub path: &'a [PackedMove],
}

/// Header of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Size of the payload in bytes.
    pub payload: usize,
    /// Number of samples.
    pub samples: u32,
    /// CRC-32 of the payload.
    checksum: u32,
}

impl Header {
    /// Decodes a header. Returns `None` if the bytes are not a valid header.
    pub fn decode(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let header = Self { payload: number(4) as usize, samples: number(8), checksum: number(12) };
        let is_valid = &bytes[..4] == MAGIC
            && (ROOT_BYTES..=MAX_PAYLOAD).contains(&header.payload)
            && number(16) == crc32fast::hash(&bytes[..16]);
        is_valid.then_some(header)
    }
}

/// Writes a block.
///
/// # Errors
/// Fails on a write error.
pub fn write(root: &Root, samples: u32, bits: &[u8], sink: &mut impl Write) -> Result<()> {
    let payload = [&root.encode(), bits].concat();
    ensure!(payload.len() <= MAX_PAYLOAD, "a block is too large; this is a bug, please report it");
    let mut header = MAGIC.to_vec();
    for number in [payload.len() as u32, samples, crc32fast::hash(&payload)] {
        header.extend(number.to_le_bytes());
    }
    header.extend(crc32fast::hash(&header).to_le_bytes());
    sink.write_all(&header)?;
    Ok(sink.write_all(&payload)?)
}

/// Decoder of blocks; reuses its buffers.
#[derive(Default)]
pub struct Decoder {
    /// The payload, followed by [`PADDING`] zeros.
    payload: Vec<u8>,
    positions: Vec<PackedPosition>,
    path: Vec<PackedMove>,
}

impl Decoder {
    /// Calls `visit` with every sample of a block.
    ///
    /// # Errors
    /// Fails if the block is damaged, and if `visit` fails.
    pub fn decode(
        &mut self,
        header: &Header,
        payload: &[u8],
        visit: impl FnMut(&Entry, &SamplePath) -> Result<()>,
    ) -> Result<()> {
        self.payload.clear();
        self.payload.extend_from_slice(payload);
        self.decode_own(header, visit)
    }

    /// Decodes the block in `self.payload`.
    fn decode_own(&mut self, header: &Header, mut visit: impl FnMut(&Entry, &SamplePath) -> Result<()>) -> Result<()> {
        ensure!(crc32fast::hash(&self.payload) == header.checksum, "the checksum is wrong");
        self.payload.extend([0; PADDING]);
        let (root, bits) = self.payload.split_first_chunk().context("the root is missing")?;
        let root = Root::decode(root)?;
        let rooks = root.rooks();
        let mut bits = BitReader::new(bits);
        let (positions, path) = (&mut self.positions, &mut self.path);
        positions.clear();
        positions.push(root.position());
        path.clear();
        let mut score = 0;
        for _ in 0..header.samples {
            let head = SampleHead::read(&mut bits)?;
            score += head.score;
            let kept = path.len().checked_sub(head.pops as usize);
            let kept = kept.context("a sample undoes more moves than there are")?;
            ensure!(kept + head.pushes as usize <= MAX_PATH, "a sample has too many moves");
            path.truncate(kept);
            positions.truncate(kept + 1);
            let mut position = positions[kept];
            for _ in 0..head.pushes {
                let m = take_move(&mut bits, &position, &rooks)?;
                position = position.after(m, &rooks).context("an impossible move")?;
                path.push(m);
                positions.push(position);
            }
            ensure!(!bits.is_beyond_end(), "the block ends inside a sample");
            let own_score = if position.black_to_move() { -score } else { score };
            let own_score = i16::try_from(own_score).context("an impossible score")?;
            let ply = root.ply.saturating_add(path.len() as u16);
            let entry = position.entry(ply, own_score, root.result);
            visit(&entry, &SamplePath { root: &root, path })?;
        }
        ensure!(bits.is_at_end(), "there are extra bytes after the last sample");
        Ok(())
    }
}

/// Calls `visit` with every sample, its path and the index of its block, in order, with one block in memory at a time.
/// Returns the number of bytes of an incomplete block at the end.
///
/// # Errors
/// Fails on a read error, on a damaged block, and if `visit` fails.
pub fn for_each(mut source: impl Read, mut visit: impl FnMut(&Entry, &SamplePath, u64) -> Result<()>) -> Result<usize> {
    let mut decoder = Decoder::default();
    let mut at = 0_u64;
    for index in 0_u64.. {
        let mut header = [0; HEADER_BYTES];
        let length = fill(&mut source, &mut header)?;
        if length < header.len() {
            return Ok(length);
        }
        let place = || format!("block {index} (at byte {at})");
        let header = Header::decode(&header).with_context(|| format!("{} has no valid header", place()))?;
        decoder.payload.clear();
        let limit = header.payload as u64;
        let length = source.by_ref().take(limit).read_to_end(&mut decoder.payload)?;
        if length < header.payload {
            return Ok(HEADER_BYTES + length);
        }
        let decoded = decoder.decode_own(&header, |entry, sample_path| visit(entry, sample_path, index));
        decoded.with_context(place)?;
        at += (HEADER_BYTES + header.payload) as u64;
    }
    Ok(0)
}
