//! Stalemate trick: the losing side offers a piece, and the capture stalemates it.

use super::walk::{Walk, man};
use super::{Kind, Motif};
use crate::review::material::Balance;

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
