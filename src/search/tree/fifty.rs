//! The 50-move limit within reach of the search.
//!
//! Without pawns, only a capture resets the halfmove clock. Once the search is deep enough to reach the limit, every
//! line without an earlier capture or mate is a draw. The static evaluation ignores the limit. A reduced search ends
//! before the limit and returns a win, which the full search refutes. This repeats at every move and node. Where the
//! limit is within reach, such positions are therefore evaluated as draws.
// MEASURED: nodes of rook against king to depth 15 at a clock of 88, relative to a clock of 0: more than 500 times
// before, 0.5 times now. Without a separate key for such positions, stored results of iterations that did not reach
// the limit cost up to 40 times the nodes to depth 11. A gradual decline of the evaluation towards the limit is worse
// than none: 40 times even at a clock of 80, because every reduced search ends where the evaluation is higher.

use crate::board::Role;
use crate::search::root::root_move::RootMove;
use crate::search::score::NONE;
use crate::search::tables::tt;
use crate::search::threads::worker::Worker;

/// The halfmove clock at which the game is drawn.
const LIMIT: i32 = 100;
/// Plies by which an extended line may exceed the iteration's depth.
const EXTENDED: i32 = 5;
/// Key mask of positions that are evaluated as draws.
const EXPIRING: u64 = 0xD1B5_4A32_D192_ED03;

impl Worker {
    /// Sets, for the next iteration, whether its lines reach the limit.
    pub fn update_limit_in_reach(&mut self) {
        let plies_left = LIMIT - self.job.position.halfmoves() as i32;
        let before = self.expires();
        self.limit_in_reach = self.root_depth + EXTENDED >= plies_left;
        if self.expires() && !before {
            // Values of earlier iterations no longer predict the score, so the first search has no aspiration window.
            let reset_average = |root: &mut RootMove| root.average = NONE;
            self.root_moves.iter_mut().for_each(reset_average);
        }
    }

    /// Whether the position is a draw unless a capture or a mate occurs before the 50-move limit, which is within
    /// reach.
    #[inline]
    pub fn expires(&self) -> bool {
        // A halfmove clock below the number of plies means that the clock was reset since the root.
        self.limit_in_reach
            && self.position.halfmoves() as usize >= self.stack.ply()
            && self.position.by_role(Role::Pawn).is_empty()
    }

    /// The key of the position in the transposition table.
    #[inline]
    pub fn table_key(&self) -> u64 {
        let key = tt::key_of(&self.position);
        if self.expires() { key ^ EXPIRING } else { key }
    }
}
