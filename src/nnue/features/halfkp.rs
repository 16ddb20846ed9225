//! HalfKP: own king square times every piece except the kings.
// CITE: the feature set of Nasu's NNUE for shogi (2018), as adapted to chess in Stockfish 12.

use super::FeatureSet;

/// HalfKP.
pub(super) const HALF_KP: FeatureSet = FeatureSet {
    name: "HalfKP",
    code: 0,
    hash: 0x5D69_D5B8,
    // Rotates the board by 180 degrees for Black instead of flipping it.
    turn: 63,
    mirrored: false,
    king_buckets: every_square(),
    kings: 64,
    planes: 10,
    unused: 1,
};

/// One bucket for each square.
pub(super) const fn every_square() -> [u8; 64] {
    let mut buckets = [0; 64];
    let mut square = 0;
    while square < 64 {
        buckets[square] = square as u8;
        square += 1;
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Square::{self, *};
    use shakmaty::{Color, Piece, Role};

    const PAWN: Piece = Piece { color: Color::White, role: Role::Pawn };
    const QUEEN: Piece = Piece { color: Color::Black, role: Role::Queen };

    fn index(perspective: Color, king: Square, piece: Piece, square: Square) -> u16 {
        let view = HALF_KP.view(perspective, king);
        HALF_KP.index(view, perspective, piece, square)
    }

    #[test]
    fn indices_match_reference_values() {
        assert_eq!(index(Color::White, A1, PAWN, A1), 1);
        assert_eq!(index(Color::White, E1, PAWN, E2), 641 * 4 + 12 + 1);
        assert_eq!(index(Color::White, H8, QUEEN, H8), 641 * 63 + 64 * 9 + 64);
        assert_eq!(index(Color::Black, H8, QUEEN, H8), 64 * 8 + 1);
        assert_eq!(index(Color::Black, E8, PAWN, E2), 641 * 3 + 64 + 51 + 1);
    }

    #[test]
    fn rotated_board_has_same_indices_for_other_perspective() {
        for role in Role::ALL.into_iter().filter(|&role| role != Role::King) {
            for square in Square::ALL {
                for king in Square::ALL {
                    let white = index(Color::White, king, role.of(Color::White), square);
                    let (king, square) = (king.rotate_180(), square.rotate_180());
                    let black = index(Color::Black, king, role.of(Color::Black), square);
                    assert_eq!(white, black);
                    assert!(usize::from(white) < HALF_KP.count());
                }
            }
        }
    }
}
