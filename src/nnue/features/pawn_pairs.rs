//! PP_3Wide: each pair of pawns on the same file or on adjacent files is a feature, on any ranks.
//!
//! The pawns can have any colours. They are oriented like [threats](super::threats). Each oriented pawn has a number:
//! own pawns from 0 to 47, the other side's from 48 to 95. A pair's index is the index of the unordered pair of
//! numbers. (Pairs on more distant files also have indices, which never occur.)
// CITE: the feature set is Stockfish 19's; from its description, checked against the outputs of the published net.

use shakmaty::{Bitboard, ByColor, Color, Square};

use super::threats::Orientation;

/// Number of features of one perspective: pairs of 96 pawns.
pub const COUNT: usize = 96 * 95 / 2;
/// The feature set's part of the transformer hash.
pub const HASH: u32 = 0x86F2_B1DD;

/// For every square, the other squares on the same or adjacent files where pawns can stand.
static NEAR: [Bitboard; 64] = {
    let mut near = [Bitboard::EMPTY; 64];
    let mut square = 0;
    while square < 64 {
        let file = 0x0101_0101_0101_0101_u64 << (square % 8);
        let left = file >> 1 & 0x7F7F_7F7F_7F7F_7F7F;
        let right = file << 1 & 0xFEFE_FEFE_FEFE_FEFE;
        near[square] = Bitboard((left | file | right) & 0x00FF_FFFF_FFFF_FF00 & !(1 << square));
        square += 1;
    }
    near
};

/// A perspective and the orientation of the board in it.
#[derive(Clone, Copy)]
pub struct OrientedView {
    perspective: Color,
    /// The orientation for the perspective's king.
    pub orientation: Orientation,
}

impl OrientedView {
    /// The view of a perspective whose king is on `king`.
    #[inline]
    pub fn new(perspective: Color, king: Square) -> Self {
        Self { perspective, orientation: Orientation::new(perspective, king) }
    }

    /// The number of an oriented pawn: 0 to 95.
    #[inline]
    fn number(self, color: Color, square: Square) -> u32 {
        let other = if color == self.perspective { 0 } else { 48 };
        other + (square as u32 ^ self.orientation.turn()) - 8
    }
}

/// Calls `each` with the view's number and the index of every pair of the given pawn with one of `others`, for all
/// `views`.
#[inline]
pub fn pairs_with<const N: usize>(
    color: Color,
    square: Square,
    others: &ByColor<Bitboard>,
    views: [OrientedView; N],
    mut each: impl FnMut(usize, u32),
) {
    let numbers = |color, square| views.map(|view| view.number(color, square));
    let ones = numbers(color, square);
    let near = NEAR[square as usize];
    for color in Color::ALL {
        for square in *others.get(color) & near {
            let pairs = ones.into_iter().zip(numbers(color, square));
            for (n, (one, other)) in pairs.enumerate() {
                let (high, low) = (one.max(other), one.min(other));
                each(n, high * (high - 1) / 2 + low);
            }
        }
    }
}

/// Calls `each` with the index of every pair of pawns in a view.
pub fn pairs_of(pawns: ByColor<Bitboard>, view: OrientedView, mut each: impl FnMut(u32)) {
    let mut rest = pawns;
    for color in Color::ALL {
        while let Some(square) = rest.get_mut(color).pop_front() {
            pairs_with(color, square, &rest, [view], |_, index| each(index));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{CastlingMode, Position, Role};

    fn active(fen: &str, perspective: Color) -> Vec<u32> {
        let board = Position::from_fen(fen, CastlingMode::Standard).expect(fen);
        let view = OrientedView::new(perspective, board.king(perspective));
        let mut indices = Vec::new();
        let pawns = ByColor::new_with(|color| board.pieces(color, Role::Pawn));
        pairs_of(pawns, view, |index| indices.push(index));
        indices.sort_unstable();
        indices
    }

    const A: &str = "6k1/5ppp/8/4p3/8/5N2/5PPP/3Q2K1 w - - 0 1";
    const B: &str = "4k3/2q5/8/4p1n1/3P1P2/2Q5/8/1K1R4 w - - 0 1";

    #[test]
    fn active_pairs_match_reference_values() {
        let (white, black) = (Color::White, Color::Black);
        let white_a = [0, 2, 2777, 3828, 3829, 3916, 3917, 3918, 4004, 4006, 4007, 4080, 4094];
        let black_a = [0, 2, 173, 3828, 3829, 3916, 3917, 3918, 4004, 4006, 4007, 4024, 4094];
        assert_eq!(active(A, white), white_a);
        assert_eq!(active(A, black), black_a);
        assert_eq!(active(B, white), [2869, 2871]);
        assert_eq!(active(B, black), [2720, 2869]);
    }

    #[test]
    fn eight_pawns_a_side_on_three_files_have_96_pairs() {
        let fen = "6k1/ppp5/ppp5/pp6/PP6/PPP5/PPP5/6K1 w - - 0 1";
        assert_eq!(active(fen, Color::White).len(), 96);
    }
}
