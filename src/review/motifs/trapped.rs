//! Trapped piece: a move attacks a piece that is lost on its square and on every square within its reach, and the
//! line captures the piece.

use super::walk::{Walk, attackers, man};
use super::{Kind, Man, Motif};
use crate::board::{Move, Position, Role, Square, value_as_target};

/// Minimum gain in centipawns, by static exchange, that counts as a win of material.
const WINS: i32 = 100;
/// Plies after the move until the trapped piece is captured.
const CAPTURED_WITHIN: [usize; 2] = [2, 4];

pub(super) fn trapped_piece(walk: &Walk) -> Option<Motif> {
    if !walk.wins() {
        return None;
    }
    walk.own_plies().find_map(|ply| {
        let after = walk.after(ply);
        if after.in_check() {
            return None;
        }
        let pieces = after.by_color(after.turn()).into_iter();
        let trapped = pieces
            .filter_map(|square| man(after, square))
            .filter(|target| value_as_target(target.role) >= 3 && target.role != Role::King)
            .filter(|target| is_trapped(after, *target) && !could_be_won(walk, ply, *target))
            .find(|target| is_captured(walk, ply, *target))?;
        Some(Motif { kind: Kind::TrappedPiece, ply, piece: walk.mover(ply)?, targets: vec![trapped] })
    })
}

/// Whether the side to move cannot save this piece by moving it.
fn is_trapped(position: &Position, target: Man) -> bool {
    let mut passed = position.clone();
    passed.do_null_move();
    let is_lost = |m: &Move| !position.see_ge(*m, 0);
    let legal = position.legal_moves();
    let mut ways = legal.iter().filter(|m| m.from() == target.square);
    wins(&passed, target.square) && !position.pinned().contains(target.square) && ways.all(is_lost)
}

/// Whether the side to move wins material by capturing on a square.
fn wins(position: &Position, square: Square) -> bool {
    let takes = |m: &Move| m.to() == square && position.see_ge(*m, WINS);
    position.legal_moves().iter().any(takes)
}

/// Whether the side could have won the piece at once, without the move that traps it.
fn could_be_won(walk: &Walk, ply: usize, target: Man) -> bool {
    let before = walk.before(ply);
    !attackers(before, target.square, walk.side()).is_empty() && wins(before, target.square)
}

/// Whether the line captures the piece, on its square or on the square to which it moved.
fn is_captured(walk: &Walk, ply: usize, target: Man) -> bool {
    let mut at: Square = target.square;
    for next in ply + 1..=ply + CAPTURED_WITHIN[1] {
        let Some(m) = walk.mv(next) else { return false };
        if CAPTURED_WITHIN.contains(&(next - ply)) && m.to() == at && walk.captured(next).is_some() {
            return true;
        }
        if m.from() == at {
            at = m.to();
        }
    }
    false
}
