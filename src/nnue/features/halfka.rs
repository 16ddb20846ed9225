//! HalfKAv2: own king square times every piece, kings included; and its mirrored form.
// CITE: both feature sets are Tomasz Sobczyk's, for Stockfish 14 and 14.1; from their description,
// checked against the outputs of the published nets.

use shakmaty::{Color, Piece, Role, Square};

use super::FeatureSet;

/// Features per own king square: 10 kinds of piece and the kings of both sides, which share one.
const PER_KING: u16 = 11 * 64;
/// Number of features of one perspective, HalfKAv2.
pub const COUNT: usize = PER_KING as usize * 64;
/// Number of features of one perspective, HalfKAv2_hm.
pub const COUNT_HM: usize = COUNT / 2;
/// HalfKAv2's part of the transformer hash.
pub const HASH: u32 = 0x5F23_4CB8;
/// HalfKAv2_hm's part of the transformer hash.
pub const HASH_HM: u32 = 0x7F23_4CB8;

/// Turns the board upside down for Black, by exclusive or with a square.
#[inline]
fn flip(perspective: Color) -> u16 {
    perspective.fold_wb(0, 56)
}

/// The kind of a piece: first index of its 64 squares.
#[inline]
fn plane(perspective: Color, piece: Piece) -> u16 {
    let other = u16::from(piece.color != perspective);
    match piece.role {
        // A square cannot hold both kings, so that one plane is enough for them.
        Role::King => 64 * 10,
        role => 64 * (2 * (u16::from(role) - 1) + other),
    }
}

/// The HalfKAv2 feature set (a type without values; it only carries the functions).
#[derive(Clone, Copy, Debug)]
pub enum HalfKav2 {}

impl FeatureSet for HalfKav2 {
    const COUNT: usize = COUNT;
    const KINGS: bool = true;

    #[inline]
    fn index(perspective: Color, king: Square, piece: Piece, square: Square) -> u16 {
        let flip = flip(perspective);
        (square as u16 ^ flip) + plane(perspective, piece) + PER_KING * (king as u16 ^ flip)
    }
}

/// The HalfKAv2_hm feature set: a board whose own king stands on the files a to d is mirrored, so
/// that 32 king squares remain.
#[derive(Clone, Copy, Debug)]
pub enum HalfKav2Hm {}

impl FeatureSet for HalfKav2Hm {
    const COUNT: usize = COUNT_HM;
    const KINGS: bool = true;

    #[inline]
    fn index(perspective: Color, king: Square, piece: Piece, square: Square) -> u16 {
        let flip = flip(perspective);
        let king = king as u16 ^ flip;
        let (rank, file) = (king / 8, king % 8);
        let mirror = if file < 4 { 7 } else { 0 };
        let bucket = 4 * (7 - rank) + file.min(7 - file);
        (square as u16 ^ flip ^ mirror) + plane(perspective, piece) + PER_KING * bucket
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Square::*;

    const ROOK: Piece = Piece {
        color: Color::White,
        role: Role::Rook,
    };
    const KING: Piece = Piece {
        color: Color::Black,
        role: Role::King,
    };

    #[test]
    fn known_indices() {
        assert_eq!(
            HalfKav2::index(Color::White, E1, ROOK, A1),
            704 * 4 + 6 * 64
        );
        assert_eq!(
            HalfKav2::index(Color::Black, E8, ROOK, A1),
            704 * 4 + 7 * 64 + 56
        );
        assert_eq!(
            HalfKav2Hm::index(Color::White, E1, ROOK, A1),
            704 * 31 + 6 * 64
        );
        assert_eq!(
            HalfKav2Hm::index(Color::White, D1, ROOK, A1),
            704 * 31 + 6 * 64 + 7
        );
        assert_eq!(HalfKav2Hm::index(Color::White, H8, KING, E8), 640 + 60);
        assert_eq!(HalfKav2Hm::index(Color::Black, H1, KING, E8), 640 + 4);
    }

    #[test]
    fn every_index_is_inside_and_belongs_to_one_piece() {
        for king in Square::ALL {
            let mut seen = std::collections::HashSet::new();
            for piece in Color::ALL
                .map(|c| Role::ALL.map(|r| r.of(c)))
                .into_iter()
                .flatten()
            {
                for square in Square::ALL {
                    let index = HalfKav2Hm::index(Color::Black, king, piece, square);
                    assert!(usize::from(index) < COUNT_HM);
                    assert!(seen.insert(index) || piece.role == Role::King);
                    let index = HalfKav2::index(Color::White, king, piece, square);
                    assert!(usize::from(index) < COUNT);
                }
            }
            assert_eq!(seen.len(), 704);
        }
    }

    #[test]
    fn the_mirrored_set_does_not_see_left_and_right() {
        for (king, square) in [(A1, B5), (D4, H8), (C7, C2)] {
            let here = HalfKav2Hm::index(Color::White, king, ROOK, square);
            let there = HalfKav2Hm::index(
                Color::White,
                king.flip_horizontal(),
                ROOK,
                square.flip_horizontal(),
            );
            assert_eq!(here, there);
        }
    }
}
