//! A batch in slots: sorted by layer stack, each stack starting at a multiple of [`TILE`].

use crate::nnue::Architecture;
use crate::train::gpu::sizes::{CHUNK, RECORD, TILE};
use crate::train::samples::Sample;

/// Bits of a record's last word for the shaders: whether it is mirrored, whether the slot has a position, and its
/// stack.
const MIRRORED: u32 = 1 << 16;
const VALID: u32 = 1 << 17;
const STACK_SHIFT: u32 = 18;
/// Bits of the last word that belong to the record itself.
const OWN: u32 = 0xffff;

/// The slots of a batch.
#[derive(Default)]
pub struct Slots {
    /// A record per slot.
    pub records: Vec<[u32; RECORD]>,
    /// First slot, number of slots and stack of each chunk; then the first and last (exclusive) chunk of each stack.
    pub chunks: Vec<[u32; 4]>,
    /// Number of chunks in use.
    pub chunk_count: usize,
}

impl Slots {
    /// Fills the slots with a batch. The samples of a stack keep their order. `chunks` is the number of entries before
    /// the stacks' ranges.
    pub fn fill(&mut self, architecture: Architecture, samples: &[Sample], chunks: usize) {
        let stack_of = |sample: &Sample| architecture.bucket(sample.record.piece_count() as usize);
        let mut counts = vec![0; architecture.buckets];
        for sample in samples {
            counts[stack_of(sample)] += 1;
        }
        self.records.clear();
        self.chunks.clear();
        let (mut next, mut ranges) = (Vec::new(), Vec::new());
        for (stack, count) in counts.iter().enumerate() {
            let (start, length) = (self.records.len(), usize::next_multiple_of(*count, TILE));
            let mut unused = [0; RECORD];
            unused[RECORD - 1] = (stack as u32) << STACK_SHIFT;
            self.records.resize(start + length, unused);
            next.push(start);
            let first = self.chunks.len();
            let chunk = |at: usize| [(start + at) as u32, CHUNK.min(length - at) as u32, stack as u32, 0];
            self.chunks.extend((0..length).step_by(CHUNK).map(chunk));
            ranges.push([first as u32, self.chunks.len() as u32, 0, 0]);
        }
        self.chunk_count = self.chunks.len();
        self.chunks.resize(chunks, [0; 4]);
        self.chunks.extend(ranges);
        for sample in samples {
            let stack = stack_of(sample);
            let slot = &mut self.records[next[stack]];
            next[stack] += 1;
            *slot = bytemuck::cast(sample.record);
            let mirrored = if sample.mirrored { MIRRORED } else { 0 };
            slot[RECORD - 1] = slot[RECORD - 1] & OWN | mirrored | VALID | (stack as u32) << STACK_SHIFT;
        }
    }
}
