//! Moves that a club player does not consider: walks of the king in the middlegame, moves that give away the queen, and
//! captures that allow a mate.
//!
//! A level misses moves, but never those of its king, so that a few nodes and noise would often choose one. From 1300
//! Elo on, the root excludes them. A capture of a piece that allows mate in two is a trap, which a level recognises
//! with a probability that grows with its Elo.

use super::{Level, attention, mix, traps};
use crate::board::{Color, Move, Position, Role, material};

/// Material of the opponent's pieces (9, 5, 3, 3) from which a position is a middlegame.
const ATTACKERS: i32 = 13;
/// Loss by exchanges, in centipawns, that a level considers only seldom.
const GIVEN_AWAY: i32 = 400;
/// One in this many of such moves is considered.
const ONE_SACRIFICE_IN: u64 = 4;
/// Minimum gain by exchanges, in centipawns, of a capture that is tested for a mate in reply.
const BAIT: i32 = 200;
/// Salts of the choices.
const SACRIFICES: u64 = 8;
const BAITS: u64 = 9;

/// Whether `level` considers `m`, a legal move. In check it considers all moves.
pub fn considers(level: Level, position: &Position, m: Move) -> bool {
    if is_seen_as_bait(level, position, m) {
        return false;
    }
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

/// Whether a move captures a piece and allows mate in two, and the level sees it. Depends only on the position and the
/// seed.
fn is_seen_as_bait(level: Level, position: &Position, m: Move) -> bool {
    if level.handicap.oversight == 0 || !position.is_capture(m) || !position.see_ge(m, BAIT) {
        return false;
    }
    let mut reached = position.clone();
    reached.do_move(m);
    let key = position.key() ^ u64::from(m.bits());
    traps::sees_deep(level, mix(level.seed.wrapping_add(BAITS), key)) && mates_by_checks(&reached, 2)
}

/// Whether a move of a named opening is one that nobody should copy: a walk of the king, or a move that allows mate in
/// two, such as 1.f3 e5 2.g4.
pub(super) fn is_bad_theory(position: &Position, m: Move) -> bool {
    let is_king = position.moved_piece(m).role == Role::King;
    let mut reached = position.clone();
    reached.do_move(m);
    is_king && !position.in_check() && is_walk(position, m) || mates_by_checks(&reached, 2)
}

/// Whether the side to move mates in this number of moves with checks only.
fn mates_by_checks(position: &Position, moves: u32) -> bool {
    position.legal_moves().iter().any(|&m| {
        if !position.gives_check(&position.check_info(), m) {
            return false;
        }
        let mut reached = position.clone();
        reached.do_move(m);
        let replies = reached.legal_moves();
        let mated = |&reply: &Move| {
            let mut next = reached.clone();
            next.do_move(reply);
            mates_by_checks(&next, moves - 1)
        };
        replies.is_empty() || moves > 1 && replies.iter().all(mated)
    })
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
    fn bait_is_recognised_with_a_probability_that_grows_with_the_level() {
        // Legal's mate: 5...Bxd1 6.Bxf7+ Ke7 7.Nd5#. With the pawn on c6 the queen can be taken.
        let legal = "rn1qkbnr/1pp2ppp/p2p4/4N3/2B1P1b1/2N5/PPPP1PPP/R1BQK2R b KQkq - 0 5";
        let shares = [500, 1000, 1500, 2100].map(|elo| considered(elo, legal, "g4d1"));
        assert!(shares.is_sorted_by(|a, b| a > b) && shares[0] > 75 && shares[3] < 20, "{shares:?}");
        assert_eq!(considered(3200, legal, "g4d1"), 100);
        let sound = "rn1qkbnr/pp3ppp/2pp4/4N3/2B1P1b1/2N5/PPPP1PPP/R1BQK2R b KQkq - 0 5";
        assert_eq!(considered(1500, sound, "g4d1"), 100);
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
