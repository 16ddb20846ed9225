//! HalfKAv2: own king square times every piece, kings included; and its mirrored form, HalfKAv2_hm.
// CITE: both feature sets are Tomasz Sobczyk's, for Stockfish 14 and 14.1; from their description,
// checked against the outputs of the published nets.

use super::FeatureSet;
use super::halfkp::every_square;

/// HalfKAv2.
pub(super) const HALF_KAV2: FeatureSet = FeatureSet {
    name: "HalfKAv2",
    code: 1,
    hash: 0x5F23_4CB8,
    turn: 56,
    mirrored: false,
    king_buckets: every_square(),
    kings: 64,
    planes: 11,
    unused: 0,
};

/// HalfKAv2_hm: the board is mirrored if the own king is on files a to d, which reduces the king squares to 32.
pub(super) const HALF_KAV2_HM: FeatureSet = FeatureSet {
    name: "HalfKAv2_hm",
    code: 2,
    hash: 0x7F23_4CB8,
    mirrored: true,
    king_buckets: mirrored_squares(),
    kings: 32,
    ..HALF_KAV2
};

/// One bucket for each pair of mirrored squares, from the eighth rank down, and from the edge to the centre.
const fn mirrored_squares() -> [u8; 64] {
    let mut buckets = [0; 64];
    let mut square = 0;
    while square < 64 {
        let (rank, file) = (square / 8, square % 8);
        let from_edge = if file < 4 { file } else { 7 - file };
        buckets[square] = (4 * (7 - rank) + from_edge) as u8;
        square += 1;
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Square::{self, *};
    use shakmaty::{Color, Piece, Role};

    const ROOK: Piece = Piece { color: Color::White, role: Role::Rook };
    const KING: Piece = Piece { color: Color::Black, role: Role::King };

    fn index(set: &FeatureSet, color: Color, king: Square, piece: Piece, square: Square) -> u16 {
        set.index(set.view(color, king), color, piece, square)
    }

    #[test]
    fn indices_match_reference_values() {
        use Color::{Black, White};
        let plain = |color, king| index(&HALF_KAV2, color, king, ROOK, A1);
        assert_eq!(plain(White, E1), 704 * 4 + 6 * 64);
        assert_eq!(plain(Black, E8), 704 * 4 + 7 * 64 + 56);
        let mirrored = |color, king, piece, square| index(&HALF_KAV2_HM, color, king, piece, square);
        assert_eq!(mirrored(White, E1, ROOK, A1), 704 * 31 + 6 * 64);
        assert_eq!(mirrored(White, D1, ROOK, A1), 704 * 31 + 6 * 64 + 7);
        assert_eq!(mirrored(White, H8, KING, E8), 640 + 60);
        assert_eq!(mirrored(Black, H1, KING, E8), 640 + 4);
    }

    #[test]
    fn indices_are_in_range_and_unique_except_for_kings() {
        let pieces = || Color::ALL.map(|color| Role::ALL.map(|role| role.of(color))).into_iter().flatten();
        for king in Square::ALL {
            let mut seen = std::collections::HashSet::new();
            for piece in pieces() {
                for square in Square::ALL {
                    let found = index(&HALF_KAV2_HM, Color::Black, king, piece, square);
                    assert!(usize::from(found) < HALF_KAV2_HM.count());
                    assert!(seen.insert(found) || piece.role == Role::King);
                    let found = index(&HALF_KAV2, Color::White, king, piece, square);
                    assert!(usize::from(found) < HALF_KAV2.count());
                }
            }
            assert_eq!(seen.len(), 704);
        }
    }

    #[test]
    fn mirrored_set_gives_mirrored_boards_the_same_index() {
        for (king, square) in [(A1, B5), (D4, H8), (C7, C2)] {
            let here = index(&HALF_KAV2_HM, Color::White, king, ROOK, square);
            let (king, square) = (king.flip_horizontal(), square.flip_horizontal());
            let there = index(&HALF_KAV2_HM, Color::White, king, ROOK, square);
            assert_eq!(here, there);
        }
    }
}
