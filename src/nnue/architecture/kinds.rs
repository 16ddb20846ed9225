//! The kinds of nets: a row for each kind that code is compiled for, and the list of the published nets. The
//! accumulators, the check of a file and the trainer are generated from the rows.
// CITE: names, sizes and hashes of the published nets: Stockfish 12 to 19 and nnue-pytorch; checked against the files.

use super::chain::Chain;
use super::{Activation, Architecture, VERSION_1, VERSION_2, VERSION_3};
use crate::nnue::accumulator::Accumulated;
use crate::nnue::features::statics::StaticFeatures;
use crate::nnue::features::threat_inputs::{self, StaticThreatInputs as _, ThreatInputs};
use crate::nnue::features::{self, Features};
use crate::nnue::simd::Layers;
use crate::nnue::simd::forward::{Clipped, Pairwise, Sfnnv16, WidePairwise};

/// A kind of net as a type, for which code is compiled. `L1` is the width of one perspective's accumulator, `P` the
/// number of piece-square values of a feature.
pub trait CompiledNet<const L1: usize, const P: usize>: 'static {
    /// The features of pieces on squares: one set, or sets that differ only in their tables.
    type Features: StaticFeatures;
    /// The threat inputs, or none.
    type ThreatInputs: Accumulated;
    /// The layers after the accumulators: one chain, or chains that share code.
    type Layers: Layers;

    /// The same kind as a run-time value.
    const ROW: Row = Row {
        features: Self::Features::SETS,
        threat_inputs: Self::ThreatInputs::THREAT_INPUTS,
        l1: L1,
        psqt: P,
        chains: Self::Layers::CHAINS,
    };
}

/// A kind of net at run time; see [`CompiledNet`].
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub features: &'static [Features],
    pub threat_inputs: ThreatInputs,
    pub l1: usize,
    pub psqt: usize,
    pub chains: &'static [Chain],
}

impl Row {
    /// Whether the kernels support the width. Rows of the transformer must consist of blocks of 128 numbers. The first
    /// layer's groups of four inputs are scanned 64 at a time, and at most 768 are supported.
    const fn is_supported(&self) -> bool {
        let groups = self.chains[0].inputs(self.l1) / 4;
        self.l1.is_multiple_of(128) && groups <= 768 && (groups < 64 || groups.is_multiple_of(64))
    }
}

/// A function that is generic over the kind of net.
pub trait KindVisitor {
    /// Type of the result.
    type Output;

    /// Runs the function for a kind.
    fn visit<N: CompiledNet<L1, P>, const L1: usize, const P: usize>(self) -> Self::Output;
}

/// Passes the rows to the macro `then`, preceded by the tokens in `given`.
///
/// A row has a name, the features of pieces on squares, the threat inputs, the width of an accumulator, the number of
/// piece-square values of a feature, and the layers after the accumulators. Nets of the first group can be trained and
/// stored in our own format.
macro_rules! kinds {
    ($then:ident $(, $given:tt)*) => {
        $then! {
            ($($given)*)
            own {
                HalfKp256 (HalfKp, None, 256, 0, Clipped<32>);
                Hm1024 (HalfKav2Hm, None, 1024, 8, Pairwise);
                ByTable256 (ByTable, None, 256, 8, Pairwise);
                ByTable512 (ByTable, None, 512, 8, Pairwise);
                ByTable1024 (ByTable, None, 1024, 8, Pairwise);
                ByTable1536 (ByTable, None, 1536, 8, Pairwise);
            }
            others {
                SfnnV2 (HalfKav2, None, 512, 8, Clipped<16>);
                SfnnV3 (HalfKav2Hm, None, 1024, 8, Clipped<16>);
                Hm128 (HalfKav2Hm, None, 128, 8, Pairwise);
                Hm1536 (HalfKav2Hm, None, 1536, 8, Pairwise);
                Hm2048 (HalfKav2Hm, None, 2048, 8, Pairwise);
                Hm2560 (HalfKav2Hm, None, 2560, 8, Pairwise);
                Hm3072 (HalfKav2Hm, None, 3072, 8, Pairwise);
                SfnnV10 (HalfKav2Hm, Threats, 1024, 8, WidePairwise);
                SfnnV16 (HalfKav2Hm, ThreatsAndPawnPairs, 1024, 8, Sfnnv16);
            }
        }
    };
}
pub(crate) use kinds;

/// All architectures of published nets with the names that Stockfish's authors gave them, in the order in which the
/// parser compares them with a header.
pub(super) const PUBLISHED: [(&str, Architecture); 12] = [
    ("SFNNv1", published(NetKind::HalfKp256, VERSION_1, Chain::plain(Activation::Crelu, 32))),
    ("SFNNv2", published(NetKind::SfnnV2, VERSION_2, Chain::plain(Activation::Crelu, 16))),
    ("SFNNv3", published(NetKind::SfnnV3, VERSION_2, Chain::plain(Activation::Crelu, 8))),
    ("SFNN small", published(NetKind::Hm128, VERSION_2, Chain::SFNN_V5)),
    ("SFNNv5", published(NetKind::Hm1024, VERSION_2, Chain::SFNN_V5)),
    ("SFNNv6", published(NetKind::Hm1536, VERSION_2, Chain::SFNN_V5)),
    ("SFNNv7", published(NetKind::Hm2048, VERSION_2, Chain::SFNN_V5)),
    ("SFNNv8", published(NetKind::Hm2560, VERSION_2, Chain::SFNN_V5)),
    ("SFNNv9", published(NetKind::Hm3072, VERSION_2, Chain::SFNN_V5)),
    ("SFNNv10", published(NetKind::SfnnV10, VERSION_2, Chain::SFNN_V10)),
    ("SFNNv16", published(NetKind::SfnnV16, VERSION_3, Chain::SFNN_V16)),
    // After v5, which has the same header.
    ("SFNNv4", published(NetKind::Hm1024, VERSION_2, Chain::SFNN_V4)),
];

/// The published architecture of a kind with one set of features.
const fn published(kind: NetKind, version: u32, chain: Chain) -> Architecture {
    let row = kind.row();
    assert!(row.features.len() == 1, "the kind has several sets of features");
    // One layer stack for each piece-square value of a feature.
    let buckets = if row.psqt == 0 { 1 } else { row.psqt };
    Architecture::new(kind, version, row.features[0], chain, buckets)
}

macro_rules! declare {
    (() own { $($own:ident $own_row:tt;)+ } others { $($other:ident $other_row:tt;)+ }) => {
        declare! { $($own $own_row;)+ $($other $other_row;)+ }

        impl NetKind {
            /// The kinds of our own format.
            pub(super) const OWN: &[Self] = &[$(Self::$own),+];
        }
    };
    ($($name:ident ($features:ident, $threat_inputs:ident, $l1:literal, $psqt:literal, $layers:ty);)+) => {
        /// The rows by name.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum NetKind {
            $($name,)+
        }

        impl NetKind {
            /// The row at run time.
            pub(super) const fn row(self) -> Row {
                match self {
                    $(Self::$name => <rows::$name as CompiledNet<$l1, $psqt>>::ROW,)+
                }
            }

            /// Runs a function for this kind.
            pub(crate) fn visit<V: KindVisitor>(self, visitor: V) -> V::Output {
                match self {
                    $(Self::$name => visitor.visit::<rows::$name, $l1, $psqt>(),)+
                }
            }
        }

        /// The rows as types.
        mod rows {
            $(pub enum $name {})+
        }

        $(
            impl CompiledNet<$l1, $psqt> for rows::$name {
                type Features = features::types::$features;
                type ThreatInputs = threat_inputs::types::$threat_inputs;
                type Layers = $layers;
            }

            const _: () = assert!(<rows::$name as CompiledNet<$l1, $psqt>>::ROW.is_supported());
        )+
    };
}

kinds!(declare);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::container::file_size;

    /// Name, length of the description, transformer hash, network hash, file hash, file size without compression.
    type Known = (&'static str, usize, u32, u32, u32, usize);

    #[rustfmt::skip]
    const KNOWN: [Known; 8] = [
        ("SFNNv1", 177, 0x5D69_D7B8, 0x6333_7156, 0x3E5A_A6EE, 21_022_697),
        ("SFNNv2", 75, 0x5F23_48B8, 0x6333_76CA, 0x3C10_3E72, 47_721_371),
        ("SFNNv3", 75, 0x7F23_44B8, 0x6333_6A54, 0x1C10_2EEC, 47_001_243),
        ("SFNNv5", 75, 0x7F23_44B8, 0x6333_6A4A, 0x1C10_2EF2, 47_001_499),
        ("SFNNv6", 0, 0x7F23_40B8, 0x6333_6BCA, 0x1C10_2B72, 70_136_656),
        ("SFNN small", 0, 0x7F23_4DB8, 0x6333_712A, 0x1C10_3C92, 6_514_768),
        ("SFNNv10", 0, 0x8F23_44B8, 0x6333_6A4A, 0xEC10_2EF2, 131_329_360),
        ("SFNNv16", 0, 0xCB68_5313, 0x6333_7116, 0xA85B_2205, 115_114_576),
    ];

    #[test]
    fn hashes_and_sizes_match_published_files() {
        for (name, description, transformer, network, file, size) in KNOWN {
            let found = PUBLISHED.iter().find(|published| published.0 == name);
            let shape = found.expect("a published name").1;
            assert_eq!(shape.transformer_hash(), transformer, "{name}");
            assert_eq!(shape.network_hash(), network, "{name}");
            assert_eq!(shape.file_hash(), file, "{name}");
            assert_eq!(file_size(&shape, description), size, "{name}");
        }
    }

    #[test]
    fn kinds_compute_their_published_chains() {
        for (name, architecture) in PUBLISHED {
            let chain = architecture.chain();
            assert!(architecture.kind().row().chains.contains(&chain), "{name}: {chain:?}");
        }
    }
}
