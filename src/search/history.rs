//! History tables: results of moves in other nodes, used to order, prune and reduce moves.
//!
//! Each history is a type with `score` and `update`; the types of its fields show how its entries are indexed. All of
//! them, and the correction histories, consist of [`Entry`].

use std::ops::{Index, IndexMut};

use bytemuck::Zeroable;

use super::score::{Value, clamp_eval};
use super::{params, rules};
use crate::board::{Bitboard, Color, Move, Piece, Position, Role};
use crate::util::memory::{CAN_PREFETCH, Zeroed, prefetch, zeroed_slice_or_abort};

// CITE: history heuristic: Schaeffer (1983); butterfly boards: Hartmann (1988); countermoves: Uiterwijk (1992);
// continuation histories: Stockfish (2015, as "counter move history"); capture history: Stockfish (2017); history of
// the first plies: Stockfish (2020); pawn history: Stockfish (2023). Gravity, tables and limits: SF-2026-08; 512 pawn
// structures: SF-17.1.

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
pub struct ContHistIndex(u16);

impl ContHistIndex {
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
    pub fn row(&self, context: ContHistIndex) -> &ByPiece {
        &self.0[context.index()]
    }

    /// Score of a move after `context`.
    #[inline]
    pub fn score(&self, context: ContHistIndex, square: PieceSquare) -> i32 {
        self.row(context)[square].get()
    }

    /// Adds `bonus`, which may be negative, to the score of a move after `context`.
    #[inline]
    pub fn update(&mut self, context: ContHistIndex, square: PieceSquare, bonus: i32) {
        if context != ContHistIndex::NONE {
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
        self.continuation.0[ContHistIndex::NONE.index()] = ByPiece([Entry::ZERO; PieceSquare::COUNT]);
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
pub fn threats_by_lesser(position: &Position) -> [Bitboard; 6] {
    let them = !position.turn();
    let pawns = position.attacks_by(them, Role::Pawn);
    let minors = pawns | position.attacks_by(them, Role::Knight) | position.attacks_by(them, Role::Bishop);
    let rooks = minors | position.attacks_by(them, Role::Rook);
    [Bitboard::EMPTY, pawns, pawns, minors, rooks, Bitboard::EMPTY]
}

// -- correction histories -------------------------------------------------------------------------------------
//
// Correction histories: errors of the static evaluation in positions that share a feature.
//
// After a search, the difference between its result and the static evaluation is stored under the keys of the pawns,
// the minor pieces, each side's pieces, and pairs of moves. The weighted sum of these entries corrects later
// evaluations. A large sum means that the evaluation is unreliable.
// CITE: correction history: M. Witwicki's Caissa (2023); in Stockfish since December 2023; tables for minor pieces and
// each side's pieces: Stockfish (September 2024); for pairs of moves: Stockfish (October 2024). Weights and rates:
// SF-2026-08. 16,384 entries a table: SF-17.

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
        if !CAN_PREFETCH {
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
        for context in [ContHistIndex::NONE, ContHistIndex(0)] {
            let before = histories.continuation.score(context, square);
            histories.continuation.update(context, square, 1000);
            let after = histories.continuation.score(context, square);
            assert_eq!(after > before, context != ContHistIndex::NONE);
        }
        assert_eq!(histories.continuation.score(ContHistIndex::NONE, square), 0);
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
                        let context = ContHistIndex::new(in_check, noisy, piece, m);
                        assert!(context.index() < ContHistIndex::NONE.index());
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
