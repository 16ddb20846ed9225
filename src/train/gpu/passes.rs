//! The shaders' entry points, each with its buffers and its grid of workgroups.

use anyhow::Result;
use wgpu::{BindGroup, Buffer, BufferDescriptor, BufferUsages, CommandEncoder, ComputePipeline};

use super::sizes::{BIAS_PARTS, Sizes, TILE};
use crate::gpu::card::{Opened, flat_grid};

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
        ("count_users", &[14, 15], Grid::Groups(sizes.rows)),
        ("place_users", &[15], Grid::Groups(1)),
        ("list_users", &[14, 15, 16], Grid::Groups(sizes.rows)),
        ("backward", &[0, 9, 13, 17, 18, 20, 25], Grid::Tiles(pairs / 128)),
        ("bias_part", &[0, 24, 25], Grid::Square(BIAS_PARTS, l1.div_ceil(64))),
        ("bias_sum", &[10, 24], Grid::Groups(l1.div_ceil(64))),
        ("first_part", &[0, 17, 20, 21, 22], Grid::Chunks(l1 / 64)),
        ("first_sum", &[10, 21, 22], Grid::Square(TILE * l1 / 64, stacks)),
        ("upper_part", &[20, 21, 23], Grid::Chunks(17)),
        ("upper_sum", &[10, 21, 23], Grid::Square(17, stacks)),
        ("row_sum", &[10, 13, 15, 16, 18, 20, 26], Grid::Square(sizes.rows, l1 / 128)),
        ("psqt_factor", &[10], Grid::Groups((piece_rows * stacks).div_ceil(64))),
        ("row_step", &[0, 2, 3, 4, 5, 15, 26], Grid::Square(piece_rows, pairs.div_ceil(64))),
        ("dense_step", &[0, 6, 7, 8, 10], Grid::Groups(sizes.dense.div_ceil(64))),
    ]
}
