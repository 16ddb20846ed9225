//! Pseudo-legality of 16-bit codes, legality, and checks given.

use shakmaty::Bitboard;

/// What [`super::Position::gives_check`] needs, computed once per node.
#[derive(Clone, Copy, Debug)]
pub struct CheckInfo {
    /// By role index (pawn 0 .. king 5): squares from which that piece of the side to move attacks the enemy king.
    pub squares: [Bitboard; 6],
    /// Own pieces that uncover a check when they leave their line.
    pub discoverers: Bitboard,
}
