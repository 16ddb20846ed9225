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

/// Keeps the root moves that keep the tables' result; `true` when the tables decided. Of winning moves all stay, as the
/// search mates, where the tables tell the distance to the next capture or pawn move; but only the fastest where that
/// is what counts ([`distance_counts`]), or time runs out.
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
/// The tables count to the loser's captures too: whoever has a piece to spare comes there fastest by giving it away.
/// Otherwise, against a lone king only mate resets the counter; or a pawn's step, which a promotion needs. Against a
/// lone piece it is its capture, after which little is left to do.
// MEASURED: mean of the plies to mate from 6 to 14 places each, 20,000 nodes a move, against an engine without tables,
// without them and with them: rook 21, 19; bishops 27, 21; bishop and knight 53, 41; queen against rook 49, 36; knight
// 25, 21; bishop 22, 16; rook against knight 50, 36; pawn 38, 30; two pawns 37, 37; bishop and pawn 29, 28; knight and
// pawn 30, 28. Where every winning move stays, queen against rook took 67, bishop and pawn 31, knight and pawn 32.
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
