//! Attacks of every piece: shakmaty's tables for leapers and lines, and arithmetic for sliders.
//!
//! shakmaty looks up slider attacks in 710 KB of magic tables, which the network and the histories keep evicting from
//! the cache. The masks here take 4 KB.

use shakmaty::{Bitboard, Piece, Role, Square};

pub use shakmaty::attacks::{aligned, between, king_attacks, knight_attacks, pawn_attacks, ray};

/// One of the lines through a square: the squares below it and above it by index.
#[derive(Clone, Copy)]
struct Line {
    below: u64,
    above: u64,
}

impl Line {
    const fn new(square: i32, rank_step: i32, file_step: i32) -> Self {
        Self { below: walk(square, -rank_step, -file_step), above: walk(square, rank_step, file_step) }
    }

    /// The squares that a slider attacks on this line: up to and including the nearest piece on each side.
    // CITE: obstruction difference, chessprogramming wiki (idea): as numbers, the difference of the nearest pieces on
    // both sides has the bits from one piece to the other.
    #[inline(always)]
    const fn attacked(self, occupied: u64) -> u64 {
        let (below, above) = (self.below & occupied, self.above & occupied);
        let from_nearest = (1 << 63) >> (below | 1).leading_zeros();
        let nearest = above & above.wrapping_neg();
        let between = nearest.wrapping_mul(2).wrapping_sub(from_nearest);
        (self.below | self.above) & between
    }
}

/// The lines on which the square's index rises: a file, a rank, and both diagonals.
static LINES: [[Line; 4]; 64] = {
    let mut lines = [[Line { below: 0, above: 0 }; 4]; 64];
    let mut square = 0;
    while square < 64 {
        lines[square] = [
            Line::new(square as i32, 1, 0),
            Line::new(square as i32, 0, 1),
            Line::new(square as i32, 1, 1),
            Line::new(square as i32, 1, -1),
        ];
        square += 1;
    }
    lines
};

/// The squares from `square` to the board's edge, without `square`.
const fn walk(square: i32, rank_step: i32, file_step: i32) -> u64 {
    let (mut rank, mut file) = (square / 8 + rank_step, square % 8 + file_step);
    let mut walked = 0;
    while 0 <= rank && rank < 8 && 0 <= file && file < 8 {
        walked |= 1 << (8 * rank + file);
        (rank, file) = (rank + rank_step, file + file_step);
    }
    walked
}

/// The squares attacked by a rook on `square`.
#[inline]
pub const fn rook_attacks(square: Square, occupied: Bitboard) -> Bitboard {
    let [file, rank, ..] = &LINES[square as usize];
    Bitboard(file.attacked(occupied.0) | rank.attacked(occupied.0))
}

/// The squares attacked by a bishop on `square`.
#[inline]
pub const fn bishop_attacks(square: Square, occupied: Bitboard) -> Bitboard {
    let [_, _, rising, falling] = &LINES[square as usize];
    Bitboard(rising.attacked(occupied.0) | falling.attacked(occupied.0))
}

/// The squares attacked by a queen on `square`.
#[inline]
pub const fn queen_attacks(square: Square, occupied: Bitboard) -> Bitboard {
    Bitboard(rook_attacks(square, occupied).0 | bishop_attacks(square, occupied).0)
}

/// The squares attacked by `piece` on `square`.
#[inline]
pub fn attacks(square: Square, piece: Piece, occupied: Bitboard) -> Bitboard {
    match piece.role {
        Role::Pawn => pawn_attacks(piece.color, square),
        Role::Knight => knight_attacks(square),
        Role::Bishop => bishop_attacks(square, occupied),
        Role::Rook => rook_attacks(square, occupied),
        Role::Queen => queen_attacks(square, occupied),
        Role::King => king_attacks(square),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::rng::SplitMix64;

    #[test]
    fn slider_attacks_equal_shakmaty() {
        let mut random = SplitMix64::new(17);
        for square in Square::ALL {
            for thinner in 0..4 {
                for _ in 0..500 {
                    let dense = random.next_u64();
                    let occupied = Bitboard((0..thinner).fold(dense, |o, _| o & random.next_u64()));
                    for role in Role::ALL {
                        let piece = Piece { color: shakmaty::Color::Black, role };
                        assert_eq!(
                            attacks(square, piece, occupied),
                            shakmaty::attacks::attacks(square, piece, occupied),
                            "{role:?} on {square} of {occupied:?}"
                        );
                    }
                }
            }
        }
    }
}
