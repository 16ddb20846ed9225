//! Values of pieces in pawns, for levels and reviews, and static exchange evaluation: the material result of captures
//! on one square, cheapest piece first.

use shakmaty::{Bitboard, Role, Square};

use super::make::behind;
use super::position::Sliders;
use super::{Color, Move, MoveList, Position, attacks};

/// Centipawns by role index, pawn first. The king's value only needs to exceed any exchange.
const VALUES: [i32; 6] = [100, 300, 300, 500, 900, 20_000];

/// Material gain of a pawn's promotion to a queen.
const PROMOTION_GAIN: i32 = VALUES[4] - VALUES[0];

/// Roles in order of value, cheapest first.
const ROLES: [Role; 6] = [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen, Role::King];

/// The same order on the last rank, where a capturing pawn promotes and a queen is at risk.
const LAST_RANK_ROLES: [Role; 6] = [Role::Knight, Role::Bishop, Role::Rook, Role::Pawn, Role::Queen, Role::King];

/// The exchange value of a role, in centipawns.
#[inline]
fn exchange_value(role: Role) -> i32 {
    VALUES[role as usize - 1]
}

impl Position {
    /// Whether the exchange that the move starts wins at least `threshold` (centipawns: 100 300 300 500 900).
    ///
    /// Pins are ignored. A pawn that recaptures on the last rank becomes a queen and is ordered as one. Castling
    /// exchanges nothing.
    // CITE: the swap algorithm in its threshold form, chessprogramming wiki, "SEE - The Swap Algorithm".
    pub fn see_ge(&self, m: Move, threshold: i32) -> bool {
        if self.is_castling(m) {
            return threshold <= 0;
        }
        let (from, to) = (m.from(), m.to());
        let moved = self.moved_piece(m).role;
        let new_role = m.promotion().unwrap_or(moved);
        let promotion_gain = exchange_value(new_role) - exchange_value(moved);
        let won = self.captured(m).map_or(0, exchange_value) + promotion_gain - threshold;
        if won < 0 {
            return false;
        }
        // The balance if the opponent captures the moved piece and the side gets nothing in return.
        let kept = won - exchange_value(new_role);
        if kept >= 0 && !on_last_rank(to) {
            return true;
        }
        let mut occupied = self.occupied().without(from).with(to);
        if self.is_en_passant(m) {
            occupied.discard(behind(to, self.turn));
        }
        self.exchange(to, occupied, kept)
    }

    /// Whether a capture or a promotion to a queen wins material for the side to move, by static exchange evaluation.
    pub fn can_win_material(&self) -> bool {
        let mut list = MoveList::new();
        self.generate_noisy(&mut list);
        list.iter().any(|&m| self.see_ge(m, 1) && self.legal(m))
    }

    /// Plays out the exchange after the first capture. `balance` is the lead over the threshold of the side that
    /// captured last, if it now loses its piece. If it is not negative, that side has won.
    fn exchange(&self, square: Square, mut occupied: Bitboard, mut balance: i32) -> bool {
        let mut side = !self.turn;
        let last_rank = on_last_rank(square);
        let Sliders { straight, diagonal } = self.sliders();
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
            // A promoted queen that is lost costs the promotion's gain and the pawn.
            balance = -balance - 1 - exchange_value(role);
        }
        // The side that cannot capture, or loses by capturing, has lost the exchange.
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

/// Whether a pawn that reaches this square becomes a queen.
#[inline]
fn on_last_rank(square: Square) -> bool {
    Bitboard::BACKRANKS.contains(square)
}

// Values of pieces in pawns, as in textbooks, for levels and reviews. The search has values of its own.

/// Value of a king where pieces are compared, in pawns: more than all other pieces together.
const KING: i32 = 100;

/// Value of a piece in pawns, bishop and knight equal; 0 for a king.
pub(crate) fn piece_value(role: Role) -> i32 {
    match role {
        Role::Pawn => 1,
        Role::Knight | Role::Bishop => 3,
        Role::Rook => 5,
        Role::Queen => 9,
        Role::King => 0,
    }
}

/// Value of a piece in comparisons of attackers and targets, in pawns: a king is the most valuable.
pub(crate) fn value_as_target(role: Role) -> i32 {
    if role == Role::King { KING } else { piece_value(role) }
}

/// Material of one side in pawns.
pub(crate) fn material(position: &Position, color: Color) -> i32 {
    Role::ALL.map(|role| piece_value(role) * position.pieces(color, role).count() as i32).iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::CastlingMode;

    #[test]
    fn a_side_has_39_pawns_of_material_at_the_start() {
        let start = Position::startpos();
        assert_eq!([Color::White, Color::Black].map(|color| material(&start, color)), [39, 39]);
    }

    #[test]
    fn a_king_counts_nothing_as_material_and_most_as_a_target() {
        assert_eq!(piece_value(Role::King), 0);
        assert!(Role::ALL.iter().all(|&role| value_as_target(role) <= value_as_target(Role::King)));
    }

    #[test]
    fn captures_and_promotions_that_win_material_are_found() {
        for (fen, wins) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", false),
            // Rook takes a defended pawn; takes an undefended one.
            ("4k3/2p5/3p4/8/8/8/8/3RK3 w - - 0 1", false),
            ("4k3/8/3p4/8/8/8/8/3RK3 w - - 0 1", true),
            // Rook takes an undefended pawn; the same rook is pinned.
            ("4rk2/8/8/8/p3R3/8/8/3K4 w - - 0 1", true),
            ("4rk2/8/8/8/p3R3/8/8/4K3 w - - 0 1", false),
            // Bishop takes a defended knight; a pawn promotes.
            ("4k3/2p5/3n4/8/5B2/8/8/4K3 w - - 0 1", false),
            ("8/P6k/8/8/8/8/8/K7 w - - 0 1", true),
        ] {
            let position = Position::from_fen(fen, CastlingMode::Standard).expect(fen);
            assert_eq!(position.can_win_material(), wins, "{fen}");
        }
    }
}
