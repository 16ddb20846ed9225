//! Static exchange evaluation: who wins when both sides capture on one square, cheapest piece first.

use shakmaty::{Bitboard, Color, Role, Square, attacks};

use super::make::behind;
use super::{Move, Position};

/// Centipawns by role index, pawn first. The king's value only has to outweigh any exchange.
const VALUES: [i32; 6] = [100, 300, 300, 500, 900, 20_000];

/// From cheap to dear.
const ROLES: [Role; 6] = [
    Role::Pawn,
    Role::Knight,
    Role::Bishop,
    Role::Rook,
    Role::Queen,
    Role::King,
];

/// The exchange value of a role, in centipawns.
#[inline]
pub fn exchange_value(role: Role) -> i32 {
    VALUES[role as usize - 1]
}

impl Position {
    /// Whether the exchange that the move starts wins at least `threshold` (centipawns: 100 300 300 500 900).
    ///
    /// Pins are not looked at, and only the move itself may promote. Castling exchanges nothing.
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
        // Even if the piece that moved is lost for nothing?
        let kept = won - exchange_value(lands);
        if kept >= 0 {
            return true;
        }
        let mut occupied = self.occupied().without(from).with(to);
        if self.is_en_passant(m) {
            occupied.discard(behind(to, self.turn));
        }
        self.exchange(to, occupied, !self.turn, kept)
    }

    /// Plays the exchange out with `side` to capture. `balance` is what the side that moved first has
    /// above its threshold if its piece on the square is lost now (negative).
    fn exchange(&self, square: Square, mut occupied: Bitboard, side: Color, balance: i32) -> bool {
        let first = !side;
        let (straight, diagonal) = self.sliders();
        let mut attackers = self.attackers_to(square, occupied) & occupied;
        let (mut side, mut balance) = (side, balance);
        // Invariant: `balance` is, from the view of the side that just captured, what it has above the
        // goal if it loses its piece; negative, so that `side` wins unless its capture is refuted.
        while let Some((role, attacker)) = self.cheapest(attackers & self.by_color(side)) {
            if role == Role::King && (attackers & self.by_color(!side)).any() {
                break;
            }
            occupied.discard(attacker);
            if matches!(role, Role::Pawn | Role::Bishop | Role::Queen) {
                attackers |= attacks::bishop_attacks(square, occupied) & diagonal;
            }
            if matches!(role, Role::Rook | Role::Queen) {
                attackers |= attacks::rook_attacks(square, occupied) & straight;
            }
            attackers &= occupied;
            side = !side;
            balance = -balance - 1 - exchange_value(role);
            if balance >= 0 {
                // The capture stands even if the capturer is lost: `side` has no answer. A king that
                // could be recaptured never gets here.
                break;
            }
        }
        // The side that cannot (or need not) go on has lost the exchange.
        side != first
    }

    /// The least valuable of a set of pieces.
    #[inline]
    fn cheapest(&self, pieces: Bitboard) -> Option<(Role, Square)> {
        if pieces.is_empty() {
            return None;
        }
        ROLES.into_iter().find_map(|role| {
            let square = (pieces & self.by_role(role)).first()?;
            Some((role, square))
        })
    }
}
