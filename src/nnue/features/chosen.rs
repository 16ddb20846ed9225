//! Feature sets as types: most are known to the compiler; those that differ in their table of king buckets alone share
//! their code, and have the table at run time.

use shakmaty::{Color, Square};

use super::{FeatureSet, Features};

/// A feature set that code is compiled for.
pub trait ChosenFeatures: Copy + Send + Sync + 'static {
    /// Whether the views of several king squares are one.
    const SHARES_VIEWS: bool;

    /// The one that a net has; it must be one that this type stands for.
    fn of(features: Features) -> Self;

    /// The set.
    fn set(&self) -> &'static FeatureSet;

    /// Where sums of a perspective whose king stands on a square are kept: below 64, and one for each view.
    fn slot(&self, perspective: Color, king: Square) -> usize;

    /// Whether both squares of a perspective's own king have one view: then a move between them changes no more than
    /// other moves do.
    fn is_one_view(&self, perspective: Color, from: Square, to: Square) -> bool;
}

/// The sets that share code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Code {
    /// [`Features::HalfKp`] alone.
    HalfKp,
    /// [`Features::HalfKav2`] alone.
    HalfKav2,
    /// [`Features::HalfKav2Hm`] alone.
    HalfKav2Hm,
    /// Those with fewer king buckets.
    ByTable,
}

impl Features {
    /// The code that it runs by.
    pub(crate) const fn compiled_as(self) -> Code {
        match self {
            Self::HalfKp => Code::HalfKp,
            Self::HalfKav2 => Code::HalfKav2,
            Self::HalfKav2Hm => Code::HalfKav2Hm,
            Self::HalfKav2Hm16 | Self::HalfKav2Hm8 | Self::HalfKav2Hm4 | Self::HalfKav2Hm1 => {
                Code::ByTable
            }
        }
    }
}

/// Types without values for the sets that have code alone.
macro_rules! known {
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
                fn is_one_view(&self, _: Color, from: Square, to: Square) -> bool {
                    from == to
                }
            }
        )+
    };
}

known! { HalfKp HalfKav2 HalfKav2Hm }

/// See [`Code::ByTable`].
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
    fn is_one_view(&self, perspective: Color, from: Square, to: Square) -> bool {
        self.0.view(perspective, from) == self.0.view(perspective, to)
    }
}
