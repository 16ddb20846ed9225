//! Which moves the root searches: the legal ones that the limits allow and, of these, those that keep the tablebases'
//! result.

use super::limits::Limits;
use super::options::SearchOptions;
use super::root_move::RootMove;
use super::score::{DRAW, TB_WIN, Value};
use super::syzygy::Syzygy;
use crate::board::{Move, Position};

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

/// Keeps the root moves that keep the tables' result; all of them where the tables do not decide. While a win is far from the
/// 50-move rule, every winning move is left to the search, which knows better how to mate.
pub(super) fn filter_root_moves(
    syzygy: &Syzygy,
    position: &Position,
    options: &SearchOptions,
    moves: &mut Vec<RootMove>,
) {
    let men = position.occupied().count();
    let most = syzygy.max_pieces().min(options.syzygy_probe_limit);
    if men > most || position.has_castling_rights() || moves.is_empty() {
        return;
    }
    let mut position = position.clone();
    let halfmoves = position.halfmoves() as i32;
    let mut ranked = Vec::with_capacity(moves.len());
    for root in moves.iter() {
        let Some(dtz) = syzygy.dtz_after(&mut position, root.m) else {
            return;
        };
        ranked.push((class(dtz, halfmoves, options.syzygy_50_move_rule), dtz));
    }
    let Some(best) = ranked.iter().map(|&(class, _)| class).max() else {
        return;
    };
    let fastest = ranked
        .iter()
        .filter(|r| r.0 == best)
        .map(|r| r.1)
        .min()
        .unwrap_or(0);
    let hurry = best == WIN && (fastest + halfmoves > 70 || position.is_repetition(1));
    let mut ranks = ranked.iter();
    moves.retain_mut(|root| {
        let &(class, dtz) = ranks.next().expect("one rank per move");
        root.tb_value = Some(value_of(best));
        class == best && (!hurry || dtz == fastest)
    });
}

const WIN: i32 = 2;

/// Win 2, win spoilt by the 50-move rule 1, draw 0, and the same below zero.
fn class(dtz: i32, halfmoves: i32, rule: bool) -> i32 {
    let in_time = !rule || dtz.abs() + halfmoves <= 100;
    dtz.signum() * if in_time { WIN } else { 1 }
}

fn value_of(class: i32) -> Value {
    match class {
        2 => TB_WIN - 1,
        -2 => 1 - TB_WIN,
        other => DRAW + other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes() {
        assert_eq!(class(12, 0, true), 2);
        assert_eq!(class(60, 50, true), 1);
        assert_eq!(class(60, 50, false), 2);
        assert_eq!(class(-101, 0, true), -1);
        assert_eq!(class(0, 30, true), 0);
    }
}
