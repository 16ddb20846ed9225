//! Zwischenzug: a check or another capture is played before a recapture, the recapture follows, and the line wins
//! material.

use super::walk::{Walk, can_capture, man};
use super::{Kind, Motif};
use crate::board::Square;

pub(super) fn zwischenzug(walk: &Walk) -> Option<Motif> {
    if !walk.wins() {
        return None;
    }
    walk.own_plies().find_map(|ply| {
        let square = captured_just_now(walk, ply)?;
        let (m, later) = (walk.mv(ply)?, walk.mv(ply + 2)?);
        let before = walk.before(ply);
        let forcing = before.is_capture(m) || walk.after(ply).in_check();
        let waits = can_capture(before, square) && m.to() != square && forcing;
        // The recaptured piece is the capturing piece, still on its square.
        let stays = man(before, square) == walk.captured(ply + 2);
        (waits && stays && later.to() == square).then_some(())?;
        Some(Motif { kind: Kind::Zwischenzug, ply, piece: walk.mover(ply)?, targets: vec![man(before, square)?] })
    })
}

/// The square on which the opponent has just captured.
fn captured_just_now(walk: &Walk, ply: usize) -> Option<Square> {
    let before = walk.before(ply);
    before.last_captured()?;
    before.last_move().map(|last| last.to())
}
