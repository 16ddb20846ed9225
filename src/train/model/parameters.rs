//! The parameters of a model, which weights, gradients and optimiser moments share as a layout: the rows of the first
//! layer, and the dense parameters.

use super::shapes::{
    ACTIVATION_ONE, OUTPUT_ONE, Rounding, SKIP, UNITS, WEIGHT_ONE, direct_weight_one, input_one, rounded,
};
use crate::nnue::architecture::{LayerShape, Topology};
use crate::nnue::{Activation, Architecture};
use crate::util::memory::{Zeroed, zeroed_slice_or_abort};
use crate::util::rng::SplitMix64;

// Rows of the first layer.
//
// Layout of the tables with an entry for each row of the first layer: weights, piece-square values, and the moments of
// both.
//
// The rows of pieces on squares come first, in blocks: for each piece row its real rows, one per king bucket, and last
// the factor row that they share. Sets with one king bucket and no mirroring have no factor row.
//
// The rows of attack inputs follow. They do not depend on the king and have no factor row.
//
// *Active rows* are numbered in another order, that of the positions' features and of a file: the piece rows of the
// first king bucket, those of the next ones, and then the rows of attack inputs.

/// Layout of a table.
#[derive(Clone, Copy, Debug)]
pub struct RowLayout {
    /// Numbers of an entry.
    pub width: usize,
    /// King buckets.
    pub kings: usize,
    /// Piece rows of a king bucket.
    pub piece_rows: usize,
    /// Rows of attack inputs.
    pub attack_rows: usize,
    /// Whether the rows of a block share a factor row.
    pub has_factor: bool,
}

/// What an active row stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ActiveRow {
    /// A piece on a square.
    Piece {
        /// King bucket.
        king: usize,
        /// Row within the bucket.
        piece_row: usize,
    },
    /// An attack input, numbered from 0.
    Attack(usize),
}

impl RowLayout {
    /// Returns the layout of the weights of the transformer.
    pub fn weights(architecture: Architecture) -> Self {
        Self::new(architecture, architecture.l1)
    }

    /// Returns the layout of the piece-square values.
    pub fn psqt(architecture: Architecture) -> Self {
        Self::new(architecture, architecture.psqt)
    }

    /// Returns the layout of a table with entries of `width` numbers.
    fn new(architecture: Architecture, width: usize) -> Self {
        let set = architecture.features.set();
        Self {
            width,
            kings: set.kings,
            piece_rows: set.piece_rows(),
            attack_rows: architecture.attacks.rows(),
            // Mirrored sets with one bucket keep theirs: graphics cards train these, and checkpoints have it.
            has_factor: set.kings > 1 || set.mirrored,
        }
    }

    /// Numbers of a block: one entry per king bucket and, last, that of the factor row if there is one.
    pub fn block(self) -> usize {
        (self.kings + usize::from(self.has_factor)) * self.width
    }

    /// Numbers of all blocks, before those of attack inputs.
    pub fn blocks(self) -> usize {
        self.piece_rows * self.block()
    }

    /// Numbers of the table.
    pub fn len(self) -> usize {
        self.blocks() + self.attack_rows * self.width
    }

    /// The first active row of attack inputs.
    pub fn first_attack(self) -> usize {
        self.kings * self.piece_rows
    }

    /// Number of active rows.
    pub fn active_rows(self) -> usize {
        self.first_attack() + self.attack_rows
    }

    /// Returns the meaning of an active row.
    #[inline]
    pub fn active_row(self, row: usize) -> ActiveRow {
        match row.checked_sub(self.first_attack()) {
            Some(attack) => ActiveRow::Attack(attack),
            None => ActiveRow::Piece { king: row / self.piece_rows, piece_row: row % self.piece_rows },
        }
    }

    /// Returns the entries that make up an active row: that of the row, and that of its factor row if it has one.
    #[inline]
    pub fn entries(self, table: &[f32], row: usize) -> (&[f32], Option<&[f32]>) {
        let entry = |start: usize| &table[start..][..self.width];
        match self.active_row(row) {
            ActiveRow::Piece { king, piece_row } => {
                let block = piece_row * self.block();
                let factor = self.has_factor.then(|| entry(block + self.kings * self.width));
                (entry(block + king * self.width), factor)
            }
            ActiveRow::Attack(attack) => (entry(self.blocks() + attack * self.width), None),
        }
    }

    /// Returns an active row as in the exported net: real plus factor.
    pub fn folded(self, table: &[f32], row: usize) -> impl Iterator<Item = f32> + '_ {
        let (real, factor) = self.entries(table, row);
        let factor = factor.into_iter().flatten().copied().chain(std::iter::repeat(0.0));
        real.iter().zip(factor).map(|(real, factor)| real + factor)
    }
}

// The feature transformer during training: real rows, and virtual factor rows that they share.
//
// Each king square occurs in only a small share of the positions. So the part of a piece's weights that is common to
// all king squares is trained in a *factor* row, and the real row contains only the difference. The export adds both,
// so the engine has no factor rows.

// CITE: factorised features, Yu Nasu's shogi NNUE (2018) and nnue-pytorch's feature factoriser.

/// A table of one block per piece row, and the rows of attack inputs, on large pages: weights, or a moment of the
/// optimiser.
pub type Table = Zeroed<f32>;

/// Returns a table of zeros.
pub fn zeros(architecture: Architecture) -> Table {
    zeroed_slice_or_abort(RowLayout::weights(architecture).len())
}

/// Returns initial weights: the last row of each block, which is the factor row if there is one, uniform within `span`;
/// the other rows and those of attack inputs zero.
pub fn initial(rng: &mut SplitMix64, architecture: Architecture, span: f32) -> Table {
    let (layout, mut table) = (RowLayout::weights(architecture), zeros(architecture));
    let blocks = &mut table[..layout.blocks()];
    for block in blocks.chunks_exact_mut(layout.block()) {
        let last = block.len() - architecture.l1;
        for weight in &mut block[last..] {
            *weight = span * uniform(rng);
        }
    }
    table
}

/// Returns a random number from -1 to 1.
pub fn uniform(rng: &mut SplitMix64) -> f32 {
    (rng.next_u64() >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
}

// Piece-square values: outputs of features that bypass the layers, one value per layer stack, in units of the output.
//
// Half the difference of both sides' sums is added to the output, so the layers need not represent material. As in
// the transformer, a factor row contains the part common to all king buckets, and the export adds both. Attack inputs
// have such values too.

// CITE: piece-square outputs of Stockfish 14's nets (Tomasz Sobczyk and others), with the idea of initialising them
// with piece values.

/// Value of a piece (0 pawn to 5 king) in engine units.
pub fn piece_value(role: usize) -> i16 {
    [208, 780, 830, 1270, 2520, 0][role]
}

/// Returns values of zero; empty for an architecture without piece-square values.
pub fn psqt_zeros(architecture: Architecture) -> Vec<f32> {
    vec![0.0; RowLayout::psqt(architecture).len()]
}

/// Returns initial values: piece values in the factor rows, negative for the opponent's pieces, zero for kings and
/// attack inputs.
pub fn psqt_initial(architecture: Architecture) -> Vec<f32> {
    let (layout, mut values) = (RowLayout::psqt(architecture), psqt_zeros(architecture));
    if values.is_empty() {
        return values;
    }
    let blocks = &mut values[..layout.blocks()];
    for (piece_row, block) in blocks.chunks_exact_mut(layout.block()).enumerate() {
        let (piece, is_other) = (piece_row / 64 / 2, piece_row / 64 % 2 == 1);
        let value = f32::from(piece_value(piece)) / UNITS;
        let factor = block.len() - architecture.psqt;
        block[factor..].fill(if is_other { -value } else { value });
    }
    values
}

// Dense parameters.
//
// The dense parameters: all parameters except the transformer's rows. Weights, gradients and optimiser moments share
// this shape.

/// One number per dense parameter. In the shapes, `L1` is the width of an accumulator and `B` the number of stacks.
/// The architecture defines the inputs and outputs of a layer (`H1`, `H2`: the outputs of the hidden layers). Without
/// hidden layers their tensors are empty.
#[derive(Clone, Debug)]
pub struct DenseParameters {
    /// `[L1]`: biases of the transformer.
    pub transformer_bias: Vec<f32>,
    /// `[B][H1][inputs]`, one row per output.
    pub l1_weight: Vec<f32>,
    /// `[B][H1]`.
    pub l1_bias: Vec<f32>,
    /// `[B][H2][inputs]`, one row per output.
    pub l2_weight: Vec<f32>,
    /// `[B][H2]`.
    pub l2_bias: Vec<f32>,
    /// `[B][inputs]`: of the second hidden layer's units, or of the accumulators' without hidden layers.
    pub output_weight: Vec<f32>,
    /// `[B]`.
    pub output_bias: Vec<f32>,
    /// `[piece rows][kings + 1][P]`: piece-square values, the factor row last as in the transformer; then `[attack
    /// inputs][P]`. Empty if the architecture has none.
    pub psqt: Vec<f32>,
}

/// Number of tensors in `DenseParameters`.
pub const TENSORS: usize = 8;
/// Indices of the weight tensors; the others are biases.
pub const WEIGHTS: [usize; 3] = [1, 3, 5];

/// Fraction of the limit from which a weight counts as limited; the margin covers float rounding.
const AT_LIMIT: f32 = 0.999;

/// The largest absolute weights of the layers in the range of the file's integers.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// First layer.
    pub first: f32,
    /// The skip output of the first layer, which has the scale of the output.
    pub skip: f32,
    /// Second layer.
    pub hidden: f32,
    /// Output layer.
    pub output: f32,
}

/// Returns the limits of the weights for an output multiplied by `output_scale`.
pub fn limits(architecture: Architecture, output_scale: f32) -> Limits {
    let hidden = 127.0 / WEIGHT_ONE;
    let first = hidden * input_one(architecture.activation) / ACTIVATION_ONE;
    let output = match architecture.topology {
        Topology::Direct => f32::from(i16::MAX) / direct_weight_one(architecture.activation, output_scale),
        _ => 127.0 * ACTIVATION_ONE / (OUTPUT_ONE * output_scale),
    };
    Limits { first, skip: first / output_scale.max(1.0), hidden, output }
}

impl Limits {
    /// Returns the limits of the three layers, without the skip output.
    fn layers(self) -> [f32; 3] {
        [self.first, self.hidden, self.output]
    }
}

impl DenseParameters {
    /// Returns zeros.
    pub fn zeros(architecture: Architecture) -> Self {
        let buckets = architecture.buckets;
        let [first, second, output] = architecture.layers();
        let weights = |layer: LayerShape| vec![0.0; buckets * layer.inputs * layer.outputs];
        let biases = |layer: LayerShape| vec![0.0; buckets * layer.outputs];
        Self {
            transformer_bias: vec![0.0; architecture.l1],
            l1_weight: weights(first),
            l1_bias: biases(first),
            l2_weight: weights(second),
            l2_bias: biases(second),
            output_weight: weights(output),
            output_bias: biases(output),
            psqt: psqt_zeros(architecture),
        }
    }

    /// Returns initial parameters: weights uniform within one over the root of the inputs, biases 0.1 (0 for the output
    /// layer, and for the transformer without pairwise products). All stacks start with the same values.
    pub fn initial(rng: &mut SplitMix64, architecture: Architecture) -> Self {
        let mut dense = Self::zeros(architecture);
        let mut fill = |weights: &mut [f32], inputs: usize| {
            if weights.is_empty() {
                return;
            }
            let span = (inputs as f32).sqrt().recip();
            let (first, others) = weights.split_at_mut(weights.len() / architecture.buckets);
            first.fill_with(|| span * uniform(rng));
            others.chunks_exact_mut(first.len()).for_each(|other| other.copy_from_slice(first));
        };
        let [first, second, output] = architecture.layers();
        fill(&mut dense.l1_weight, first.inputs);
        fill(&mut dense.l2_weight, second.inputs);
        fill(&mut dense.output_weight, output.inputs);
        if let Activation::Pairwise = architecture.activation {
            dense.transformer_bias.fill(0.1);
        }
        dense.l1_bias.fill(0.1);
        dense.l2_bias.fill(0.1);
        dense.output_bias.fill(0.0);
        dense.psqt = psqt_initial(architecture);
        dense
    }

    /// Returns every tensor, in a fixed order.
    pub fn tensors(&self) -> [&[f32]; TENSORS] {
        [
            &self.transformer_bias,
            &self.l1_weight,
            &self.l1_bias,
            &self.l2_weight,
            &self.l2_bias,
            &self.output_weight,
            &self.output_bias,
            &self.psqt,
        ]
    }

    /// Returns every tensor for writing, in the order of [`Self::tensors`].
    pub fn tensors_mut(&mut self) -> [&mut [f32]; TENSORS] {
        [
            &mut self.transformer_bias,
            &mut self.l1_weight,
            &mut self.l1_bias,
            &mut self.l2_weight,
            &mut self.l2_bias,
            &mut self.output_weight,
            &mut self.output_bias,
            &mut self.psqt,
        ]
    }

    /// Returns the share of weights at the limit of [`Self::clip`]. NaN counts as limited.
    pub fn limited(&self, architecture: Architecture, output_scale: f32) -> f64 {
        let tensors = [&self.l1_weight, &self.l2_weight, &self.output_weight];
        let (mut limited, mut all) = (0, 0);
        for (weights, limit) in tensors.into_iter().zip(limits(architecture, output_scale).layers()) {
            let unlimited = |w: &&f32| w.abs() < AT_LIMIT * limit;
            limited += weights.len() - weights.iter().filter(unlimited).count();
            all += weights.len();
        }
        limited as f64 / all as f64
    }

    /// Returns the parameters with weights and transformer biases rounded. Rounding the other biases and the
    /// piece-square values has a negligible effect.
    pub fn rounded(&self, architecture: Architecture, rounding: Rounding) -> Self {
        let round = |weights: &mut [f32], one: f32| weights.iter_mut().for_each(|w| *w = rounded(*w, one));
        let mut dense = self.clone();
        let scales = rounding.scales(architecture);
        round(&mut dense.transformer_bias, ACTIVATION_ONE);
        let [first, ..] = architecture.layers();
        for (number, row) in dense.l1_weight.chunks_exact_mut(first.inputs.max(1)).enumerate() {
            let skips = matches!(architecture.topology, Topology::Skip { .. }) && number % first.outputs == SKIP;
            round(row, if skips { scales.skip } else { scales.first });
        }
        round(&mut dense.l2_weight, scales.second);
        round(&mut dense.output_weight, scales.output);
        dense
    }

    /// Clamps the weights to the range of the file's bytes, for an output multiplied by `output_scale`.
    pub fn clip(&mut self, architecture: Architecture, output_scale: f32) {
        let limits = limits(architecture, output_scale);
        let tensors = [&mut self.l1_weight, &mut self.l2_weight, &mut self.output_weight];
        for (weights, limit) in tensors.into_iter().zip(limits.layers()) {
            weights.iter_mut().for_each(|w| *w = w.clamp(-limit, limit));
        }
        if let Topology::Skip { .. } = architecture.topology {
            let rows = self.l1_weight.chunks_exact_mut(architecture.inputs());
            for row in rows.skip(SKIP).step_by(SKIP + 1) {
                row.iter_mut().for_each(|w| *w = w.clamp(-limits.skip, limits.skip));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::model::{Model, shapes};
    use crate::train::samples::record_of;
    use crate::util::rng::SplitMix64;

    #[test]
    fn initial_psqt_counts_a_queen_for_either_side() {
        let architecture = shapes::for_tests().find(|shape| shape.psqt > 0);
        let architecture = architecture.expect("a trainable shape has piece-square values");
        let model = Model::initial(&mut SplitMix64::new(1), architecture, 0.0);
        let board = |fen: &str| shakmaty::Board::from_ascii_board_fen(fen.as_bytes()).unwrap();
        let ahead = board("4k3/pppp4/8/8/8/8/PPPP4/3QK3");
        let queen = f32::from(piece_value(4)) / UNITS;
        for (black_to_move, sign) in [(false, 1.0), (true, -1.0)] {
            let found = model.psqt(&record_of(&ahead, black_to_move));
            assert!((found - sign * queen).abs() < 1e-5, "{found}");
        }
    }
}
