//! Moves that a club player does not consider: walks of the king in the middlegame, and moves that give away the queen.
//!
//! A level misses moves, but never those of its king, so that a few nodes and noise would often choose one. From 1300
//! Elo on, the root excludes them.

use super::{Level, attention, mix};
use crate::board::{Color, Move, Position, Role, material};

/// Material of the opponent's pieces (9, 5, 3, 3) from which a position is a middlegame.
const ATTACKERS: i32 = 13;
/// Loss by exchanges, in centipawns, that a level considers only seldom.
const GIVEN_AWAY: i32 = 400;
/// One in this many of such moves is considered.
const ONE_SACRIFICE_IN: u64 = 4;
/// Salt of the choice.
const SACRIFICES: u64 = 8;

/// Whether `level` considers `m`, a legal move. In check it considers all moves.
pub fn considers(level: Level, position: &Position, m: Move) -> bool {
    let oversight = level.handicap.oversight;
    if oversight == 0 || oversight > attention::CARELESS || position.in_check() {
        return true;
    }
    if position.moved_piece(m).role == Role::King {
        return !is_walk(position, m);
    }
    let key = position.key() ^ u64::from(m.bits());
    position.see_ge(m, -GIVEN_AWAY)
        || mates(position, m)
        || mix(level.seed.wrapping_add(SACRIFICES), key).is_multiple_of(ONE_SACRIFICE_IN)
}

/// Whether a move of the king gives up castling or leaves its shelter in a middlegame. A step on the first rank, or
/// into a corner of the second, is no walk, and neither is a capture without loss.
fn is_walk(position: &Position, m: Move) -> bool {
    let us = position.turn();
    if position.is_castling(m) || !is_middlegame(position) || (position.is_capture(m) && position.see_ge(m, 0)) {
        return false;
    }
    let rank = us.fold_wb(m.to().rank() as u32, 7 - m.to().rank() as u32);
    let file = u32::from(m.to().file());
    let may_castle = position.castling_rights() & us.fold_wb(0b0011, 0b1100) != 0;
    let is_corner = !(2..6).contains(&file);
    may_castle || rank > 1 || (rank == 1 && !is_corner)
}

fn is_middlegame(position: &Position) -> bool {
    let pieces = |color: Color| material(position, color) - position.pieces(color, Role::Pawn).count() as i32;
    pieces(!position.turn()) >= ATTACKERS
}

fn mates(position: &Position, m: Move) -> bool {
    let mut reached = position.clone();
    reached.do_move(m);
    reached.in_check() && reached.legal_moves().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::CastlingMode;

    fn considered(elo: i32, fen: &str, m: &str) -> usize {
        let position = Position::from_fen(fen, CastlingMode::Standard).expect(fen);
        let m = position.parse_uci(m).expect(m);
        (0..100).filter(|&seed| considers(Level::of(elo, seed), &position, m)).count()
    }

    #[test]
    fn king_does_not_walk_in_the_middlegame() {
        let opening = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4";
        for (elo, m, expected) in
            [(1300, "e1e2", 0), (1900, "e1f1", 0), (1500, "e1g1", 100), (1000, "e1e2", 100), (3200, "e1e2", 100)]
        {
            assert_eq!(considered(elo, opening, m), expected, "{elo} {m}");
        }
        let castled = "r2q1rk1/ppp2ppp/2n1bn2/3pp3/8/2NPBN2/PPP2PPP/R2Q1RK1 w - - 0 9";
        assert_eq!(considered(1500, castled, "g1h1"), 100);
        let open = "r2q1rk1/ppp2ppp/2n1bn2/3pp3/5P2/2NPBN2/PPP3PP/R2Q1RK1 w - - 0 9";
        assert_eq!(considered(1500, open, "g1f2"), 0);
        let ending = "8/pp3kpp/8/8/8/8/PPP2KPP/8 w - - 0 30";
        assert_eq!(considered(1500, ending, "f2e3"), 100);
    }

    #[test]
    fn queen_is_seldom_given_away() {
        // Qxc6+ gives the queen for a knight; Qxf7 mates.
        let given = "r1bqkb1r/pppp1ppp/2n2n2/8/Q7/4P3/PPP2PPP/RNB1KBNR w KQkq - 0 5";
        let share = considered(1500, given, "a4c6");
        assert!((10..40).contains(&share), "{share}");
        let mate = "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4";
        assert_eq!(considered(1500, mate, "h5f7"), 100);
    }
}
