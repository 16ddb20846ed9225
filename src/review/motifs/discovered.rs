//! Discovered attack and double check.
//!
//! Discovered attack: a move opens the line of another piece, which then captures the attacked piece; or the opened
//! line gives check, and the piece that moved captures.

use super::walk::{Walk, attackers, is_slider, man, reach};
use super::{Kind, Man, Motif};
use crate::board::{Position, Role, Square, value_as_target};

/// Minimum value of the attacked piece, in pawns.
const MIN_VALUE: i32 = 3;

pub(super) fn discovered_attack(walk: &Walk) -> Option<Motif> {
    if !walk.wins() {
        return None;
    }
    walk.own_plies().find_map(|ply| {
        let Opened { slider: piece, target } = opened(walk, ply)?;
        let (m, next) = (walk.mv(ply)?, walk.mv(ply + 2));
        let gains = |at: usize| walk.captured(at).is_some_and(|taken| value_as_target(taken.role) >= MIN_VALUE);
        let works = if target.role == Role::King {
            let takes = next.is_some_and(|next| next.from() == m.to()) && gains(ply + 2);
            takes || gains(ply)
        } else {
            next.is_some_and(|next| next.from() == piece.square) && walk.captured(ply + 2) == Some(target)
        };
        works.then(|| Motif { kind: Kind::DiscoveredAttack, ply, piece, targets: vec![target] })
    })
}

/// An attack along a line that a move opens.
struct Opened {
    slider: Man,
    target: Man,
}

/// The attack on the most valuable piece along a line that the move opens.
fn opened(walk: &Walk, ply: usize) -> Option<Opened> {
    let (before, after, m) = (walk.before(ply), walk.after(ply), walk.mv(ply)?);
    if before.is_castling(m) {
        return None;
    }
    let side = walk.side();
    let sliders = after
        .by_color(side)
        .into_iter()
        .filter(|square| *square != m.to() && after.role_at(*square).is_some_and(is_slider));
    let attacks = sliders.flat_map(|slider| {
        let new = reach(after, slider) & !reach(before, slider) & after.by_color(!side);
        new.into_iter().map(move |target| (slider, target))
    });
    attacks
        .filter_map(|(slider, target)| Some(Opened { slider: man(after, slider)?, target: man(after, target)? }))
        .filter(|opened| threatened(after, opened.slider, opened.target))
        .max_by_key(|opened| value_as_target(opened.target.role))
}

/// Whether the attack threatens something: the king, a more valuable piece, or an unprotected one.
fn threatened(position: &Position, slider: Man, target: Man) -> bool {
    let unprotected = |square: Square| attackers(position, square, position.turn()).is_empty();
    value_as_target(target.role) >= MIN_VALUE
        && (value_as_target(target.role) > value_as_target(slider.role) || unprotected(target.square))
}

/// Two pieces give check, and the line mates or wins material.
pub(super) fn double_check(walk: &Walk) -> Option<Motif> {
    if !walk.wins() {
        return None;
    }
    walk.own_plies().find_map(|ply| {
        let after = walk.after(ply);
        after.checkers().more_than_one().then_some(())?;
        Some(Motif {
            kind: Kind::DoubleCheck,
            ply,
            piece: walk.mover(ply)?,
            targets: vec![man(after, after.king(after.turn()))?],
        })
    })
}
