//! Static choice of the update kernel, for nets with and without threat inputs.

use crate::nnue::features::threat_inputs::{StaticThreatInputs, types};
use crate::nnue::rows::{Accumulator, AllRows, Changes};
use crate::nnue::simd::Kernels;

/// Threat inputs with the matching update kernel.
pub(super) trait Update: StaticThreatInputs {
    /// Applies the changes to `from` and writes the result to `to`.
    fn update<const L1: usize, const P: usize>(
        kernels: Kernels,
        rows: &AllRows<'_, L1, P>,
        from: &Accumulator<L1, P>,
        to: &mut Accumulator<L1, P>,
        changes: &Changes<'_>,
    );
}

impl Update for types::None {
    #[inline(always)]
    fn update<const L1: usize, const P: usize>(
        kernels: Kernels,
        rows: &AllRows<'_, L1, P>,
        from: &Accumulator<L1, P>,
        to: &mut Accumulator<L1, P>,
        changes: &Changes<'_>,
    ) {
        kernels.update(&rows.pieces, from, to, changes.added, changes.removed);
    }
}

/// Implements [`Update`] for nets with threat inputs.
macro_rules! with_threat_inputs {
    ($($name:ident)+) => {
        $(impl Update for types::$name {
            #[inline(always)]
            fn update<const L1: usize, const P: usize>(
                kernels: Kernels,
                rows: &AllRows<'_, L1, P>,
                from: &Accumulator<L1, P>,
                to: &mut Accumulator<L1, P>,
                changes: &Changes<'_>,
            ) {
                kernels.update_all(rows, from, to, changes);
            }
        })+
    };
}

with_threat_inputs! { Threats ThreatsAndPawnPairs }
