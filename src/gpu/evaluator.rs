//! Static evaluations by networks on a card, in batches, and the tables of a network for the shader.

use anyhow::{Result, ensure};
use wgpu::{BindGroup, Buffer, BufferUsages, ComputePipeline, SubmissionIndex};

use super::card::{Card, Mapping, Opened, flat_grid};
use super::{PackedPosition, UnsupportedNet};
use crate::nnue::architecture::Topology;
use crate::nnue::features::attack_inputs::AttackInputs;
use crate::nnue::features::threat_inputs::ThreatInputs;
use crate::nnue::{Activation, Network, Shape};

/// Largest number of positions in a batch.
pub const BATCH: usize = 1 << 16;
/// Hidden environment variable for tests: the card is lost before this batch of the process, counted from 0.
const LOSE_AT: &str = "ZOOTHERA_GPU_LOSE_AT";

/// Networks on a card.
pub struct Evaluator {
    card: Opened,
    count: Buffer,
    positions: Buffer,
    nets: Vec<NetOnCard>,
    /// Buffers for values that are not in use.
    free: Vec<Buffer>,
    /// Batches before a simulated loss of the card.
    lose_after: Option<u64>,
}

/// A network on a card.
struct NetOnCard {
    pipeline: ComputePipeline,
    group: BindGroup,
    values: Buffer,
}

/// A batch that the card has not completed.
pub struct Flight {
    submission: SubmissionIndex,
    staging: Buffer,
    mapping: Mapping,
    positions: usize,
}

impl Evaluator {
    /// Opens a card and copies the networks to it.
    ///
    /// # Errors
    /// Fails if the card cannot be opened, has too little memory, or cannot evaluate one of the networks.
    pub fn new<'a>(card: &Card, networks: impl IntoIterator<Item = &'a Network>) -> Result<Self> {
        let tables: Vec<Tables> = networks.into_iter().map(Tables::of).collect::<Result<_, _>>()?;
        let limits = card.limits();
        let max = limits.max_buffer_size.min(limits.max_storage_buffer_binding_size);
        for table in &tables {
            let size = 4 * table.weights.len() as u64;
            ensure!(
                size <= max,
                "{} allows buffers of {} MB, but a net needs {} MB: use another card, or --device cpu",
                card.name(),
                max / 1_000_000,
                size.div_ceil(1_000_000)
            );
        }
        let card = card.open()?;
        let needed: u64 = tables.iter().map(Tables::bytes).sum();
        let (count, positions, nets) = card.allocate(needed, || {
            let count = buffer(&card, 16, BufferUsages::UNIFORM);
            let positions = buffer(&card, (BATCH * size_of::<PackedPosition>()) as u64, BufferUsages::STORAGE);
            let nets: Vec<_> =
                tables.iter().map(|tables| NetOnCard::new(&card, tables, [&count, &positions])).collect();
            (count, positions, nets)
        })?;
        let lose_after = std::env::var(LOSE_AT).ok().and_then(|text| text.parse().ok());
        Ok(Self { card, count, positions, nets, free: Vec::new(), lose_after })
    }

    /// Submits at most [`BATCH`] positions.
    ///
    /// # Errors
    /// Fails if the card is lost.
    pub fn submit(&mut self, positions: &[PackedPosition]) -> Result<Flight> {
        let positions = &positions[..positions.len().min(BATCH)];
        let count = positions.len();
        if self.lose_after == Some(0) {
            self.card.device.destroy();
        }
        self.lose_after = self.lose_after.map(|batches| batches.saturating_sub(1));
        self.card.write(&self.count, &[count as u32, 0, 0, 0]);
        self.card.write(&self.positions, positions);
        let mut encoder = self.card.device.create_command_encoder(&Default::default());
        for net in &self.nets {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&net.pipeline);
            pass.set_bind_group(0, &net.group, &[]);
            let (x, y) = flat_grid(count);
            pass.dispatch_workgroups(x as u32, y as u32, 1);
        }
        let size = (4 * count) as u64;
        let staging = self.free.pop().unwrap_or_else(|| self.card.staging((4 * BATCH * self.nets.len()) as u64));
        for (net, number) in self.nets.iter().zip(0..) {
            encoder.copy_buffer_to_buffer(&net.values, 0, &staging, number * size, size);
        }
        let submission = self.card.queue.submit([encoder.finish()]);
        let mapping = Mapping::of(&staging);
        self.card.check()?;
        Ok(Flight { submission, staging, mapping, positions: count })
    }

    /// Waits for a batch. Returns the values in engine units, from the side to move's view: those of all positions by
    /// the first network, then those by the next ones.
    ///
    /// # Errors
    /// Fails if the card is lost.
    pub fn complete(&mut self, flight: Flight) -> Result<Vec<i32>> {
        self.card.wait(flight.submission)?;
        let mut values = vec![0; flight.positions * self.nets.len()];
        flight.mapping.copy_to(&flight.staging, &mut values)?;
        self.free.push(flight.staging);
        Ok(values)
    }
}

impl Tables {
    /// Memory of the tables on a card in bytes.
    fn bytes(&self) -> u64 {
        4 * (self.weights.len() + self.biases.len() + self.psqt.len() + self.dense.len() + BATCH) as u64
    }
}

impl NetOnCard {
    fn new(card: &Opened, tables: &Tables, [count, positions]: [&Buffer; 2]) -> Self {
        let source = tables.constants.clone() + include_str!("shaders/evaluate.wgsl");
        let module = card.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("evaluate"),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let pipeline = card.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("evaluate"),
            layout: None,
            module: &module,
            entry_point: Some("evaluate"),
            compilation_options: wgpu::PipelineCompilationOptions {
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: None,
        });
        let values = buffer(card, 4 * BATCH as u64, BufferUsages::STORAGE);
        let king_buckets = filled(card, &tables.king_buckets, BufferUsages::UNIFORM);
        let weights = filled(card, &tables.weights, BufferUsages::STORAGE);
        let biases = filled(card, &tables.biases, BufferUsages::STORAGE);
        let psqt = filled(card, &tables.psqt, BufferUsages::STORAGE);
        let dense = filled(card, &tables.dense, BufferUsages::STORAGE);
        let buffers = [count, &king_buckets, positions, &weights, &biases, &psqt, &dense, &values];
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let group = card.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("evaluate"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        Self { pipeline, group, values }
    }
}

fn buffer(card: &Opened, size: u64, usage: BufferUsages) -> Buffer {
    card.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size,
        usage: usage | BufferUsages::COPY_DST | BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    })
}

/// Creates a buffer with these words.
fn filled(card: &Opened, words: &[impl bytemuck::NoUninit], usage: BufferUsages) -> Buffer {
    let buffer = buffer(card, size_of_val(words) as u64, usage);
    card.write(&buffer, words);
    buffer
}

// A network's parameters in the layout of `shaders/evaluate.wgsl`.

/// Possible outputs of the first layer, and outputs of the second one.
const FIRST: [usize; 2] = [8, 16];
const SECOND: usize = 32;
/// Feature planes of a king bucket.
const PLANES: usize = 11;
/// Weights in a block of a row, which a thread sums.
const BLOCK: usize = 8;

/// The parameters of a network for a card.
pub struct Tables {
    /// Constants that precede the shader.
    pub constants: String,
    /// King buckets by square.
    pub king_buckets: [u32; 64],
    /// Weights of the rows, two to a word.
    pub weights: Vec<u32>,
    /// Biases of the accumulator, two to a word.
    pub biases: Vec<u32>,
    /// Piece-square values `[row][stack]`, or a 0 if there are none.
    pub psqt: Vec<i32>,
    /// The layer stacks.
    pub dense: Vec<u32>,
}

impl Tables {
    /// Converts the parameters of a network.
    ///
    /// # Errors
    /// Fails for nets that the shader does not support.
    pub fn of(network: &Network) -> Result<Self, UnsupportedNet> {
        let shape = network.architecture();
        let set = shape.features.set();
        if !is_supported(network) {
            return Err(UnsupportedNet(shape.to_string()));
        }
        let transformer = network.transformer();
        let (is_skip, has_squares) = match shape.topology {
            Topology::Skip { squares } => (true, squares),
            _ => (false, false),
        };
        let numbers = [
            ("L1", shape.l1),
            ("H1", shape.hidden[0]),
            ("INPUTS", shape.inputs() / 4),
            ("PIECE_ROWS", set.piece_rows()),
            ("UNUSED", set.unused),
            ("TURN", set.turn.into()),
            ("STACKS", shape.buckets),
        ];
        let flags = [
            ("MIRRORED", set.mirrored),
            ("HAS_PSQT", shape.psqt > 0),
            ("PAIRWISE", shape.activation == Activation::Pairwise),
            ("SKIP", is_skip),
            ("SQUARES", has_squares),
        ];
        let numbers = numbers.map(|(name, value)| format!("const {name}: u32 = {value}u;\n")).concat();
        let flags = flags.map(|(name, value)| format!("const {name}: bool = {value};\n")).concat();
        Ok(Self {
            constants: numbers + &flags,
            king_buckets: set.king_buckets.map(u32::from),
            weights: paired(transformer.weights()),
            biases: paired(transformer.biases()),
            psqt: if shape.psqt > 0 { transformer.psqt().to_vec() } else { vec![0] },
            dense: dense(network),
        })
    }
}

/// Whether the shader supports a net.
fn is_supported(network: &Network) -> bool {
    let shape = network.architecture();
    let Shape { activation, topology, hidden, .. } = **shape;
    let is_chain = match topology {
        Topology::Plain => activation == Activation::Crelu,
        Topology::Skip { .. } => activation == Activation::Pairwise,
        Topology::Sfnnv16 | Topology::Direct => false,
    };
    is_chain
        && FIRST.contains(&hidden[0])
        && hidden[1] == SECOND
        && shape.threat_inputs == ThreatInputs::None
        && shape.attacks == AttackInputs::None
        && shape.features.set().planes == PLANES
        && shape.features.table().is_none()
        && [1, 8].contains(&shape.buckets)
        && [0, shape.buckets].contains(&shape.psqt)
        && shape.l1.is_multiple_of(2 * BLOCK)
}

/// Puts two numbers in a word, the first one in the low half.
fn paired(numbers: &[i16]) -> Vec<u32> {
    let (pairs, _) = numbers.as_chunks::<2>();
    let word = |number: i16| u32::from(number.cast_unsigned());
    // The difference of the sums of words and of sign-extended low halves must be the sum of the high halves.
    pairs.iter().map(|&[low, high]| (word(high) << 16).wrapping_add(i32::from(low).cast_unsigned())).collect()
}

/// The layer stacks: the first layer by groups of four inputs, the others row by row.
fn dense(network: &Network) -> Vec<u32> {
    let word = |bytes: &[i8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte.cast_unsigned()));
    let mut words = Vec::new();
    for head in network.heads() {
        let [first, second, output] = head.layers();
        let row = first.shape().row();
        for group in (0..row).step_by(4) {
            words.extend(first.weights().chunks_exact(row).map(|weights| word(&weights[group..group + 4])));
        }
        words.extend(first.biases().iter().map(|bias| bias.cast_unsigned()));
        for layer in [second, output] {
            words.extend(layer.weights().chunks_exact(4).map(word));
            words.extend(layer.biases().iter().map(|bias| bias.cast_unsigned()));
        }
    }
    words
}

#[cfg(test)]
mod tables_tests {
    use super::*;

    #[test]
    fn unsupported_nets_are_refused_by_their_shape() {
        let error = Tables::of(&Network::zeroed(crate::nnue::Architecture::HALF_KP)).err().expect("HalfKP");
        assert!(error.to_string().contains("HalfKP") && error.to_string().contains("Stockfish 14"), "{error}");
    }
}
