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

/// Keeps the root moves that keep the tables' result; `true` when the tables decided. Of winning moves those stay that
/// do not waste time ([`patience`]); which of them is best the search knows better: it mates, where the tables tell the
/// distance to the next capture or pawn move.
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
    let patience = patience(position, options);
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
    let longest = if hurry {
        fastest
    } else {
        fastest.saturating_add(patience)
    };
    let mut ranks = ranked.iter();
    moves.retain_mut(|root| {
        let &(class, dtz) = ranks.next().expect("one rank per move");
        root.tb_value = Some(value_of(best));
        class == best && (best != WIN || dtz <= longest)
    });
    true
}

/// How many plies longer than the fastest a winning move may take, while the 50-move rule is far.
///
/// Against a lone king and without pawns only mate resets the counter, so that the tables tell the distance to it. With
/// pawns a detour of one move may be the better way, but a king that goes and comes back takes two. Against pieces the
/// fastest capture may cost more than it wins. Whoever wants several lines is shown all that win.
fn patience(position: &Position, options: &SearchOptions) -> i32 {
    if options.multi_pv > 1 || position.by_color(!position.turn()).count() > 1 {
        i32::MAX
    } else if position.by_role(Role::Pawn).is_empty() {
        0
    } else {
        2
    }
}

fn value_of(class: i32) -> Value {
    match class {
        2 => TB_WIN - 1,
        -2 => 1 - TB_WIN,
        other => DRAW + other,
    }
}
