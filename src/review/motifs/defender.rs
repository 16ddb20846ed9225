//! Overloaded defender and removal of a defender.

use super::walk::{Walk, attackers, can_capture, man, reach};
use super::{Kind, Man, Motif};
use crate::board::{Bitboard, Square, value_as_target};

/// Minimum value, in pawns, of a piece whose defender is removed.
const MIN_VALUE: i32 = 3;

/// A piece recaptures and thereby abandons another task: a piece that it protected is captured for good, or a square
/// that it guarded is used for mate.
pub(super) fn overloaded(walk: &Walk) -> Option<Motif> {
    if !walk.wins() {
        return None;
    }
    walk.own_plies().find_map(|ply| {
        let first = walk.captured(ply)?;
        let (lure, recapture, last) = (walk.mv(ply)?, walk.mv(ply + 1)?, walk.mv(ply + 2)?);
        let before = walk.before(ply);
        let defender = man(before, recapture.from())?;
        let guards = reach(before, defender.square);
        let both = guards.contains(first.square) && guards.contains(last.to());
        if recapture.to() != lure.to() || !both || last.to() == lure.to() {
            return None;
        }
        let targets = vec![first, second_task(walk, ply + 2)?];
        Some(Motif { kind: Kind::OverloadedDefender, ply, piece: defender, targets })
    })
}

/// The piece that the last move captures for good, or the king that it mates.
fn second_task(walk: &Walk, ply: usize) -> Option<Man> {
    let after = walk.after(ply);
    if after.in_check() && after.legal_moves().is_empty() {
        return man(after, after.king(after.turn()));
    }
    let free = !can_capture(after, walk.mv(ply)?.to());
    walk.captured(ply).filter(|_| free)
}

/// The only defender of an attacked piece is captured, and then the piece itself.
pub(super) fn removal(walk: &Walk) -> Option<Motif> {
    if !walk.wins() {
        return None;
    }
    walk.own_plies().find_map(|ply| {
        let defender = walk.captured(ply)?;
        let target = walk.captured(ply + 2).filter(|target| value_as_target(target.role) >= MIN_VALUE)?;
        let before = walk.before(ply);
        let stood = man(before, target.square) == Some(target) && target.square != defender.square;
        let side = walk.side();
        let stood = stood && before.by_color(!side).contains(target.square);
        let guards: Bitboard = attackers(before, target.square, !side);
        let only = guards == Bitboard::from(defender.square);
        let attacked = !attackers(before, target.square, side).is_empty();
        let to: Square = walk.mv(ply + 2)?.to();
        if !stood || !only || !attacked || can_capture(walk.after(ply + 2), to) {
            return None;
        }
        Some(Motif { kind: Kind::RemovalOfDefender, ply, piece: walk.mover(ply)?, targets: vec![defender, target] })
    })
}
