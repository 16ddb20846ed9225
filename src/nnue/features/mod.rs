//! Feature sets: map a piece on a square to the index of a row of the first layer.
//!
//! A set is a value of type [`FeatureSet`] in a separate file, and a line in the list below. Engine and trainer compute
//! indices with the same functions ([`set`]). [`halfkp`] and [`halfka`] are the published sets; [`king_tables`]
//! contains sets that differ only in their king buckets, ours and those of other tables; [`chess768`] has none.
//! [`threat_inputs`] combines [`threats`] and [`pawn_pairs`], which are features of two pieces.
//! [`attack_inputs`] has features of our own nets about attacked pieces. [`list`] has lists of indices.

pub(crate) mod attack_inputs;
pub(crate) mod chess768;
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

pub use king_tables::BadTable;
pub(crate) use list::{IndexList, InputChanges, MAX_ACTIVE, MAX_CHANGED};
pub use set::FeatureSet;
pub(crate) use set::View;

/// The number of king buckets in our own file format that stands for a table of 64 numbers after the shape words.
pub(crate) const TABLE: u32 = 255;

/// Declares [`Features`].
macro_rules! feature_sets {
    ($($(#[$attribute:meta])* $name:ident: $set:expr;)+) => {
        /// The input features, by name.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Features {
            $($(#[$attribute])* $name,)+
            /// A set with king buckets by another table
            #[serde(skip)]
            Table(&'static FeatureSet),
        }

        impl Features {
            /// All sets but those with other tables.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The definition of the set.
            #[inline(always)]
            pub const fn set(self) -> &'static FeatureSet {
                match self {
                    $(Self::$name => &$set,)+
                    Self::Table(set) => set,
                }
            }
        }
    };
}

feature_sets! {
    /// Own king square (64) times every piece except the kings (Stockfish 12)
    HalfKp: halfkp::HALF_KP;
    /// Own king square (64) times every piece, kings included (Stockfish 14)
    HalfKav2: halfka::HALF_KAV2;
    /// Own king square, mirrored to the files e to h (32), times every piece (Stockfish 15)
    HalfKav2Hm: halfka::HALF_KAV2_HM;
    /// HalfKAv2_hm with 16 king buckets
    HalfKav2Hm16: king_tables::SIXTEEN;
    /// HalfKAv2_hm with 8 king buckets
    HalfKav2Hm8: king_tables::EIGHT;
    /// HalfKAv2_hm with 4 king buckets
    HalfKav2Hm4: king_tables::FOUR;
    /// HalfKAv2_hm with one king bucket
    HalfKav2Hm1: king_tables::ONE;
    /// Every piece, kings included, without king buckets or mirroring
    Chess768: chess768::CHESS768;
}

impl Features {
    /// The code of the set in our own file format, and its number of king buckets. The number is 0 if each king square,
    /// or each pair of mirrored squares, has a separate bucket, and [`TABLE`] for another table.
    pub(crate) fn code(self) -> (u32, u32) {
        let set = self.set();
        match self {
            Self::Table(_) => (set.code, TABLE),
            _ if set.is_by_table() => (set.code, set.kings as u32),
            _ => (set.code, 0),
        }
    }

    /// The table of king buckets by square, from a1 to h8 in the view of [`FeatureSet::king_buckets`], if it is none of
    /// ours.
    pub fn table(self) -> Option<&'static [u8; 64]> {
        match self {
            Self::Table(set) => Some(&set.king_buckets),
            _ => None,
        }
    }

    /// The set of this kind with a bucket for each king square or pair of mirrored squares, if this one has another
    /// table; otherwise this one.
    pub(crate) fn without_table(self) -> Self {
        let same = |of: &&Self| of.set().code == self.set().code;
        match self {
            Self::Table(_) => Self::ALL.iter().find(same).copied().unwrap_or(self),
            _ => self,
        }
    }

    /// The set of this kind with king buckets by a table of numbers.
    ///
    /// # Errors
    /// Names what is wrong with the table.
    pub fn with_table(self, table: &[u8; 64]) -> Result<Self, BadTable> {
        let base = self.without_table();
        king_tables::check(base.set(), table)?;
        let same = |of: &&Self| of.set().code == base.set().code && of.set().king_buckets == *table;
        let known = Self::ALL.iter().find(same).copied();
        Ok(known.unwrap_or_else(|| Self::Table(king_tables::by_table(base.set(), table))))
    }

    /// The set of the same kind with `kings` king buckets, if there is one.
    pub fn with_king_buckets(self, kings: usize) -> Option<Self> {
        let (code, wanted) = (self.set().code, |of: &&Self| of.set().kings == kings);
        let mut same = Self::ALL.iter().filter(|of| of.set().code == code);
        same.find(wanted).copied()
    }

    /// The numbers of king buckets of all sets of this kind, in descending order.
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
