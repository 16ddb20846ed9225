//! What becomes of the accumulators before the first dense layer: clipped, or clipped and squared.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::quantised::ACTIVATION_ONE;

/// The activation of the accumulators; the hidden layers always have clipped ReLUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// Clipped between 0 and 1: at the default width the architecture of Stockfish 12, which other engines read too.
    #[default]
    Crelu,
    /// The square of that: a net of our own, which only Zoothera reads.
    // CITE: SCReLU, as bullet's and other engines' nets have it.
    Screlu,
}

impl Activation {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Crelu, Self::Screlu];

    /// The activation of a sum.
    #[inline]
    pub fn of(self, sum: f32) -> f32 {
        let clipped = sum.clamp(0.0, 1.0);
        match self {
            Self::Crelu => clipped,
            Self::Screlu => clipped * clipped,
        }
    }

    /// The activation of a sum in the integer net, 0 to 127.
    pub fn of_integer(self, sum: i16) -> i32 {
        let clipped = i32::from(sum.clamp(0, 127));
        match self {
            Self::Crelu => clipped,
            Self::Screlu => (clipped * clipped) >> 7,
        }
    }

    /// What an activation of 1.0 is in the integer net.
    pub fn one(self) -> f32 {
        match self {
            Self::Crelu => ACTIVATION_ONE,
            // Before the cut to an integer, which takes half a unit more on average.
            Self::Screlu => ACTIVATION_ONE * ACTIVATION_ONE / 128.0,
        }
    }
}

impl fmt::Display for Activation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Crelu => "crelu",
            Self::Screlu => "screlu",
        })
    }
}
