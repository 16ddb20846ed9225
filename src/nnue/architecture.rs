//! The architectures that we can run, as data: sizes, version, and the three hashes of the file.

use std::fmt;

use super::features::{halfka, halfkp};
use super::own::{self, Own};

/// The input features, by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Features {
    /// Own king square times every other piece but the kings.
    HalfKp,
    /// Own king square times every piece, kings too.
    HalfKav2,
    /// The same with the board mirrored so that the own king stands on files e to h.
    HalfKav2Hm,
}

impl Features {
    /// Number of features of one perspective.
    pub fn count(self) -> usize {
        match self {
            Self::HalfKp => halfkp::COUNT,
            Self::HalfKav2 => halfka::COUNT,
            Self::HalfKav2Hm => halfka::COUNT_HM,
        }
    }

    /// The feature set's part of the transformer hash, before the width is mixed in.
    fn hash(self) -> u32 {
        match self {
            Self::HalfKp => halfkp::HASH,
            Self::HalfKav2 => halfka::HASH,
            Self::HalfKav2Hm => halfka::HASH_HM,
        }
    }
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::HalfKp => "HalfKP",
            Self::HalfKav2 => "HalfKAv2",
            Self::HalfKav2Hm => "HalfKAv2_hm",
        })
    }
}

/// What becomes of the accumulators, and what joins the dense layers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Chain {
    /// Every sum is clipped; three dense layers with clipped ReLUs between them (SFNNv1 to v3).
    Clipped,
    /// Every sum is clipped and squared (SCReLU); then as above. Only nets of our own have this.
    Squared,
    /// Each half of an accumulator is multiplied with the other one; the last output of the first
    /// dense layer skips the others (SFNNv4). `squares`: the other outputs go on twice, squared
    /// and clipped (SFNNv5 and later).
    Pairwise {
        /// Whether the squares are there.
        squares: bool,
    },
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Clipped => "clipped ReLU",
            Self::Squared => "squared clipped ReLU, then clipped ReLU",
            Self::Pairwise { squares: false } => {
                "pairwise products, then clipped ReLU; one output skips"
            }
            Self::Pairwise { squares: true } => {
                "pairwise products, then clipped ReLU and its square; one output skips"
            }
        })
    }
}

/// One dense layer: `inputs` u8 activations to `outputs` i32 sums.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LayerShape {
    /// Number of inputs.
    pub inputs: usize,
    /// Number of outputs.
    pub outputs: usize,
}

impl LayerShape {
    /// Length of a row in a file: the inputs, filled up to whole 32s with weights of nothing.
    pub fn row(self) -> usize {
        self.inputs.next_multiple_of(32)
    }

    /// Bytes in a file: i32 biases, then i8 weights, one row per output.
    pub fn file_size(self) -> usize {
        self.outputs * (4 + self.row())
    }
}

/// The numbers that describe an architecture; everything else follows from them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The first word of the file.
    pub version: u32,
    /// The input features.
    pub features: Features,
    /// Width of the accumulator of one perspective.
    pub l1: usize,
    /// The activations.
    pub chain: Chain,
    /// Outputs of the first two dense layers; the third has one.
    pub hidden: [usize; 2],
    /// Stacks of dense layers, chosen by the number of pieces.
    pub buckets: usize,
    /// Piece-square values per feature, one for each bucket; 0 if there are none.
    pub psqt: usize,
}

impl Shape {
    /// The dense layers of a stack, in order.
    pub fn layers(&self) -> [LayerShape; 3] {
        let [h1, h2] = self.hidden;
        let (into_first, into_second) = match self.chain {
            Chain::Clipped | Chain::Squared => (2 * self.l1, h1),
            Chain::Pairwise { squares: false } => (self.l1, h1 - 1),
            Chain::Pairwise { squares: true } => (self.l1, 2 * (h1 - 1)),
        };
        let layer = |inputs, outputs| LayerShape { inputs, outputs };
        [layer(into_first, h1), layer(into_second, h2), layer(h2, 1)]
    }

    /// The hash before the feature transformer.
    pub fn transformer_hash(&self) -> u32 {
        self.features.hash() ^ self.accumulators()
    }

    /// The hash before a stack of dense layers.
    pub fn network_hash(&self) -> u32 {
        const INPUT_SLICE: u32 = 0xEC42_E90D;
        const AFFINE: u32 = 0xCC03_DAE4;
        const CLIPPED_RELU: u32 = 0x538D_24C7;
        // Our own number: the published nets have no squares of sums, so their hashes know none.
        const SQUARED_SLICE: u32 = 0x7351_0A3D;
        let slice = match self.chain {
            Chain::Squared => SQUARED_SLICE,
            _ => INPUT_SLICE,
        };
        let mut hash = slice ^ self.accumulators();
        let layers = self.layers();
        for (i, layer) in layers.iter().enumerate() {
            hash = AFFINE.wrapping_add(layer.outputs as u32) ^ (hash >> 1) ^ (hash << 31);
            if i + 1 < layers.len() {
                hash = hash.wrapping_add(CLIPPED_RELU);
            }
        }
        hash
    }

    /// The hash in the header: the others mixed.
    pub fn file_hash(&self) -> u32 {
        self.transformer_hash() ^ self.network_hash()
    }

    /// Bytes of the feature transformer in a file, its hash not counted.
    pub fn transformer_size(&self) -> usize {
        2 * self.l1 * (self.features.count() + 1) + 4 * self.psqt * self.features.count()
    }

    /// Bytes of a whole uncompressed file with a description of `description` bytes.
    pub fn file_size(&self, description: usize) -> usize {
        let layers: usize = self.layers().iter().map(|layer| layer.file_size()).sum();
        let transformer = 4 + self.transformer_size();
        let header = super::file::HEADER_SIZE + description + self.words_size();
        header + transformer + self.buckets * (4 + layers)
    }

    /// Bytes of the words behind the description, by which a net of our own describes itself.
    pub fn words_size(&self) -> usize {
        match self.version {
            VERSION_OWN => 4 * own::WORDS,
            _ => 0,
        }
    }

    /// The stack of dense layers for a board with so many pieces, kings included.
    #[inline]
    pub fn bucket(&self, pieces: usize) -> usize {
        bucket(self.buckets, pieces)
    }

    /// Both perspectives' accumulators together.
    fn accumulators(&self) -> u32 {
        2 * self.l1 as u32
    }
}

/// The stack of dense layers for a board with so many pieces, kings included, where there are so many stacks (1 or 8).
#[inline]
pub fn bucket(buckets: usize, pieces: usize) -> usize {
    if buckets > 1 {
        pieces.clamp(1, 32).div_ceil(4) - 1
    } else {
        0
    }
}

/// A network architecture that the engine runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Architecture {
    /// HalfKP 256x2-32-32-1, as in Stockfish 12 and 13.
    HalfKp,
    /// HalfKAv2 512x2-16-32-1 with eight buckets (SFNNv2), as in Stockfish 14.
    HalfKav2,
    /// HalfKAv2_hm 1024x2-8-32-1 with eight buckets (SFNNv3), as in Stockfish 14.1.
    SfnnV3,
    /// HalfKAv2_hm with pairwise products, as in Stockfish 15 and later.
    Sfnn {
        /// Width of the accumulator of one perspective: one of [`WIDTHS`].
        l1: usize,
        /// SFNNv5 and later; SFNNv4 has the same header but no squares.
        squares: bool,
    },
    /// A net of our own, whose file describes it.
    Own(Own),
}

/// The widths of the architectures with pairwise products that we run.
pub const WIDTHS: [usize; 6] = [128, 1024, 1536, 2048, 2560, 3072];

/// The version of the files of Stockfish 12 and 13.
pub const VERSION_1: u32 = 0x7AF3_2F16;
/// The version of the files of all later engines.
pub const VERSION_2: u32 = 0x7AF3_2F20;
/// The version of the files of our own that describe themselves.
pub const VERSION_OWN: u32 = own::VERSION;

impl Architecture {
    /// Every architecture that a header can announce, in the order in which they are tried.
    pub fn all() -> impl Iterator<Item = Self> {
        let squares = true;
        let pairwise = WIDTHS.into_iter().map(move |l1| Self::Sfnn { l1, squares });
        [Self::HalfKp, Self::HalfKav2, Self::SfnnV3]
            .into_iter()
            .chain(pairwise)
    }

    /// The numbers of this architecture.
    pub fn shape(self) -> Shape {
        let bucketed = Shape {
            version: VERSION_2,
            features: Features::HalfKav2Hm,
            l1: 1024,
            chain: Chain::Clipped,
            hidden: [16, 32],
            buckets: 8,
            psqt: 8,
        };
        match self {
            Self::HalfKp => Shape {
                version: VERSION_1,
                features: Features::HalfKp,
                l1: 256,
                chain: Chain::Clipped,
                hidden: [32, 32],
                buckets: 1,
                psqt: 0,
            },
            Self::HalfKav2 => Shape {
                features: Features::HalfKav2,
                l1: 512,
                ..bucketed
            },
            Self::SfnnV3 => Shape {
                hidden: [8, 32],
                ..bucketed
            },
            Self::Sfnn { l1, squares } => Shape {
                l1,
                chain: Chain::Pairwise { squares },
                ..bucketed
            },
            Self::Own(own) => own.shape(),
        }
    }

    /// The name that Stockfish's authors gave it; ours are only said to be ours.
    fn generation(self) -> &'static str {
        match self {
            Self::Own(_) => "own",
            Self::HalfKp => "SFNNv1",
            Self::HalfKav2 => "SFNNv2",
            Self::SfnnV3 => "SFNNv3",
            Self::Sfnn { squares: false, .. } => "SFNNv4",
            Self::Sfnn { l1: 128, .. } => "SFNN small",
            Self::Sfnn { l1: 1536, .. } => "SFNNv6",
            Self::Sfnn { l1: 2048, .. } => "SFNNv7",
            Self::Sfnn { l1: 2560, .. } => "SFNNv8",
            Self::Sfnn { l1: 3072, .. } => "SFNNv9",
            Self::Sfnn { .. } => "SFNNv5",
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = self.shape();
        let [h1, h2] = shape.hidden;
        write!(f, "{} {}x2-", shape.features, shape.l1)?;
        match shape.chain {
            Chain::Clipped => write!(f, "{h1}-{h2}-1")?,
            Chain::Squared => write!(f, "{h1}-{h2}-1 SCReLU")?,
            Chain::Pairwise { .. } => write!(f, "({}+1)-{h2}-1", h1 - 1)?,
        }
        if shape.buckets > 1 {
            write!(f, " x{}", shape.buckets)?;
        }
        if *self != Self::HalfKp {
            write!(f, " ({})", self.generation())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Architecture, description's length, transformer hash, network hash, file hash, file size.
    type Published = (Architecture, usize, u32, u32, u32, usize);

    const fn sfnn(l1: usize) -> Architecture {
        Architecture::Sfnn { l1, squares: true }
    }

    /// The size is that of the file without compression.
    #[rustfmt::skip]
    const PUBLISHED: [Published; 6] = [
        (Architecture::HalfKp, 177, 0x5D69_D7B8, 0x6333_7156, 0x3E5A_A6EE, 21_022_697),
        (Architecture::HalfKav2, 75, 0x5F23_48B8, 0x6333_76CA, 0x3C10_3E72, 47_721_371),
        (Architecture::SfnnV3, 75, 0x7F23_44B8, 0x6333_6A54, 0x1C10_2EEC, 47_001_243),
        (sfnn(1024), 75, 0x7F23_44B8, 0x6333_6A4A, 0x1C10_2EF2, 47_001_499),
        (sfnn(1536), 0, 0x7F23_40B8, 0x6333_6BCA, 0x1C10_2B72, 70_136_656),
        (sfnn(128), 0, 0x7F23_4DB8, 0x6333_712A, 0x1C10_3C92, 6_514_768),
    ];

    #[test]
    fn published_hashes_and_sizes() {
        for (architecture, description, transformer, network, file, size) in PUBLISHED {
            let shape = architecture.shape();
            assert_eq!(shape.transformer_hash(), transformer, "{architecture}");
            assert_eq!(shape.network_hash(), network, "{architecture}");
            assert_eq!(shape.file_hash(), file, "{architecture}");
            assert_eq!(shape.file_size(description), size, "{architecture}");
        }
    }
}
