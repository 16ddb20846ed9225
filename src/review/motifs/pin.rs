//! Pin, in two forms. A move pins a piece to its king or to a more valuable piece, and the pinned piece is captured. Or
//! the only protector of a captured piece is pinned to its king and cannot recapture.

use super::walk::{Walk, can_capture, is_slider, man, reach, xray_target};
use super::{Kind, Man, Motif};
use crate::board::{Bitboard, Color, Position, Role, Square, value_as_target};

/// Minimum value of a pinned piece, in pawns.
const MIN_VALUE: i32 = 3;

pub(super) fn pin(walk: &Walk) -> Option<Motif> {
    if !walk.wins() {
        return None;
    }
    walk.own_plies().find_map(|ply| pins(walk, ply).or_else(|| exploits(walk, ply)))
}

/// Detects a move that pins a piece. The same side's next move captures the pinned piece on the same square.
fn pins(walk: &Walk, ply: usize) -> Option<Motif> {
    let taken = walk.captured(ply + 2).filter(|taken| value_as_target(taken.role) >= MIN_VALUE)?;
    let (before, after) = (walk.before(ply), walk.after(ply));
    let side = walk.side();
    let pinner = |position: &Position| {
        let sliders = position.by_color(side).into_iter();
        sliders.filter_map(|square| pinned_to(position, square, taken)).next()
    };
    // After the move the piece is on its square and pinned. Before the move it was not pinned.
    (man(after, taken.square) == Some(taken) && pinner(before).is_none()).then_some(())?;
    let Pin { slider, shielded } = pinner(after)?;
    Some(Motif { kind: Kind::Pin, ply, piece: slider, targets: vec![taken, shielded] })
}

/// A pin: the slider, and the piece behind the pinned one.
struct Pin {
    slider: Man,
    shielded: Man,
}

/// The pin of `target` by the slider on `square`.
fn pinned_to(position: &Position, square: Square, target: Man) -> Option<Pin> {
    let slider = man(position, square).filter(|man| is_slider(man.role))?;
    reach(position, square).contains(target.square).then_some(())?;
    let back = xray_target(position, square, target.square)?;
    let enemy = position.by_color(!color_at(position, square)?);
    let dearer = value_as_target(back.role) > value_as_target(target.role)
        && value_as_target(back.role) > value_as_target(slider.role);
    let both = enemy.contains(back.square) && enemy.contains(target.square);
    (both && dearer).then_some(Pin { slider, shielded: back })
}

fn color_at(position: &Position, square: Square) -> Option<Color> {
    position.piece_at(square).map(|piece| piece.color)
}

/// Detects a capture on a square that a pinned piece protects. The pinned piece cannot recapture, nor can any other.
fn exploits(walk: &Walk, ply: usize) -> Option<Motif> {
    walk.captured(ply)?;
    let (after, to) = (walk.after(ply), walk.mv(ply)?.to());
    if after.in_check() && after.checkers().more_than_one() || can_capture(after, to) {
        return None;
    }
    let king = man(after, after.king(after.turn()))?;
    let protects = |square: &Square| reach(after, *square).contains(to);
    let pinned = after.pinned().into_iter().find(protects)?;
    let pinned = man(after, pinned).filter(|pinned| pinned.role != Role::King)?;
    let line = |slider: &Square| {
        man(after, *slider).is_some_and(|man| is_slider(man.role))
            && reach(after, *slider).contains(pinned.square)
            && xray_target(after, *slider, pinned.square) == Some(king)
    };
    let sliders: Bitboard = after.by_color(walk.side());
    let slider = sliders.into_iter().find(line)?;
    Some(Motif { kind: Kind::PinnedDefender, ply, piece: man(after, slider)?, targets: vec![pinned, king] })
}
