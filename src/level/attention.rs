//! Attention of a level: how probably it misses a move.
//!
//! People look first at captures, checks, threats and attacked pieces, and seldom at moves that seem to lose material.
//! A level therefore misses most often the moves that people seldom play, its own and the opponent's.

use crate::board::{Move, Position, Role, attacks, value_as_target};

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
