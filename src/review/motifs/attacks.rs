//! Motifs of attack: hanging piece, fork, pin, skewer, discovered attack, double check.

use super::{Kind, Man, Motif, Walk, attackers, can_capture, is_slider, man, reach, xray_target};
use crate::board::{Bitboard, Color, Position, Role, Square, value_as_target};

/// Minimum value of a hanging piece, in pawns.
const MIN_HANGING: i32 = 1;
/// Minimum value, in pawns, by which a protected piece must exceed its capturer.
const MARGIN: i32 = 2;
/// Minimum value of an attacked piece, in pawns.
const MIN_VALUE: i32 = 3;

/// Hanging piece: the first move captures a piece that cannot be recaptured, or that is worth two pawns more than the
/// capturer. The line keeps the material.
pub(super) fn hanging(walk: &Walk) -> Option<Motif> {
    let (m, target) = (walk.mv(0)?, walk.captured(0)?);
    let before = walk.before(0);
    let recaptures = before.last_captured().is_some() && before.last_move().is_some_and(|last| last.to() == m.to());
    if value_as_target(target.role) < MIN_HANGING || recaptures {
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

/// Fork: a move attacks two pieces with one, the reply leaves one of them attacked, and the same piece captures it.
pub(super) fn fork(walk: &Walk) -> Option<Motif> {
    if !walk.wins() {
        return None;
    }
    walk.own_plies().find_map(|ply| {
        let piece = walk.mover(ply)?;
        let targets = fork_targets(walk.after(ply), piece);
        let next = walk.mv(ply + 2)?;
        let taken = walk.captured(ply + 2)?;
        let takes = next.from() == piece.square && targets.contains(&taken);
        (targets.len() >= 2 && takes).then_some(Motif { kind: Kind::Fork, ply, piece, targets })
    })
}

/// The pieces that an attacker threatens: the king, more valuable pieces, and unprotected pieces.
fn fork_targets(position: &Position, piece: Man) -> Vec<Man> {
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

/// Pin, in two forms. A move pins a piece to its king or to a more valuable piece, and the pinned piece is captured. Or
/// the only protector of a captured piece is pinned to its king and cannot recapture.
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

/// Skewer: a slider attacks two pieces in line, the front piece moves away, and the slider captures the other one.
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

/// Discovered attack: a move opens the line of another piece, which then captures the attacked piece; or the opened
/// line gives check, and the piece that moved captures.
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
