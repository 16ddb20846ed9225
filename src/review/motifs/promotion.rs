//! Promotion: a pawn promotes, the reply does not capture the new piece, and the line ends with more material.

use super::walk::Walk;
use super::{Kind, Motif};

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
