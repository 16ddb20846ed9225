//! Feature sets as types. Most are compile-time constants. Sets that differ only in their table of king buckets share
//! code and read the table at run time.

use shakmaty::{Color, Square};

use super::{FeatureSet, Features};

/// A feature set, or a family of sets, that code is compiled for.
pub trait ChosenFeatures: Copy + Send + Sync + 'static {
    /// Whether several king squares can have the same view.
    const SHARES_VIEWS: bool;

    /// The value for a net's feature set, which must be one that this type represents.
    fn of(features: Features) -> Self;

    /// The feature set.
    fn set(&self) -> &'static FeatureSet;

    /// The cache slot of a perspective whose king stands on `king`: below 64, and unique for each view.
    fn slot(&self, perspective: Color, king: Square) -> usize;

    /// Whether both squares of a perspective's own king have the same view, so that a king move between them can be
    /// applied incrementally.
    fn have_same_view(&self, perspective: Color, from: Square, to: Square) -> bool;
}

/// The types that implement [`ChosenFeatures`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Code {
    /// Only [`Features::HalfKp`].
    HalfKp,
    /// Only [`Features::HalfKav2`].
    HalfKav2,
    /// Only [`Features::HalfKav2Hm`].
    HalfKav2Hm,
    /// All sets with fewer king buckets.
    ByTable,
}

impl Features {
    /// The code for this set.
    pub(crate) const fn compiled_as(self) -> Code {
        match self {
            Self::HalfKp => Code::HalfKp,
            Self::HalfKav2 => Code::HalfKav2,
            Self::HalfKav2Hm => Code::HalfKav2Hm,
            Self::HalfKav2Hm16 | Self::HalfKav2Hm8 | Self::HalfKav2Hm4 | Self::HalfKav2Hm1 => Code::ByTable,
        }
    }
}

/// Declares unit types for the sets with separate code.
macro_rules! static_sets {
    ($($name:ident)+) => {
        $(
            #[derive(Clone, Copy, Debug)]
            pub struct $name;

            impl ChosenFeatures for $name {
                const SHARES_VIEWS: bool = false;

                #[inline(always)]
                fn of(_: Features) -> Self {
                    Self
                }

                #[inline(always)]
                fn set(&self) -> &'static FeatureSet {
                    const { Features::$name.set() }
                }

                #[inline(always)]
                fn slot(&self, _: Color, king: Square) -> usize {
                    king as usize
                }

                #[inline(always)]
                fn have_same_view(&self, _: Color, from: Square, to: Square) -> bool {
                    from == to
                }
            }
        )+
    };
}

static_sets! { HalfKp HalfKav2 HalfKav2Hm }

/// A set with a table of king buckets, see [`Code::ByTable`].
#[derive(Clone, Copy, Debug)]
pub struct ByTable(&'static FeatureSet);

impl ChosenFeatures for ByTable {
    const SHARES_VIEWS: bool = true;

    fn of(features: Features) -> Self {
        Self(features.set())
    }

    #[inline(always)]
    fn set(&self) -> &'static FeatureSet {
        self.0
    }

    #[inline(always)]
    fn slot(&self, perspective: Color, king: Square) -> usize {
        let half = usize::from(king as u8 % 8 < 4);
        2 * usize::from(self.0.view(perspective, king).king) + half
    }

    #[inline(always)]
    fn have_same_view(&self, perspective: Color, from: Square, to: Square) -> bool {
        self.0.view(perspective, from) == self.0.view(perspective, to)
    }
}
