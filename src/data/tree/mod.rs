//! The `.tree` format: positions sampled from search trees, four to five bytes each.
//!
//! Successive samples are close together in the search tree: a few moves are undone and others made between them. A
//! file is a sequence of blocks. A block has the root of one game and the game's samples in search order. A sample
//! ([`sample`]) consists of the number of moves to undo, the number of moves to make, the score difference from the
//! previous sample, and the moves. A move is an index into the side's pieces and an index into the piece's target
//! squares.
//!
//! Moves of the game and of the search are not distinguished. The root stores the game result.

mod sample;
#[cfg(test)]
mod tests;

use std::io::{Read, Write};

use anyhow::{Context, Result, ensure};

use super::bin::fill;
use super::entry::Entry;
use super::entry::PackedBoard;
use crate::board::Position;
use crate::util::files::Kind;
pub use sample::PackedMove;
use sample::{
    BitReader, BitWriter, CastlingRooks, NO_EP, PADDING, Rest, SampleHead, TreePosition, put_move, take_move,
};
// CITE: numbering a move by piece and destination is .binpack's (Tomasz Sobczyk, 2020); trees are ours.

// Blocks, the unit of writing, checking, reading and splitting.
//
// ```text
// bytes  0..4   "ZTR1"
//        4..8   size of the payload in bytes, at most 1 MiB
//        8..12  number of samples
//       12..16  CRC-32 of the payload
//       16..20  CRC-32 of bytes 0..16
//       20..    payload: the root (32 bytes) and the sample bits
// ```
//
// Numbers are little endian. Blocks are independent, and a header can be recognised from any starting point. Files are
// therefore read in chunks, in any order, without an index.

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

/// Position of an entry in a file with blocks of games.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Index of the block.
    pub block: u64,
    /// The moves from the root of the block to the position.
    pub sample_path: SamplePath<'a>,
}

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
    positions: Vec<TreePosition>,
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

// Root of a tree: a position in 32 bytes, with the result of its game.
//
// ```text
// bytes  0..24  pieces, a PackedBoard
//       24      bit 0 black to move, bits 1 to 4 castling rights K Q k q, bit 5 same game as the previous block
//       25      en passant square, 64 for none
//       26      plies since the last capture or pawn move
//       27      result, from White's view: -1, 0, 1
//       28..30  ply of the game
//       30..32  files of the castling rooks, K Q k q, 3 bits each
// ```

/// Size of a root in bytes.
pub const ROOT_BYTES: usize = 32;

/// The root of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    /// The pieces.
    pub board: PackedBoard,
    /// Whether black is to move.
    pub black_to_move: bool,
    /// Castling rights as bits 0 to 3: K, Q, k, q.
    pub castling: u8,
    /// Squares of the rooks of these rights.
    pub rooks: [u8; 4],
    /// En passant square, 64 for none.
    pub ep: u8,
    /// Plies since the last capture or pawn move.
    pub rule50: u8,
    /// Ply of the game.
    pub ply: u16,
    /// Result of the game, from White's view: -1, 0, 1.
    pub result: i8,
    /// Whether the block continues the game of the previous block.
    pub continues: bool,
}

impl Root {
    /// Creates the root of a game that starts at a position; the result is 0 until it is known.
    pub fn of(position: &Position) -> Self {
        let entry = Entry::of(position);
        let corners = [7, 0, 63, 56];
        Self {
            board: entry.board,
            black_to_move: entry.black_to_move,
            castling: entry.castling,
            rooks: std::array::from_fn(|i| {
                let rook = position.castling_rook(i);
                rook.map_or(corners[i], u8::from)
            }),
            ep: entry.ep.map_or(NO_EP, u8::from),
            rule50: entry.rule50,
            ply: entry.ply,
            result: 0,
            continues: false,
        }
    }

    /// The root position, to which the moves of the tree are applied.
    pub fn position(&self) -> TreePosition {
        let rest =
            Rest { black_to_move: self.black_to_move, castling: self.castling, ep: self.ep, rule50: self.rule50 };
        TreePosition::new(&self.board, rest)
    }

    /// The castling rooks, which are the same for all moves of the tree.
    pub fn rooks(&self) -> CastlingRooks {
        CastlingRooks::new(&self.board, self.rooks)
    }

    /// Encodes the root.
    pub fn encode(&self) -> [u8; ROOT_BYTES] {
        let mut bytes = [0; ROOT_BYTES];
        bytes[..24].copy_from_slice(bytemuck::bytes_of(&self.board));
        bytes[24] = u8::from(self.black_to_move) | self.castling << 1 | u8::from(self.continues) << 5;
        bytes[25] = self.ep;
        bytes[26] = self.rule50;
        bytes[27] = self.result as u8;
        bytes[28..30].copy_from_slice(&self.ply.to_le_bytes());
        let files = self.rooks.iter().rev().fold(0, |files, &rook| files << 3 | u16::from(rook & 7));
        bytes[30..].copy_from_slice(&files.to_le_bytes());
        bytes
    }

    /// Decodes a root.
    ///
    /// # Errors
    /// Fails if the bytes do not describe a valid position.
    pub fn decode(bytes: &[u8; ROOT_BYTES]) -> Result<Self> {
        let files = u16::from_le_bytes([bytes[30], bytes[31]]);
        let root = Self {
            board: bytemuck::pod_read_unaligned(&bytes[..24]),
            black_to_move: bytes[24] & 1 == 1,
            castling: bytes[24] >> 1 & 15,
            rooks: std::array::from_fn(|i| (files >> (3 * i)) as u8 & 7 | if i < 2 { 0 } else { 56 }),
            ep: bytes[25],
            rule50: bytes[26],
            ply: u16::from_le_bytes([bytes[28], bytes[29]]),
            result: bytes[27] as i8,
            continues: bytes[24] >> 5 & 1 == 1,
        };
        ensure!(
            root.ep <= NO_EP && root.rule50 <= 127 && (-1..=1).contains(&root.result),
            "the root has an invalid square, halfmove clock or result"
        );
        ensure!(root.position().is_valid(&root.rooks()), "the root is not a valid position");
        Ok(root)
    }
}

// Encoder of trees: turns the samples of a game into blocks.

/// Size of the sample bits, in bytes, after which a block is closed. The next sample of the game starts a new block.
const FULL: usize = MAX_PAYLOAD - ROOT_BYTES - (1 << 15);

/// Encoder of the samples of one game.
pub struct Encoder {
    root: Root,
    rooks: CastlingRooks,
    /// The root, and the position after each move of `path`.
    positions: Vec<TreePosition>,
    /// Moves from the root to the last sample.
    path: Vec<PackedMove>,
    last_score: i32,
    /// Number of samples in the open block.
    samples: u32,
    /// Sample bits of the open block.
    bits: BitWriter,
    /// Closed blocks: number of samples, and payload without the root.
    closed: Vec<(u32, Vec<u8>)>,
}

impl Encoder {
    /// Creates an encoder for a game without samples.
    pub fn new(root: Root) -> Self {
        Self {
            rooks: root.rooks(),
            positions: vec![root.position()],
            root,
            path: Vec::new(),
            last_score: 0,
            samples: 0,
            bits: BitWriter::default(),
            closed: Vec::new(),
        }
    }

    /// Adds the position at the end of `path`, which starts at the root. The score is from the side to move's view.
    ///
    /// # Errors
    /// Fails if the path contains an impossible move.
    pub fn sample(&mut self, path: &[PackedMove], score: i16) -> Result<()> {
        if self.bits.len() > FULL {
            self.close();
        }
        let common = std::iter::zip(path, &self.path).take_while(|(a, b)| a == b);
        let common = common.count();
        let black = (self.root.black_to_move as usize + path.len()) % 2 == 1;
        let score = if black { -i32::from(score) } else { score.into() };
        let head = SampleHead {
            pops: (self.path.len() - common) as u32,
            pushes: (path.len() - common) as u32,
            score: score - self.last_score,
        };
        head.write(&mut self.bits);
        self.last_score = score;
        self.path.truncate(common);
        self.positions.truncate(common + 1);
        for &m in &path[common..] {
            let position = &self.positions[self.path.len()];
            put_move(&mut self.bits, position, &self.rooks, m)?;
            let next = position.after(m, &self.rooks);
            self.positions.push(next.context("the move captures a king or castles onto a piece")?);
            self.path.push(m);
        }
        self.samples += 1;
        Ok(())
    }

    /// Number of samples so far.
    pub fn count(&self) -> u64 {
        let closed: u64 = self.closed.iter().map(|(samples, _)| u64::from(*samples)).sum();
        closed + u64::from(self.samples)
    }

    /// Closes the block and starts the next one at the root.
    fn close(&mut self) {
        let bits = std::mem::take(&mut self.bits).finish();
        self.closed.push((self.samples, bits));
        self.samples = 0;
        self.last_score = 0;
        self.path.clear();
        self.positions.truncate(1);
    }

    /// Writes the blocks of the game, if it has samples. `result` is from White's view: -1, 0, 1.
    ///
    /// # Errors
    /// Fails on a write error.
    pub fn finish(mut self, result: i8, sink: &mut impl Write) -> Result<()> {
        if self.samples > 0 {
            self.close();
        }
        self.root.result = result;
        for (samples, bits) in &self.closed {
            write(&self.root, *samples, bits, sink)?;
            self.root.continues = true;
        }
        Ok(())
    }
}

/// Writer of samples that were read from `.tree` files.
pub struct TreeWriter<W: Write> {
    sink: W,
    open: Option<OpenBlock>,
    /// Index of the last copied block.
    last: Option<u64>,
}

/// A partly copied block.
struct OpenBlock {
    encoder: Encoder,
    result: i8,
}

impl<W: Write> TreeWriter<W> {
    /// Creates a writer into `sink`.
    pub fn new(sink: W) -> Self {
        Self { sink, open: None, last: None }
    }

    /// Writes a sample with its original place. Blocks of different files must have different indices.
    ///
    /// # Errors
    /// Fails on a write error.
    pub fn write(&mut self, place: Place, score: i16) -> Result<()> {
        if self.last != Some(place.block) {
            self.close()?;
            let mut root = *place.sample_path.root;
            root.continues &= place.block.checked_sub(1) == self.last;
            self.last = Some(place.block);
            self.open = Some(OpenBlock { encoder: Encoder::new(root), result: root.result });
        }
        let open = self.open.as_mut().context("no block is open")?;
        open.encoder.sample(place.sample_path.path, score)
    }

    /// Writes the open block, if there is one.
    fn close(&mut self) -> Result<()> {
        match self.open.take() {
            Some(open) => open.encoder.finish(open.result, &mut self.sink),
            None => Ok(()),
        }
    }

    /// Writes the last block and returns the sink.
    ///
    /// # Errors
    /// Fails on a write error.
    pub fn finish(mut self) -> Result<W> {
        self.close()?;
        Ok(self.sink)
    }
}
