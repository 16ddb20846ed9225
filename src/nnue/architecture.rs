//! The architectures that we can run, as data: sizes, version, and the three hashes of the file.

use std::fmt;

use super::features::halfkp;

/// One dense layer: `inputs` u8 activations to `outputs` i32 sums.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LayerShape {
    /// Number of inputs.
    pub inputs: usize,
    /// Number of outputs.
    pub outputs: usize,
}

impl LayerShape {
    /// Bytes in a file: i32 biases, then i8 weights, one row of inputs per output.
    pub fn file_size(self) -> usize {
        self.outputs * (4 + self.inputs)
    }
}

/// The numbers that describe an architecture; everything else follows from them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The first word of the file.
    pub version: u32,
    /// The hash of the feature set, before the width is mixed in.
    pub feature_hash: u32,
    /// Number of input features of one perspective.
    pub features: usize,
    /// Width of the accumulator of one perspective.
    pub l1: usize,
    /// The dense layers, in order.
    pub layers: &'static [LayerShape],
}

impl Shape {
    /// The hash before the feature transformer.
    pub fn transformer_hash(&self) -> u32 {
        self.feature_hash ^ self.accumulators()
    }

    /// The hash before the dense layers.
    pub fn network_hash(&self) -> u32 {
        const INPUT_SLICE: u32 = 0xEC42_E90D;
        const AFFINE: u32 = 0xCC03_DAE4;
        const CLIPPED_RELU: u32 = 0x538D_24C7;
        let mut hash = INPUT_SLICE ^ self.accumulators();
        for (i, layer) in self.layers.iter().enumerate() {
            hash = AFFINE.wrapping_add(layer.outputs as u32) ^ (hash >> 1) ^ (hash << 31);
            if i + 1 < self.layers.len() {
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
        2 * self.l1 * (self.features + 1)
    }

    /// Bytes of a whole file with a description of `description` bytes.
    pub fn file_size(&self, description: usize) -> usize {
        let layers: usize = self.layers.iter().map(|layer| layer.file_size()).sum();
        super::file::HEADER_SIZE + description + 4 + self.transformer_size() + 4 + layers
    }

    /// Both perspectives' accumulators together.
    fn accumulators(&self) -> u32 {
        2 * self.l1 as u32
    }
}

/// A network architecture that the engine runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Architecture {
    /// HalfKP 256x2-32-32-1, as in Stockfish 12 and 13.
    HalfKp,
}

/// Every architecture, in the order in which headers are tried.
pub const ALL: [Architecture; 1] = [Architecture::HalfKp];

const HALFKP: Shape = Shape {
    version: 0x7AF3_2F16,
    feature_hash: halfkp::HASH,
    features: halfkp::COUNT,
    l1: 256,
    layers: &[
        LayerShape {
            inputs: 512,
            outputs: 32,
        },
        LayerShape {
            inputs: 32,
            outputs: 32,
        },
        LayerShape {
            inputs: 32,
            outputs: 1,
        },
    ],
};

impl Architecture {
    /// The numbers of this architecture.
    pub fn shape(self) -> &'static Shape {
        match self {
            Self::HalfKp => &HALFKP,
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HalfKp => f.write_str("HalfKP 256x2-32-32-1"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halfkp_has_the_published_hashes_and_size() {
        let shape = Architecture::HalfKp.shape();
        assert_eq!(shape.transformer_hash(), 0x5D69_D7B8);
        assert_eq!(shape.network_hash(), 0x6333_7156);
        assert_eq!(shape.file_hash(), 0x3E5A_A6EE);
        assert_eq!(shape.file_size(177), 21_022_697);
    }
}
