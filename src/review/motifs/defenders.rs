//! Motifs of defence (trapped piece, overloaded defender, removal of a defender, in-between move), and ends of a line.

use super::{Kind, Man, Motif, Walk, attackers, can_capture, man, reach};
use crate::board::attacks::king_attacks;
use crate::board::{Bitboard, Color, Move, Position, Role, Square, value_as_target};
use crate::review::mark::winning;
use crate::review::material::{Balance, is_most};
use crate::search::score::Score;

/// Minimum gain in centipawns, by static exchange, that counts as a win of material.
const WINS: i32 = 100;
/// Plies after the move until the trapped piece is captured.
const CAPTURED_WITHIN: [usize; 2] = [2, 4];
/// Minimum value, in pawns, of a trapped piece and of a piece whose defender is removed.
const MIN_VALUE: i32 = 3;

/// Trapped piece: a move attacks a piece that is lost on its square and on every square within its reach, and the
/// line captures the piece.
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
            .filter(|target| value_as_target(target.role) >= MIN_VALUE && target.role != Role::King)
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

/// A piece recaptures and thereby abandons another task: a piece that it protected is captured for good, or a square
/// that it guarded is used for mate. That piece must be most of what the line wins: otherwise something else wins it.
pub(super) fn overloaded(walk: &Walk) -> Option<Motif> {
    if !walk.wins() {
        return None;
    }
    walk.own_plies().find_map(|ply| {
        let first = walk.captured(ply)?;
        let (lure, recapture, last) = (walk.mv(ply)?, walk.mv(ply + 1)?, walk.mv(ply + 2)?);
        let before = walk.before(ply);
        let defender = man(before, recapture.from())?;
        let guards = reach(before, defender.square);
        let both = guards.contains(first.square) && guards.contains(last.to());
        if recapture.to() != lure.to() || !both || last.to() == lure.to() {
            return None;
        }
        let targets = vec![first, second_task(walk, ply + 2)?];
        let won = walk.swing.map_or(0, |swing| swing.points);
        if targets[1].role != Role::King && !is_most(value_as_target(targets[1].role), won) {
            return None;
        }
        Some(Motif { kind: Kind::OverloadedDefender, ply, piece: defender, targets })
    })
}

/// The piece that the last move captures for good, or the king that it mates.
fn second_task(walk: &Walk, ply: usize) -> Option<Man> {
    let after = walk.after(ply);
    if after.in_check() && after.legal_moves().is_empty() {
        return man(after, after.king(after.turn()));
    }
    let free = !can_capture(after, walk.mv(ply)?.to());
    walk.captured(ply).filter(|_| free)
}

/// The only defender of an attacked piece is captured, and then the piece itself.
pub(super) fn removal(walk: &Walk) -> Option<Motif> {
    if !walk.wins() {
        return None;
    }
    walk.own_plies().find_map(|ply| {
        let defender = walk.captured(ply)?;
        let target = walk.captured(ply + 2).filter(|target| value_as_target(target.role) >= MIN_VALUE)?;
        let before = walk.before(ply);
        let stood = man(before, target.square) == Some(target) && target.square != defender.square;
        let side = walk.side();
        let stood = stood && before.by_color(!side).contains(target.square);
        let guards: Bitboard = attackers(before, target.square, !side);
        let only = guards == Bitboard::from(defender.square);
        let attacked = !attackers(before, target.square, side).is_empty();
        let to: Square = walk.mv(ply + 2)?.to();
        if !stood || !only || !attacked || can_capture(walk.after(ply + 2), to) {
            return None;
        }
        Some(Motif { kind: Kind::RemovalOfDefender, ply, piece: walk.mover(ply)?, targets: vec![defender, target] })
    })
}

/// In-between move: a check or another capture is played before a recapture, the recapture follows, and the line wins
/// material.
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

// Ends of a line: back rank, promotion, stalemate trick, sound sacrifice.

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
