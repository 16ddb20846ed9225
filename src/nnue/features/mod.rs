//! Feature sets: how a piece on a square becomes the index of a row of the first layer.
//!
//! A set is a value of type [`FeatureSet`] in a file of its own, and a line in the list below. The engine, which knows
//! it at compile time ([`mod@chosen`]), and the trainer, which does not, compute indices by the same functions. Those
//! that differ in their buckets of king squares alone are in [`king_tables`].

pub(crate) mod chosen;
mod halfka;
mod halfkp;
mod king_tables;
mod list;
mod pawn_pairs;
mod set;
pub(crate) mod threat_inputs;
mod threats;

use std::fmt;

use serde::{Deserialize, Serialize};

pub(crate) use list::{IndexList, MAX_ACTIVE, MAX_CHANGED};
pub use set::FeatureSet;
pub(crate) use set::View;

/// Declares [`Features`].
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
    /// The same with 16 buckets of king squares
    #[value(skip)]
    HalfKav2Hm16: king_tables::SIXTEEN;
    /// The same with 8
    #[value(skip)]
    HalfKav2Hm8: king_tables::EIGHT;
    /// The same with 4
    #[value(skip)]
    HalfKav2Hm4: king_tables::FOUR;
    /// The same wherever the king stands in its half
    #[value(skip)]
    HalfKav2Hm1: king_tables::ONE;
}

impl Features {
    /// The code by which files of our own name it, and its number of king buckets; 0 stands for those of the set whose
    /// kings have a bucket for each square or pair of squares.
    pub(crate) fn code(self) -> (u32, u32) {
        let set = self.set();
        let kings = if set.is_by_table() { set.kings } else { 0 };
        (set.code, kings as u32)
    }

    /// The set of the same kind with so many king buckets, if there is one.
    pub fn with_king_buckets(self, kings: usize) -> Option<Self> {
        let (code, wanted) = (self.set().code, |of: &&Self| of.set().kings == kings);
        let mut same = Self::ALL.iter().filter(|of| of.set().code == code);
        same.find(wanted).copied()
    }

    /// The numbers of king buckets that sets of this kind have, from the most down.
    pub fn king_buckets(self) -> Vec<usize> {
        let code = self.set().code;
        let same = Self::ALL.iter().filter(|of| of.set().code == code);
        same.map(|of| of.set().kings).collect()
    }
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.set().name)
    }
}
