//! The nets that a card can train, the sizes of its buffers, its constants, and the order of a batch.

use anyhow::{Result, bail, ensure};
use bytemuck::{Pod, Zeroable};

use crate::nnue::architecture::Topology;
use crate::nnue::features::attack_inputs::AttackInputs;
use crate::nnue::{Activation, Architecture};
use crate::train::model::parameters::{DenseParameters, RowLayout, limits};
use crate::train::model::shapes::{HIDDEN, Rounding, SKIP, Scales, UNITS, list};
use crate::train::samples::Sample;
use crate::train::step::layers::{Loss, LossKind};
use crate::train::step::optimiser::{OptimiserSettings, adam_step};

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
/// Maximum number of pieces.
const PIECES: usize = 32;
/// Maximum number of attacks in a position. Positions with more have no weight: only several promoted queens on each
/// side make so many.
const ATTACKS: usize = 64;
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
            rows: RowLayout::weights(architecture).active_rows(),
            table: RowLayout::weights(architecture).len(),
            dense: dense.tensors().iter().map(|tensor| tensor.len()).sum(),
        })
    }

    /// Sizes in bytes of all buffers, in the order of their bindings (`shaders/common.wgsl`).
    pub fn bytes(&self) -> [u64; BUFFERS] {
        let (l1, slots) = (self.architecture.l1, self.slots);
        let accumulators = 2 * slots;
        let active = PIECES + self.max_attacks();
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
            accumulators * active / 2,
            slots * 2,
            self.rows * (accumulators / 32),
            self.rows * 2,
            accumulators * active,
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

    /// Maximum number of a position's attacks.
    fn max_attacks(&self) -> usize {
        if self.architecture.attacks == AttackInputs::None { 0 } else { ATTACKS }
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
            ("ATTACK_ROWS", self.architecture.attacks.rows()),
            ("MAX_ATTACKS", self.max_attacks()),
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

// The constants of one step, in the layout of the shaders' struct `Step`.

/// Counterpart of the struct `Step` in `shaders/common.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub struct Constants {
    pub slots: u32,
    pub chunks: u32,
    rounded: u32,
    train: u32,
    weight: f32,
    penalty: f32,
    lambda: f32,
    scale: f32,
    kind: u32,
    exponent: f32,
    steepness: f32,
    epsilon: f32,
    rate: f32,
    decay: f32,
    real_rate: f32,
    real_decay: f32,
    factor_decay: f32,
    first_one: f32,
    skip_one: f32,
    second_one: f32,
    output_one: f32,
    first_limit: f32,
    skip_limit: f32,
    second_limit: f32,
    output_limit: f32,
    attack_rate: f32,
    attack_decay: f32,
    unused: f32,
}

impl Constants {
    /// Returns the constants of the passes forward over `positions` positions.
    pub fn forward(architecture: Architecture, loss: Loss, rounding: Option<Rounding>, positions: usize) -> Self {
        let weight = 1.0 / positions.max(1) as f32;
        let Scales { first, skip, second, output } =
            rounding.unwrap_or(Rounding { output_scale: 1.0 }).scales(architecture);
        Self {
            rounded: u32::from(rounding.is_some()),
            weight,
            penalty: weight * loss.sparsity / architecture.inputs() as f32,
            lambda: loss.lambda,
            scale: loss.scale,
            kind: match loss.kind {
                LossKind::Mse => 0,
                LossKind::Power => 1,
                LossKind::Bce => 2,
            },
            exponent: loss.exponent,
            steepness: UNITS / loss.scale,
            first_one: first,
            skip_one: skip,
            second_one: second,
            output_one: output,
            ..Self::default()
        }
    }

    /// Adds the constants of optimiser step `steps`.
    pub fn with_step(self, architecture: Architecture, settings: OptimiserSettings, steps: u32, rate: f32) -> Self {
        let step = adam_step(steps, rate, 0.0);
        let limits = limits(architecture, settings.output_scale);
        let real_rate = rate * settings.real_rate;
        let attack_rate = rate * settings.attack_rate;
        Self {
            train: 1,
            epsilon: step.epsilon,
            rate: step.rate,
            decay: rate * settings.decay,
            real_rate: adam_step(steps, real_rate, 0.0).rate,
            real_decay: real_rate * settings.real_decay,
            factor_decay: rate * settings.factor_decay,
            first_limit: limits.first,
            skip_limit: limits.skip,
            second_limit: limits.hidden,
            output_limit: limits.output,
            attack_rate: adam_step(steps, attack_rate, 0.0).rate,
            attack_decay: attack_rate * settings.factor_decay,
            ..self
        }
    }
}

// A batch in slots: sorted by layer stack, each stack starting at a multiple of [`TILE`].

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

// The nets that a card can train: those with pairwise products, a skip connection and piece-square values.

/// Widths for which the shaders were tested. A width must be a multiple of 128 to fill their workgroups.
const WIDTHS: [usize; 4] = [256, 512, 1024, 1536];

/// Whether a card can train nets of this shape.
fn is_supported(shape: &Architecture) -> bool {
    matches!(shape.topology, Topology::Skip { squares: true })
        && shape.activation == Activation::Pairwise
        && shape.hidden == [SKIP + 1, HIDDEN]
        && shape.psqt == shape.buckets
        && WIDTHS.contains(&shape.l1)
        && shape.features.table().is_none()
}

/// Returns every shape that a card can train.
pub fn supported() -> impl Iterator<Item = Architecture> {
    Architecture::own(&WIDTHS).filter(is_supported).filter_map(|own| own.trained())
}

/// Checks that a card can train nets of this shape.
///
/// # Errors
/// The error names the shapes that the card can train.
pub fn check(architecture: Architecture) -> Result<()> {
    if is_supported(&architecture) {
        return Ok(());
    }
    bail!(
        "a graphics card cannot train nets of the shape {architecture}: use --device cpu, or one of these shapes with \
         --features half-kav2-hm, --activation pairwise, --psqt and --buckets 8, with or without --attacks: {}",
        names()
    )
}

/// Returns the shapes as text: `l1 256 with 1, 4, 8 or 16 king buckets; ...`.
fn names() -> String {
    let mut widths: Vec<usize> = supported().map(|shape| shape.l1).collect();
    widths.sort_unstable();
    widths.dedup();
    let of_width = |&l1: &usize| {
        let with = supported().filter(|shape| shape.l1 == l1);
        let mut kings: Vec<usize> = with.map(|shape| shape.features.set().kings).collect();
        kings.sort_unstable();
        kings.dedup();
        format!("l1 {l1} with {} king buckets", list(&kings))
    };
    widths.iter().map(of_width).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

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

#[cfg(test)]
mod shapes_tests {
    use super::*;

    #[test]
    fn refusal_lists_supported_shapes() {
        let error = check(Architecture::HALF_KP).expect_err("HalfKP is not supported").to_string();
        assert!(error.contains("--device cpu") && error.contains("l1 1024 with 1, 4, 8, 16 or 32"), "{error}");
        assert!(supported().all(|shape| check(shape).is_ok()));
    }
}
