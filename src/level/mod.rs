//! Levels: play at a strength below the engine's own.
//!
//! A level plays the move that its limited search considers best. Its limits resemble those of people: depth (a node
//! budget), judgement (noise on the evaluation) and attention (missed moves). Noise and missed moves are functions of
//! the position and of the game's seed. With the same seed, a level plays the same move in the same game, on any
//! machine and independently of earlier searches.
//!
//! * [`strength`]: the handicap for each Elo, from a table calibrated by games
//! * [`turn`]: the handicap in one position (evaluation noise and missed moves), and simulated thinking time
//! * [`habits`]: moves that a club player does not consider, and the probability of missing a move
//! * [`technique`]: evaluation and search of elementary endings, which every level wins
//! * [`theory`]: moves of named openings, and developing moves; `traps`: plain answers to beginners' traps

pub mod habits;
pub mod strength;
pub mod technique;
pub mod theory;
mod traps;
pub mod turn;

pub use strength::{ELO_MAX, ELO_MIN, Handicap};
pub use turn::TurnHandicap;

/// A level for one game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Limits of the search.
    pub handicap: Handicap,
    /// Seed of the noise and the missed moves, drawn once per game.
    pub seed: u64,
}

impl Level {
    /// The level with this Elo, clamped to [`ELO_MIN`] and [`ELO_MAX`].
    pub fn of(elo: i32, seed: u64) -> Self {
        let handicap = Handicap::of(elo);
        Self { handicap, seed }
    }
}

/// Hashes two numbers to 64 well-mixed bits.
// CITE: the finaliser of SplitMix64 (Steele, Lea, Flood, 2014).
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let mut z = a ^ b.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
