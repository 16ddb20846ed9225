//! The trainer on a graphics card, and its passes: the shaders' entry points, each with its buffers and its grid of
//! workgroups.

use std::collections::VecDeque;

use anyhow::Result;
use wgpu::{BindGroup, Buffer, BufferDescriptor, BufferUsages, CommandEncoder, ComputePipeline, SubmissionIndex};

use super::sizes::{BIAS_PARTS, Constants, Sizes, Slots, TILE};
use crate::data::Record;
use crate::gpu::card::{Card, Mapping, Opened, flat_grid};
use crate::train::model::parameters::DenseParameters;
use crate::train::model::shapes::Rounding;
use crate::train::model::{Average, Model};
use crate::train::samples::Sample;
use crate::train::step::layers::Loss;
use crate::train::step::optimiser::{Moments, OptimiserSettings};
use crate::train::step::{Parameters, ParametersRef, Stepper};

/// The shaders, in one module.
const SHADERS: [&str; 5] = [
    include_str!("shaders/common.wgsl"),
    include_str!("shaders/features.wgsl"),
    include_str!("shaders/forward.wgsl"),
    include_str!("shaders/backward.wgsl"),
    include_str!("shaders/optimiser.wgsl"),
];

/// Bindings of the buffers that the host reads or writes, as in `shaders/common.wgsl`.
pub mod binding {
    pub const STEP: usize = 0;
    pub const KING_BUCKETS: usize = 1;
    pub const TABLE: usize = 2;
    pub const TABLE_FIRST: usize = 3;
    pub const TABLE_SECOND: usize = 4;
    pub const DENSE: usize = 6;
    pub const DENSE_FIRST: usize = 7;
    pub const DENSE_SECOND: usize = 8;
    pub const RECORDS: usize = 11;
    pub const BITS: usize = 14;
    pub const CHUNKS: usize = 21;
    pub const TOTAL_LOSS: usize = 28;
}

/// Items to which a pass assigns workgroups.
#[derive(Clone, Copy, Debug)]
enum Grid {
    /// Workgroups for the slots of the batch; the argument is the number of slots per workgroup.
    Slots(usize),
    /// Workgroups of columns for each tile.
    Tiles(usize),
    /// Workgroups of columns for each chunk.
    Chunks(usize),
    /// This number of workgroups.
    Groups(usize),
    /// Workgroups in two dimensions.
    Square(usize, usize),
}

impl Grid {
    fn groups(self, slots: usize, chunks: usize) -> (u32, u32) {
        let (x, y) = match self {
            Self::Slots(each) => flat_grid(slots.div_ceil(each)),
            Self::Tiles(columns) => (columns, slots / TILE),
            Self::Chunks(columns) => (columns, chunks),
            Self::Groups(groups) => flat_grid(groups),
            Self::Square(x, y) => (x, y),
        };
        (x as u32, y as u32)
    }
}

/// A pass: an entry point, the bindings that it uses, and its grid.
struct Pass {
    name: &'static str,
    pipeline: ComputePipeline,
    group: BindGroup,
    grid: Grid,
}

/// The buffers of a trainer and the passes over them.
pub struct Passes {
    /// The buffers by binding.
    pub buffers: Vec<Buffer>,
    passes: Vec<Pass>,
}

/// The passes of a batch forward: features, outputs and losses.
pub const FORWARD: &[&str] = &["read_dense", "unpack", "accumulate", "first_layer", "upper", "sum_losses"];
/// The passes after [`FORWARD`] that train: gradients and the optimiser.
pub const BACKWARD: &[&str] = &[
    "count_users",
    "place_users",
    "list_users",
    "backward",
    "bias_part",
    "bias_sum",
    "first_part",
    "first_sum",
    "upper_part",
    "upper_sum",
    "row_sum",
    "psqt_factor",
    "row_step",
    "attack_step",
    "dense_step",
];
/// The pass that folds all rows of the transformer.
pub const FOLD: &[&str] = &["fold"];

impl Passes {
    /// Creates the buffers and compiles the shaders.
    ///
    /// # Errors
    /// Fails if the card has too little memory or its driver rejects the shaders.
    pub fn new(card: &Opened, sizes: &Sizes) -> Result<Self> {
        let buffers = card.allocate(sizes.total(), || {
            let bytes = sizes.bytes().into_iter().enumerate();
            bytes.map(|(binding, size)| buffer(card, binding, size)).collect::<Vec<_>>()
        })?;
        let source = sizes.constants() + &SHADERS.concat();
        let module = card.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let pass = |(name, bindings, grid): Entry| {
            let pipeline = card.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(name),
                layout: None,
                module: &module,
                entry_point: Some(name),
                compilation_options: wgpu::PipelineCompilationOptions {
                    zero_initialize_workgroup_memory: false,
                    ..Default::default()
                },
                cache: None,
            });
            let entry = |&binding: &usize| wgpu::BindGroupEntry {
                binding: binding as u32,
                resource: buffers[binding].as_entire_binding(),
            };
            let group = card.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(name),
                layout: &pipeline.get_bind_group_layout(0),
                entries: &bindings.iter().map(entry).collect::<Vec<_>>(),
            });
            Pass { name, pipeline, group, grid }
        };
        let passes = entries(sizes).into_iter().map(pass).collect();
        card.check()?;
        Ok(Self { buffers, passes })
    }

    /// Encodes the passes `names` over a batch of `slots` slots in `chunks` chunks.
    pub fn encode(&self, encoder: &mut CommandEncoder, names: &[&str], slots: usize, chunks: usize) {
        for name in names {
            let named = self.passes.iter().filter(|pass| pass.name == *name);
            for Pass { pipeline, group, grid, .. } in named {
                let mut pass = encoder.begin_compute_pass(&Default::default());
                let (x, y) = grid.groups(slots, chunks);
                pass.set_pipeline(pipeline);
                pass.set_bind_group(0, group, &[]);
                pass.dispatch_workgroups(x, y, 1);
            }
        }
    }
}

fn buffer(card: &Opened, binding: usize, size: u64) -> Buffer {
    let kind = match binding {
        binding::STEP | binding::KING_BUCKETS => BufferUsages::UNIFORM,
        _ => BufferUsages::STORAGE,
    };
    card.device.create_buffer(&BufferDescriptor {
        label: None,
        size,
        usage: kind | BufferUsages::COPY_DST | BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    })
}

/// Entry point, bindings, and grid of a pass.
type Entry = (&'static str, &'static [usize], Grid);

/// Returns all passes.
fn entries(sizes: &Sizes) -> Vec<Entry> {
    let architecture = sizes.architecture;
    let (l1, stacks) = (architecture.l1, architecture.buckets);
    let piece_rows = architecture.features.set().piece_rows();
    let pairs = l1 / 2;
    vec![
        ("read_dense", &[0, 6, 9], Grid::Groups(sizes.dense.div_ceil(64))),
        ("fold", &[0, 2, 5], Grid::Groups((sizes.rows * pairs).div_ceil(256))),
        ("unpack", &[0, 1, 11, 12, 13, 14], Grid::Slots(64)),
        ("accumulate", &[0, 5, 9, 12, 13, 17], Grid::Slots(1)),
        ("first_layer", &[0, 9, 13, 17, 19], Grid::Slots(TILE)),
        ("upper", &[0, 9, 12, 13, 19, 20, 27], Grid::Slots(64)),
        ("sum_losses", &[0, 27, 28], Grid::Groups(1)),
        ("count_users", &[12, 13, 14, 15], Grid::Groups(sizes.rows)),
        ("place_users", &[15], Grid::Groups(1)),
        ("list_users", &[12, 13, 14, 15, 16], Grid::Groups(sizes.rows)),
        ("backward", &[0, 9, 13, 17, 18, 20, 25], Grid::Tiles(pairs / 128)),
        ("bias_part", &[0, 24, 25], Grid::Square(BIAS_PARTS, l1.div_ceil(64))),
        ("bias_sum", &[10, 24], Grid::Groups(l1.div_ceil(64))),
        ("first_part", &[0, 17, 20, 21, 22], Grid::Chunks(l1 / 64)),
        ("first_sum", &[10, 21, 22], Grid::Square(TILE * l1 / 64, stacks)),
        ("upper_part", &[20, 21, 23], Grid::Chunks(17)),
        ("upper_sum", &[10, 21, 23], Grid::Square(17, stacks)),
        ("row_sum", &[10, 13, 15, 16, 18, 20, 26], Grid::Square(sizes.rows, l1 / 128)),
        ("attack_step", &[0, 2, 3, 4, 5, 15, 26], Grid::Square(architecture.attacks.rows(), pairs.div_ceil(64))),
        ("psqt_factor", &[10], Grid::Groups((piece_rows * stacks).div_ceil(64))),
        ("row_step", &[0, 2, 3, 4, 5, 15, 26], Grid::Square(piece_rows, pairs.div_ceil(64))),
        ("dense_step", &[0, 6, 7, 8, 10], Grid::Groups(sizes.dense.div_ceil(64))),
    ]
}

// The trainer.

/// Batches that the card is computing or has queued while the host prepares the next one.
const IN_FLIGHT: usize = 2;
/// Hidden environment variable for tests: the card is lost before this step of the process, counted from 0.
const LOSE_AT: &str = "ZOOTHERA_GPU_LOSE_AT";

/// A batch that the card has not completed.
struct Flight {
    submission: SubmissionIndex,
    staging: Buffer,
    mapping: Mapping,
    positions: usize,
}

/// A model on a card, and its copy on the host from the last synchronisation.
pub struct GpuTrainer {
    card: Opened,
    sizes: Sizes,
    passes: Passes,
    slots: Slots,
    settings: OptimiserSettings,
    loss: Loss,
    rounding: Option<Rounding>,
    host: Parameters,
    /// Steps taken, including those since the last synchronisation.
    steps: u32,
    /// Steps before this process.
    steps_before: u32,
    /// Whether the rows on the card are out of date for the next pass.
    are_rows_stale: bool,
    in_flight: VecDeque<Flight>,
    /// Staging buffers for losses that are not in use.
    free: Vec<Buffer>,
    /// Losses of completed batches that were not yet returned.
    losses: Vec<f32>,
    /// Steps of this process before a simulated loss of the card.
    lose_at: Option<u32>,
}

impl GpuTrainer {
    /// Opens a card and copies the parameters to it, for batches of at most `batch` positions.
    ///
    /// # Errors
    /// Fails if the card cannot be opened or has too little memory.
    pub fn new(
        card: &Card,
        settings: OptimiserSettings,
        loss: Loss,
        batch: usize,
        parameters: Parameters,
    ) -> Result<Self> {
        let architecture = parameters.model.architecture;
        let sizes = Sizes::of(architecture, batch)?;
        sizes.check(&card.limits(), &card.name())?;
        let card = card.open()?;
        let passes = Passes::new(&card, &sizes)?;
        let trainer = Self {
            card,
            sizes,
            passes,
            slots: Slots::default(),
            settings,
            loss,
            rounding: None,
            steps: parameters.moments.steps,
            steps_before: parameters.moments.steps,
            host: parameters,
            are_rows_stale: true,
            in_flight: VecDeque::new(),
            free: Vec::new(),
            losses: Vec::new(),
            lose_at: std::env::var(LOSE_AT).ok().and_then(|text| text.parse().ok()),
        };
        let buckets = architecture.features.set().king_buckets.map(u32::from);
        trainer.card.write(trainer.buffer(binding::KING_BUCKETS), &buckets);
        trainer.upload_model(&trainer.host.model);
        let Moments { first, second, .. } = &trainer.host.moments;
        for (table, dense, (values, small)) in [
            (binding::TABLE_FIRST, binding::DENSE_FIRST, first),
            (binding::TABLE_SECOND, binding::DENSE_SECOND, second),
        ] {
            trainer.card.write(trainer.buffer(table), values);
            trainer.upload_dense(dense, small);
        }
        Ok(trainer)
    }

    /// Memory of the card's buffers in bytes.
    pub fn bytes(&self) -> u64 {
        self.sizes.total()
    }

    fn buffer(&self, binding: usize) -> &Buffer {
        &self.passes.buffers[binding]
    }

    fn upload_model(&self, model: &Model) {
        self.card.write(self.buffer(binding::TABLE), &model.transformer);
        self.upload_dense(binding::DENSE, &model.dense);
    }

    fn upload_dense(&self, binding: usize, dense: &DenseParameters) {
        self.card.write(self.buffer(binding), &dense.tensors().concat());
    }

    /// Uploads a batch, and submits its passes. With `rate`, the batch is also trained on.
    fn submit(&mut self, batch: &[Sample], rate: Option<f32>) -> Result<()> {
        let architecture = self.sizes.architecture;
        self.slots.fill(architecture, batch, self.sizes.chunks);
        let (slots, chunks) = (self.slots.records.len(), self.slots.chunk_count);
        let mut constants = Constants::forward(architecture, self.loss, self.rounding, batch.len());
        (constants.slots, constants.chunks) = (slots as u32, chunks as u32);
        if let Some(rate) = rate {
            constants = constants.with_step(architecture, self.settings, self.steps + 1, rate);
        }
        self.card.write(self.buffer(binding::STEP), &[constants]);
        self.card.write(self.buffer(binding::RECORDS), &self.slots.records);
        self.card.write(self.buffer(binding::CHUNKS), &self.slots.chunks);
        let staging = self.free.pop().unwrap_or_else(|| self.card.staging(16));
        let mut encoder = self.card.device.create_command_encoder(&Default::default());
        if self.are_rows_stale {
            self.passes.encode(&mut encoder, FOLD, slots, chunks);
            self.are_rows_stale = false;
        }
        if rate.is_some() {
            encoder.clear_buffer(self.buffer(binding::BITS), 0, None);
        }
        self.passes.encode(&mut encoder, FORWARD, slots, chunks);
        if rate.is_some() {
            self.passes.encode(&mut encoder, BACKWARD, slots, chunks);
        }
        encoder.copy_buffer_to_buffer(self.buffer(binding::TOTAL_LOSS), 0, &staging, 0, 16);
        let submission = self.card.queue.submit([encoder.finish()]);
        let mapping = Mapping::of(&staging);
        self.in_flight.push_back(Flight { submission, staging, mapping, positions: batch.len() });
        self.card.check()
    }

    /// Waits until at most `count` batches are incomplete.
    fn complete(&mut self, count: usize) -> Result<()> {
        while self.in_flight.len() > count {
            let Some(flight) = self.in_flight.pop_front() else {
                break;
            };
            self.card.wait(flight.submission)?;
            let mut total = [0.0; 4];
            flight.mapping.copy_to(&flight.staging, &mut total)?;
            self.free.push(flight.staging);
            self.losses.push(total[0] / flight.positions.max(1) as f32);
        }
        Ok(())
    }

    /// Copies the dense parameters at a binding to `out`.
    fn read_dense(&self, binding: usize, out: &mut DenseParameters) -> Result<()> {
        let mut all = vec![0.0; self.sizes.dense];
        self.card.read(self.buffer(binding), &mut all)?;
        let mut rest = &all[..];
        for tensor in out.tensors_mut() {
            let (values, others) = rest.split_at(tensor.len());
            tensor.copy_from_slice(values);
            rest = others;
        }
        Ok(())
    }

    /// Reads all parameters from the card.
    fn download(&self) -> Result<(Model, Moments)> {
        let architecture = self.sizes.architecture;
        let mut model = Model::zeros(architecture);
        let mut moments = Moments::zeros(architecture);
        model.rounding = self.rounding;
        moments.steps = self.steps;
        self.card.read(self.buffer(binding::TABLE), &mut model.transformer)?;
        self.read_dense(binding::DENSE, &mut model.dense)?;
        for (table, dense, (values, small)) in [
            (binding::TABLE_FIRST, binding::DENSE_FIRST, &mut moments.first),
            (binding::TABLE_SECOND, binding::DENSE_SECOND, &mut moments.second),
        ] {
            self.card.read(self.buffer(table), values)?;
            self.read_dense(dense, small)?;
        }
        Ok((model, moments))
    }

    /// Returns the sum of the losses of `held_out` by the model on the card.
    fn measure(&mut self, held_out: &[Record]) -> Result<f64> {
        let mut sum = 0.0;
        for run in held_out.chunks(self.sizes.batch) {
            let samples: Vec<Sample> = run.iter().copied().map(Sample::plain).collect();
            self.submit(&samples, None)?;
            self.complete(0)?;
            let loss: f64 = self.losses.drain(..).map(f64::from).sum();
            sum += loss * run.len() as f64;
        }
        Ok(sum)
    }
}

impl Stepper for GpuTrainer {
    fn step(&mut self, batch: &[Sample], rate: f32) -> Result<Vec<f32>> {
        if self.lose_at == Some(self.steps - self.steps_before) {
            self.card.device.destroy();
        }
        let batch = &batch[..batch.len().min(self.sizes.batch)];
        self.submit(batch, Some(rate))?;
        self.steps += 1;
        self.complete(IN_FLIGHT - 1)?;
        Ok(std::mem::take(&mut self.losses))
    }

    fn sync(&mut self) -> Result<Vec<f32>> {
        self.complete(0)?;
        if self.steps != self.host.moments.steps {
            // Replaces the parameters on the host only after all were read.
            (self.host.model, self.host.moments) = self.download()?;
        }
        Ok(std::mem::take(&mut self.losses))
    }

    fn set_loss(&mut self, loss: Loss) {
        self.loss = loss;
    }

    fn round(&mut self, rounding: Option<Rounding>) {
        self.are_rows_stale |= rounding.is_some() != self.rounding.is_some();
        self.rounding = rounding;
        self.host.model.rounding = rounding;
        if let Some(average) = &mut self.host.average {
            average.model.rounding = rounding;
        }
    }

    fn add_to_average(&mut self) {
        match &mut self.host.average {
            Some(average) => average.add(&self.host.model),
            None => self.host.average = Some(Average::of(&self.host.model)),
        }
    }

    fn validate(&mut self, held_out: &[Record]) -> Result<f32> {
        let has_average = self.host.average.is_some();
        if let Some(average) = &self.host.average {
            self.upload_model(&average.model);
            self.are_rows_stale = true;
        }
        let sum = self.measure(held_out)?;
        if has_average {
            self.upload_model(&self.host.model);
            self.are_rows_stale = true;
        }
        Ok((sum / held_out.len().max(1) as f64) as f32)
    }

    fn parameters(&self) -> ParametersRef<'_> {
        let Parameters { model, moments, average } = &self.host;
        ParametersRef { model, moments, average: average.as_ref() }
    }
}
