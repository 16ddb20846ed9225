//! The work of one thread on its shard of a batch: forward pass, loss, and backward pass.

use std::ops::Range;

use super::layers::{Buffers, Gradient, StepContext};
use super::row_index::{GROUP, RowIndex};
use super::transformer::{PackedDeltas, PsqtRows};
use crate::nnue::Architecture;
use crate::train::model::dense::DenseParameters;
use crate::train::samples::Sample;
use crate::train::samples::active::{ActiveRows, king_buckets};

/// A shard of a batch, and its buffers.
pub struct Shard {
    /// The positions.
    pub samples: Vec<Sample>,
    /// Index of the rows that the positions use.
    pub index: RowIndex,
    /// Deltas of the positions' accumulators.
    pub deltas: PackedDeltas,
    actives: ActiveRows,
    /// End of the positions of each layer stack.
    ends: Vec<usize>,
    buffers: Buffers,
    gradient: Gradient,
    psqt_gradient: PsqtRows,
    loss: f64,
}

impl Shard {
    /// Creates an empty shard for nets of `architecture`.
    pub fn new(architecture: Architecture) -> Self {
        Self {
            samples: Vec::new(),
            index: RowIndex::new(architecture),
            deltas: PackedDeltas::empty(),
            actives: ActiveRows::default(),
            ends: Vec::new(),
            buffers: Buffers::zeros(architecture),
            gradient: Gradient::zeros(architecture),
            psqt_gradient: PsqtRows::zeros(architecture),
            loss: 0.0,
        }
    }

    /// Copies the samples, sorts them, and finds their features.
    pub fn prepare(&mut self, architecture: Architecture, samples: &[Sample]) {
        self.samples.clear();
        self.samples.extend_from_slice(samples);
        self.activate(architecture);
        self.index.fill(&self.actives);
        self.deltas.resize(architecture.l1, 2 * samples.len());
    }

    /// Sorts the samples by stack, because a group shares one stack, and finds their features. Within a stack they are
    /// sorted by king buckets, so that the rows of the last positions, which are in the cache, are used again.
    fn activate(&mut self, architecture: Architecture) {
        let features = architecture.features;
        let bucket = |sample: &Sample| architecture.bucket(sample.record.piece_count() as usize);
        let kings = |sample: &Sample| king_buckets(features, &sample.record, sample.mirrored);
        self.samples.sort_by_cached_key(|sample| (bucket(sample), kings(sample)));
        let end = |number| self.samples.partition_point(|sample| bucket(sample) <= number);
        self.ends.clear();
        self.ends.extend((0..architecture.buckets).map(end));
        self.actives.clear();
        for sample in &self.samples {
            self.actives.push(architecture, &sample.record, sample.mirrored);
        }
    }

    /// Returns the groups of positions that are processed together, each with its stack.
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

    /// Runs the passes forward and backward. Stores the accumulators' deltas, the loss and the dense gradient in the
    /// shard. `weight` is the weight of each position.
    pub fn backpropagate(&mut self, context: StepContext, weight: f32) {
        self.gradient.clear();
        self.psqt_gradient.clear();
        self.loss = 0.0;
        let inputs = context.snapshot.architecture.inputs();
        let penalty = weight * context.loss.sparsity / inputs as f32;
        for (stack, group) in self.groups() {
            self.buffers.forward(context, stack, self.actives.range(group.clone()));
            let mut deltas = [0.0; GROUP];
            for (at, sample) in self.samples[group.clone()].iter().enumerate() {
                let active = self.actives.get(group.start + at);
                let psqt = context.snapshot.psqt.output(active, stack);
                let output = self.buffers.output(at) + psqt;
                let (loss, delta) = context.loss.of(output, context.loss.target(&sample.record));
                self.loss += f64::from(loss * weight);
                deltas[at] = delta * weight;
                self.psqt_gradient.add_gradient(active, stack, deltas[at]);
            }
            let Self { buffers, gradient, index, deltas: packed, .. } = self;
            let store = |at: usize, deltas: &[f32]| {
                packed.store(context.kernels, index.numbers(group.start + at), deltas);
            };
            buffers.backward(context, stack, penalty, &deltas, gradient, store);
        }
    }

    /// Returns the sum of the samples' losses.
    pub fn measure(&mut self, context: StepContext) -> f64 {
        self.activate(context.snapshot.architecture);
        let mut total = 0.0;
        for (stack, group) in self.groups() {
            self.buffers.forward(context, stack, self.actives.range(group.clone()));
            for (at, sample) in self.samples[group.clone()].iter().enumerate() {
                let target = context.loss.target(&sample.record);
                let psqt = context.snapshot.psqt.output(self.actives.get(group.start + at), stack);
                total += f64::from(context.loss.of(self.buffers.output(at) + psqt, target).0);
            }
        }
        total
    }

    /// Adds the dense gradient of the last [`Self::backpropagate`] to `total`, and returns the loss.
    pub fn collect(&self, total: &mut DenseParameters) -> f64 {
        self.gradient.add_to(total);
        self.psqt_gradient.add_to(total);
        self.loss
    }
}
