//! What one thread does with its share of a batch: forward, loss, and back.

use std::ops::Range;

use super::dense::Dense;
use super::features::Active;
use super::index::RowIndex;
use super::loss::Loss;
use super::scales::HIDDEN;
use super::simd::{GROUP, Hidden, Inputs, Kernels, LANES, Slopes, Tile};
use super::snapshot::Snapshot;
use super::tail::{TailGradient, TailPass};
use crate::data::Record;
use crate::nnue::Architecture;

/// A position as a batch shows it.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The position.
    pub record: Record,
    /// Whether its left-to-right mirror image is shown.
    pub mirrored: bool,
}

/// A thread's share of a batch, and the room for what it computes.
pub struct Share<const L1: usize> {
    /// The positions.
    pub samples: Vec<Sample>,
    /// Who of them used which row.
    pub index: RowIndex,
    actives: Vec<Active>,
    /// Where the positions of each stack of layers end.
    ends: Vec<usize>,
    buffers: Box<Buffers<L1>>,
    gradient: Box<Gradient<L1>>,
    loss: f64,
}

/// What a group of positions needs on its way. The inputs begin with a cache line, as the kernels' vectors do.
#[repr(C, align(64))]
struct Buffers<const L1: usize> {
    inputs: [Inputs<L1>; GROUP],
    sums: [Hidden; GROUP],
    slopes: [Hidden; GROUP],
    passes: [TailPass; GROUP],
}

/// Sums over a share, in the layouts of the kernels.
#[repr(C, align(64))]
struct Gradient<const L1: usize> {
    /// Slopes of the accumulators: their halves add up to the transformer bias's.
    accumulators: Inputs<L1>,
    stacks: Vec<StackGradient>,
}

/// What belongs to one stack of layers.
struct StackGradient {
    l1: Vec<Tile>,
    tail: TailGradient,
}

/// What every thread of a batch knows.
#[derive(Clone, Copy)]
pub struct Pass<'a, const L1: usize> {
    /// The model.
    pub snapshot: &'a Snapshot<L1>,
    /// What to minimise.
    pub loss: Loss,
    /// How to compute.
    pub kernels: Kernels,
}

impl<const L1: usize> Share<L1> {
    /// An empty share, for nets of `architecture`.
    pub fn new(architecture: Architecture) -> Self {
        Self {
            samples: Vec::new(),
            index: RowIndex::default(),
            actives: Vec::new(),
            ends: Vec::new(),
            buffers: Box::new(Buffers {
                inputs: [[[0.0; L1]; 2]; GROUP],
                sums: [[0.0; HIDDEN]; GROUP],
                slopes: [[0.0; HIDDEN]; GROUP],
                passes: [TailPass::default(); GROUP],
            }),
            gradient: Box::new(Gradient::zeros(architecture.buckets)),
            loss: 0.0,
        }
    }

    /// Sorts the samples by their stacks and finds their features; the first of them is number `first` of the batch.
    pub fn prepare(&mut self, architecture: Architecture, first: usize) {
        self.activate(architecture);
        self.index.fill(
            architecture.features.set().active_rows(),
            &self.actives,
            first,
        );
    }

    /// Sorts the samples by their stacks, because a group goes through one, and finds their features.
    fn activate(&mut self, architecture: Architecture) {
        let bucket = |sample: &Sample| architecture.bucket(sample.record.piece_count() as usize);
        self.samples.sort_by_key(bucket);
        let end = |number| {
            self.samples
                .partition_point(|sample| bucket(sample) <= number)
        };
        self.ends.clear();
        self.ends.extend((0..architecture.buckets).map(end));
        let active =
            |sample: &Sample| Active::of(architecture.features, &sample.record, sample.mirrored);
        self.actives.clear();
        self.actives.extend(self.samples.iter().map(active));
    }

    /// The groups of positions that go through the layers together: the stack of each, and the positions.
    fn groups(&self) -> Vec<(usize, Range<usize>)> {
        let mut start = 0;
        let mut groups = Vec::new();
        for (stack, &end) in self.ends.iter().enumerate() {
            let group = |first: usize| (stack, first..(first + GROUP).min(end));
            groups.extend((start..end).step_by(GROUP).map(group));
            start = end;
        }
        groups
    }

    /// Forward and back: puts the accumulators' slopes into `rows`, and keeps loss and dense gradient. Each position
    /// counts `weight`.
    pub fn learn(&mut self, pass: Pass<L1>, weight: f32, rows: &mut [Slopes<L1>]) {
        self.gradient.clear();
        self.loss = 0.0;
        for (stack, group) in self.groups() {
            self.buffers
                .forward(pass, stack, &self.actives[group.clone()]);
            let mut slopes = [0.0; GROUP];
            for (at, sample) in self.samples[group.clone()].iter().enumerate() {
                let output = self.buffers.passes[at].output;
                let (loss, slope) = pass.loss.of(output, pass.loss.target(&sample.record));
                self.loss += f64::from(loss * weight);
                slopes[at] = slope * weight;
            }
            self.buffers
                .back(pass, stack, &slopes, &mut self.gradient, &mut rows[group]);
        }
    }

    /// The sum of the samples' losses, without learning.
    pub fn measure(&mut self, pass: Pass<L1>) -> f64 {
        self.activate(pass.snapshot.architecture);
        let mut total = 0.0;
        for (stack, group) in self.groups() {
            self.buffers
                .forward(pass, stack, &self.actives[group.clone()]);
            for (sample, at) in self.samples[group].iter().zip(&self.buffers.passes) {
                let target = pass.loss.target(&sample.record);
                total += f64::from(pass.loss.of(at.output, target).0);
            }
        }
        total
    }

    /// Adds the dense gradient of the last `learn` to `total`, and returns its loss.
    pub fn collect(&self, total: &mut Dense) -> f64 {
        let gradient = &*self.gradient;
        for half in &gradient.accumulators {
            add(&mut total.transformer_bias, half);
        }
        for (number, stack) in gradient.stacks.iter().enumerate() {
            stack.collect::<L1>(number, total);
        }
        self.loss
    }
}

impl StackGradient {
    fn zeros(l1: usize) -> Self {
        Self {
            l1: vec![Tile::ZERO; Tile::count(l1)],
            tail: TailGradient::default(),
        }
    }

    /// Adds it to what `total` has for the stack of that number.
    fn collect<const L1: usize>(&self, number: usize, total: &mut Dense) {
        let units = HIDDEN * number..HIDDEN * (number + 1);
        let first = &mut total.l1_weight[2 * L1 * units.start..2 * L1 * units.end];
        for (output, sums) in first.chunks_exact_mut(2 * L1).enumerate() {
            for (sums, tile) in sums.chunks_exact_mut(LANES).zip(&self.l1) {
                add(sums, &tile.0[output]);
            }
        }
        let second = &mut total.l2_weight[HIDDEN * units.start..HIDDEN * units.end];
        add(second, self.tail.l2_weight.as_flattened());
        add(&mut total.l1_bias[units.clone()], &self.tail.l1_bias);
        add(&mut total.l2_bias[units.clone()], &self.tail.l2_bias);
        add(&mut total.output_weight[units], &self.tail.output_weight);
        total.output_bias[number] += self.tail.output_bias;
    }
}

impl<const L1: usize> Buffers<L1> {
    /// From features to outputs, through the stack of that number. Places of the group beyond `actives` keep what was
    /// there, which is harmless.
    fn forward(&mut self, pass: Pass<L1>, stack: usize, actives: &[Active]) {
        let snapshot = pass.snapshot;
        for (active, inputs) in actives.iter().zip(&mut self.inputs) {
            for (side, half) in inputs.iter_mut().enumerate() {
                pass.kernels.accumulate(
                    snapshot.architecture.activation,
                    &snapshot.bias,
                    &snapshot.rows,
                    active.side(side),
                    half,
                );
            }
        }
        let stack = &snapshot.stacks[stack];
        pass.kernels
            .first_layer(&self.inputs, &stack.l1, &stack.l1_bias, &mut self.sums);
        pass.kernels.tail(&stack.tail, &self.sums, &mut self.passes);
    }

    /// From the outputs' slopes, zero for empty places, to those of everything else.
    fn back(
        &mut self,
        pass: Pass<L1>,
        stack: usize,
        slopes: &[f32; GROUP],
        gradient: &mut Gradient<L1>,
        rows: &mut [Slopes<L1>],
    ) {
        let Gradient {
            accumulators,
            stacks,
        } = gradient;
        let (weights, sums) = (&pass.snapshot.stacks[stack], &mut stacks[stack]);
        pass.kernels.tail_back(
            &weights.tail,
            &self.passes,
            slopes,
            &mut sums.tail,
            &mut self.slopes,
        );
        pass.kernels.first_layer_back(
            pass.snapshot.architecture.activation,
            &self.inputs,
            &self.slopes,
            &weights.l1_tiles,
            (&mut sums.l1, accumulators),
            rows,
        );
    }
}

impl<const L1: usize> Gradient<L1> {
    fn zeros(buckets: usize) -> Self {
        Self {
            accumulators: [[0.0; L1]; 2],
            stacks: (0..buckets).map(|_| StackGradient::zeros(L1)).collect(),
        }
    }

    /// Makes everything zero again, in its place.
    fn clear(&mut self) {
        self.accumulators = [[0.0; L1]; 2];
        for stack in &mut self.stacks {
            stack.l1.fill(Tile::ZERO);
            stack.tail = TailGradient::default();
        }
    }
}

fn add(sums: &mut [f32], terms: &[f32]) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += term;
    }
}
