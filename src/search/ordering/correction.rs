//! Correction histories: errors of the static evaluation in positions that share a feature.
//!
//! After a search, the difference between its result and the static evaluation is stored under the keys of the pawns,
//! the minor pieces, each side's pieces, and pairs of moves. The weighted sum of these entries corrects later
//! evaluations. A large sum means that the evaluation is unreliable.
// CITE: correction history: M. Witwicki's Caissa (2023); in Stockfish since December 2023; tables for minor pieces and
// each side's pieces: Stockfish (September 2024); for pairs of moves: Stockfish (October 2024). Weights and rates:
// SF-2026-08. 16,384 entries a table: SF-17.

use super::history::color_index;
use crate::board::{Color, Position};
use crate::search::params;
use crate::search::score::{Value, clamp_eval};
use crate::util::memory::{Zeroed, zeroed_slice_or_abort};
use crate::util::prefetch::prefetch;

/// Entries per table and colour (a power of two).
const SIZE: usize = 16_384;
/// Pairs of a piece on a square, earlier and now: 769 (768, and one for none) times 768.
const CONTINUATION: usize = 769 * 768;

/// Slot of a missing pair; it is never written.
const NO_MOVE: u32 = 768 * 768;

/// The correction tables of one thread.
pub struct Corrections {
    pawn: Zeroed<i16>,
    minor: Zeroed<i16>,
    non_pawn: [Zeroed<i16>; 2],
    continuation: Zeroed<i16>,
}

/// The keys of a node in every table.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    pawn: u32,
    minor: u32,
    non_pawn: [u32; 2],
    continuation: [u32; 2],
}

impl Keys {
    /// Keys of a node that has not been reached yet.
    pub const NONE: Self = Self { pawn: 0, minor: 0, non_pawn: [0; 2], continuation: [NO_MOVE; 2] };

    /// The keys of `position`, reached by the move on `last` (piece and square, if there was a move), with the moves
    /// two and four plies earlier in `before`.
    #[inline]
    pub fn new(position: &Position, last: Option<usize>, before: [Option<usize>; 2]) -> Self {
        let side = color_index(position.turn()) * SIZE;
        let slot = |key: u64| (side + (key as usize & (SIZE - 1))) as u32;
        Self {
            pawn: slot(position.pawn_key()),
            minor: slot(position.minor_key()),
            non_pawn: [Color::White, Color::Black].map(|color| slot(position.non_pawn_key(color))),
            continuation: before.map(|earlier| match (earlier, last) {
                (Some(earlier), Some(square)) => (earlier * 768 + square) as u32,
                _ => NO_MOVE,
            }),
        }
    }
}

#[inline]
fn update(entry: &mut i16, bonus: i32) {
    let old = i32::from(*entry);
    let max = params::corr_max();
    let bonus = bonus.clamp(-max, max);
    *entry = (old + bonus - old * bonus.abs() / max) as i16;
}

impl Corrections {
    /// Empty tables.
    pub fn new() -> Self {
        let table = || zeroed_slice_or_abort(2 * SIZE);
        Self {
            pawn: table(),
            minor: table(),
            non_pawn: [table(), table()],
            continuation: zeroed_slice_or_abort(CONTINUATION),
        }
    }

    /// Resets all tables.
    pub fn clear(&mut self) {
        let [white, black] = &mut self.non_pawn;
        for table in [&mut self.pawn, &mut self.minor, white, black, &mut self.continuation] {
            table.fill(0);
        }
    }

    /// Prefetches the entries that [`Self::value`] reads.
    #[inline]
    pub fn prefetch(&self, keys: &Keys) {
        let entry = |table: &[i16], slot: u32| prefetch(&table[slot as usize]);
        entry(&self.pawn, keys.pawn);
        entry(&self.minor, keys.minor);
        entry(&self.non_pawn[0], keys.non_pawn[0]);
        entry(&self.non_pawn[1], keys.non_pawn[1]);
        entry(&self.continuation, keys.continuation[0]);
        entry(&self.continuation, keys.continuation[1]);
    }

    /// Correction of the static evaluation, in internal units.
    // CITE: weights: SF-2026-08.
    #[inline]
    pub fn value(&self, keys: &Keys) -> Value {
        let at = |table: &[i16], slot: u32| i32::from(table[slot as usize]);
        let sum = params::corr_pawn() * at(&self.pawn, keys.pawn)
            + params::corr_minor() * at(&self.minor, keys.minor)
            + params::corr_non_pawn()
                * (at(&self.non_pawn[0], keys.non_pawn[0]) + at(&self.non_pawn[1], keys.non_pawn[1]))
            + params::corr_cont()
                * (at(&self.continuation, keys.continuation[0]) + at(&self.continuation, keys.continuation[1]));
        sum / 1024
    }

    /// Moves the corrections of a position by `bonus`, positive where the evaluation was too low.
    // CITE: rates and clamps: SF-2026-08.
    pub fn learn(&mut self, keys: &Keys, bonus: i32) {
        let max_step = params::corr_step_max();
        let bonus = bonus.clamp(-max_step, max_step) * params::corr_rate() / 1024;
        update(&mut self.pawn[keys.pawn as usize], bonus);
        update(&mut self.minor[keys.minor as usize], bonus * params::corr_rate_minor() / 128);
        for (table, &key) in self.non_pawn.iter_mut().zip(&keys.non_pawn) {
            update(&mut table[key as usize], bonus * params::corr_rate_non_pawn() / 128);
        }
        let rates = [params::corr_rate_second(), params::corr_rate_fourth()];
        for (&key, weight) in keys.continuation.iter().zip(rates) {
            if key != NO_MOVE {
                update(&mut self.continuation[key as usize], bonus * weight / 128);
            }
        }
    }
}

/// The static evaluation, corrected and kept below proven results.
#[inline]
pub fn corrected(eval: Value, correction: Value) -> Value {
    clamp_eval(eval + correction)
}
