//! The sums of every ply.

use shakmaty::Color;

use super::plies::{INITIAL_PLIES, Plies};
use crate::nnue::rows::Accumulator;

/// Both perspectives' accumulators of every ply, by ply and colour.
pub struct Sums<const L1: usize, const P: usize>(Vec<[Accumulator<L1, P>; 2]>);

impl<const L1: usize, const P: usize> Sums<L1, P> {
    /// Sums of lines of the initial length.
    pub fn new() -> Self {
        Self(vec![[Accumulator::zeroed(), Accumulator::zeroed()]; INITIAL_PLIES])
    }

    /// Extends the storage to all plies of a line.
    #[inline(always)]
    pub fn extend_to(&mut self, plies: &Plies) {
        if plies.top >= self.0.len() {
            self.grow(plies.stack.len());
        }
    }

    #[cold]
    fn grow(&mut self, plies: usize) {
        self.0.resize(plies, [Accumulator::zeroed(), Accumulator::zeroed()]);
    }

    /// The accumulator of one perspective at a ply.
    #[inline(always)]
    pub fn at(&mut self, ply: usize, perspective: Color) -> &mut Accumulator<L1, P> {
        &mut self.0[ply][perspective as usize]
    }

    /// The accumulators of one perspective at the previous ply and at this one.
    #[inline(always)]
    pub fn step(&mut self, ply: usize, perspective: Color) -> (&Accumulator<L1, P>, &mut Accumulator<L1, P>) {
        let (before, after) = self.0.split_at_mut(ply);
        (&before[ply - 1][perspective as usize], &mut after[0][perspective as usize])
    }

    /// Both accumulators at a ply; the first is for the side to move.
    #[inline(always)]
    pub fn both(&self, ply: usize, turn: Color) -> [&Accumulator<L1, P>; 2] {
        let sums = &self.0[ply];
        [&sums[turn as usize], &sums[turn.other() as usize]]
    }
}
