//! Feature sets: map a piece on a square to the index of a row of the first layer.
//!
//! A set is a value of type [`FeatureSet`] and a line in the list below. Engine and trainer compute indices with the
//! same functions. [`set`] has these, the published sets, and Chess768, which has no king buckets; [`king_tables`]
//! contains sets that differ only in their king buckets, ours and those of other tables. [`threat_inputs`] combines
//! [`threats`] and pairs of pawns, which are features of two pieces. [`attack_inputs`] has features of our own nets
//! about attacked pieces.

pub(crate) mod attack_inputs;
mod king_tables;
pub(crate) mod set;
pub(crate) mod threat_inputs;
mod threats;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use king_tables::BadTable;
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
    HalfKp: set::HALF_KP;
    /// Own king square (64) times every piece, kings included (Stockfish 14)
    HalfKav2: set::HALF_KAV2;
    /// Own king square, mirrored to the files e to h (32), times every piece (Stockfish 15)
    HalfKav2Hm: set::HALF_KAV2_HM;
    /// HalfKAv2_hm with 16 king buckets
    HalfKav2Hm16: king_tables::SIXTEEN;
    /// HalfKAv2_hm with 8 king buckets
    HalfKav2Hm8: king_tables::EIGHT;
    /// HalfKAv2_hm with 4 king buckets
    HalfKav2Hm4: king_tables::FOUR;
    /// HalfKAv2_hm with one king bucket
    HalfKav2Hm1: king_tables::ONE;
    /// Every piece, kings included, without king buckets or mirroring
    Chess768: set::CHESS768;
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

// Lists of feature indices.

/// Maximum number of features that one update can add or remove: every piece of a full board.
pub(crate) const MAX_ACTIVE: usize = 32;

/// Maximum number of features that one move can add or remove, equal to the maximum number of pieces that it changes.
pub(crate) const MAX_CHANGED: usize = 3;

/// Maximum number of threat or attack inputs that one move adds or removes: 128 attacks of any kinds, and three pawns
/// with at most 17 neighbouring squares each.
const MAX_INPUTS_CHANGED: usize = 192;

/// A list of at most `N` feature indices, without heap allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexList<const N: usize> {
    items: [u16; N],
    len: usize,
}

impl<const N: usize> IndexList<N> {
    /// An empty list.
    #[inline]
    pub const fn new() -> Self {
        Self { items: [0; N], len: 0 }
    }

    /// Appends an index.
    ///
    /// # Panics
    /// If the list is full.
    #[inline]
    pub fn push(&mut self, index: u16) {
        self.items[self.len] = index;
        self.len += 1;
    }
}

impl<const N: usize> std::ops::Deref for IndexList<N> {
    type Target = [u16];
    #[inline]
    fn deref(&self) -> &[u16] {
        &self.items[..self.len]
    }
}

/// The threat or attack inputs that one move added, or those that it removed.
#[derive(Debug)]
pub(crate) struct ChangedList {
    items: [u32; MAX_INPUTS_CHANGED],
    len: usize,
}

impl ChangedList {
    const fn new() -> Self {
        Self { items: [0; MAX_INPUTS_CHANGED], len: 0 }
    }

    /// Appends an index.
    #[inline]
    pub fn push(&mut self, index: u32) {
        self.items[self.len] = index;
        self.len += 1;
    }

    /// Removes the index at a place. The last index takes its place.
    ///
    /// # Panics
    /// If the list has no such place.
    #[inline]
    pub fn swap_remove(&mut self, at: usize) {
        assert!(at < self.len);
        self.len -= 1;
        self.items[at] = self.items[self.len];
    }

    /// Appends an index if `is_active`. Branch-free, because the condition is unpredictable.
    #[inline]
    pub fn push_if(&mut self, is_active: bool, index: u32) {
        self.items[self.len] = index;
        self.len += usize::from(is_active);
    }
}

impl std::ops::Deref for ChangedList {
    type Target = [u32];
    #[inline]
    fn deref(&self) -> &[u32] {
        &self.items[..self.len]
    }
}

/// The threat or attack inputs that one move added and removed.
#[derive(Debug)]
pub(crate) struct InputChanges {
    pub added: ChangedList,
    pub removed: ChangedList,
}

impl InputChanges {
    /// No changes.
    pub const fn none() -> Self {
        Self { added: ChangedList::new(), removed: ChangedList::new() }
    }

    /// Removes all changes.
    #[inline]
    pub fn clear(&mut self) {
        (self.added.len, self.removed.len) = (0, 0);
    }

    /// The list of added inputs, or that of removed ones.
    #[inline]
    pub fn list(&mut self, added: bool) -> &mut ChangedList {
        if added { &mut self.added } else { &mut self.removed }
    }
}
