//! Correction histories: errors of the static evaluation in positions that share a feature.
//!
//! After a search, the difference between its result and the static evaluation is stored under the keys of the pawns,
//! the minor pieces, each side's pieces, and pairs of moves. The weighted sum of these entries corrects later
//! evaluations. A large sum means that the evaluation is unreliable.
// CITE: correction history: M. Witwicki's Caissa (2023); in Stockfish since December 2023; tables for minor pieces and
// each side's pieces: Stockfish (September 2024); for pairs of moves: Stockfish (October 2024). Weights and rates:
// SF-2026-08. 16,384 entries a table: SF-17.

use super::history::{Entry, PieceSquare, color_index};
use crate::board::{Color, Position};
use crate::search::params;
use crate::search::rules;
use crate::search::score::{Value, clamp_eval};
use crate::util::memory::{Zeroed, zeroed_slice_or_abort};
use crate::util::prefetch::{EXISTS, prefetch};

/// Entries per table and colour (a power of two).
const SIZE: usize = 16_384;
/// Number of pairs of an earlier and a later piece-square.
const MOVE_PAIRS: usize = PieceSquare::COUNT * PieceSquare::COUNT;

/// Index of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot(u32);

impl Slot {
    /// Slot of a missing pair of moves; it is never written.
    const NO_MOVE: Self = Self(MOVE_PAIRS as u32);

    /// Slot of a part of the position, for the side to move.
    #[inline]
    fn of_key(turn: Color, key: u64) -> Self {
        Self((color_index(turn) * SIZE + (key as usize & (SIZE - 1))) as u32)
    }

    /// Slot of the last move after an earlier one.
    #[inline]
    fn of_moves(earlier: Option<PieceSquare>, last: Option<PieceSquare>) -> Self {
        match (earlier, last) {
            (Some(earlier), Some(last)) => Self((earlier.index() * PieceSquare::COUNT + last.index()) as u32),
            _ => Self::NO_MOVE,
        }
    }
}

/// Corrections by one feature.
struct Table(Zeroed<Entry>);

impl Table {
    fn new(entries: usize) -> Self {
        Self(zeroed_slice_or_abort(entries))
    }

    #[inline]
    fn get(&self, slot: Slot) -> i32 {
        self.0[slot.0 as usize].get()
    }

    #[inline]
    fn prefetch(&self, slot: Slot) {
        prefetch(&self.0[slot.0 as usize]);
    }

    #[inline]
    fn update(&mut self, slot: Slot, bonus: i32) {
        self.0[slot.0 as usize].update(bonus, params::corr_max());
    }
}

/// The correction tables of one thread.
pub struct Corrections {
    pawn: Table,
    minor: Table,
    non_pawn: [Table; 2],
    continuation: Table,
}

/// The keys of a node in every table.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    pawn: Slot,
    minor: Slot,
    non_pawn: [Slot; 2],
    continuation: [Slot; 2],
}

/// The earlier moves on which the corrections of a node depend.
#[derive(Clone, Copy, Debug, Default)]
pub struct LastMoves {
    /// The last move; `None` at the root and after a null move.
    pub last: Option<PieceSquare>,
    /// The move two plies ago.
    pub second: Option<PieceSquare>,
    /// The move four plies ago.
    pub fourth: Option<PieceSquare>,
}

impl Keys {
    /// Keys of a node that has not been reached yet.
    pub const NONE: Self =
        Self { pawn: Slot(0), minor: Slot(0), non_pawn: [Slot(0); 2], continuation: [Slot::NO_MOVE; 2] };

    /// The keys of `position`, reached by `moves`.
    #[inline]
    pub fn new(position: &Position, moves: LastMoves) -> Self {
        let slot = |key: u64| Slot::of_key(position.turn(), key);
        Self {
            pawn: slot(position.pawn_key()),
            minor: slot(position.minor_key()),
            non_pawn: [Color::White, Color::Black].map(|color| slot(position.non_pawn_key(color))),
            continuation: [moves.second, moves.fourth].map(|earlier| Slot::of_moves(earlier, moves.last)),
        }
    }
}

impl Corrections {
    /// Empty tables.
    pub fn new() -> Self {
        let table = || Table::new(2 * SIZE);
        Self { pawn: table(), minor: table(), non_pawn: [table(), table()], continuation: Table::new(MOVE_PAIRS + 1) }
    }

    /// Resets all tables.
    pub fn clear(&mut self) {
        let [white, black] = &mut self.non_pawn;
        for table in [&mut self.pawn, &mut self.minor, white, black, &mut self.continuation] {
            table.0.fill(Entry::new(0));
        }
    }

    /// Prefetches the entries that [`Self::value`] reads.
    #[inline]
    pub fn prefetch(&self, keys: &Keys) {
        if !EXISTS {
            return;
        }
        self.pawn.prefetch(keys.pawn);
        self.minor.prefetch(keys.minor);
        self.non_pawn[0].prefetch(keys.non_pawn[0]);
        self.non_pawn[1].prefetch(keys.non_pawn[1]);
        self.continuation.prefetch(keys.continuation[0]);
        self.continuation.prefetch(keys.continuation[1]);
    }

    /// Correction of the static evaluation, in internal units.
    // CITE: weights: SF-2026-08.
    #[inline]
    pub fn value(&self, keys: &Keys) -> Value {
        if !rules::correction() {
            return 0;
        }
        let non_pawn = self.non_pawn[0].get(keys.non_pawn[0]) + self.non_pawn[1].get(keys.non_pawn[1]);
        let continuation = self.continuation.get(keys.continuation[0]) + self.continuation.get(keys.continuation[1]);
        let sum = params::corr_pawn() * self.pawn.get(keys.pawn)
            + params::corr_minor() * self.minor.get(keys.minor)
            + params::corr_non_pawn() * non_pawn
            + params::corr_cont() * continuation;
        sum / 1024
    }

    /// Moves the corrections of a position by `bonus`, positive where the evaluation was too low.
    // CITE: rates and clamps: SF-2026-08.
    pub fn learn(&mut self, keys: &Keys, bonus: i32) {
        let max_step = params::corr_step_max();
        let bonus = bonus.clamp(-max_step, max_step) * params::corr_rate() / 1024;
        self.pawn.update(keys.pawn, bonus);
        self.minor.update(keys.minor, bonus * params::corr_rate_minor() / 128);
        for (table, &slot) in self.non_pawn.iter_mut().zip(&keys.non_pawn) {
            table.update(slot, bonus * params::corr_rate_non_pawn() / 128);
        }
        let rates = [params::corr_rate_second(), params::corr_rate_fourth()];
        for (&slot, rate) in keys.continuation.iter().zip(rates) {
            if slot != Slot::NO_MOVE {
                self.continuation.update(slot, bonus * rate / 128);
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
    use crate::board::{Move, Piece, Role, Square};
    use crate::search::tests::random_positions;
    use crate::util::rng::SplitMix64;

    /// Largest possible correction: every entry at its limit.
    fn max_value() -> Value {
        let weights =
            params::corr_pawn() + params::corr_minor() + 2 * params::corr_non_pawn() + 2 * params::corr_cont();
        weights * params::corr_max() / 1024
    }

    fn keys(position: &Position) -> Keys {
        let piece = |role| Piece { color: Color::White, role };
        let square = |role| Some(PieceSquare::new(piece(role), Move::new(Square::A1, Square::B2).expect("not a1a1")));
        let moves = LastMoves { last: square(Role::King), second: square(Role::Queen), fourth: square(Role::Bishop) };
        Keys::new(position, moves)
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
            let keys = |position: &Position| Keys::new(position, LastMoves::default());
            corrections.learn(&keys(&position), 200);
            assert!(corrections.value(&keys(&position)) > 0, "{}", position.fen());
            position.do_null_move();
            assert_eq!(corrections.value(&keys(&position)), 0, "{}", position.fen());
        }
    }

    #[test]
    fn every_table_contributes_to_the_correction() {
        let position = Position::startpos();
        let none = Keys::new(&position, LastMoves::default());
        let mut corrections = Corrections::new();
        corrections.learn(&none, 200);
        let without_moves = corrections.value(&none);
        let mut corrections = Corrections::new();
        corrections.learn(&keys(&position), 200);
        assert!(corrections.value(&keys(&position)) > without_moves);
        // The same moves before another position with other pieces and pawns.
        let other = crate::search::tests::position("4k3/8/8/8/3P4/8/8/4K3 w - - 0 1");
        assert!(corrections.value(&keys(&other)) > 0);
        assert_eq!(corrections.value(&Keys::new(&other, LastMoves::default())), 0);
    }

    #[test]
    fn missing_moves_have_no_correction() {
        let position = Position::startpos();
        let mut corrections = Corrections::new();
        corrections.learn(&Keys::new(&position, LastMoves::default()), 256);
        assert_eq!(corrections.continuation.get(Slot::NO_MOVE), 0);
    }

    #[test]
    fn corrected_evaluation_stays_below_proven_results() {
        for eval in [-40_000, -31_000, -500, 0, 31_000, 40_000] {
            for correction in [-1000, 0, 1000] {
                assert!(!crate::search::score::is_decisive(corrected(eval, correction)), "{eval} {correction}");
            }
        }
        assert_eq!(corrected(100, -30), 70);
    }
}
