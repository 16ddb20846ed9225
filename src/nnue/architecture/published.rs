//! Architectures of the published nets, with the names that Stockfish's authors gave them.
// CITE: Stockfish 12 to 19 and nnue-pytorch; sizes and hashes checked against the published files.

use super::{Activation, Architecture, Shape, Topology, VERSION_1, VERSION_2, VERSION_3};
use crate::nnue::features::Features;
use crate::nnue::features::threat_inputs::ThreatInputs;

const HALF_KP: Shape = Shape {
    version: VERSION_1,
    features: Features::HalfKp,
    threat_inputs: ThreatInputs::None,
    l1: 256,
    activation: Activation::Crelu,
    topology: Topology::Plain,
    hidden: [32, 32],
    buckets: 1,
    psqt: 0,
};

const SFNN_V2: Shape = Shape {
    version: VERSION_2,
    features: Features::HalfKav2,
    l1: 512,
    hidden: [16, 32],
    buckets: 8,
    psqt: 8,
    ..HALF_KP
};

const SFNN_V3: Shape = Shape { features: Features::HalfKav2Hm, l1: 1024, hidden: [8, 32], ..SFNN_V2 };

/// SFNNv5 and later.
const fn pairwise(l1: usize) -> Shape {
    Shape {
        features: Features::HalfKav2Hm,
        l1,
        activation: Activation::Pairwise,
        topology: Topology::Skip { squares: true },
        ..SFNN_V2
    }
}

/// SFNNv4.
const SFNN_V4: Shape = Shape { topology: Topology::Skip { squares: false }, ..pairwise(1024) };

/// The big net of Stockfish 18.
const SFNN_V10: Shape =
    Shape { threat_inputs: ThreatInputs::Threats, activation: Activation::WidePairwise, ..pairwise(1024) };

/// The net of Stockfish 19.
const SFNN_V16: Shape = Shape {
    version: VERSION_3,
    threat_inputs: ThreatInputs::ThreatsAndPawnPairs,
    topology: Topology::Sfnnv16,
    hidden: [32, 32],
    ..SFNN_V10
};

/// All architectures with their names, in the order in which the parser compares them with a header.
pub(super) const PUBLISHED: [(&str, Architecture); 12] = [
    ("SFNNv1", compiled(HALF_KP)),
    ("SFNNv2", compiled(SFNN_V2)),
    ("SFNNv3", compiled(SFNN_V3)),
    ("SFNN small", compiled(pairwise(128))),
    ("SFNNv5", compiled(pairwise(1024))),
    ("SFNNv6", compiled(pairwise(1536))),
    ("SFNNv7", compiled(pairwise(2048))),
    ("SFNNv8", compiled(pairwise(2560))),
    ("SFNNv9", compiled(pairwise(3072))),
    ("SFNNv10", compiled(SFNN_V10)),
    ("SFNNv16", compiled(SFNN_V16)),
    // After v5, which has the same header.
    ("SFNNv4", compiled(SFNN_V4)),
];

/// The architecture with this shape. The build fails if there is no code for it.
const fn compiled(shape: Shape) -> Architecture {
    match Architecture::of(shape) {
        Some(architecture) => architecture,
        None => panic!("a published shape is missing in `compiled.rs`"),
    }
}

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
}
