//! Copy of the model for the passes over a batch, with each tensor in the layout of its kernel.
//!
//! Once per step, the active rows of the transformer are folded (real plus factor) into fixed point. An accumulator
//! then costs one 16-bit addition per weight instead of two 32-bit ones, and reads a quarter of the memory.

use rayon::prelude::*;

use crate::nnue::Architecture;
use crate::train::model::Model;
use crate::train::model::dense::DenseParameters;
use crate::train::model::scales::{ACTIVATION_ONE, HIDDEN};
use crate::train::model::transformer::layout;
use crate::train::step::layout::{FIXED_ONE, FixedRow, Hidden, InputMajor, LANES, Row, Tile};
use crate::train::step::psqt::PsqtRows;
use crate::train::step::simd::Kernels;
use crate::train::step::upper::UpperWeights;
use crate::util::memory::{Zeroed, zeroed_slice_or_abort};

/// All parameters of the passes.
pub struct Snapshot<const L1: usize> {
    /// The model's shape.
    pub architecture: Architecture,
    /// `[kings][piece rows][L1]`, real plus factor; then `[attack inputs][L1]`.
    pub rows: Zeroed<i16>,
    /// The transformer's bias.
    pub bias: FixedRow<L1>,
    /// The stacks of dense layers.
    pub stacks: Vec<LayerStack<L1>>,
    /// The piece-square values of the rows, real plus factor.
    pub psqt: PsqtRows,
    /// Whether all parameters are rounded as in a net file; products of accumulators are then truncated too.
    pub is_rounded: bool,
}

/// A stack of dense layers.
pub struct LayerStack<const L1: usize> {
    /// First layer, for the forward pass: a table for each side, or one for the products of both.
    pub l1: Box<[InputMajor<L1>]>,
    /// First layer, for the backward pass.
    pub l1_tiles: Box<[Tile]>,
    /// First layer's biases.
    pub l1_bias: Hidden,
    /// The layers after the first.
    pub upper: UpperWeights,
}

impl<const L1: usize> Snapshot<L1> {
    /// Creates a snapshot with the dense tensors of `model`, and rows of zeros.
    pub fn new(model: &Model) -> Self {
        let architecture = model.architecture;
        let mut snapshot = Self {
            architecture,
            rows: zeroed_slice_or_abort(layout(architecture).active_rows() * L1),
            bias: [0; L1],
            stacks: (0..architecture.buckets).map(|_| LayerStack::zeros(architecture)).collect(),
            psqt: PsqtRows::zeros(architecture),
            is_rounded: false,
        };
        snapshot.take_dense(model);
        snapshot
    }

    /// Copies the dense tensors, and the rows for which `selected` is true (in parallel, in the current thread pool).
    pub fn take(&mut self, kernels: Kernels, model: &Model, selected: impl Fn(usize) -> bool + Sync) {
        self.take_dense(model);
        let (layout, is_rounded) = (layout(self.architecture), self.is_rounded);
        self.rows.as_chunks_mut::<L1>().0.par_iter_mut().enumerate().for_each(|(row, out)| {
            if selected(row) {
                let (real, factor) = layout.entries(&model.transformer, row);
                let zeros = &const { [0.0; L1] };
                let factor = factor.map_or(zeros, as_row);
                kernels.fold(as_row(real), factor, out);
                if is_rounded {
                    round(out);
                }
            }
        });
    }

    fn take_dense(&mut self, model: &Model) {
        self.is_rounded = model.rounding.is_some();
        let dense = &*model.read_dense();
        for (out, bias) in self.bias.iter_mut().zip(&dense.transformer_bias) {
            *out = (bias * FIXED_ONE).round() as i16;
        }
        self.psqt.take(dense);
        for (number, stack) in self.stacks.iter_mut().enumerate() {
            stack.take(self.architecture, dense, number);
        }
    }
}

/// Returns an entry of the transformer's table as a row.
fn as_row<const L1: usize>(entry: &[f32]) -> &Row<L1> {
    entry.first_chunk().expect("an entry has the width of the net")
}

/// Rounds a row to the precision of the file.
fn round<const L1: usize>(row: &mut FixedRow<L1>) {
    /// Units of the row per unit of the file.
    const STEP: i16 = (FIXED_ONE / ACTIVATION_ONE) as i16;
    for weight in row {
        *weight = weight.saturating_add(STEP / 2) & -STEP;
    }
}

impl<const L1: usize> LayerStack<L1> {
    fn zeros(architecture: Architecture) -> Self {
        let inputs = architecture.inputs();
        Self {
            l1: vec![[[0.0; HIDDEN]; L1]; inputs / L1].into(),
            l1_tiles: vec![Tile::ZERO; Tile::count(inputs)].into(),
            l1_bias: [0.0; HIDDEN],
            upper: UpperWeights::default(),
        }
    }

    /// Copies stack `number`. Outputs that the first layer does not have stay zero.
    fn take(&mut self, architecture: Architecture, dense: &DenseParameters, number: usize) {
        let [first, ..] = architecture.layers();
        let rows = first.outputs * number..first.outputs * (number + 1);
        self.l1_bias[..first.outputs].copy_from_slice(&dense.l1_bias[rows.clone()]);
        let weights = &dense.l1_weight[first.inputs * rows.start..first.inputs * rows.end];
        for (output, weights) in weights.chunks_exact(first.inputs).enumerate() {
            for (tile, weights) in weights.as_chunks::<LANES>().0.iter().enumerate() {
                self.l1_tiles[tile].0[output] = *weights;
            }
            for (row, &weight) in self.l1.as_flattened_mut().iter_mut().zip(weights) {
                row[output] = weight;
            }
        }
        self.upper = UpperWeights::of(architecture, dense, number);
    }
}
