//! Ends of a line: back rank, promotion, stalemate trick, sound sacrifice.

use super::walk::{Walk, can_capture, man};
use super::{Kind, Motif};
use crate::board::attacks::king_attacks;
use crate::board::{Color, Position, Role, Square};
use crate::review::chance::winning;
use crate::review::material::Balance;
use crate::search::report::Score;

/// Minimum number of centipawns that a sacrifice gives up.
const OFFER: i32 = 200;
/// Minimum winning chance, in percent, after a sound sacrifice.
const SOUND: f64 = 50.0;

/// Back rank: the line ends in mate by a rook or queen on the first rank of the king, whose own men take away at least
/// half of the squares in front of it.
pub(super) fn back_rank(walk: &Walk) -> Option<Motif> {
    if !walk.mates() {
        return None;
    }
    let end = walk.end();
    let (them, king) = (end.turn(), end.king(end.turn()));
    let first = them.fold_wb(0, 7);
    let rank = |square: Square| u32::from(square.rank());
    let checker = end.checkers().first().filter(|_| !end.checkers().more_than_one())?;
    let piece = man(end, checker)?;
    let straight = matches!(piece.role, Role::Rook | Role::Queen);
    if rank(king) != first || rank(checker) != first || !straight {
        return None;
    }
    let ahead: Vec<Square> = king_attacks(king).into_iter().filter(|square| rank(*square) != first).collect();
    let blocked = ahead.iter().filter(|square| own_man(end, **square, them));
    (2 * blocked.count() >= ahead.len()).then_some(())?;
    Some(Motif { kind: Kind::BackRank, ply: walk.len() - 1, piece, targets: vec![man(end, king)?] })
}

fn own_man(position: &Position, square: Square, color: Color) -> bool {
    position.by_color(color).contains(square)
}

/// Promotion: a pawn promotes, the reply does not capture the new piece, and the line ends with more material.
pub(super) fn promotion(walk: &Walk) -> Option<Motif> {
    walk.own_plies().find_map(|ply| {
        let m = walk.mv(ply)?;
        m.promotion()?;
        let lives = walk.mv(ply + 1).is_none_or(|answer| answer.to() != m.to());
        let wins = walk.mates() || walk.swing.is_some_and(|swing| swing.promotes);
        (lives && wins).then_some(())?;
        Some(Motif { kind: Kind::Promotion, ply, piece: walk.mover(ply)?, targets: Vec::new() })
    })
}

/// Stalemate trick: the losing side offers a piece, and the capture stalemates it.
pub(super) fn stalemate_trick(walk: &Walk) -> Option<Motif> {
    let side = walk.side();
    walk.own_plies().find_map(|ply| {
        let (offer, capture) = (walk.mv(ply)?, walk.mv(ply + 1)?);
        let end = walk.after(ply + 1);
        let stalemate = !end.in_check() && end.legal_moves().is_empty();
        let behind = Balance::of(walk.before(ply), side).points() < 0;
        (stalemate && behind && capture.to() == offer.to()).then_some(())?;
        Some(Motif {
            kind: Kind::StalemateTrick,
            ply,
            piece: walk.mover(ply)?,
            targets: vec![man(end, end.king(side))?],
        })
    })
}

/// Sound sacrifice: the first move gives up two pawns or more in exchanges on its square, yet the side stands well.
/// It mates, wins the material back, or the search prefers its position. `score` is from the view of the side that
/// moves first.
pub(crate) fn sacrifice(walk: &Walk, score: Score) -> Option<Motif> {
    let (m, before) = (walk.mv(0)?, walk.before(0));
    let offers = !before.see_ge(m, 1 - OFFER) && can_capture(walk.after(0), m.to());
    let ends = walk.after(0).legal_moves().is_empty();
    let sound = walk.mates() || winning(score) >= SOUND;
    (offers && sound && !ends && m.promotion().is_none()).then_some(())?;
    Some(Motif { kind: Kind::SoundSacrifice, ply: 0, piece: walk.mover(0)?, targets: Vec::new() })
}
