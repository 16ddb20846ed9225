//! What one thread does with its share of a batch: forward, loss, and back.

use super::dense::Dense;
use super::features::Active;
use super::index::RowIndex;
use super::loss::Loss;
use super::quantised::HIDDEN;
use super::simd::{GROUP, Hidden, Inputs, Kernels, LANES, Slopes, Tile};
use super::snapshot::Snapshot;
use super::tail::{TailGradient, TailPass};
use crate::data::Record;

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
    /// An empty share.
    pub fn new() -> Self {
        Self {
            samples: Vec::new(),
            index: RowIndex::default(),
            actives: Vec::new(),
            buffers: Box::new(Buffers {
                inputs: [[[0.0; L1]; 2]; GROUP],
                sums: [[0.0; HIDDEN]; GROUP],
                slopes: [[0.0; HIDDEN]; GROUP],
                passes: [TailPass::default(); GROUP],
            }),
            gradient: Box::new(Gradient::zeros()),
            loss: 0.0,
        }
    }

    /// Finds the features of the samples, the first of which is number `first` of the batch.
    pub fn prepare(&mut self, first: usize) {
        self.activate();
        self.index.fill(&self.actives, first);
    }

    /// Finds the features of the samples.
    fn activate(&mut self) {
        let active = |sample: &Sample| Active::of(&sample.record, sample.mirrored);
        self.actives.clear();
        self.actives.extend(self.samples.iter().map(active));
    }

    /// Forward and back: puts the accumulators' slopes into `rows`, and keeps loss and dense gradient. Each position
    /// counts `weight`.
    pub fn learn(&mut self, pass: Pass<L1>, weight: f32, rows: &mut [Slopes<L1>]) {
        self.gradient.clear();
        self.loss = 0.0;
        let groups = self.samples.chunks(GROUP).zip(self.actives.chunks(GROUP));
        for ((samples, actives), rows) in groups.zip(rows.chunks_mut(GROUP)) {
            self.buffers.forward(pass, actives);
            let mut slopes = [0.0; GROUP];
            for (at, sample) in samples.iter().enumerate() {
                let output = self.buffers.passes[at].output;
                let (loss, slope) = pass.loss.of(output, pass.loss.target(&sample.record));
                self.loss += f64::from(loss * weight);
                slopes[at] = slope * weight;
            }
            self.buffers.back(pass, &slopes, &mut self.gradient, rows);
        }
    }

    /// The sum of the samples' losses, without learning.
    pub fn measure(&mut self, pass: Pass<L1>) -> f64 {
        self.activate();
        let mut total = 0.0;
        let groups = self.samples.chunks(GROUP).zip(self.actives.chunks(GROUP));
        for (samples, actives) in groups {
            self.buffers.forward(pass, actives);
            for (sample, at) in samples.iter().zip(&self.buffers.passes) {
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
        for (output, sums) in total.l1_weight.chunks_exact_mut(2 * L1).enumerate() {
            for (sums, tile) in sums.chunks_exact_mut(LANES).zip(&gradient.l1) {
                add(sums, &tile.0[output]);
            }
        }
        add(&mut total.l1_bias, &gradient.tail.l1_bias);
        add(&mut total.l2_weight, gradient.tail.l2_weight.as_flattened());
        add(&mut total.l2_bias, &gradient.tail.l2_bias);
        add(&mut total.output_weight, &gradient.tail.output_weight);
        total.output_bias[0] += gradient.tail.output_bias;
        self.loss
    }
}

impl<const L1: usize> Default for Share<L1> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const L1: usize> Buffers<L1> {
    /// From features to outputs. Places of the group beyond `actives` keep what was there, which is harmless.
    fn forward(&mut self, pass: Pass<L1>, actives: &[Active]) {
        let snapshot = pass.snapshot;
        for (active, inputs) in actives.iter().zip(&mut self.inputs) {
            for (side, half) in inputs.iter_mut().enumerate() {
                pass.kernels.accumulate(
                    snapshot.activation,
                    &snapshot.bias,
                    &snapshot.rows,
                    active.side(side),
                    half,
                );
            }
        }
        pass.kernels.first_layer(
            &self.inputs,
            &snapshot.l1,
            &snapshot.l1_bias,
            &mut self.sums,
        );
        pass.kernels
            .tail(&snapshot.tail, &self.sums, &mut self.passes);
    }

    /// From the outputs' slopes, zero for empty places, to those of everything else.
    fn back(
        &mut self,
        pass: Pass<L1>,
        slopes: &[f32; GROUP],
        gradient: &mut Gradient<L1>,
        rows: &mut [Slopes<L1>],
    ) {
        pass.kernels.tail_back(
            &pass.snapshot.tail,
            &self.passes,
            slopes,
            &mut gradient.tail,
            &mut self.slopes,
        );
        pass.kernels.first_layer_back(
            pass.snapshot.activation,
            &self.inputs,
            &self.slopes,
            &pass.snapshot.l1_tiles,
            (&mut gradient.l1, &mut gradient.accumulators),
            rows,
        );
    }
}

impl<const L1: usize> Gradient<L1> {
    fn zeros() -> Self {
        Self {
            l1: vec![Tile::ZERO; Tile::count(L1)],
            accumulators: [[0.0; L1]; 2],
            tail: TailGradient::default(),
        }
    }

    /// Makes everything zero again, in its place.
    fn clear(&mut self) {
        self.l1.fill(Tile::ZERO);
        self.accumulators = [[0.0; L1]; 2];
        self.tail = TailGradient::default();
    }
}

fn add(sums: &mut [f32], terms: &[f32]) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += term;
    }
}
