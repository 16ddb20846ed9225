//! Filter by exchanges: a share of the positions in which a capture or a promotion wins material.
//!
//! Most samples of short searches are such positions. What a net gains and loses without them is in
//! `docs/experiments.md`.
// CITE: training on quiet positions only is common (nnue-pytorch's "smart FEN skipping" judges by the best move).

use crate::board::Position;
use crate::util::rng::SplitMix64;

/// Share of the positions to keep in which a capture or a promotion to a queen wins material for the side to move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoisyFilter(f64);

impl NoisyFilter {
    /// Keeps all positions.
    pub const ALL: Self = Self(1.0);

    /// Keeps this share of the noisy positions, from 0 to 1.
    pub const fn keeping(share: f64) -> Self {
        Self(share)
    }

    /// Whether the filter keeps the position. Draws a random number only for noisy ones.
    pub fn admits(self, position: &Position, rng: &mut SplitMix64) -> bool {
        self == Self::ALL || !position.can_win_material() || rng.unit() < self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::CastlingMode;

    fn position(fen: &str) -> Position {
        Position::from_fen(fen, CastlingMode::Standard).expect(fen)
    }

    #[test]
    fn positions_with_a_winning_exchange_are_noisy() {
        for (fen, noisy) in [
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
            assert_eq!(position(fen).can_win_material(), noisy, "{fen}");
        }
    }

    #[test]
    fn filter_keeps_quiet_positions_and_the_share_of_noisy_ones() {
        let (quiet, noisy) = (position("4k3/8/8/8/8/8/8/3RK3 w - - 0 1"), position("4k3/8/3p4/8/8/8/8/3RK3 w - - 0 1"));
        let mut rng = SplitMix64::new(4);
        let mut kept =
            |filter: NoisyFilter, position: &Position| (0..1000).filter(|_| filter.admits(position, &mut rng)).count();
        assert_eq!(kept(NoisyFilter::keeping(0.0), &quiet), 1000);
        assert_eq!(kept(NoisyFilter::keeping(0.0), &noisy), 0);
        assert!((200..300).contains(&kept(NoisyFilter::keeping(0.25), &noisy)));
        assert_eq!(kept(NoisyFilter::ALL, &noisy), 1000);
    }
}
