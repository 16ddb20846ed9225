//! Blocks: the unit that is written, checked, read and shared out.
//!
//! ```text
//! bytes  0..4   "ZTR1"
//!        4..8   bytes of the payload, at most 1 MiB
//!        8..12  samples
//!       12..16  CRC-32 of the payload
//!       16..20  CRC-32 of the bytes before
//!       20..    the payload: a root (32 bytes) and the samples' bits
//! ```
//!
//! Numbers are little endian. A block needs no other, and its header is recognised wherever one begins to read: so
//! files are read in parts, in any order, without an index.

use std::io::{Read, Write};

use anyhow::{Context, Result, ensure};

use super::bits::{BitReader, PADDING};
use super::code::{SampleHead, take_move};
use super::packed_position::{PackedMove, PackedPosition};
use super::root::{ROOT_BYTES, Root};
use crate::data::bin::fill;
use crate::data::entry::Entry;
use crate::util::kind::Kind;

/// What a block begins with.
const MAGIC: &[u8; 4] = b"ZTR1";
/// Files of this format begin with a block.
pub const KIND: Kind = Kind {
    name: "a .tree of positions",
    is: |head| head.starts_with(MAGIC),
};
/// Bytes of a header.
pub const HEADER_BYTES: usize = 20;
/// Most bytes of a payload.
pub const MOST_PAYLOAD: usize = 1 << 20;
/// Most moves from a root: longer than any game and the search in it.
const MOST_STEPS: usize = 1 << 14;

/// Where a sample was met.
#[derive(Clone, Copy, Debug)]
pub struct SamplePath<'a> {
    /// The root of its block.
    pub root: &'a Root,
    /// The moves from there, of the game and of the search.
    pub path: &'a [PackedMove],
}

/// What a header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bytes of the payload.
    pub payload: usize,
    /// How many samples there are.
    pub samples: u32,
    checksum: u32,
}

impl Header {
    /// The header in these bytes, if there is one.
    pub fn decode(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let number = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let header = Self {
            payload: number(4) as usize,
            samples: number(8),
            checksum: number(12),
        };
        let whole = &bytes[..4] == MAGIC
            && (ROOT_BYTES..=MOST_PAYLOAD).contains(&header.payload)
            && number(16) == crc32fast::hash(&bytes[..16]);
        whole.then_some(header)
    }
}

/// Writes a block.
///
/// # Errors
/// When the sink fails.
pub fn write(root: &Root, samples: u32, bits: &[u8], sink: &mut impl Write) -> Result<()> {
    let payload = [&root.encode(), bits].concat();
    ensure!(
        payload.len() <= MOST_PAYLOAD,
        "a block became too large; this is a bug, please report it"
    );
    let mut header = MAGIC.to_vec();
    for number in [payload.len() as u32, samples, crc32fast::hash(&payload)] {
        header.extend(number.to_le_bytes());
    }
    header.extend(crc32fast::hash(&header).to_le_bytes());
    sink.write_all(&header)?;
    Ok(sink.write_all(&payload)?)
}

/// Decodes blocks, one after the other, in memory of its own.
#[derive(Default)]
pub struct Decoder {
    /// The payload, and zeros after it.
    payload: Vec<u8>,
    positions: Vec<PackedPosition>,
    path: Vec<PackedMove>,
}

impl Decoder {
    /// Calls `visit` with every sample of a block.
    ///
    /// # Errors
    /// When the block is damaged, or `visit` says so.
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

    /// Decodes the payload that was read.
    fn decode_own(
        &mut self,
        header: &Header,
        mut visit: impl FnMut(&Entry, &SamplePath) -> Result<()>,
    ) -> Result<()> {
        ensure!(
            crc32fast::hash(&self.payload) == header.checksum,
            "its checksum does not agree with its bytes"
        );
        self.payload.extend([0; PADDING]);
        let (root, bits) = self.payload.split_first_chunk().context("it has no root")?;
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
            let kept = kept.context("more moves are taken back than there are")?;
            ensure!(
                kept + head.pushes as usize <= MOST_STEPS,
                "it has too many moves in a row"
            );
            path.truncate(kept);
            positions.truncate(kept + 1);
            let mut position = positions[kept];
            for _ in 0..head.pushes {
                let m = take_move(&mut bits, &position, &rooks)?;
                position = position.after(m, &rooks).context("an impossible move")?;
                path.push(m);
                positions.push(position);
            }
            ensure!(!bits.is_beyond_end(), "it ends within a sample");
            let own_score = if position.black_to_move() {
                -score
            } else {
                score
            };
            let own_score = i16::try_from(own_score).context("an impossible score")?;
            let ply = root.ply.saturating_add(path.len() as u16);
            let entry = position.entry(ply, own_score, root.result);
            visit(&entry, &SamplePath { root: &root, path })?;
        }
        ensure!(bits.is_at_end(), "there is something after its last sample");
        Ok(())
    }
}

/// Calls `visit` with every sample, its trail and the number of its block, in order, holding one block in memory at a
/// time. Returns how many bytes of an unfinished block are at the end.
///
/// # Errors
/// When reading fails, a block is damaged, or `visit` says so.
pub fn for_each(
    mut source: impl Read,
    mut visit: impl FnMut(&Entry, &SamplePath, u64) -> Result<()>,
) -> Result<usize> {
    let mut decoder = Decoder::default();
    let mut at = 0_u64;
    for index in 0_u64.. {
        let mut header = [0; HEADER_BYTES];
        let length = fill(&mut source, &mut header)?;
        if length < header.len() {
            return Ok(length);
        }
        let place = || format!("block {index} (at byte {at})");
        let header = Header::decode(&header)
            .with_context(|| format!("{} has no header of a block", place()))?;
        decoder.payload.clear();
        let limit = header.payload as u64;
        let length = source
            .by_ref()
            .take(limit)
            .read_to_end(&mut decoder.payload)?;
        if length < header.payload {
            return Ok(HEADER_BYTES + length);
        }
        let decoded = decoder.decode_own(&header, |entry, sample_path| {
            visit(entry, sample_path, index)
        });
        decoded.with_context(place)?;
        at += (HEADER_BYTES + header.payload) as u64;
    }
    Ok(0)
}
