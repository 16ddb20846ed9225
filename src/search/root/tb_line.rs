//! Extension of principal variations of tablebase wins to mate.
//!
//! The search and its variations stop at positions in the tablebases. The extension shows how the win is played out.
// CITE: Stockfish's syzygy_extend_pv (2024; idea).

use std::time::Instant;

use crate::board::{Color, Move, Position};
use crate::search::options::SearchOptions;
use crate::search::tables::syzygy::{self, Syzygy};

/// Maximum length of a variation, in plies: more than any win with up to seven men takes between zeroing moves.
const MAX_PLIES: usize = 600;

/// Extends the variation to mate, until `deadline`. From the first position in the tables on, replaces moves of the
/// search that change the result. The first move is always kept.
pub fn extend(tables: &Syzygy, root: &Position, options: &SearchOptions, pv: &mut Vec<Move>, deadline: Instant) {
    let mut position = root.clone();
    let mut winner: Option<Color> = None;
    let mut kept = 0;
    for &m in pv.iter() {
        if !(position.pseudo_legal(m) && position.legal(m)) {
            break;
        }
        position.do_move(m);
        match known_result(tables, &mut position, options) {
            KnownResult::Unknown => {}
            KnownResult::Win(side) if winner.is_none_or(|winner| winner == side) => winner = Some(side),
            KnownResult::Win(_) | KnownResult::Draw => break,
        }
        kept += 1;
    }
    let Some(winner) = winner else {
        return;
    };
    if kept < pv.len() {
        pv.truncate(kept);
        position = root.clone();
        for &m in pv.iter() {
            position.do_move(m);
        }
    }
    while pv.len() < MAX_PLIES && Instant::now() < deadline {
        let Some(m) = best_move(tables, &mut position, options, winner) else {
            break;
        };
        position.do_move(m);
        pv.push(m);
    }
}

/// Result of a position according to the rules and the tables.
enum KnownResult {
    /// No table contains the position.
    Unknown,
    Draw,
    Win(Color),
}

fn known_result(tables: &Syzygy, position: &mut Position, options: &SearchOptions) -> KnownResult {
    let turn = position.turn();
    if position.legal_moves().is_empty() {
        return if position.in_check() { KnownResult::Win(!turn) } else { KnownResult::Draw };
    }
    match tables.class(position, options) {
        None => KnownResult::Unknown,
        Some(syzygy::WIN) => KnownResult::Win(turn),
        Some(class) if class == -syzygy::WIN => KnownResult::Win(!turn),
        Some(_) => KnownResult::Draw,
    }
}

/// The move that minimises the distance to the winner's next capture, pawn move or mate; for the loser, the move that
/// maximises it. `None` if the game is over or the tables contradict each other.
fn best_move(tables: &Syzygy, position: &mut Position, options: &SearchOptions, winner: Color) -> Option<Move> {
    let winning = position.turn() == winner;
    let left = if options.syzygy_50_move_rule { 100_i32.checked_sub_unsigned(position.halfmoves())? } else { i32::MAX };
    let mut best = None;
    let mut min_rank = i32::MAX;
    let moves = position.legal_moves();
    for &m in moves.iter() {
        let dtz = tables.dtz_after(position, m)?;
        let rank = if winning && dtz == 1 && mates(position, m) { 0 } else { dtz };
        let keeps_result = if winning { dtz > 0 && dtz <= left } else { dtz < 0 };
        if !winning && !keeps_result {
            return None;
        }
        if keeps_result && (best.is_none() || rank < min_rank) {
            (best, min_rank) = (Some(m), rank);
        }
    }
    best
}

fn mates(position: &mut Position, m: Move) -> bool {
    position.do_move(m);
    let mated = position.in_check() && position.legal_moves().is_empty();
    position.undo_move();
    mated
}
