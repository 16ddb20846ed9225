//! Sizes of the buffers for a net and a batch, and the constants of the shaders.

use anyhow::{Result, ensure};

use crate::nnue::Architecture;
use crate::train::model::dense::DenseParameters;
use crate::train::model::transformer::block;

/// Slots of a tile; each layer stack starts at a multiple of this number.
pub const TILE: usize = 16;
/// Slots of a chunk, over which a workgroup sums a gradient.
pub const CHUNK: usize = 128;
/// Parts of the sum over all tiles.
pub const BIAS_PARTS: usize = 64;
/// Numbers per slot in `upper_values`, and per chunk in `upper_parts`.
const UPPER: usize = 128;
const UPPER_PART: usize = 1088;
/// Outputs of the first layer.
const H1: usize = 16;
/// Words of a record.
pub const RECORD: usize = 8;
/// Maximum number of active rows of an accumulator.
const ACTIVE: usize = 32;
/// Maximum number of workgroups in a dimension that every implementation supports.
const MAX_GROUPS: usize = 65_535;
/// Number of buffers, including the two of constants.
pub const BUFFERS: usize = 29;

/// Sizes of a net and a batch on the card.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Shape of the net.
    pub architecture: Architecture,
    /// Maximum number of positions of a batch.
    pub batch: usize,
    /// Slots of a batch: positions, and unused slots before each layer stack.
    pub slots: usize,
    /// Maximum number of chunks of a batch.
    pub chunks: usize,
    /// Rows of the transformer.
    pub rows: usize,
    /// Numbers of the transformer's table, with factor rows.
    pub table: usize,
    /// Numbers of the dense parameters.
    pub dense: usize,
}

impl Sizes {
    /// Returns the sizes for batches of at most `batch` positions.
    ///
    /// # Errors
    /// Fails if no card can train on `batch` positions at a time.
    pub fn of(architecture: Architecture, batch: usize) -> Result<Self> {
        let slots = batch.next_multiple_of(TILE) + TILE * architecture.buckets;
        let max = (MAX_GROUPS - architecture.buckets) * TILE;
        ensure!(batch <= max, "batch is {batch}, but must be at most {max} on a graphics card");
        let dense = DenseParameters::zeros(architecture);
        Ok(Self {
            architecture,
            batch,
            slots,
            chunks: slots / CHUNK + architecture.buckets + 1,
            rows: architecture.features.set().active_rows(),
            table: architecture.features.set().piece_rows() * block(architecture),
            dense: dense.tensors().iter().map(|tensor| tensor.len()).sum(),
        })
    }

    /// Sizes in bytes of all buffers, in the order of their bindings (`shaders/common.wgsl`).
    pub fn bytes(&self) -> [u64; BUFFERS] {
        let (l1, slots) = (self.architecture.l1, self.slots);
        let accumulators = 2 * slots;
        let words = [
            28,
            64,
            self.table,
            self.table,
            self.table,
            self.rows * l1 / 2,
            self.dense,
            self.dense,
            self.dense,
            self.dense,
            self.dense,
            slots * RECORD,
            accumulators * ACTIVE / 2,
            slots * 2,
            self.rows * (accumulators / 32),
            self.rows * 2,
            accumulators * ACTIVE,
            accumulators * l1 / 2,
            accumulators * l1 / 2,
            slots * H1,
            slots * UPPER,
            4 * (self.chunks + self.architecture.buckets),
            self.chunks * H1 * l1,
            self.chunks * UPPER_PART,
            BIAS_PARTS * l1,
            slots / TILE * 2 * l1,
            self.rows * l1,
            slots,
            4,
        ];
        words.map(|words| 4 * words as u64)
    }

    /// Memory of all buffers in bytes.
    pub fn total(&self) -> u64 {
        self.bytes().iter().sum()
    }

    /// Checks that a card with these limits supports every buffer.
    ///
    /// # Errors
    /// The error names the largest batch that the card supports.
    pub fn check(&self, limits: &wgpu::Limits, card: &str) -> Result<()> {
        let max = limits.max_buffer_size.min(limits.max_storage_buffer_binding_size);
        let largest = |batch: usize| {
            let sizes = Self::of(self.architecture, batch);
            sizes.map_or(u64::MAX, |sizes| sizes.bytes().into_iter().max().unwrap_or_default())
        };
        let needed = largest(self.batch);
        if needed <= max {
            return Ok(());
        }
        let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
        let (needed, limit) = (megabytes(needed), max / 1_000_000);
        ensure!(
            largest(1) <= max,
            "{card} has too little memory for this net: it allows buffers of {limit} MB, but the net needs {} MB. Use \
             another card, a smaller net, or --device cpu",
            megabytes(largest(1))
        );
        let possible = (0..usize::BITS).map(|bit| 1 << bit).take_while(|&batch| largest(batch) <= max).last();
        anyhow::bail!(
            "{card} has too little memory for a batch of {}: it allows buffers of {limit} MB, but {needed} MB are \
             needed. Use --batch {} or less, another card, or --device cpu",
            self.batch,
            possible.unwrap_or(1)
        )
    }

    /// Returns the constants that precede the shaders.
    pub fn constants(&self) -> String {
        let set = self.architecture.features.set();
        let constants = [
            ("PIECE_ROWS", set.piece_rows()),
            ("KINGS", set.kings),
            ("L1", self.architecture.l1),
            ("STACKS", self.architecture.buckets),
            ("SLOTS", self.slots),
            ("CHUNK", CHUNK),
            ("CHUNKS", self.chunks),
            ("BIAS_PARTS", BIAS_PARTS),
            ("TURN", usize::from(set.turn)),
        ];
        constants.map(|(name, value)| format!("const {name}: u32 = {value}u;\n")).concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::gpu::shapes::supported;

    #[test]
    fn too_large_batch_error_names_possible_batch() {
        let limits = wgpu::Limits { max_storage_buffer_binding_size: 128 << 20, ..wgpu::Limits::default() };
        let shape = supported().find(|shape| shape.l1 == 1024).expect("a shape of width 1024");
        let sizes = |batch| Sizes::of(shape, batch).expect("a possible batch");
        assert!(sizes(16_384).check(&limits, "Card").is_ok());
        let error = sizes(65_536).check(&limits, "Card").expect_err("too large").to_string();
        assert!(error.contains("Card has too little memory for a batch of 65536"), "{error}");
        assert!(error.contains("--batch 16384 or less"), "{error}");
        let small = wgpu::Limits { max_storage_buffer_binding_size: 1 << 20, ..limits };
        let error = sizes(256).check(&small, "Card").expect_err("too small").to_string();
        assert!(error.contains("too little memory for this net"), "{error}");
        assert!(Sizes::of(shape, 1 << 24).is_err());
    }
}
