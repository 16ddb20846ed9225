//! Selection of the root moves that keep the tablebases' result.

use super::root_move::RootMove;
use crate::board::{Position, Role};
use crate::search::options::SearchOptions;
use crate::search::score::{DRAW, TB_WIN, Value};
use crate::search::tables::syzygy::{Syzygy, WIN, class};

/// Result of a root move in the tables, for the side that makes it.
struct TableResult {
    class: i32,
    /// Plies to the next capture or pawn move.
    dtz: i32,
}

/// Keeps the root moves that preserve the tables' result. Returns `true` if the tables decided. All winning moves are
/// kept, because the search finds mates, while the tables contain only the distance to the next capture or pawn move.
/// Only the fastest moves are kept where that distance decides ([`distance_counts`]), or where the 50-move limit is
/// near.
// CITE: ranking root moves by tablebases: Stockfish; the rule for keeping winning moves is ours.
pub fn filter_root_moves(
    syzygy: &Syzygy,
    position: &Position,
    options: &SearchOptions,
    moves: &mut Vec<RootMove>,
) -> bool {
    let men = position.occupied().count();
    let max_men = syzygy.max_pieces().min(options.syzygy_probe_limit);
    if men > max_men || position.has_castling_rights() || moves.is_empty() {
        return false;
    }
    let only_fastest = options.multi_pv == 1 && distance_counts(position);
    let mut position = position.clone();
    let halfmoves = position.halfmoves() as i32;
    let mut results = Vec::with_capacity(moves.len());
    for root in moves.iter() {
        let Some(dtz) = syzygy.dtz_after(&mut position, root.m) else {
            return false;
        };
        results.push(TableResult { class: class(dtz, halfmoves, options.syzygy_50_move_rule), dtz });
    }
    let Some(best) = results.iter().map(|result| result.class).max() else {
        return false;
    };
    let fastest = results.iter().filter(|result| result.class == best).map(|result| result.dtz).min().unwrap_or(0);
    let limit_is_near = fastest + halfmoves > 70 || position.is_repetition(1);
    let max_dtz = if limit_is_near || only_fastest { fastest } else { i32::MAX };
    let mut results = results.iter();
    moves.retain_mut(|root| {
        let result = results.next().expect("one result per move");
        root.tb_value = Some(value_of(best));
        result.class == best && (best != WIN || result.dtz <= max_dtz)
    });
    true
}

/// Whether the shortest way to the next capture or pawn move is also the shortest, or nearly the shortest, way to
/// mate.
///
/// The tables also count the loser's captures. So a side with an extra piece resets the counter fastest by giving that
/// piece away. Without an extra piece against a lone king, only mate resets the counter, or a pawn move, which a
/// promotion needs. Against a lone piece, the capture of that piece resets it, and the rest of the win is simple.
// CITE: our own rule; its measurements are in `docs/experiments.md`.
fn distance_counts(position: &Position) -> bool {
    let us = position.by_color(position.turn());
    let pawns = position.by_role(Role::Pawn).any();
    let majors = us & (position.by_role(Role::Queen) | position.by_role(Role::Rook));
    let no_extra_piece = match majors.count() {
        0 => pawns || us.count() == 3,
        _ => us.count() == 2,
    };
    match position.by_color(!position.turn()).count() {
        1 => no_extra_piece,
        2 => no_extra_piece && !pawns,
        _ => false,
    }
}

fn value_of(class: i32) -> Value {
    match class {
        2 => TB_WIN - 1,
        -2 => 1 - TB_WIN,
        other => DRAW + other,
    }
}
