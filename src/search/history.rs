//! History tables: results of moves in other nodes, used to order, prune and reduce moves.
//!
//! Each history is a type with `score` and `update`; the types of its fields show how its entries are indexed. All of
//! them, and the correction histories, consist of [`Entry`], or of [`SharedEntry`] where the threads share them.

use std::ops::{Index, IndexMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicI16, Ordering::Relaxed};

use bytemuck::Zeroable;

use super::score::{Value, clamp_eval};
use super::{params, rules};
use crate::board::{Bitboard, Color, Move, Piece, Position, Role};
use crate::util::memory::{CAN_PREFETCH, Zeroed, prefetch, zeroed_slice_or_abort};

// CITE: history heuristic: Schaeffer (1983); butterfly boards: Hartmann (1988); countermoves: Uiterwijk (1992);
// continuation histories: Stockfish (2015, as "counter move history"); capture history: Stockfish (2017); history of
// the first plies: Stockfish (2020); pawn history: Stockfish (2023). Gravity, tables and limits: SF-2026-08; 512 pawn
// structures: SF-17.1.

/// Number of pawn structures in the pawn history for each thread (a power of two).
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
        *self = Self::new(with_gravity(self.get(), bonus, max));
    }
}

/// `old` after `bonus`, both within `max`.
#[inline]
fn with_gravity(old: i32, bonus: i32, max: i32) -> i32 {
    let bonus = bonus.clamp(-max, max);
    old + bonus - old * bonus.abs() / max
}

/// An entry that all threads read and update. Two threads that update it at once may lose one of the two updates,
/// which is no worse than a search that met one node less.
#[derive(Debug, Zeroable)]
#[repr(transparent)]
pub struct SharedEntry(AtomicI16);

impl SharedEntry {
    /// The score.
    #[inline]
    pub fn get(&self) -> i32 {
        i32::from(self.0.load(Relaxed))
    }

    fn set(&self, score: i32) {
        self.0.store(score as i16, Relaxed);
    }

    /// Adds `bonus`, with gravity towards zero near `max`.
    #[inline]
    pub fn update(&self, bonus: i32, max: i32) {
        self.set(with_gravity(self.get(), bonus, max));
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
pub struct ByPiece<E = Entry>([E; PieceSquare::COUNT]);

impl<E> Index<PieceSquare> for ByPiece<E> {
    type Output = E;
    #[inline]
    fn index(&self, square: PieceSquare) -> &E {
        &self.0[square.index()]
    }
}

impl<E> IndexMut<PieceSquare> for ByPiece<E> {
    #[inline]
    fn index_mut(&mut self, square: PieceSquare) -> &mut E {
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
pub struct PawnHistory(Zeroed<ByPiece<SharedEntry>>);

impl PawnHistory {
    /// An empty table for `structures` structures, a power of two.
    fn new(structures: usize) -> Self {
        let new = Self(zeroed_slice_or_abort(structures));
        new.clear();
        new
    }

    /// Gives every move its initial score.
    fn clear(&self) {
        self.0.iter().flat_map(|row| &row.0).for_each(|entry| entry.set(params::hist_pawn_start()));
    }

    /// Scores of all moves with a pawn structure.
    #[inline]
    pub fn row(&self, pawn_key: u64) -> &ByPiece<SharedEntry> {
        &self.0[pawn_key as usize & (self.0.len() - 1)]
    }

    /// Score of a move with a pawn structure.
    #[inline]
    pub fn score(&self, pawn_key: u64, square: PieceSquare) -> i32 {
        self.row(pawn_key)[square].get()
    }

    /// Adds `bonus`, which may be negative, to the score of a move with a pawn structure.
    pub fn update(&self, pawn_key: u64, square: PieceSquare, bonus: i32) {
        self.row(pawn_key)[square].update(bonus, params::hist_pawn_max());
    }
}

/// The statistics that the threads of an engine share, because what one thread learns about a pawn structure or an
/// evaluation helps the others. They are as large for each thread as those of one thread alone.
// CITE: shared correction and pawn histories, and their sizes: SF-2026-08.
#[derive(Clone)]
pub struct SharedHistories {
    pawn: Arc<PawnHistory>,
    corrections: Arc<KeyCorrections>,
}

impl SharedHistories {
    /// Empty tables for `threads` threads.
    pub fn new(threads: usize) -> Self {
        let share = threads.next_power_of_two();
        Self {
            pawn: Arc::new(PawnHistory::new(PAWN_STRUCTURES * share)),
            corrections: Arc::new(KeyCorrections::new(SIZE * share)),
        }
    }

    /// Resets all tables to their initial values.
    pub fn clear(&self) {
        self.pawn.clear();
        self.corrections.clear();
    }
}

/// The move statistics that a thread uses: its own, and the pawn history of all threads.
pub struct Histories {
    pub butterfly: ButterflyHistory,
    pub low_ply: LowPlyHistory,
    pub capture: CaptureHistory,
    pub continuation: ContinuationHistory,
    pub pawn: Arc<PawnHistory>,
}

impl Histories {
    /// Own tables with the initial values, and the shared one as it is.
    pub fn new(shared: &SharedHistories) -> Self {
        let mut new = Self {
            butterfly: ButterflyHistory(zeroed_slice_or_abort(2)),
            low_ply: LowPlyHistory(zeroed_slice_or_abort(LOW_PLIES)),
            capture: CaptureHistory(zeroed_slice_or_abort(PieceSquare::COUNT)),
            continuation: ContinuationHistory(zeroed_slice_or_abort(CONTEXTS + 1)),
            pawn: shared.pawn.clone(),
        };
        new.clear();
        new
    }

    /// Resets the thread's own tables. The initial values are those of an average move, slightly below zero.
    // CITE: Stockfish; values rounded from SF-17.1.
    pub fn clear(&mut self) {
        self.butterfly.0.fill(BySquares([Entry::ZERO; 4096]));
        self.low_ply.0.fill(BySquares([Entry::ZERO; 4096]));
        self.capture.0.fill([Entry::new(params::hist_capture_start()); 6]);
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

// Correction histories.
//
// Correction histories: errors of the static evaluation in positions that share a feature.
//
// After a search, the difference between its result and the static evaluation is stored under the keys of the pawns,
// the minor pieces, each side's pieces, and pairs of moves. The weighted sum of these entries corrects later
// evaluations. A large sum means that the evaluation is unreliable.
// CITE: correction history: M. Witwicki's Caissa (2023); in Stockfish since December 2023; tables for minor pieces and
// each side's pieces: Stockfish (September 2024); for pairs of moves: Stockfish (October 2024). Weights and rates:
// SF-2026-08. 16,384 entries a table: SF-17.

/// Entries per table, colour and thread (a power of two).
const SIZE: usize = 16_384;
/// Number of pairs of an earlier and a later piece-square.
const MOVE_PAIRS: usize = PieceSquare::COUNT * PieceSquare::COUNT;

/// Index of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot(u32);

impl Slot {
    /// Slot of a missing pair of moves; it is never written.
    const NO_MOVE: Self = Self(MOVE_PAIRS as u32);

    /// Slot of the last move after an earlier one.
    #[inline]
    fn of_moves(earlier: Option<PieceSquare>, last: Option<PieceSquare>) -> Self {
        match (earlier, last) {
            (Some(earlier), Some(last)) => Self((earlier.index() * PieceSquare::COUNT + last.index()) as u32),
            _ => Self::NO_MOVE,
        }
    }
}

/// Corrections by one feature of the position, for either side to move, shared by the threads.
struct KeyTable(Zeroed<SharedEntry>);

impl KeyTable {
    /// Slot of a feature with the hash `key`.
    #[inline]
    fn slot(&self, turn: Color, key: u64) -> Slot {
        let half = self.0.len() / 2;
        Slot((color_index(turn) * half + (key as usize & (half - 1))) as u32)
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
    fn update(&self, slot: Slot, bonus: i32) {
        self.0[slot.0 as usize].update(bonus, params::corr_max());
    }
}

/// Corrections by the pawns, the minor pieces and each side's pieces.
struct KeyCorrections {
    pawn: KeyTable,
    minor: KeyTable,
    non_pawn: [KeyTable; 2],
}

impl KeyCorrections {
    /// Empty tables with `entries` entries for each side to move, a power of two.
    fn new(entries: usize) -> Self {
        let table = || KeyTable(zeroed_slice_or_abort(2 * entries));
        Self { pawn: table(), minor: table(), non_pawn: [table(), table()] }
    }

    fn clear(&self) {
        let [white, black] = &self.non_pawn;
        for table in [&self.pawn, &self.minor, white, black] {
            table.0.iter().for_each(|entry| entry.set(0));
        }
    }
}

/// The correction tables that a thread uses: those by keys are shared, those by pairs of moves are its own.
pub struct Corrections {
    by_key: Arc<KeyCorrections>,
    continuation: Zeroed<Entry>,
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
}

impl Corrections {
    /// Empty tables by pairs of moves, and the shared ones as they are.
    pub fn new(shared: &SharedHistories) -> Self {
        Self { by_key: shared.corrections.clone(), continuation: zeroed_slice_or_abort(MOVE_PAIRS + 1) }
    }

    /// Resets the thread's own table.
    pub fn clear(&mut self) {
        self.continuation.fill(Entry::ZERO);
    }

    /// The keys of `position`, reached by `moves`.
    #[inline]
    pub fn keys(&self, position: &Position, moves: LastMoves) -> Keys {
        let (by_key, turn) = (&self.by_key, position.turn());
        let [white, black] = &by_key.non_pawn;
        Keys {
            pawn: by_key.pawn.slot(turn, position.pawn_key()),
            minor: by_key.minor.slot(turn, position.minor_key()),
            non_pawn: [
                white.slot(turn, position.non_pawn_key(Color::White)),
                black.slot(turn, position.non_pawn_key(Color::Black)),
            ],
            continuation: [moves.second, moves.fourth].map(|earlier| Slot::of_moves(earlier, moves.last)),
        }
    }

    /// Prefetches the entries that [`Self::value`] reads.
    #[inline]
    pub fn prefetch(&self, keys: &Keys) {
        if !CAN_PREFETCH {
            return;
        }
        let by_key = &self.by_key;
        by_key.pawn.prefetch(keys.pawn);
        by_key.minor.prefetch(keys.minor);
        by_key.non_pawn[0].prefetch(keys.non_pawn[0]);
        by_key.non_pawn[1].prefetch(keys.non_pawn[1]);
        keys.continuation.iter().for_each(|slot| prefetch(&self.continuation[slot.0 as usize]));
    }

    /// Correction of the static evaluation, in internal units.
    // CITE: weights: SF-2026-08.
    #[inline]
    pub fn value(&self, keys: &Keys) -> Value {
        if !rules::correction() {
            return 0;
        }
        let by_key = &self.by_key;
        let non_pawn = by_key.non_pawn[0].get(keys.non_pawn[0]) + by_key.non_pawn[1].get(keys.non_pawn[1]);
        let continuation: i32 = keys.continuation.iter().map(|slot| self.continuation[slot.0 as usize].get()).sum();
        let sum = params::corr_pawn() * by_key.pawn.get(keys.pawn)
            + params::corr_minor() * by_key.minor.get(keys.minor)
            + params::corr_non_pawn() * non_pawn
            + params::corr_cont() * continuation;
        sum / 1024
    }

    /// Moves the corrections of a position by `bonus`, positive where the evaluation was too low.
    // CITE: rates and clamps: SF-2026-08.
    pub fn learn(&mut self, keys: &Keys, bonus: i32) {
        let max_step = params::corr_step_max();
        let bonus = bonus.clamp(-max_step, max_step) * params::corr_rate() / 1024;
        let by_key = &self.by_key;
        by_key.pawn.update(keys.pawn, bonus);
        by_key.minor.update(keys.minor, bonus * params::corr_rate_minor() / 128);
        for (table, &slot) in by_key.non_pawn.iter().zip(&keys.non_pawn) {
            table.update(slot, bonus * params::corr_rate_non_pawn() / 128);
        }
        let rates = [params::corr_rate_second(), params::corr_rate_fourth()];
        for (&slot, rate) in keys.continuation.iter().zip(rates) {
            if slot != Slot::NO_MOVE {
                self.continuation[slot.0 as usize].update(bonus * rate / 128, params::corr_max());
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
        let mut histories = Histories::new(&SharedHistories::new(1));
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
        let mut histories = Histories::new(&SharedHistories::new(1));
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
        let mut histories = Histories::new(&SharedHistories::new(1));
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

    fn keys(corrections: &Corrections, position: &Position) -> Keys {
        let piece = |role| Piece { color: Color::White, role };
        let square = |role| Some(PieceSquare::new(piece(role), Move::new(Square::A1, Square::B2).expect("not a1a1")));
        let moves = LastMoves { last: square(Role::King), second: square(Role::Queen), fourth: square(Role::Bishop) };
        corrections.keys(position, moves)
    }

    #[test]
    fn correction_follows_the_bonus_and_stays_in_range() {
        let mut corrections = Corrections::new(&SharedHistories::new(1));
        let mut rng = SplitMix64::new(2);
        for (number, position) in random_positions(300).iter().enumerate() {
            let keys = keys(&corrections, position);
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
            let mut corrections = Corrections::new(&SharedHistories::new(1));
            let keys = corrections.keys(&position, LastMoves::default());
            corrections.learn(&keys, 200);
            assert!(corrections.value(&keys) > 0, "{}", position.fen());
            position.do_null_move();
            let keys = corrections.keys(&position, LastMoves::default());
            assert_eq!(corrections.value(&keys), 0, "{}", position.fen());
        }
    }

    #[test]
    fn every_table_contributes_to_the_correction() {
        let position = Position::startpos();
        let mut corrections = Corrections::new(&SharedHistories::new(1));
        let none = corrections.keys(&position, LastMoves::default());
        corrections.learn(&none, 200);
        let without_moves = corrections.value(&none);
        let mut corrections = Corrections::new(&SharedHistories::new(1));
        let with_moves = keys(&corrections, &position);
        corrections.learn(&with_moves, 200);
        assert!(corrections.value(&with_moves) > without_moves);
        // The same moves before another position with other pieces and pawns.
        let other = crate::search::tests::position("4k3/8/8/8/3P4/8/8/4K3 w - - 0 1");
        assert!(corrections.value(&keys(&corrections, &other)) > 0);
        assert_eq!(corrections.value(&corrections.keys(&other, LastMoves::default())), 0);
    }

    #[test]
    fn threads_share_what_depends_on_the_position_alone() {
        let position = Position::startpos();
        let square = PieceSquare::new(Piece { color: Color::White, role: Role::Pawn }, quiet());
        let shared = SharedHistories::new(3);
        let (mut first, mut second) = (Corrections::new(&shared), Corrections::new(&shared));
        let (own, other) = (Histories::new(&shared), Histories::new(&shared));
        let with_moves = keys(&first, &position);
        let none = first.keys(&position, LastMoves::default());
        first.learn(&with_moves, 200);
        own.pawn.update(position.pawn_key(), square, 500);
        assert_eq!(second.value(&none), first.value(&none));
        assert!(second.value(&with_moves) < first.value(&with_moves), "pairs of moves are a thread's own");
        assert_eq!(other.pawn.score(position.pawn_key(), square), own.pawn.score(position.pawn_key(), square));
        second.clear();
        assert!(second.value(&none) > 0, "a thread clears its own table only");
        shared.clear();
        assert_eq!(second.value(&none), 0);
        assert_eq!(own.pawn.score(position.pawn_key(), square), params::hist_pawn_start());
    }

    #[test]
    fn updates_of_several_threads_at_once_stay_in_range() {
        let shared = SharedHistories::new(4);
        let position = Position::startpos();
        std::thread::scope(|scope| {
            for sign in [1, -1, 1, -1] {
                let mut corrections = Corrections::new(&shared);
                let position = &position;
                scope.spawn(move || {
                    let none = corrections.keys(position, LastMoves::default());
                    for bonus in 0..20_000 {
                        corrections.learn(&none, sign * bonus);
                        assert!(corrections.value(&none).abs() <= max_value());
                    }
                });
            }
        });
    }

    #[test]
    fn missing_moves_have_no_correction() {
        let position = Position::startpos();
        let mut corrections = Corrections::new(&SharedHistories::new(1));
        let keys = corrections.keys(&position, LastMoves::default());
        corrections.learn(&keys, 256);
        assert_eq!(corrections.continuation[MOVE_PAIRS], Entry::ZERO);
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
