//! Attacks of every piece: shakmaty's tables for leapers and lines, and arithmetic for sliders.
//!
//! shakmaty looks a slider up in 710 KB of magic tables, which the network and the histories keep throwing out of the
//! cache; the masks here are 4 KB.

use shakmaty::{Bitboard, Piece, Role, Square};

pub use shakmaty::attacks::{aligned, between, king_attacks, knight_attacks, pawn_attacks, ray};

/// One of the lines through a square, as the squares below it and above it in the order of their indices.
#[derive(Clone, Copy)]
struct Line {
    below: u64,
    above: u64,
}

impl Line {
    const fn new(square: i32, rank_step: i32, file_step: i32) -> Self {
        Self {
            below: walk(square, -rank_step, -file_step),
            above: walk(square, rank_step, file_step),
        }
    }

    /// The squares that a slider sees on this line: up to the nearest piece on each side, which it attacks.
    // CITE: obstruction difference, chessprogramming wiki (idea): the difference of the nearest pieces on both sides,
    // as numbers, has the bits from one to the other.
    #[inline(always)]
    const fn seen(self, occupied: u64) -> u64 {
        let (below, above) = (self.below & occupied, self.above & occupied);
        let from_nearest = (1 << 63) >> (below | 1).leading_zeros();
        let nearest = above & above.wrapping_neg();
        let between = nearest.wrapping_mul(2).wrapping_sub(from_nearest);
        (self.below | self.above) & between
    }
}

/// Lines that rise with the square's index: a file, a rank, and both diagonals.
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

/// The squares from one to the board's edge, the first left out.
const fn walk(square: i32, rank_step: i32, file_step: i32) -> u64 {
    let (mut rank, mut file) = (square / 8 + rank_step, square % 8 + file_step);
    let mut walked = 0;
    while 0 <= rank && rank < 8 && 0 <= file && file < 8 {
        walked |= 1 << (8 * rank + file);
        (rank, file) = (rank + rank_step, file + file_step);
    }
    walked
}

/// What a rook attacks from `square`.
#[inline]
pub const fn rook_attacks(square: Square, occupied: Bitboard) -> Bitboard {
    let [file, rank, ..] = &LINES[square as usize];
    Bitboard(file.seen(occupied.0) | rank.seen(occupied.0))
}

/// What a bishop attacks from `square`.
#[inline]
pub const fn bishop_attacks(square: Square, occupied: Bitboard) -> Bitboard {
    let [_, _, rising, falling] = &LINES[square as usize];
    Bitboard(rising.seen(occupied.0) | falling.seen(occupied.0))
}

/// What a queen attacks from `square`.
#[inline]
pub const fn queen_attacks(square: Square, occupied: Bitboard) -> Bitboard {
    Bitboard(rook_attacks(square, occupied).0 | bishop_attacks(square, occupied).0)
}

/// What `piece` attacks from `square`.
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
    fn sliders_see_what_shakmaty_says() {
        let mut random = SplitMix64::new(17);
        for square in Square::ALL {
            for thinner in 0..4 {
                for _ in 0..500 {
                    let dense = random.next_u64();
                    let occupied = Bitboard((0..thinner).fold(dense, |o, _| o & random.next_u64()));
                    for role in Role::ALL {
                        let piece = Piece {
                            color: shakmaty::Color::Black,
                            role,
                        };
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
