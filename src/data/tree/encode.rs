//! Encoder of trees: turns the samples of a game into blocks.

use std::io::Write;

use anyhow::{Context, Result};

use super::bits::BitWriter;
use super::block::{self, MAX_PAYLOAD};
use super::code::{SampleHead, put_move};
use super::packed_position::{CastlingRooks, PackedMove, PackedPosition};
use super::root::{ROOT_BYTES, Root};
use crate::data::reader::Place;

/// Size of the sample bits, in bytes, after which a block is closed. The next sample of the game starts a new block.
const FULL: usize = MAX_PAYLOAD - ROOT_BYTES - (1 << 15);

/// Encoder of the samples of one game.
pub struct Encoder {
    root: Root,
    rooks: CastlingRooks,
    /// The root, and the position after each move of `path`.
    positions: Vec<PackedPosition>,
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
            block::write(&self.root, *samples, bits, sink)?;
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
