//! The list of sizes that this binary has code for. The accumulators, the check of a file and the trainer are generated
//! from it.

use super::{Activation, Shape, Topology};
use crate::nnue::features::chosen::Code;
use crate::nnue::features::threat_inputs::ThreatInputs;

/// Passes the list to the macro `then`, preceded by the tokens in `given`.
///
/// A row has a name, the feature set (or the [`Code`] of several sets), the width of an accumulator, the number of
/// piece-square values of a feature, and the [`ForwardPass`] after the accumulators. The trainer supports the sizes
/// under `own`. A row of `published` also names the threat inputs. A size under `own` is not repeated there.
macro_rules! compiled {
    ($then:ident $(, $given:tt)*) => {
        $then! {
            ($($given)*)
            own {
                HalfKp256To32: HalfKp, 256, 0, Clipped32;
                Hm1024PairsPsqt: HalfKav2Hm, 1024, 8, Pairwise;
                ByTable256PairsPsqt: ByTable, 256, 8, Pairwise;
                ByTable1024PairsPsqt: ByTable, 1024, 8, Pairwise;
                ByTable1536PairsPsqt: ByTable, 1536, 8, Pairwise;
            }
            published {
                SfnnV2: HalfKav2, None, 512, 8, Clipped16;
                SfnnV3: HalfKav2Hm, None, 1024, 8, Clipped16;
                Sfnn128: HalfKav2Hm, None, 128, 8, Pairwise;
                Sfnn1536: HalfKav2Hm, None, 1536, 8, Pairwise;
                Sfnn2048: HalfKav2Hm, None, 2048, 8, Pairwise;
                Sfnn2560: HalfKav2Hm, None, 2560, 8, Pairwise;
                Sfnn3072: HalfKav2Hm, None, 3072, 8, Pairwise;
                SfnnV10: HalfKav2Hm, Threats, 1024, 8, WidePairwise;
                SfnnV16: HalfKav2Hm, ThreatsAndPawnPairs, 1024, 8, Sfnnv16;
            }
        }
    };
}
pub(crate) use compiled;

/// The computation after the accumulators; each variant has a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ForwardPass {
    /// Clipped sums or their squares, then layers of at most 16, 32 and 1 outputs with clipped ReLUs.
    Clipped16,
    /// As [`Self::Clipped16`] with 32, 32 and 1 outputs.
    Clipped32,
    /// Pairwise products, then layers of 16, 32 and 1 outputs with a skip connection.
    Pairwise,
    /// As [`Self::Pairwise`] with products of sums clipped at 255.
    WidePairwise,
    /// Wide products, then densely connected layers of 32, 32 and 1 outputs with a skip connection.
    Sfnnv16,
}

/// Activation of the accumulators, topology, and sizes of the hidden layers.
type Layers = (Activation, Topology, [usize; 2]);

impl ForwardPass {
    /// The pass for a shape, if there is one.
    const fn of(shape: &Shape) -> Option<Self> {
        match (shape.activation, shape.topology, shape.hidden) {
            (Activation::Crelu | Activation::Screlu, Topology::Plain, [h1, 32]) => match h1 {
                8 | 16 => Some(Self::Clipped16),
                32 => Some(Self::Clipped32),
                _ => None,
            },
            (Activation::Pairwise, Topology::Skip { .. }, [16, 32]) => Some(Self::Pairwise),
            (Activation::WidePairwise, Topology::Skip { squares: true }, [16, 32]) => Some(Self::WidePairwise),
            (Activation::WidePairwise, Topology::Sfnnv16, [32, 32]) => Some(Self::Sfnnv16),
            _ => None,
        }
    }

    /// Whether its kernels support accumulators of width `l1`. Rows of the transformer must consist of blocks of 128
    /// numbers. The first layer's groups of four inputs are scanned 64 at a time, and at most 768 are supported.
    const fn supports_width(self, l1: usize) -> bool {
        let groups = match self {
            Self::Clipped16 | Self::Clipped32 => 2 * l1 / 4,
            Self::Pairwise | Self::WidePairwise | Self::Sfnnv16 => l1 / 4,
        };
        l1.is_multiple_of(128) && groups <= 768 && (groups < 64 || groups.is_multiple_of(64))
    }

    /// The layers that nets of our own format can combine with this pass.
    pub const fn own_layers(self) -> &'static [Layers] {
        const fn plain(h1: usize) -> [Layers; 2] {
            [(Activation::Crelu, Topology::Plain, [h1, 32]), (Activation::Screlu, Topology::Plain, [h1, 32])]
        }
        match self {
            Self::Clipped16 => &const { plain(16) },
            Self::Clipped32 => &const { plain(32) },
            Self::Pairwise => &[(Activation::Pairwise, Topology::Skip { squares: true }, [16, 32])],
            Self::WidePairwise | Self::Sfnnv16 => &[],
        }
    }
}

/// A row of the list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// The code of the feature sets.
    pub features: Code,
    pub threat_inputs: ThreatInputs,
    pub l1: usize,
    pub psqt: usize,
    pub pass: ForwardPass,
}

impl Size {
    /// Whether this row runs a shape with this pass.
    const fn matches(&self, shape: &Shape, pass: ForwardPass) -> bool {
        self.features as u8 == shape.features.compiled_as() as u8
            && self.threat_inputs as u8 == shape.threat_inputs as u8
            && self.l1 == shape.l1
            && self.psqt == shape.psqt
            && self.pass as u8 == pass as u8
    }
}

macro_rules! declare {
    (
        ()
        own { $($own:ident: $own_features:ident, $own_l1:literal, $own_psqt:literal, $own_pass:ident;)+ }
        published {
            $($name:ident: $features:ident, $threat_inputs:ident, $l1:literal, $psqt:literal, $pass:ident;)+
        }
    ) => {
        /// The rows by name, so that the compiler checks that every `match` covers all of them.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Compiled {
            $($own,)+
            $($name,)+
        }

        $(const _: () = assert!(ForwardPass::$own_pass.supports_width($own_l1));)+
        $(const _: () = assert!(ForwardPass::$pass.supports_width($l1));)+

        /// The sizes of our own format.
        pub(super) const OWN: &[Size] = &[$(size!($own_features, None, $own_l1, $own_psqt, $own_pass)),+];

        impl Compiled {
            /// The row that runs a shape, if there is one.
            pub(super) const fn of(shape: &Shape) -> Option<Self> {
                let Some(pass) = ForwardPass::of(shape) else {
                    return None;
                };
                $(if size!($own_features, None, $own_l1, $own_psqt, $own_pass).matches(shape, pass) {
                    return Some(Self::$own);
                })+
                $(if size!($features, $threat_inputs, $l1, $psqt, $pass).matches(shape, pass) {
                    return Some(Self::$name);
                })+
                None
            }
        }
    };
}

macro_rules! size {
    ($features:ident, $threat_inputs:ident, $l1:literal, $psqt:literal, $pass:ident) => {
        Size {
            features: Code::$features,
            threat_inputs: ThreatInputs::$threat_inputs,
            l1: $l1,
            psqt: $psqt,
            pass: ForwardPass::$pass,
        }
    };
}

compiled!(declare);
