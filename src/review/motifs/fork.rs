//! Fork: a move attacks two pieces with one, the reply leaves one of them attacked, and the same piece captures it.

use super::walk::{Walk, attackers, man, reach};
use super::{Kind, Man, Motif};
use crate::board::{Position, Role, Square, value_as_target};

/// Minimum value of a forked piece, in pawns.
const MIN_VALUE: i32 = 3;

pub(super) fn fork(walk: &Walk) -> Option<Motif> {
    if !walk.wins() {
        return None;
    }
    walk.own_plies().find_map(|ply| {
        let piece = walk.mover(ply)?;
        let targets = targets(walk.after(ply), piece);
        let next = walk.mv(ply + 2)?;
        let taken = walk.captured(ply + 2)?;
        let takes = next.from() == piece.square && targets.contains(&taken);
        (targets.len() >= 2 && takes).then_some(Motif { kind: Kind::Fork, ply, piece, targets })
    })
}

/// The pieces that an attacker threatens: the king, more valuable pieces, and unprotected pieces.
fn targets(position: &Position, piece: Man) -> Vec<Man> {
    let them = position.turn();
    let attacked = reach(position, piece.square) & position.by_color(them);
    let threatened = |square: &Square| {
        position.role_at(*square).is_some_and(|role| {
            role == Role::King
                || value_as_target(role) >= MIN_VALUE
                    && (value_as_target(role) > value_as_target(piece.role)
                        || attackers(position, *square, them).is_empty())
        })
    };
    let mut targets: Vec<Man> =
        attacked.into_iter().filter(threatened).filter_map(|square| man(position, square)).collect();
    targets.sort_by_key(|target| std::cmp::Reverse(value_as_target(target.role)));
    targets
}
