//! Skewer: a slider attacks two pieces in line, the front piece moves away, and the slider captures the other one.

use super::walk::{Walk, is_slider, man, reach, xray_target};
use super::{Kind, Motif};
use crate::board::{Role, value_as_target};

/// Minimum value of the rear piece, in pawns.
const MIN_VALUE: i32 = 3;

pub(super) fn skewer(walk: &Walk) -> Option<Motif> {
    if !walk.wins() {
        return None;
    }
    walk.own_plies().find_map(|ply| {
        let piece = walk.mover(ply).filter(|piece| is_slider(piece.role))?;
        let after = walk.after(ply);
        let leaves = walk.mv(ply + 1)?.from();
        let next = walk.mv(ply + 2)?;
        let front = man(after, leaves).filter(|_| reach(after, piece.square).contains(leaves))?;
        let back = xray_target(after, piece.square, leaves)
            .filter(|back| after.by_color(after.turn()).contains(back.square))?;
        let dearer = front.role == Role::King
            || value_as_target(front.role) > value_as_target(piece.role)
                && value_as_target(front.role) >= value_as_target(back.role);
        let takes = next.from() == piece.square && walk.captured(ply + 2) == Some(back);
        (dearer && takes && value_as_target(back.role) >= MIN_VALUE).then(|| Motif {
            kind: Kind::Skewer,
            ply,
            piece,
            targets: vec![front, back],
        })
    })
}
