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
/// Deltas of a position's accumulators (derivatives of the loss by their sums), in bfloat16.
pub type Deltas<const L1: usize> = [[u16; L1]; 2];
/// Weights of the first layer for `L1` inputs, one row per input, for the forward pass.
pub type InputMajor<const L1: usize> = [[f32; HIDDEN]; L1];
/// Weights or gradient of the first layer for sixteen inputs, one row per output, for the backward pass. A row is a
/// cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Tile(pub [[f32; LANES]; HIDDEN]);
/// One number per unit of a hidden layer.
pub type Hidden = [f32; HIDDEN];

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
