//! Feature sets: how a piece on a square becomes the index of a row of the first layer.
//!
//! A set is a value of type [`FeatureSet`] in a file of its own, and a line in the list below. The engine, which knows it
//! at compile time, and the trainer, which does not, compute indices by the same functions.

mod halfka;
mod halfkp;
mod list;
mod pawn_pairs;
pub(crate) mod relations;
mod set;
mod threats;

use std::fmt;

use serde::{Deserialize, Serialize};

pub(crate) use list::{IndexList, MAX_ACTIVE, MAX_CHANGED};
pub use set::FeatureSet;
pub(crate) use set::View;

/// A feature set that the compiler knows.
pub trait StaticFeatures: Copy + Send + Sync + 'static {
    /// The set.
    const SET: &'static FeatureSet;
}

/// Declares [`Features`], and a type of the same name for each set.
macro_rules! feature_sets {
    ($($(#[$attribute:meta])* $name:ident: $set:expr;)+) => {
        /// The input features, by name.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, clap::ValueEnum)]
        #[serde(rename_all = "kebab-case")]
        pub enum Features {
            $($(#[$attribute])* $name,)+
        }

        impl Features {
            /// Every set.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// What it is.
            #[inline(always)]
            pub const fn set(self) -> &'static FeatureSet {
                match self {
                    $(Self::$name => &$set,)+
                }
            }
        }

        /// The sets as types without values, which only carry [`StaticFeatures::SET`].
        pub(crate) mod types {
            use super::{FeatureSet, StaticFeatures};
            $(
                #[derive(Clone, Copy, Debug)]
                pub enum $name {}

                impl StaticFeatures for $name {
                    const SET: &'static FeatureSet = super::Features::$name.set();
                }
            )+
        }
    };
}

feature_sets! {
    /// Own king square (64) times every other piece but the kings: Stockfish 12's
    HalfKp: halfkp::HALF_KP;
    /// Own king square (64) times every piece, kings too: Stockfish 14's
    #[value(skip)]
    HalfKav2: halfka::HALF_KAV2;
    /// Own king square, mirrored to the files e to h (32), times every piece: Stockfish 15's
    HalfKav2Hm: halfka::HALF_KAV2_HM;
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.set().name)
    }
}
