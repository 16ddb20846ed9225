//! Which moves the root searches: the legal ones that the limits allow and, of these, those that keep the tablebases'
//! result.

use super::limits::Limits;
use super::options::SearchOptions;
use super::root_move::RootMove;
use super::score::{DRAW, TB_WIN, Value};
use super::syzygy::{Syzygy, WIN, class};
use crate::board::{Move, Position, Role};

/// The legal moves that the limits allow.
pub(super) fn root_moves(position: &Position, limits: &Limits) -> Vec<RootMove> {
    let wanted = |m: &Move| {
        limits
            .search_moves
            .as_ref()
            .is_none_or(|list| list.contains(m))
            && !limits.exclude_moves.contains(m)
    };
    position
        .legal_moves()
        .iter()
        .copied()
        .filter(wanted)
        .map(RootMove::new)
        .collect()
}

/// Keeps the root moves that preserve the tables' result; `true` when the tables decided. All winning moves stay,
/// because the search finds mates, while the tables have only the distance to the next capture or pawn move. Only the
/// fastest moves stay where that distance decides ([`distance_counts`]), or where the 50-move limit is near.
// CITE: ranking root moves by tablebases: Stockfish; which winning moves stay is our rule.
pub(super) fn filter_root_moves(
    syzygy: &Syzygy,
    position: &Position,
    options: &SearchOptions,
    moves: &mut Vec<RootMove>,
) -> bool {
    let men = position.occupied().count();
    let most = syzygy.max_pieces().min(options.syzygy_probe_limit);
    if men > most || position.has_castling_rights() || moves.is_empty() {
        return false;
    }
    let only_fastest = options.multi_pv == 1 && distance_counts(position);
    let mut position = position.clone();
    let halfmoves = position.halfmoves() as i32;
    let mut ranked = Vec::with_capacity(moves.len());
    for root in moves.iter() {
        let Some(dtz) = syzygy.dtz_after(&mut position, root.m) else {
            return false;
        };
        ranked.push((class(dtz, halfmoves, options.syzygy_50_move_rule), dtz));
    }
    let Some(best) = ranked.iter().map(|&(class, _)| class).max() else {
        return false;
    };
    let fastest = ranked
        .iter()
        .filter(|r| r.0 == best)
        .map(|r| r.1)
        .min()
        .unwrap_or(0);
    let hurry = fastest + halfmoves > 70 || position.is_repetition(1);
    let longest = if hurry || only_fastest {
        fastest
    } else {
        i32::MAX
    };
    let mut ranks = ranked.iter();
    moves.retain_mut(|root| {
        let &(class, dtz) = ranks.next().expect("one rank per move");
        root.tb_value = Some(value_of(best));
        class == best && (best != WIN || dtz <= longest)
    });
    true
}

/// Whether the shortest way to the next capture or pawn move is the shortest to mate, or nearly so.
///
/// The tables count the loser's captures too, so a side with a piece to spare resets the counter fastest by giving that
/// piece away. With nothing to spare, only mate resets the counter against a lone king, or a pawn move, which a
/// promotion needs. Against a lone piece it is the capture of that piece, after which the win is simple.
// CITE: our own rule; its measurements are in `docs/experiments.md`.
fn distance_counts(position: &Position) -> bool {
    let us = position.by_color(position.turn());
    let pawns = position.by_role(Role::Pawn).any();
    let majors = us & (position.by_role(Role::Queen) | position.by_role(Role::Rook));
    let nothing_to_spare = match majors.count() {
        0 => pawns || us.count() == 3,
        _ => us.count() == 2,
    };
    match position.by_color(!position.turn()).count() {
        1 => nothing_to_spare,
        2 => nothing_to_spare && !pawns,
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
