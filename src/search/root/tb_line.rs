//! Extension of principal variations of tablebase wins to mate.
//!
//! The search and its variations stop at positions in the tablebases. Users want to see how the win is played out.
// CITE: Stockfish's syzygy_extend_pv (2024; idea).

use std::time::Instant;

use crate::board::{Color, Move, Position};
use crate::search::options::SearchOptions;
use crate::search::tables::syzygy::{self, Syzygy};

/// Maximum length of a variation, in plies: more than any win with up to seven men takes between zeroing moves.
const MAX_PLIES: usize = 600;

/// Extends the variation to mate, until `deadline`. From the first position in the tables on, moves of the search that
/// change the result are replaced. The first move is always kept.
pub fn extend(tables: &Syzygy, root: &Position, options: &SearchOptions, pv: &mut Vec<Move>, deadline: Instant) {
    let mut position = root.clone();
    let mut winner: Option<Color> = None;
    let mut kept = 0;
    for &m in pv.iter() {
        if !(position.pseudo_legal(m) && position.legal(m)) {
            break;
        }
        position.do_move(m);
        if let Some(side) = winner_of(tables, &mut position, options) {
            if side.is_none() || (winner.is_some() && winner != side) {
                break;
            }
            winner = side;
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

/// Winner according to the tables, `Some(None)` for a draw; `None` if no table contains the position.
fn winner_of(tables: &Syzygy, position: &mut Position, options: &SearchOptions) -> Option<Option<Color>> {
    let turn = position.turn();
    if position.legal_moves().is_empty() {
        return Some(position.in_check().then_some(!turn));
    }
    let class = tables.class(position, options)?;
    Some(match class {
        syzygy::WIN => Some(turn),
        class if class == -syzygy::WIN => Some(!turn),
        _ => None,
    })
}

/// The move that minimises the distance to the winner's next capture, pawn move or mate; for the loser, the move that
/// maximises it. `None` if the game is over or the tables contradict each other.
fn best_move(tables: &Syzygy, position: &mut Position, options: &SearchOptions, winner: Color) -> Option<Move> {
    let winning = position.turn() == winner;
    let left = if options.syzygy_50_move_rule { 100_i32.checked_sub_unsigned(position.halfmoves())? } else { i32::MAX };
    let mut best: Option<(i32, Move)> = None;
    let moves = position.legal_moves();
    for &m in moves.iter() {
        let dtz = tables.dtz_after(position, m)?;
        let rank = if winning && dtz == 1 && mates(position, m) { 0 } else { dtz };
        let keeps_result = if winning { dtz > 0 && dtz <= left } else { dtz < 0 };
        if !winning && !keeps_result {
            return None;
        }
        if keeps_result && best.is_none_or(|(least, _)| rank < least) {
            best = Some((rank, m));
        }
    }
    best.map(|(_, m)| m)
}

fn mates(position: &mut Position, m: Move) -> bool {
    position.do_move(m);
    let mated = position.in_check() && position.legal_moves().is_empty();
    position.undo_move();
    mated
}
