//! Chess768: every piece of either side on every square, without regard to the own king.
// CITE: the plainest input set of bullet's examples (Jamie Whiting) and of many engines' first nets.

use super::FeatureSet;

/// Chess768.
pub(super) const CHESS768: FeatureSet = FeatureSet {
    name: "Chess768",
    code: 3,
    // Ours: other programs have no hash for it.
    hash: 0x3C76_8A15,
    turn: 56,
    mirrored: false,
    king_buckets: [0; 64],
    kings: 1,
    planes: 12,
    unused: 0,
};

/// The row of one of our rows in bullet's order: the six kinds of own pieces, then those of the enemy's.
pub(crate) const fn row_in_bullet(row: usize) -> usize {
    let (plane, square) = (row / 64, row % 64);
    let (piece, is_other) = (plane / 2, plane % 2);
    384 * is_other + 64 * piece + square
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Square::{self, *};
    use shakmaty::{Color, Piece, Role};

    fn index(perspective: Color, king: Square, piece: Piece, square: Square) -> usize {
        let view = CHESS768.view(perspective, king);
        CHESS768.index(view, perspective, piece, square).into()
    }

    #[test]
    fn rows_depend_on_piece_and_square_alone() {
        let mut seen = [false; 768];
        for piece in Color::ALL.into_iter().flat_map(|color| Role::ALL.map(|role| role.of(color))) {
            for square in Square::ALL {
                let row = index(Color::White, E1, piece, square);
                assert!(Square::ALL.into_iter().all(|king| index(Color::White, king, piece, square) == row));
                assert!(!std::mem::replace(&mut seen[row], true), "{piece:?} {square}");
                let turned = Piece { color: !piece.color, role: piece.role };
                assert_eq!(index(Color::Black, E8, turned, square.flip_vertical()), row);
            }
        }
        assert!(seen.into_iter().all(|seen| seen));
        assert_eq!((CHESS768.count(), CHESS768.views()), (768, 1));
    }

    #[test]
    fn rows_have_the_places_of_bullets_order() {
        let of = |color: Color, role: Role, square| row_in_bullet(index(Color::White, E1, role.of(color), square));
        assert_eq!(of(Color::White, Role::Pawn, E2), 12);
        assert_eq!(of(Color::White, Role::King, E1), 5 * 64 + 4);
        assert_eq!(of(Color::Black, Role::Pawn, E7), 384 + 52);
        assert_eq!(of(Color::Black, Role::King, H8), 767);
    }
}
