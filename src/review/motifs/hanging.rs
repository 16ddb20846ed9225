//! Hanging piece: the first move captures a piece that cannot be recaptured, or that is worth two pawns more than the
//! capturer. The line keeps the material.

use super::walk::{Walk, can_capture};
use super::{Kind, Motif};
use crate::board::{Role, value_as_target};

/// Minimum value of a hanging piece, in pawns.
const MIN_VALUE: i32 = 1;
/// Minimum value, in pawns, by which a protected piece must exceed its capturer.
const MARGIN: i32 = 2;

pub(super) fn hanging(walk: &Walk) -> Option<Motif> {
    let (m, target) = (walk.mv(0)?, walk.captured(0)?);
    let before = walk.before(0);
    let recaptures = before.last_captured().is_some() && before.last_move().is_some_and(|last| last.to() == m.to());
    if value_as_target(target.role) < MIN_VALUE || recaptures {
        return None;
    }
    let capturer = before.moved_piece(m).role;
    let free = !can_capture(walk.after(0), m.to());
    let dearer = capturer != Role::King && value_as_target(target.role) >= value_as_target(capturer) + MARGIN;
    let kept = !walk.mates()
        && walk.swing.is_some_and(|swing| {
            let price = if free { 0 } else { value_as_target(capturer) };
            // A pawn does not explain the loss of a piece.
            let all = value_as_target(target.role) > 1 || swing.points <= MARGIN;
            all && swing.points >= value_as_target(target.role) - price
        });
    ((free || dearer) && kept).then_some(())?;
    Some(Motif { kind: Kind::Hanging, ply: 0, piece: walk.mover(0)?, targets: vec![target] })
}
