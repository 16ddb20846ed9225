//! Values in internal units: constants, mate and tablebase scores, conversions; scores in UCI's terms, and the reports
//! that contain them.

use std::path::PathBuf;
use std::time::Duration;

use crate::board::{Color, Move, Role};

/// A value in internal units: the network's raw output divided by 16 (a pawn is about 208).
pub type Value = i32;

/// Largest number of plies from the root that the search visits.
pub const MAX_PLY: usize = 246;

/// Centipawns of a tablebase win at the root in reports; the plies to the win are subtracted.
pub const TB_WIN_CENTIPAWNS: i32 = 20_000;

/// A draw.
pub const DRAW: Value = 0;
/// The side to move mates in 0 plies (never returned as such).
pub const MATE: Value = 32_000;
/// Above every value.
pub const INFINITE: Value = 32_001;
/// No value.
pub const NONE: Value = 32_002;
/// The smallest value that is a proven mate.
pub const MATE_IN_MAX_PLY: Value = MATE - MAX_PLY as Value;
/// A tablebase win at the root.
pub const TB_WIN: Value = MATE_IN_MAX_PLY - 1;
/// The smallest value that is a tablebase win somewhere in the tree.
pub const TB_WIN_IN_MAX_PLY: Value = TB_WIN - MAX_PLY as Value;

/// The value of a piece in internal units, for margins; a king has none.
///
/// The engine has three scales for pieces. This one matches the network's output, so that it can be added to an
/// evaluation. Static exchange evaluation (100 to 900) needs equal values for knight and bishop; [`exchange_units`]
/// converts to that scale. Values in pawns (1 to 9) measure material for the win model, levels and reviews. Both are in
/// `src/board/see.rs`.
// CITE: Stockfish's piece values (since 2023; the same in SF-2026-08).
#[inline]
pub fn piece_value(role: Role) -> Value {
    match role {
        Role::Pawn => 208,
        Role::Knight => 781,
        Role::Bishop => 825,
        Role::Rook => 1276,
        Role::Queen => 2538,
        Role::King => 0,
    }
}

/// Converts internal units to the units of the static exchange evaluation (centipawns: pawn 100, queen 900). A pawn
/// becomes 87, a knight 325, a queen 1057. The search's margins were tuned for exchanges in internal units; after the
/// conversion they differ from the value of a single piece by up to 18 %.
#[inline]
pub fn exchange_units(value: Value) -> i32 {
    value * 5 / 12
}

/// Value of a mate by the side to move in `ply` plies from the root.
pub fn mate_in(ply: usize) -> Value {
    MATE - ply as Value
}

/// Value of a mate against the side to move in `ply` plies from the root.
pub fn mated_in(ply: usize) -> Value {
    ply as Value - MATE
}

/// Whether the value proves a win (mate or tablebase).
pub fn is_win(value: Value) -> bool {
    value >= TB_WIN_IN_MAX_PLY
}

/// Whether the value proves a loss.
pub fn is_loss(value: Value) -> bool {
    value <= -TB_WIN_IN_MAX_PLY
}

/// Whether the value proves a win or a loss.
pub fn is_decisive(value: Value) -> bool {
    is_win(value) || is_loss(value)
}

/// Whether the value is a mate for either side.
pub fn is_mate(value: Value) -> bool {
    value.abs() >= MATE_IN_MAX_PLY
}

/// Converts from plies from the root to plies from this node, as stored in the transposition table.
pub fn to_tt(value: Value, ply: usize) -> Value {
    if is_win(value) {
        value + ply as Value
    } else if is_loss(value) {
        value - ply as Value
    } else {
        value
    }
}

/// The inverse of [`to_tt`] with regard to the 50-move rule; [`NONE`] for a score that is not valid here.
///
/// A mate or tablebase win that the halfmove clock can spoil is not valid, because the clock of the stored path may
/// have been lower. It cannot become a large advantage either: such a value exceeds every evaluation, is not a mate,
/// and stays the best value at the root, where it hides the mates. Without `with_tb`, scores of tablebases are not
/// valid: they come from an earlier search, and the search below must find a mate.
// CITE: the condition on the clock: Stockfish's value_from_tt (safeguard against the graph-history interaction).
pub fn from_tt(value: Value, ply: usize, halfmoves: u32, with_tb: bool) -> Value {
    if !is_decisive(value) {
        return value;
    }
    let distance = if is_mate(value) { MATE - value.abs() } else { TB_WIN - value.abs() };
    if distance > 100 - halfmoves as Value || !(with_tb || is_mate(value)) {
        return NONE;
    }
    value - ply as Value * value.signum()
}

/// Clamps a static evaluation below every proven result.
pub fn clamp_eval(value: Value) -> Value {
    value.clamp(1 - TB_WIN_IN_MAX_PLY, TB_WIN_IN_MAX_PLY - 1)
}

/// A score in UCI's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// Hundredths of a pawn, normalised by the win model.
    Centipawns(i32),
    /// Moves (not plies) to mate: positive for the side to move, negative against it; 0 if it is mated.
    Mate(i32),
}

impl Score {
    /// The smallest number of centipawns that reports a win by tablebases.
    const TABLEBASE_WIN: i32 = TB_WIN_CENTIPAWNS - MAX_PLY as i32;

    /// The same score from White's view, if `turn` is the side that it was given for.
    pub fn white_view(self, turn: Color) -> Self {
        match self {
            Self::Centipawns(cp) => Self::Centipawns(turn.fold_wb(cp, -cp)),
            Self::Mate(moves) => Self::Mate(turn.fold_wb(moves, -moves)),
        }
    }

    /// Whether the score is a tablebase win (`Some(true)`) or loss; `None` if it is neither.
    pub fn tablebase(self) -> Option<bool> {
        match self {
            Self::Centipawns(cp) if cp.abs() >= Self::TABLEBASE_WIN => Some(cp > 0),
            _ => None,
        }
    }
}

/// The value in UCI's terms: moves to mate, or centipawns. A tablebase win is 200 pawns minus the plies to it, which
/// distinguishes it from evaluations and mates.
pub fn to_uci(value: Value, centipawns: impl Fn(Value) -> i32) -> Score {
    if is_mate(value) {
        let plies = MATE - value.abs();
        let moves = (plies + 1) / 2;
        Score::Mate(if value > 0 { moves } else { -(plies / 2) })
    } else if is_decisive(value) {
        let plies = TB_WIN - value.abs();
        Score::Centipawns((TB_WIN_CENTIPAWNS - plies) * value.signum())
    } else {
        Score::Centipawns(centipawns(value))
    }
}

// What a search reports.

/// Relation of a reported score to the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreBound {
    /// The score is exact.
    Exact,
    /// The true score is at least the reported one (the iteration failed high).
    Lower,
    /// The true score is at most the reported one (the iteration failed low).
    Upper,
}

impl ScoreBound {
    /// The relation from White's view, if `turn` is the side that the score was given for.
    pub fn white_view(self, turn: Color) -> Self {
        match (self, turn) {
            (Self::Lower, Color::Black) => Self::Upper,
            (Self::Upper, Color::Black) => Self::Lower,
            (bound, _) => bound,
        }
    }
}

/// One `info` line: a principal variation with its numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Depth in plies of the iteration that gave score, bound and moves.
    pub depth: i32,
    /// Deepest ply reached.
    pub seldepth: i32,
    /// Rank of the line, from 1.
    pub multipv: usize,
    /// Score for the side to move at the root.
    pub score: Score,
    /// Whether `score` is exact or a bound.
    pub bound: ScoreBound,
    /// Permill of wins, draws and losses for the side to move.
    pub wdl: [u16; 3],
    /// The moves from the root; the line stops at mate, stalemate and repetition.
    pub pv: Vec<Move>,
}

/// Counters of a report.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Nodes of all threads.
    pub nodes: u64,
    /// Wall time since the start of the search.
    pub time: Duration,
    /// Permill of the transposition table in use; `None` if it was not sampled.
    pub hashfull: Option<u16>,
    /// Tablebase hits of all threads.
    pub tb_hits: u64,
}

/// The outcome of a search.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The best move; `None` if there is no legal one (or none of `searchmoves`).
    pub best: Option<Move>,
    /// The expected reply.
    pub ponder: Option<Move>,
    /// The final line of the best move, `None` if there is no legal move. Its score is a bound only if an unfinished
    /// iteration found the move.
    pub line: Option<Line>,
    /// The final lines of ranks 2 to MultiPV, or to the number of root moves if that is smaller. Their first moves are
    /// distinct and differ from the best move.
    pub others: Vec<Line>,
    /// Final counters.
    pub progress: Progress,
}

impl Outcome {
    /// An outcome with only a move, when no search has returned a result.
    pub fn without_search(best: Option<Move>) -> Self {
        Self { best, ponder: None, line: None, others: Vec::new(), progress: Progress::default() }
    }

    /// The final lines by rank, starting with the best move's.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.line.iter().chain(&self.others)
    }
}

/// Summary of opening a list of directories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadedTables {
    /// Files found.
    pub files: usize,
    /// Largest number of pieces on the board in any table.
    pub pieces: usize,
    /// Directories that contain tables.
    pub directories: Vec<PathBuf>,
    /// Problems with other directories and files.
    pub problems: Vec<String>,
}

impl LoadedTables {
    /// The first five problems, and the number of the others.
    pub fn problems_in_words(&self) -> String {
        const SHOWN: usize = 5;
        let mut text = self.problems[..self.problems.len().min(SHOWN)].join(", ");
        if let Some(more) = self.problems.len().checked_sub(SHOWN).filter(|&n| n > 0) {
            text.push_str(&format!(", and {more} more"));
        }
        text
    }
}

/// Receives the results of the search. Its methods are called from search threads.
pub trait Reporter: Send + Sync {
    /// Whether lines and current moves are of interest. If not, the search saves the time to prepare them, which is a
    /// large part of a search of fifty nodes.
    fn wants_lines(&self) -> bool {
        true
    }
    /// Called when a line was completed, or failed high or low.
    fn line(&self, _line: &Line, _progress: &Progress) {}
    /// Called when the search begins a root move, after the first 3 seconds of the search.
    fn current_move(&self, _depth: i32, _m: Move, _number: usize) {}
    /// A message for the user; printed on standard error by default.
    fn message(&self, text: &str) {
        eprintln!("{text}");
    }
    /// Called exactly once for each `go`, as the last call, when the search is over.
    fn done(&self, outcome: &Outcome);
}

/// Reporter that ignores everything, for callers that need only the outcome.
pub struct Silent;

impl Reporter for Silent {
    fn wants_lines(&self) -> bool {
        false
    }
    fn message(&self, _text: &str) {}
    fn done(&self, _outcome: &Outcome) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tt_values_round_trip() {
        for value in [0, 57, -900, mate_in(7), mated_in(12), TB_WIN - 9, 9 - TB_WIN] {
            assert_eq!(from_tt(to_tt(value, 5), 5, 0, true), value, "{value}");
        }
    }

    #[test]
    fn mate_beyond_the_fifty_move_rule_has_no_value() {
        for far in [mate_in(40), -mate_in(40), TB_WIN - 40, 40 - TB_WIN] {
            assert_eq!(from_tt(far, 0, 61, true), NONE, "{far}");
            assert_eq!(from_tt(far, 0, 60, true), far, "{far}");
        }
    }

    #[test]
    fn tablebase_scores_are_valid_only_with_tablebases() {
        for value in [TB_WIN - 3, 3 - TB_WIN, TB_WIN_IN_MAX_PLY] {
            assert_eq!(from_tt(value, 0, 0, false), NONE);
        }
        assert_eq!(from_tt(mate_in(9), 4, 0, false), mate_in(13));
    }

    #[test]
    fn uci_counts_mates_in_moves() {
        let cp = |v| v;
        assert_eq!(to_uci(mate_in(1), cp), Score::Mate(1));
        assert_eq!(to_uci(mate_in(3), cp), Score::Mate(2));
        assert_eq!(to_uci(mated_in(0), cp), Score::Mate(0));
        assert_eq!(to_uci(mated_in(2), cp), Score::Mate(-1));
        assert_eq!(to_uci(mated_in(4), cp), Score::Mate(-2));
        assert_eq!(to_uci(-33, cp), Score::Centipawns(-33));
        assert_eq!(to_uci(TB_WIN - 3, cp), Score::Centipawns(19_997));
    }
}
