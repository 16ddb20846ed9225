//! The arrays that the kernels of a step work on.

use crate::train::model::scales::HIDDEN;

/// Positions that go through the layers together.
pub const GROUP: usize = 8;

/// A row of the transformer.
pub type Row<const L1: usize> = [f32; L1];
/// A row of the transformer in fixed point, as the forward pass reads it.
pub type FixedRow<const L1: usize> = [i16; L1];
/// The activated accumulators of a position: side to move, then the other. Or the products of both, then nothing.
pub type Inputs<const L1: usize> = [[f32; L1]; 2];
/// The deltas of a position's accumulators (the derivatives of the loss by their sums), in bfloat16.
pub type Deltas<const L1: usize> = [[u16; L1]; 2];
/// Weights of the first layer for `L1` inputs, one row per input: for the forward pass.
pub type InputMajor<const L1: usize> = [[f32; HIDDEN]; L1];
/// Weights or gradient of the first layer for sixteen inputs, one row per output, each a cache line: for the backward
/// pass.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Tile(pub [[f32; LANES]; HIDDEN]);
/// One number per unit of a hidden layer.
pub type Hidden = [f32; HIDDEN];

/// Inputs in a tile.
pub const LANES: usize = 16;

impl Tile {
    /// A tile of zeros.
    pub const ZERO: Self = Self([[0.0; LANES]; HIDDEN]);

    /// How many of them a first layer with so many inputs has.
    pub const fn count(inputs: usize) -> usize {
        inputs / LANES
    }
}

/// Scale of a fixed-point row: 32 times finer than the exported net, with a span of ±8. A span of half that size costs
/// accuracy (`docs/experiments.md`).
pub const FIXED_ONE: f32 = 4064.0;
