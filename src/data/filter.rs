//! Which positions are worth learning from.

use sfbinpack::TrainingDataEntry;
use sfbinpack::chess::r#move::MoveType;
use sfbinpack::chess::piecetype::PieceType;

/// What a position must be to be kept.
///
/// A static evaluation is asked only where nothing is hanging: positions in check, and those whose best move captures
/// or promotes, carry a score that a search found and a static look cannot.
#[derive(Clone, Copy, Debug)]
pub struct Filter {
    /// Largest |score| in engine units.
    pub max_score: i16,
    /// Positions before this ply are opening noise.
    pub min_ply: u16,
    /// Keep only positions whose best move neither captures nor promotes, and that are not in check.
    pub quiet: bool,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            max_score: 3000,
            min_ply: 0,
            quiet: true,
        }
    }
}

/// The score that generators write for "no score: only carries the game on".
pub const NO_SCORE: i16 = 32002;

impl Filter {
    /// Whether the entry is kept.
    pub fn keeps(&self, entry: &TrainingDataEntry) -> bool {
        entry.score.unsigned_abs() <= self.max_score.unsigned_abs()
            && entry.score != NO_SCORE
            && entry.ply >= self.min_ply
            && (!self.quiet || is_quiet(entry))
    }
}

/// Not in check, and the best move neither captures nor promotes.
pub fn is_quiet(entry: &TrainingDataEntry) -> bool {
    let placid = match entry.mv.mtype() {
        MoveType::Normal => entry.pos.piece_at(entry.mv.to()).piece_type() == PieceType::None,
        MoveType::Castle => true,
        MoveType::Promotion | MoveType::EnPassant => false,
    };
    placid && !entry.pos.is_checked(entry.pos.side_to_move())
}
