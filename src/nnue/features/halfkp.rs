//! HalfKP: own king square times every other piece that is not a king.
// CITE: the feature set of Nasu's NNUE for shogi (2018), as Stockfish 12 brought it to chess.

use shakmaty::{Color, Piece, Role, Square};

use super::FeatureSet;

/// Features per own king square: 10 kinds of piece on 64 squares, and one that is never used.
const PER_KING: u16 = 641;
/// Number of features of one perspective.
pub const COUNT: usize = PER_KING as usize * 64;
/// The feature set's part of the transformer hash.
pub const HASH: u32 = 0x5D69_D5B8;

/// The HalfKP feature set (a type without values; it only carries the functions).
#[derive(Clone, Copy, Debug)]
pub enum HalfKp {}

impl FeatureSet for HalfKp {
    const COUNT: usize = COUNT;
    const KINGS: bool = false;

    #[inline]
    fn index(perspective: Color, king: Square, piece: Piece, square: Square) -> u16 {
        debug_assert_ne!(piece.role, Role::King, "kings are no HalfKP features");
        // Black sees the board rotated by 180 degrees, not mirrored.
        let turn = if perspective == Color::White { 0 } else { 63 };
        let own = piece.color == perspective;
        let kind = 2 * (u16::from(piece.role) - 1) + u16::from(!own);
        (square as u16 ^ turn) + 1 + 64 * kind + PER_KING * (king as u16 ^ turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Square::*;

    const PAWN: Piece = Piece {
        color: Color::White,
        role: Role::Pawn,
    };
    const QUEEN: Piece = Piece {
        color: Color::Black,
        role: Role::Queen,
    };

    #[test]
    fn known_indices() {
        assert_eq!(HalfKp::index(Color::White, A1, PAWN, A1), 1);
        assert_eq!(HalfKp::index(Color::White, E1, PAWN, E2), 641 * 4 + 12 + 1);
        assert_eq!(
            HalfKp::index(Color::White, H8, QUEEN, H8),
            641 * 63 + 64 * 9 + 63 + 1
        );
        assert_eq!(HalfKp::index(Color::Black, H8, QUEEN, H8), 64 * 8 + 1);
        assert_eq!(
            HalfKp::index(Color::Black, E8, PAWN, E2),
            641 * 3 + 64 + 51 + 1
        );
    }

    #[test]
    fn both_perspectives_are_one_rotation_apart() {
        for role in [
            Role::Pawn,
            Role::Knight,
            Role::Bishop,
            Role::Rook,
            Role::Queen,
        ] {
            for square in Square::ALL {
                for king in Square::ALL {
                    let white = HalfKp::index(Color::White, king, role.of(Color::White), square);
                    let black = HalfKp::index(
                        Color::Black,
                        king.rotate_180(),
                        role.of(Color::Black),
                        square.rotate_180(),
                    );
                    assert_eq!(white, black);
                    assert!(usize::from(white) < COUNT);
                }
            }
        }
    }
}
