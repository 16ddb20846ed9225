//! History tables: results of moves in other nodes, used to order, prune and reduce moves.
//!
//! Every entry is an `i16` with a "gravity" update: a bonus counts less the nearer the entry is to its limit. So
//! entries stay in range, and recent results have the largest weight.
// CITE: history heuristic: Schaeffer (1983); butterfly boards: Hartmann (1988); countermoves: Uiterwijk (1992);
// continuation histories: Stockfish (2015, as "counter move history"); capture history: Stockfish (2017); history of
// the first plies: Stockfish (2020); pawn history: Stockfish (2023). Gravity, tables and limits: SF-2026-08; 512 pawn
// structures: SF-17.1.

use crate::board::{Bitboard, Color, Move, Piece, Position, Role};
use crate::search::params;
use crate::util::memory::{Zeroed, zeroed_slice_or_abort};

/// Number of pawn structures in the pawn history (a power of two).
const PAWN_STRUCTURES: usize = 512;
/// Pieces (two colours, six roles) times squares.
const PIECE_SQUARES: usize = 12 * 64;
/// Contexts of the continuation history: in check or not, noisy or not, piece, square.
const CONTEXTS: usize = 4 * PIECE_SQUARES;
/// Number of plies from the root with a butterfly table of their own.
pub const LOW_PLIES: usize = 5;

/// A context in the continuation history: the move made, and whether it was noisy or answered a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveContext(u16);

impl MoveContext {
    /// No move, for the root and after null moves. Its entries are zero and never written.
    pub const NONE: Self = Self(CONTEXTS as u16);

    /// The context created by making `m` with `piece`.
    #[inline]
    pub fn new(in_check: bool, noisy: bool, piece: Piece, m: Move) -> Self {
        let state = usize::from(in_check) * 2 + usize::from(noisy);
        Self((state * PIECE_SQUARES + piece_square(piece, m)) as u16)
    }

    /// Index of the context, at most 3072 ([`Self::NONE`]).
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    #[inline]
    fn base(self) -> usize {
        self.index() * PIECE_SQUARES
    }
}

/// Index of a piece on the square where a move puts it, below 768.
#[inline]
pub fn piece_square(piece: Piece, m: Move) -> usize {
    piece_index(piece) * 64 + m.to() as usize
}

#[inline]
fn piece_index(piece: Piece) -> usize {
    color_index(piece.color) * 6 + piece.role as usize - 1
}

/// White 0, black 1.
#[inline]
pub fn color_index(color: Color) -> usize {
    usize::from(color == Color::Black)
}

/// Adds `bonus` to an entry, with gravity towards zero near `max`.
#[inline]
fn update(entry: &mut i16, bonus: i32, max: i32) {
    let bonus = bonus.clamp(-max, max);
    let old = i32::from(*entry);
    *entry = (old + bonus - old * bonus.abs() / max) as i16;
}

/// The move statistics of one thread.
pub struct Histories {
    butterfly: Zeroed<i16>,
    low_ply: Zeroed<i16>,
    capture: Zeroed<i16>,
    continuation: Zeroed<i16>,
    pawn: Zeroed<i16>,
}

impl Histories {
    /// Empty tables.
    pub fn new() -> Self {
        let mut new = Self {
            butterfly: zeroed_slice_or_abort(2 * 4096),
            low_ply: zeroed_slice_or_abort(LOW_PLIES * 4096),
            capture: zeroed_slice_or_abort(PIECE_SQUARES * 6),
            continuation: zeroed_slice_or_abort((CONTEXTS + 1) * PIECE_SQUARES),
            pawn: zeroed_slice_or_abort(PAWN_STRUCTURES * PIECE_SQUARES),
        };
        new.clear();
        new
    }

    /// Resets all tables. The initial values are those of an average move, slightly below zero.
    // CITE: Stockfish; values rounded from SF-17.1.
    pub fn clear(&mut self) {
        self.butterfly.fill(0);
        self.low_ply.fill(0);
        self.capture.fill(params::hist_capture_start() as i16);
        self.pawn.fill(params::hist_pawn_start() as i16);
        let (used, none) = self.continuation.split_at_mut(CONTEXTS * PIECE_SQUARES);
        used.fill(params::hist_cont_start() as i16);
        none.fill(0);
    }

    /// Prepares for a new search: resets the history of the first plies, which is valid for one root only, and scales
    /// the butterfly history down.
    // CITE: SF-2026-08.
    pub fn new_root(&mut self) {
        self.low_ply.fill(params::hist_low_start() as i16);
        for entry in self.butterfly.iter_mut() {
            *entry = (i32::from(*entry) * params::hist_butterfly_keep() / 1024) as i16;
        }
    }

    /// Score of the quiet move in the butterfly table of `color`.
    #[inline]
    pub fn butterfly(&self, color: Color, m: Move) -> i32 {
        i32::from(self.butterfly[color_index(color) * 4096 + m.from_to()])
    }

    /// Score of the quiet move at this ply near the root; 0 further away.
    #[inline]
    pub fn low_ply(&self, ply: usize, m: Move) -> i32 {
        if ply < LOW_PLIES { i32::from(self.low_ply[ply * 4096 + m.from_to()]) } else { 0 }
    }

    /// Score of the capture.
    #[inline]
    pub fn capture(&self, piece: Piece, m: Move, captured: Option<Role>) -> i32 {
        i32::from(self.capture[capture_index(piece, m, captured)])
    }

    /// Score of a move to `piece_square` after `context`.
    #[inline]
    pub fn continuation(&self, context: MoveContext, piece_square: usize) -> i32 {
        i32::from(self.continuation[context.base() + piece_square])
    }

    /// Scores of all moves after `context`, by piece and square.
    #[inline]
    pub fn continuation_row(&self, context: MoveContext) -> &[i16] {
        &self.continuation[context.base()..context.base() + PIECE_SQUARES]
    }

    /// Scores of all moves with this pawn structure, by piece and square.
    #[inline]
    pub fn pawn_row(&self, pawn_key: u64) -> &[i16] {
        let start = pawn_index(pawn_key, 0);
        &self.pawn[start..start + PIECE_SQUARES]
    }

    /// The side's butterfly table, by `from | to << 6`.
    #[inline]
    pub fn butterfly_row(&self, color: Color) -> &[i16] {
        let start = color_index(color) * 4096;
        &self.butterfly[start..start + 4096]
    }

    /// Score of a move to `piece_square` with this pawn structure.
    #[inline]
    pub fn pawn(&self, pawn_key: u64, piece_square: usize) -> i32 {
        i32::from(self.pawn[pawn_index(pawn_key, piece_square)])
    }

    /// Adds `bonus`, which may be negative, to the score of a capture.
    pub fn update_capture(&mut self, piece: Piece, m: Move, captured: Option<Role>, bonus: i32) {
        update(&mut self.capture[capture_index(piece, m, captured)], bonus, params::hist_capture_max());
    }

    /// Adds `bonus` to the score of a quiet move in the butterfly table.
    pub fn update_butterfly(&mut self, color: Color, m: Move, bonus: i32) {
        let entry = &mut self.butterfly[color_index(color) * 4096 + m.from_to()];
        update(entry, bonus, params::hist_butterfly_max());
    }

    /// Adds `bonus` to the score of a quiet move near the root.
    pub fn update_low_ply(&mut self, ply: usize, m: Move, bonus: i32) {
        if ply < LOW_PLIES {
            update(&mut self.low_ply[ply * 4096 + m.from_to()], bonus, params::hist_butterfly_max());
        }
    }

    /// Adds `bonus` to the score of a move to `piece_square` after `context`.
    #[inline]
    pub fn update_continuation(&mut self, context: MoveContext, piece_square: usize, bonus: i32) {
        if context != MoveContext::NONE {
            let entry = &mut self.continuation[context.base() + piece_square];
            update(entry, bonus, params::hist_cont_max());
        }
    }

    /// Adds `bonus` to the score of a move to `piece_square` with this pawn structure.
    pub fn update_pawn(&mut self, pawn_key: u64, piece_square: usize, bonus: i32) {
        update(&mut self.pawn[pawn_index(pawn_key, piece_square)], bonus, params::hist_pawn_max());
    }
}

#[inline]
fn capture_index(piece: Piece, m: Move, captured: Option<Role>) -> usize {
    // A king is never captured: slot 5 counts promotions without capture.
    let victim = captured.map_or(5, |role| role as usize - 1);
    piece_square(piece, m) * 6 + victim
}

#[inline]
fn pawn_index(pawn_key: u64, piece_square: usize) -> usize {
    (pawn_key as usize & (PAWN_STRUCTURES - 1)) * PIECE_SQUARES + piece_square
}

/// Squares attacked by cheaper pieces of the opponent, by role index of the attacked piece. Leaving such a square is
/// good for a quiet move, entering one is bad.
// CITE: Stockfish (2022).
pub fn cheaper_attacks(position: &Position) -> [Bitboard; 6] {
    let them = !position.turn();
    let pawns = position.attacks_by(them, Role::Pawn);
    let minors = pawns | position.attacks_by(them, Role::Knight) | position.attacks_by(them, Role::Bishop);
    let rooks = minors | position.attacks_by(them, Role::Rook);
    [Bitboard::EMPTY, pawns, pawns, minors, rooks, Bitboard::EMPTY]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Square;
    use crate::util::rng::SplitMix64;

    fn quiet() -> Move {
        Move::new(Square::E2, Square::E4).expect("not a1a1")
    }

    #[test]
    fn gravity_moves_entries_with_the_bonus_and_keeps_them_in_range() {
        let mut rng = SplitMix64::new(1);
        for max in [params::hist_butterfly_max(), params::hist_cont_max(), params::corr_max()] {
            let mut entry = 0;
            for step in 0..20_000 {
                // Bonuses of every size, some beyond the limit; long runs of one sign reach both limits.
                let bits = rng.below(17);
                let size = rng.below(1 << bits) as i32;
                let bonus = if step / 100 % 2 == 0 { size } else { -size };
                let before = i32::from(entry);
                update(&mut entry, bonus, max);
                let after = i32::from(entry);
                assert!(after.abs() <= max, "{before} {bonus:+} gives {after}, limit {max}");
                let change = (after - before) * bonus.signum();
                assert!(change >= 0, "{before} {bonus:+} gives {after}");
                // A bonus has its whole effect on an entry of zero or of the other sign, and less near the limit.
                let bounded = size.min(max);
                if before * bonus <= 0 {
                    assert!(change >= bounded, "{before} {bonus:+} gives {after}");
                } else {
                    assert!(change <= bounded, "{before} {bonus:+} gives {after}");
                }
            }
            (0..200).for_each(|_| update(&mut entry, max / 4, max));
            assert!(i32::from(entry) > max * 9 / 10, "repeated bonuses reach {entry} of {max}");
        }
    }

    #[test]
    fn empty_context_stays_zero() {
        let mut histories = Histories::new();
        histories.update_continuation(MoveContext::NONE, 5, 1000);
        assert_eq!(histories.continuation(MoveContext::NONE, 5), 0);
    }

    #[test]
    fn updates_change_one_table_only() {
        let mut histories = Histories::new();
        let before = histories.butterfly(Color::Black, quiet());
        histories.update_butterfly(Color::White, quiet(), 500);
        assert!(histories.butterfly(Color::White, quiet()) > 0);
        assert_eq!(histories.butterfly(Color::Black, quiet()), before);
        histories.clear();
        assert_eq!(histories.butterfly(Color::White, quiet()), 0);
    }
}
