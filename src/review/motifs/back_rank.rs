//! Back rank: the line ends in mate by a rook or queen on the first rank of the king, whose own men take away at least
//! half of the squares in front of it.

use super::walk::{Walk, man};
use super::{Kind, Motif};
use crate::board::attacks::king_attacks;
use crate::board::{Color, Role, Square};

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

fn own_man(position: &crate::board::Position, square: Square, color: Color) -> bool {
    position.by_color(color).contains(square)
}
