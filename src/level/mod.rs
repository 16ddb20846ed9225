//! Levels: play at a strength below the engine's own.
//!
//! A level plays the move that its limited search considers best. It is limited as people are: in depth (a node
//! budget), judgement (noise on the evaluation) and attention (missed moves). Noise and missed moves are functions of
//! the position and of the game's seed. The same game with the same seed is played the same way, on any machine and
//! independently of earlier searches.
//!
//! * [`strength`]: the handicap for each Elo, from a table calibrated by games
//! * [`mind`]: the handicap in one position: evaluation noise and missed moves
//! * [`technique`], [`mating`]: elementary endings, which every level wins: evaluation, and search of the move
//! * [`theory`]: moves of known openings
//! * [`pace`]: simulated thinking time

pub mod mating;
pub mod mind;
pub mod pace;
pub mod strength;
pub mod technique;
pub mod theory;

pub use mind::Mind;
pub use strength::{ELO_MAX, ELO_MIN, Lacks};

/// A level, and the game that it plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// What keeps it from playing better.
    pub lacks: Lacks,
    /// Decides noise and oversights: the same seed, the same game.
    pub seed: u64,
}

impl Level {
    /// A level of this Elo of engines, [`ELO_MIN`] to [`ELO_MAX`].
    pub fn of(elo: i32, seed: u64) -> Self {
        let lacks = Lacks::of(elo);
        Self { lacks, seed }
    }
}

/// Sixty-four well mixed bits of two numbers.
// CITE: the finaliser of SplitMix64 (Steele, Lea, Flood, 2014).
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let mut z = a ^ b.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
