//! Feature sets as types. Most are compile-time constants. Sets that differ only in their table of king buckets share
//! code and read the table at run time.

use shakmaty::{Color, Square};

use super::{FeatureSet, Features};

/// A feature set, or a family of sets, that code is compiled for.
pub trait StaticFeatures: Copy + Send + Sync + 'static {
    /// The sets that this type represents.
    const SETS: &'static [Features];

    /// Whether several king squares can have the same view.
    const SHARES_VIEWS: bool;

    /// The value for one of [`Self::SETS`].
    fn of(features: Features) -> Self;

    /// The definition of the set.
    fn set(&self) -> &'static FeatureSet;

    /// The cache slot of a perspective whose king stands on `king`: below 64, and unique for each view.
    fn slot(&self, perspective: Color, king: Square) -> usize;

    /// Whether both squares of a perspective's own king have the same view, so that a king move between them can be
    /// applied incrementally.
    fn have_same_view(&self, perspective: Color, from: Square, to: Square) -> bool;
}

/// Declares unit types for the sets with separate code.
macro_rules! static_sets {
    ($($name:ident)+) => {
        $(
            #[derive(Clone, Copy, Debug)]
            pub struct $name;

            impl StaticFeatures for $name {
                const SETS: &'static [Features] = &[Features::$name];
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
                fn slot(&self, _: shakmaty::Color, king: shakmaty::Square) -> usize {
                    king as usize
                }

                #[inline(always)]
                fn have_same_view(&self, _: shakmaty::Color, from: shakmaty::Square, to: shakmaty::Square) -> bool {
                    from == to
                }
            }
        )+
    };
}

pub(super) use static_sets;

/// A set with one of our tables of king buckets.
#[derive(Clone, Copy, Debug)]
pub struct ByTable(&'static FeatureSet);

impl StaticFeatures for ByTable {
    const SETS: &'static [Features] =
        &[Features::HalfKav2Hm16, Features::HalfKav2Hm8, Features::HalfKav2Hm4, Features::HalfKav2Hm1];
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
