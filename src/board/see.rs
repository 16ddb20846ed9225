//! Static exchange evaluation: who wins when both sides capture on one square, cheapest piece first.

use shakmaty::{Bitboard, Role, Square, attacks};

use super::make::behind;
use super::{Move, Position};

/// Centipawns by role index, pawn first. The king's value only has to outweigh any exchange.
const VALUES: [i32; 6] = [100, 300, 300, 500, 900, 20_000];

/// What a pawn gains when it becomes a queen.
const PROMOTION_GAIN: i32 = VALUES[4] - VALUES[0];

/// Least valuable first.
const ROLES: [Role; 6] = [
    Role::Pawn,
    Role::Knight,
    Role::Bishop,
    Role::Rook,
    Role::Queen,
    Role::King,
];

/// The same on the last rank, where a capturing pawn promotes and a queen is at risk.
const LAST_RANK_ROLES: [Role; 6] = [
    Role::Knight,
    Role::Bishop,
    Role::Rook,
    Role::Pawn,
    Role::Queen,
    Role::King,
];

/// The exchange value of a role, in centipawns.
#[inline]
fn exchange_value(role: Role) -> i32 {
    VALUES[role as usize - 1]
}

impl Position {
    /// Whether the exchange that the move starts wins at least `threshold` (centipawns: 100 300 300 500 900).
    ///
    /// Pins are ignored. A pawn that recaptures on the last rank becomes a queen and is ordered as one.
    /// Castling exchanges nothing.
    // CITE: the swap algorithm in its threshold form, chessprogramming wiki, "SEE - The Swap Algorithm".
    pub fn see_ge(&self, m: Move, threshold: i32) -> bool {
        if self.is_castling(m) {
            return threshold <= 0;
        }
        let (from, to) = (m.from(), m.to());
        let moved = self.moved_piece(m).role;
        let lands = m.promotion().unwrap_or(moved);
        let promotion_gain = exchange_value(lands) - exchange_value(moved);
        let won = self.captured(m).map_or(0, exchange_value) + promotion_gain - threshold;
        if won < 0 {
            return false;
        }
        // What is left of it if the piece that moved is lost for nothing.
        let kept = won - exchange_value(lands);
        if kept >= 0 && !on_last_rank(to) {
            return true;
        }
        let mut occupied = self.occupied().without(from).with(to);
        if self.is_en_passant(m) {
            occupied.discard(behind(to, self.turn));
        }
        self.exchange(to, occupied, kept)
    }

    /// Plays the exchange out after the first capture. `balance` is how far the side that captured last
    /// is above the threshold if it now loses its piece: where it is not negative, that side has won.
    fn exchange(&self, square: Square, mut occupied: Bitboard, mut balance: i32) -> bool {
        let mut side = !self.turn;
        let last_rank = on_last_rank(square);
        let (straight, diagonal) = self.sliders();
        let mut attackers = self.attackers_to(square, occupied) & occupied;
        while let Some((role, from)) = self.cheapest(attackers & self.by_color(side), last_rank) {
            let promotes = last_rank && role == Role::Pawn;
            let gain = if promotes { PROMOTION_GAIN } else { 0 };
            let king_hangs = role == Role::King && (attackers & self.by_color(!side)).any();
            if balance - gain >= 0 || king_hangs {
                break;
            }
            occupied.discard(from);
            if matches!(role, Role::Pawn | Role::Bishop | Role::Queen) {
                attackers |= attacks::bishop_attacks(square, occupied) & diagonal;
            }
            if matches!(role, Role::Rook | Role::Queen) {
                attackers |= attacks::rook_attacks(square, occupied) & straight;
            }
            attackers &= occupied;
            side = !side;
            // A promoted queen that is lost costs what the promotion gained, and the pawn.
            balance = -balance - 1 - exchange_value(role);
        }
        // The side that cannot go on, or had better not, has lost the exchange.
        side != self.turn
    }

    /// The least valuable of a set of pieces.
    #[inline]
    fn cheapest(&self, pieces: Bitboard, last_rank: bool) -> Option<(Role, Square)> {
        if pieces.is_empty() {
            return None;
        }
        let order = if last_rank { LAST_RANK_ROLES } else { ROLES };
        order.into_iter().find_map(|role| {
            let square = (pieces & self.by_role(role)).first()?;
            Some((role, square))
        })
    }
}

/// Whether a pawn that gets here becomes a queen.
#[inline]
fn on_last_rank(square: Square) -> bool {
    Bitboard::BACKRANKS.contains(square)
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;

    use super::*;

    /// Position, move, value: one of each kind of a suite that `tests/board.rs` has in full.
    const EMBEDDED: &str = "\
6k1/1pp4p/p1pb4/6q1/3P1pRr/2P4P/PP1Br1P1/5RKN w - - | f1f4 | -100 | P - R + B
2r1r1k1/pp1bppbp/3p1np1/q3P3/2P2P2/1P2B3/P1N1B1PP/2RQ1RK1 b - - | d6e5 | 100 | P
6RR/4bP2/8/8/5r2/3K4/5p2/4k3 w - - | f7f8n | 200 | N - P
7R/4bP2/8/8/1q6/3K4/5p2/4k3 w - - | f7f8r | -100 | -P
3q2nk/pb1r1p2/np6/3P2Pp/2p1P3/2R4B/PQ3P1P/3R2K1 w - h6 | g5h6 | 0
2r4k/2r4p/p7/2b2p1b/4pP2/1BR5/P1R3PP/2Q4K w - - | c3c5 | 300 | B
3r3k/3r4/2n1n3/8/3p4/2PR4/1B1Q4/3R3K w - - | d3d4 | -100 | P - R + N - P + N - B + R - Q + R
2r1k2r/pb4pp/5p1b/2KB3n/4N3/2NP1PB1/PPP1P1PP/R2Q3R w k - | d5c6 | -300 | -B
3n3r/2P5/8/1k6/8/8/3Q4/4K3 w - - | c7d8q | 700 | (N + Q - P) - Q + R
8/8/8/1k6/6b1/4N3/2p3K1/3n4 w - - | e3d1 | 0 | N - N
2r5/1P4pk/p2p1b1p/5b1n/BB3p2/2R2p2/P1P2P2/4RK2 w - - | c3c8 | 500 | R
8/8/1k6/8/8/2N1N3/4p1K1/3n4 w - - | c3d1 | 100 | N - (N + Q - P) + Q
r1bqk1nr/pppp1ppp/2n5/1B2p3/1b2P3/5N2/PPPP1PPP/RNBQK2R w KQkq - | e1g1 | 0
";

    fn check_line(line: &str) {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let position = Position::from_fen(fields[0], CastlingMode::Standard).expect(line);
        let m = position.parse_uci(fields[1]).expect(line);
        let value: i32 = fields[2].parse().expect(line);
        assert!(position.see_ge(m, value), "less than {line}");
        assert!(!position.see_ge(m, value + 1), "more than {line}");
    }

    #[test]
    fn embedded_suite() {
        EMBEDDED.lines().for_each(check_line);
    }
}
