//! Moves that a club player does not consider: walks of the king in the middlegame, moves that give away the queen, and
//! captures that allow a mate; and how probably a level misses a move.
//!
//! A level misses moves, but never those of its king, so that a few nodes and noise would often choose one. From 1300
//! Elo on, the root excludes them. A capture of a piece that allows mate in two is a trap, which a level recognises
//! with a probability that grows with its Elo.

use super::{Level, mix, traps};
use crate::board::{Color, Move, Position, Role, attacks, material, value_as_target};

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
    if oversight == 0 || oversight > CARELESS || position.in_check() {
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
/// into a corner of the second, is not a walk, and neither is a capture without loss.
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

// Attention of a level: how probably it misses a move.
//
// People look first at captures, checks, threats and attacked pieces, and seldom at moves that seem to lose material.
// A level therefore misses most often the moves that people seldom play, its own and the opponent's.

/// The unit of the probabilities: one in `PARTS`.
pub(super) const PARTS: u64 = 1024 * 8;
/// Upper limit of the factor on the oversight, in eighths.
pub(super) const MAX_OBSCURITY: u32 = 11;

/// Oversight up to which a level misses no capture that wins a piece. Levels from 1300 on have less.
pub(super) const CARELESS: u32 = 440;
/// Obscurity of a capture that wins a piece, as a factor on the oversight above [`CARELESS`].
const WINS_PIECE: u32 = 11;
/// Minimum gains in centipawns of captures that win a piece, and a pawn.
const PIECE: i32 = 200;
const PAWN: i32 = 100;

// Obscurity in eighths: that of a quiet move, and additions to it. Order and size follow a conditional logit model of
// the moves of people below 1400 (`docs/experiments.md`).
const QUIET: i32 = 6;
const LOSES_MATERIAL: i32 = 3;
const EVEN_CAPTURE: i32 = -3;
const WINS_PAWN: i32 = -4;
const CHECK: i32 = -3;
const CASTLES: i32 = -4;
const SAVES_PIECE: i32 = -4;
const THREATENS: i32 = -2;
const NEAR_LAST_MOVE: i32 = -1;
const RETREAT: i32 = 1;
const HEAVY_PIECE: i32 = 1;

/// Probability, in [`PARTS`], that a level with this `oversight` misses `m`, a legal move. Recaptures, and king moves
/// other than castling, are never missed. The probability is also 0 if several additions apply, as for most checks by
/// an attacked piece.
pub(super) fn miss_probability(oversight: u32, position: &Position, m: Move) -> u32 {
    let role = position.moved_piece(m).role;
    if (role == Role::King && !position.is_castling(m)) || is_recapture(position, m) {
        return 0;
    }
    if position.is_capture(m) && position.see_ge(m, PIECE) {
        return oversight.saturating_sub(CARELESS) * WINS_PIECE;
    }
    oversight * obscurity(position, m, role).clamp(0, MAX_OBSCURITY.cast_signed()).unsigned_abs()
}

/// Obscurity of a move that does not win a piece.
fn obscurity(position: &Position, m: Move, role: Role) -> i32 {
    let is_safe = position.see_ge(m, 0);
    let is_near = position.last_move().is_some_and(|last| last.to().distance(m.to()) <= 2);
    let additions = [
        (!is_safe, LOSES_MATERIAL),
        (is_safe && position.is_capture(m), if position.see_ge(m, PAWN) { WINS_PAWN } else { EVEN_CAPTURE }),
        (position.gives_check(&position.check_info(), m), CHECK),
        (position.is_castling(m), CASTLES),
        (is_safe && is_attacked(position, m, role), SAVES_PIECE),
        (is_safe && threatens(position, m, role), THREATENS),
        (is_near, NEAR_LAST_MOVE),
        (is_retreat(position, m), RETREAT),
        (matches!(role, Role::Rook | Role::Queen), HEAVY_PIECE),
    ];
    QUIET + additions.into_iter().filter(|(applies, _)| *applies).map(|(_, eighths)| eighths).sum::<i32>()
}

/// Whether `m` captures on the square of the previous move's capture.
fn is_recapture(position: &Position, m: Move) -> bool {
    position.last_captured().is_some() && Some(m.to()) == position.last_move().map(Move::to)
}

/// Whether the moving piece is attacked by a cheaper one, or is attacked and unprotected.
fn is_attacked(position: &Position, m: Move, role: Role) -> bool {
    if matches!(role, Role::Pawn | Role::King) {
        return false;
    }
    let around = position.attackers_to(m.from(), position.occupied());
    let attackers = around & position.by_color(!position.turn());
    let is_protected = (around & position.by_color(position.turn())).any();
    let is_cheaper =
        |square| position.role_at(square).is_some_and(|attacker| value_as_target(attacker) < value_as_target(role));
    attackers.any() && (!is_protected || attackers.into_iter().any(is_cheaper))
}

/// Whether the moved piece attacks a more valuable one, other than the king.
fn threatens(position: &Position, m: Move, role: Role) -> bool {
    if position.is_castling(m) {
        return false;
    }
    let occupied = position.occupied().without(m.from()).with(m.to());
    let attacked = attacks::attacks(m.to(), position.moved_piece(m), occupied) & position.by_color(!position.turn());
    let is_target = |target| target != Role::King && value_as_target(target) > value_as_target(role);
    attacked.into_iter().any(|square| position.role_at(square).is_some_and(is_target))
}

/// Whether a move goes backwards.
fn is_retreat(position: &Position, m: Move) -> bool {
    let ranks_up = m.to().rank() as i32 - m.from().rank() as i32;
    position.turn().fold_wb(ranks_up, -ranks_up) < 0
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

#[cfg(test)]
mod attention_tests {
    use super::*;
    use crate::board::CastlingMode;
    use crate::level::Handicap;

    fn position(fen: &str) -> Position {
        Position::from_fen(fen, CastlingMode::Standard).expect("a FEN")
    }

    /// Probability in percent that a level misses a move.
    fn percent(elo: i32, position: &Position, m: &str) -> u64 {
        let m = position.parse_uci(m).expect("legal");
        let probability = miss_probability(Handicap::of(elo).oversight, position, m);
        100 * u64::from(probability) / PARTS
    }

    #[test]
    fn levels_from_1300_on_never_miss_a_capture_that_wins_a_piece() {
        let unprotected = position("4k3/8/8/3n4/8/8/8/3R2K1 w - - 0 1");
        for elo in (1300..=2800).step_by(100) {
            assert_eq!(percent(elo, &unprotected, "d1d5"), 0, "{elo}");
        }
        let missed = [500, 800, 1100].map(|elo| percent(elo, &unprotected, "d1d5"));
        assert!(missed.is_sorted_by(|a, b| a > b) && missed[0] < 90 && missed[2] > 5, "{missed:?}");
        let protected = position("3rk3/8/8/3n4/8/8/8/3R2K1 w - - 0 1");
        assert!(percent(1300, &protected, "d1d5") > 30);
    }

    #[test]
    fn moves_that_people_look_at_first_are_missed_less_than_quiet_moves() {
        let open_file = "4k3/8/8/2p5/8/8/7P/2R3K1 w - - 0 1";
        for (fen, seen, quiet) in [
            (open_file, "c1c5", "c1d1"),
            (open_file, "c1e1", "c1d1"),
            (open_file, "h2h3", "c1d1"),
            ("4k3/8/8/8/8/8/7P/4K2R w K - 0 1", "e1g1", "h2h3"),
            ("4k3/8/8/8/1p6/2N5/7P/6K1 w - - 0 1", "c3e4", "h2h3"),
            ("r3k3/8/8/8/8/8/7P/5BK1 w - - 0 1", "f1g2", "f1e2"),
            ("4k3/8/8/3p4/8/8/7P/5BK1 w - - 0 1", "f1e2", "f1c4"),
        ] {
            let root = position(fen);
            let (seen, quiet) = (percent(800, &root, seen), percent(800, &root, quiet));
            assert!(0 < seen && seen < quiet, "{fen}: {seen} % and {quiet} %");
        }
    }

    #[test]
    fn king_moves_and_recaptures_are_never_missed() {
        let root = position("4k3/8/8/8/q7/8/R6P/Q3K3 b - - 0 1");
        let mut taken = root.clone();
        taken.do_move(root.parse_uci("a4a2").expect("legal"));
        assert_eq!(percent(500, &taken, "a1a2"), 0);
        assert_eq!(percent(500, &taken, "e1d1"), 0);
        assert!(percent(500, &taken, "h2h3") > 50);
    }
}
