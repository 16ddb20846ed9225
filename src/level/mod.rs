//! Levels: play at a strength below the engine's own.
//!
//! A level plays the move that it takes for the best. What it lacks is what people lack: depth (a budget of nodes),
//! judgement (a noise on the evaluation) and attention (replies that it overlooks). Noise and oversights are functions
//! of the position and of the game's seed: the same game with the same seed is played the same way, on any machine and
//! whatever was searched before.
//!
//! * [`strength`]: an Elo as what a level of it lacks, and the table that games have calibrated
//! * [`mind`]: how a level sees one position and what follows: its noise and its oversights
//! * [`technique`], [`mating`]: elementary endings, which every level wins: their method, and the search of a move
//! * [`pace`]: how long a level seems to think

pub mod mating;
pub mod mind;
pub mod pace;
pub mod strength;
pub mod technique;

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
