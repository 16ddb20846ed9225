//! History tables: results of moves in other nodes, used to order, prune and reduce moves.
//!
//! Each history is a type with `score` and `update`; the types of its fields show how its entries are indexed. All of
//! them, and the correction histories, consist of [`Entry`].
// CITE: history heuristic: Schaeffer (1983); butterfly boards: Hartmann (1988); countermoves: Uiterwijk (1992);
// continuation histories: Stockfish (2015, as "counter move history"); capture history: Stockfish (2017); history of
// the first plies: Stockfish (2020); pawn history: Stockfish (2023). Gravity, tables and limits: SF-2026-08; 512 pawn
// structures: SF-17.1.

use std::ops::{Index, IndexMut};

use bytemuck::Zeroable;

use crate::board::{Bitboard, Color, Move, Piece, Position, Role};
use crate::search::params;
use crate::util::memory::{Zeroed, zeroed_slice_or_abort};

/// Number of pawn structures in the pawn history (a power of two).
const PAWN_STRUCTURES: usize = 512;
/// Contexts of the continuation history: in check or not, noisy or not, piece, square.
const CONTEXTS: usize = 4 * PieceSquare::COUNT;
/// Number of plies from the root with a butterfly table of their own.
pub const LOW_PLIES: usize = 5;

/// A score that is updated with "gravity": a bonus has less effect the nearer the score is to its limit. The score
/// therefore stays in range, and recent results have the largest weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroable)]
#[repr(transparent)]
pub struct Entry(i16);

impl Entry {
    const ZERO: Self = Self(0);

    /// An entry with an initial score.
    pub fn new(score: i32) -> Self {
        Self(score as i16)
    }

    /// The score.
    #[inline]
    pub fn get(self) -> i32 {
        i32::from(self.0)
    }

    /// Adds `bonus`, with gravity towards zero near `max`.
    #[inline]
    pub fn update(&mut self, bonus: i32, max: i32) {
        let bonus = bonus.clamp(-max, max);
        let old = self.get();
        self.0 = (old + bonus - old * bonus.abs() / max) as i16;
    }
}

/// A moved piece on the destination square of its move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceSquare(u16);

impl PieceSquare {
    /// Two colours, six roles, 64 squares.
    pub const COUNT: usize = 12 * 64;

    /// The piece that makes `m`, on the destination of `m`.
    #[inline]
    pub fn new(piece: Piece, m: Move) -> Self {
        let piece = color_index(piece.color) * 6 + piece.role as usize - 1;
        Self((piece * 64 + m.to() as usize) as u16)
    }

    /// A number below [`Self::COUNT`].
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

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
        Self((state * PieceSquare::COUNT + PieceSquare::new(piece, m).index()) as u16)
    }

    #[inline]
    fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// White 0, black 1.
#[inline]
pub fn color_index(color: Color) -> usize {
    usize::from(color == Color::Black)
}

/// Entries by the two squares of a move.
#[derive(Clone, Copy, Zeroable)]
pub struct BySquares([Entry; 4096]);

impl Index<Move> for BySquares {
    type Output = Entry;
    #[inline]
    fn index(&self, m: Move) -> &Entry {
        &self.0[m.from_to()]
    }
}

impl IndexMut<Move> for BySquares {
    #[inline]
    fn index_mut(&mut self, m: Move) -> &mut Entry {
        &mut self.0[m.from_to()]
    }
}

/// Entries by piece and destination of a move.
#[derive(Clone, Copy, Zeroable)]
pub struct ByPiece([Entry; PieceSquare::COUNT]);

impl Index<PieceSquare> for ByPiece {
    type Output = Entry;
    #[inline]
    fn index(&self, square: PieceSquare) -> &Entry {
        &self.0[square.index()]
    }
}

impl IndexMut<PieceSquare> for ByPiece {
    #[inline]
    fn index_mut(&mut self, square: PieceSquare) -> &mut Entry {
        &mut self.0[square.index()]
    }
}

/// Scores of quiet moves by side and squares.
pub struct ButterflyHistory(Zeroed<BySquares>);

impl ButterflyHistory {
    /// The scores of a side's moves.
    #[inline]
    pub fn row(&self, color: Color) -> &BySquares {
        &self.0[color_index(color)]
    }

    /// Score of a move.
    #[inline]
    pub fn score(&self, color: Color, m: Move) -> i32 {
        self.row(color)[m].get()
    }

    /// Adds `bonus`, which may be negative, to the score of a move.
    pub fn update(&mut self, color: Color, m: Move, bonus: i32) {
        self.0[color_index(color)][m].update(bonus, params::hist_butterfly_max());
    }
}

/// Scores of quiet moves near the root, by ply and squares.
pub struct LowPlyHistory(Zeroed<BySquares>);

impl LowPlyHistory {
    /// Score of a move; 0 from ply [`LOW_PLIES`] on.
    #[inline]
    pub fn score(&self, ply: usize, m: Move) -> i32 {
        self.0.get(ply).map_or(0, |row| row[m].get())
    }

    /// Adds `bonus`, which may be negative, to the score of a move.
    pub fn update(&mut self, ply: usize, m: Move, bonus: i32) {
        if let Some(row) = self.0.get_mut(ply) {
            row[m].update(bonus, params::hist_butterfly_max());
        }
    }
}

/// Scores of noisy moves by piece, destination and captured role.
pub struct CaptureHistory(Zeroed<[Entry; 6]>);

impl CaptureHistory {
    /// Score of a move.
    #[inline]
    pub fn score(&self, square: PieceSquare, captured: Option<Role>) -> i32 {
        self.0[square.index()][Self::victim(captured)].get()
    }

    /// Adds `bonus`, which may be negative, to the score of a move.
    pub fn update(&mut self, square: PieceSquare, captured: Option<Role>, bonus: i32) {
        self.0[square.index()][Self::victim(captured)].update(bonus, params::hist_capture_max());
    }

    /// A king is never captured: slot 5 counts promotions without capture.
    #[inline]
    fn victim(captured: Option<Role>) -> usize {
        captured.map_or(5, |role| role as usize - 1)
    }
}

/// Scores of moves by an earlier move, piece and destination.
pub struct ContinuationHistory(Zeroed<ByPiece>);

impl ContinuationHistory {
    /// Scores of all moves after `context`.
    #[inline]
    pub fn row(&self, context: MoveContext) -> &ByPiece {
        &self.0[context.index()]
    }

    /// Score of a move after `context`.
    #[inline]
    pub fn score(&self, context: MoveContext, square: PieceSquare) -> i32 {
        self.row(context)[square].get()
    }

    /// Adds `bonus`, which may be negative, to the score of a move after `context`.
    #[inline]
    pub fn update(&mut self, context: MoveContext, square: PieceSquare, bonus: i32) {
        if context != MoveContext::NONE {
            self.0[context.index()][square].update(bonus, params::hist_cont_max());
        }
    }
}

/// Scores of quiet moves by pawn structure, piece and destination.
pub struct PawnHistory(Zeroed<ByPiece>);

impl PawnHistory {
    /// Scores of all moves with a pawn structure.
    #[inline]
    pub fn row(&self, pawn_key: u64) -> &ByPiece {
        &self.0[Self::structure(pawn_key)]
    }

    /// Score of a move with a pawn structure.
    #[inline]
    pub fn score(&self, pawn_key: u64, square: PieceSquare) -> i32 {
        self.row(pawn_key)[square].get()
    }

    /// Adds `bonus`, which may be negative, to the score of a move with a pawn structure.
    pub fn update(&mut self, pawn_key: u64, square: PieceSquare, bonus: i32) {
        self.0[Self::structure(pawn_key)][square].update(bonus, params::hist_pawn_max());
    }

    #[inline]
    fn structure(pawn_key: u64) -> usize {
        pawn_key as usize & (PAWN_STRUCTURES - 1)
    }
}

/// The move statistics of one thread.
pub struct Histories {
    pub butterfly: ButterflyHistory,
    pub low_ply: LowPlyHistory,
    pub capture: CaptureHistory,
    pub continuation: ContinuationHistory,
    pub pawn: PawnHistory,
}

impl Histories {
    /// Tables with the initial values.
    pub fn new() -> Self {
        let mut new = Self {
            butterfly: ButterflyHistory(zeroed_slice_or_abort(2)),
            low_ply: LowPlyHistory(zeroed_slice_or_abort(LOW_PLIES)),
            capture: CaptureHistory(zeroed_slice_or_abort(PieceSquare::COUNT)),
            continuation: ContinuationHistory(zeroed_slice_or_abort(CONTEXTS + 1)),
            pawn: PawnHistory(zeroed_slice_or_abort(PAWN_STRUCTURES)),
        };
        new.clear();
        new
    }

    /// Resets all tables. The initial values are those of an average move, slightly below zero.
    // CITE: Stockfish; values rounded from SF-17.1.
    pub fn clear(&mut self) {
        self.butterfly.0.fill(BySquares([Entry::ZERO; 4096]));
        self.low_ply.0.fill(BySquares([Entry::ZERO; 4096]));
        self.capture.0.fill([Entry::new(params::hist_capture_start()); 6]);
        self.pawn.0.fill(ByPiece([Entry::new(params::hist_pawn_start()); PieceSquare::COUNT]));
        self.continuation.0.fill(ByPiece([Entry::new(params::hist_cont_start()); PieceSquare::COUNT]));
        self.continuation.0[MoveContext::NONE.index()] = ByPiece([Entry::ZERO; PieceSquare::COUNT]);
    }

    /// Prepares for a new search: resets the history of the first plies, which is valid for one root only, and scales
    /// the butterfly history down.
    // CITE: SF-2026-08.
    pub fn new_root(&mut self) {
        self.low_ply.0.fill(BySquares([Entry::new(params::hist_low_start()); 4096]));
        // Two loops, because the compiler does not vectorise a loop over `flat_map`: data generation starts a thousand
        // searches a second.
        for row in self.butterfly.0.iter_mut() {
            for entry in &mut row.0 {
                *entry = Entry::new(entry.get() * params::hist_butterfly_keep() / 1024);
            }
        }
    }
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
            let mut entry = Entry::ZERO;
            for step in 0..20_000 {
                // Bonuses of every size, some beyond the limit; long runs of one sign reach both limits.
                let bits = rng.below(17);
                let size = rng.below(1 << bits) as i32;
                let bonus = if step / 100 % 2 == 0 { size } else { -size };
                let before = entry.get();
                entry.update(bonus, max);
                let after = entry.get();
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
            (0..200).for_each(|_| entry.update(max / 4, max));
            assert!(entry.get() > max * 9 / 10, "repeated bonuses reach {entry:?} of {max}");
        }
    }

    #[test]
    fn empty_context_stays_zero() {
        let mut histories = Histories::new();
        let square = PieceSquare::new(Piece { color: Color::White, role: Role::Pawn }, quiet());
        for context in [MoveContext::NONE, MoveContext(0)] {
            let before = histories.continuation.score(context, square);
            histories.continuation.update(context, square, 1000);
            let after = histories.continuation.score(context, square);
            assert_eq!(after > before, context != MoveContext::NONE);
        }
        assert_eq!(histories.continuation.score(MoveContext::NONE, square), 0);
    }

    #[test]
    fn updates_change_one_side_only() {
        let mut histories = Histories::new();
        let before = histories.butterfly.score(Color::Black, quiet());
        histories.butterfly.update(Color::White, quiet(), 500);
        assert!(histories.butterfly.score(Color::White, quiet()) > 0);
        assert_eq!(histories.butterfly.score(Color::Black, quiet()), before);
        histories.clear();
        assert_eq!(histories.butterfly.score(Color::White, quiet()), 0);
    }

    #[test]
    fn contexts_and_piece_squares_differ_for_every_move() {
        let mut contexts = std::collections::HashSet::new();
        for color in Color::ALL {
            for role in Role::ALL {
                for to in Square::ALL.into_iter().filter(|&to| to != Square::A1) {
                    let m = Move::new(Square::A1, to).expect("not a1a1");
                    let piece = Piece { color, role };
                    assert!(PieceSquare::new(piece, m).index() < PieceSquare::COUNT);
                    for (in_check, noisy) in [(false, false), (false, true), (true, false), (true, true)] {
                        let context = MoveContext::new(in_check, noisy, piece, m);
                        assert!(context.index() < MoveContext::NONE.index());
                        assert!(contexts.insert(context.index()), "{piece:?} {m:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn first_plies_have_scores_of_their_own() {
        let mut histories = Histories::new();
        histories.new_root();
        histories.low_ply.update(2, quiet(), -500);
        let scores = [1, 2, 3, LOW_PLIES, 200].map(|ply| histories.low_ply.score(ply, quiet()));
        let start = params::hist_low_start();
        assert!(scores[1] < 0);
        assert_eq!([scores[0], scores[2], scores[3], scores[4]], [start, start, 0, 0]);
        histories.low_ply.update(LOW_PLIES, quiet(), 500);
        histories.new_root();
        assert_eq!(histories.low_ply.score(2, quiet()), start);
    }
}
