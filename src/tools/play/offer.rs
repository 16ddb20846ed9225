//! The engine's answer to a draw offer.

use std::sync::Arc;

use crate::board::Position;
use crate::search::{Limits, Score, SearchOptions, Silent, ThreadPool};

/// The condition in words.
pub(super) const RULE: &str = "it accepts when 30 moves have been played and the last ten were level";
/// Number of moves of both sides before which no offer is accepted.
const MIN_MOVES: usize = 30;
/// Number of moves during which the value must have been level.
const LEVEL_MOVES: usize = 10;
/// Maximum distance of a level value from 0, in hundredths of a pawn.
const MAX_SCORE: i32 = 20;
/// Nodes of the search of each position, at full strength whatever the level.
const NODES: u64 = 20_000;

/// Whether the engine accepts a draw in `position`, after `plies` moves from the initial position of the game.
pub(super) fn is_accepted(pool: &mut ThreadPool, position: &Position, plies: usize) -> bool {
    let before = position.fullmoves().saturating_sub(1) as usize;
    if before.max(plies / 2) < MIN_MOVES || plies < 2 * LEVEL_MOVES {
        return false;
    }
    let mut position = position.clone();
    for number in 0..LEVEL_MOVES {
        if number > 0 {
            position.undo_move();
            position.undo_move();
        }
        if !is_level(pool, &position) {
            return false;
        }
    }
    true
}

fn is_level(pool: &mut ThreadPool, position: &Position) -> bool {
    let limits = Limits { nodes: Some(NODES), ..Limits::default() };
    let outcome = pool.search(position.clone(), limits, SearchOptions::default(), Arc::new(Silent));
    outcome.line.is_some_and(|line| matches!(line.score, Score::Centipawns(value) if value.abs() <= MAX_SCORE))
}
