//! Array types of a step's kernels.

use crate::train::model::scales::HIDDEN;

/// Number of positions processed together.
pub const GROUP: usize = 8;

/// A row of the transformer.
pub type Row<const L1: usize> = [f32; L1];
/// A row of the transformer in fixed point, for the forward pass.
pub type FixedRow<const L1: usize> = [i16; L1];
/// Activated accumulators of a position: side to move, then the other side. Or the products of both in the first row.
pub type Inputs<const L1: usize> = [[f32; L1]; 2];
/// Deltas of a position's accumulators (derivatives of the loss by their sums).
pub type Deltas<const L1: usize> = [[f32; L1]; 2];
/// Weights of the first layer for `L1` inputs, one row per input, for the forward pass.
pub type InputMajor<const L1: usize> = [[f32; HIDDEN]; L1];
/// Weights or gradient of the first layer for sixteen inputs, one row per output, for the backward pass. A row is a
/// cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Tile(pub [[f32; LANES]; HIDDEN]);
/// One number per unit of a hidden layer.
pub type Hidden = [f32; HIDDEN];

/// Columns of the transformer whose gradient is summed at a time.
pub const COLUMNS: usize = 128;
/// Columns that [`PackedColumns`] interleaves: their words fill a register.
pub const INTERLEAVED: usize = 2 * LANES;

/// An accumulator's deltas for a block of columns, in bfloat16. Of each [`INTERLEAVED`] columns, the first half is in
/// the lower halves of the words, and the second half in the upper halves. Two numbers then become floats by a shift
/// and a mask.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct PackedColumns(pub [u32; COLUMNS / 2]);

impl PackedColumns {
    /// Deltas of zero.
    pub const ZERO: Self = Self([0; COLUMNS / 2]);
}

/// Number of inputs in a tile.
pub const LANES: usize = 16;

impl Tile {
    /// A tile of zeros.
    pub const ZERO: Self = Self([[0.0; LANES]; HIDDEN]);

    /// Returns the number of tiles of a first layer with `inputs` inputs.
    pub const fn count(inputs: usize) -> usize {
        inputs / LANES
    }
}

/// Scale of a fixed-point row: 32 times finer than the exported net, with a range of ±8. Half of that range reduces
/// accuracy (`docs/experiments.md`).
pub const FIXED_ONE: f32 = 4064.0;
