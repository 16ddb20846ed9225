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
use crate::util::prefetch::{EXISTS, prefetch};

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
        if !EXISTS {
            return;
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::tests::random_positions;
    use crate::util::rng::SplitMix64;

    /// Largest possible correction: every entry at its limit.
    fn max_value() -> Value {
        let weights =
            params::corr_pawn() + params::corr_minor() + 2 * params::corr_non_pawn() + 2 * params::corr_cont();
        weights * params::corr_max() / 1024
    }

    fn keys(position: &Position) -> Keys {
        Keys::new(position, Some(3), [Some(100), Some(200)])
    }

    #[test]
    fn correction_follows_the_bonus_and_stays_in_range() {
        let mut corrections = Corrections::new();
        let mut rng = SplitMix64::new(2);
        for (number, position) in random_positions(300).iter().enumerate() {
            let keys = keys(position);
            let sign = if number % 2 == 0 { 1 } else { -1 };
            for _ in 0..rng.below(60) {
                let before = corrections.value(&keys);
                corrections.learn(&keys, sign * rng.below(100_000) as i32);
                let after = corrections.value(&keys);
                assert!((after - before) * sign >= 0, "{before} to {after} with sign {sign}");
                assert!(after.abs() <= max_value(), "{after}");
            }
        }
    }

    #[test]
    fn correction_depends_on_the_side_to_move() {
        for mut position in random_positions(300).into_iter().filter(|position| !position.in_check()) {
            let mut corrections = Corrections::new();
            let keys = |position: &Position| Keys::new(position, None, [None, None]);
            corrections.learn(&keys(&position), 200);
            assert!(corrections.value(&keys(&position)) > 0, "{}", position.fen());
            position.do_null_move();
            assert_eq!(corrections.value(&keys(&position)), 0, "{}", position.fen());
        }
    }

    #[test]
    fn every_table_contributes_to_the_correction() {
        let position = Position::startpos();
        let none = Keys::new(&position, None, [None, None]);
        let mut corrections = Corrections::new();
        corrections.learn(&none, 200);
        let without_moves = corrections.value(&none);
        let mut corrections = Corrections::new();
        corrections.learn(&keys(&position), 200);
        assert!(corrections.value(&keys(&position)) > without_moves);
        // The same moves before another position with other pieces and pawns.
        let other = crate::search::tests::position("4k3/8/8/8/3P4/8/8/4K3 w - - 0 1");
        assert!(corrections.value(&keys(&other)) > 0);
        assert_eq!(corrections.value(&Keys::new(&other, None, [None, None])), 0);
    }

    #[test]
    fn missing_moves_have_no_correction() {
        let mut corrections = Corrections::new();
        let position = Position::startpos();
        corrections.learn(&Keys::new(&position, None, [Some(5), None]), 256);
        assert_eq!(corrections.continuation[NO_MOVE as usize], 0);
    }

    #[test]
    fn corrected_evaluation_is_no_proven_result() {
        for eval in [-40_000, -31_000, -500, 0, 31_000, 40_000] {
            for correction in [-1000, 0, 1000] {
                assert!(!crate::search::score::is_decisive(corrected(eval, correction)), "{eval} {correction}");
            }
        }
        assert_eq!(corrected(100, -30), 70);
    }
}
