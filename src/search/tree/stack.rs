//! State of the search for each ply of the current path.

use crate::board::{Color, Move, Piece, Role};
use crate::search::ordering::correction::Keys;
use crate::search::ordering::history::MoveContext;
use crate::search::score::{self, MAX_PLY, Value};

/// Frames below the root, so that "four plies ago" always exists.
pub const BELOW_ROOT: usize = 8;
/// Frames of a path, including the children of its deepest nodes.
pub const FRAMES: usize = BELOW_ROOT + MAX_PLY + 4;

/// One ply of the path from the root.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// The move made here; `None` for a null move and before the first move.
    pub current: Option<Move>,
    /// The piece that made `current`.
    pub piece: Piece,
    /// Whether `current` is noisy (capture or queen promotion).
    pub noisy: bool,
    /// Context of the continuation history for replies to `current`.
    pub context: MoveContext,
    /// Keys of the correction histories.
    pub keys: Keys,
    /// The move that this node must not search (singular extension).
    pub excluded: Option<Move>,
    /// Corrected static evaluation; in check, the one from two plies earlier.
    pub static_eval: Value,
    /// Whether the side to move is in check.
    pub in_check: bool,
    /// Whether the node is or was on a principal variation.
    pub tt_pv: bool,
    /// Whether the position was in the transposition table.
    pub tt_hit: bool,
    /// Ordinal of the current move.
    pub move_count: i32,
    /// Plies by which the current move is reduced; 0 if it is not.
    pub reduction: i32,
    /// History score of the current move.
    pub stat_score: i32,
    /// Number of cutoffs among the children of this node.
    pub cutoffs: i32,
}

impl Frame {
    /// An unused frame.
    pub const EMPTY: Self = Self {
        current: None,
        piece: Piece { color: Color::White, role: Role::Pawn },
        noisy: false,
        context: MoveContext::NONE,
        keys: Keys::NONE,
        excluded: None,
        static_eval: score::NONE,
        in_check: false,
        tt_pv: false,
        tt_hit: false,
        move_count: 0,
        reduction: 0,
        stat_score: 0,
        cutoffs: 0,
    };
}
