//! The numbers that describe a net, and the sizes and hashes that follow from them.

use serde::{Deserialize, Serialize};

use crate::nnue::features::Features;
use crate::nnue::features::threat_inputs::ThreatInputs;

pub use crate::nnue::version::{VERSION_1, VERSION_2, VERSION_3, VERSION_OWN};

/// What becomes of the accumulators before the first dense layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// Clipped between 0 and 1: at the default width the architecture of Stockfish 12, which other engines read too.
    Crelu,
    /// The square of that: a net of our own, which only Zoothera reads.
    // CITE: SCReLU, as bullet's and other engines' nets have it.
    Screlu,
    /// Each half of a clipped accumulator is multiplied with the other one, and the layers behind are those of
    /// Stockfish 15.1 to 17.1: one output of sixteen skips, the others go on squared and clipped (SFNNv5).
    Pairwise,
    /// The same with sums twice as fine, clipped between 0 and 255 (SFNNv10).
    #[value(skip)]
    #[serde(skip)]
    WidePairwise,
}

/// What the dense layers hand to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Topology {
    /// Three layers with clipped ReLUs between them (SFNNv1 to v3).
    Plain,
    /// The same, but the last output of the first layer skips the others (SFNNv4). `squares`: the other outputs go on
    /// twice, squared and clipped (SFNNv5 and later).
    Skip {
        /// Whether the squares are there.
        squares: bool,
    },
    /// Every layer sees what all layers before it hand on, squared and clipped; and the difference of the last two
    /// outputs of the first layer joins the result (SFNNv16).
    Sfnnv16,
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

    /// Number of weights in a file.
    pub fn weights(self) -> usize {
        self.outputs * self.row()
    }

    /// Bytes in a file: i32 biases, then i8 weights, one row per output.
    pub fn file_size(self) -> usize {
        4 * self.outputs + self.weights()
    }
}

/// The numbers that describe a net; everything else follows from them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The first word of the file.
    pub version: u32,
    /// The input features: pieces on squares.
    pub features: Features,
    /// What is a feature beside them.
    pub threat_inputs: ThreatInputs,
    /// Width of the accumulator of one perspective.
    pub l1: usize,
    /// What becomes of the accumulators.
    pub activation: Activation,
    /// What the dense layers hand to each other.
    pub topology: Topology,
    /// Outputs of the first two dense layers; the third has one.
    pub hidden: [usize; 2],
    /// Stacks of dense layers, chosen by the number of pieces.
    pub buckets: usize,
    /// Piece-square values per feature, one for each bucket; 0 if there are none.
    pub psqt: usize,
}

impl Shape {
    /// Inputs of the first dense layer.
    pub fn inputs(&self) -> usize {
        match self.activation {
            Activation::Crelu | Activation::Screlu => 2 * self.l1,
            Activation::Pairwise | Activation::WidePairwise => self.l1,
        }
    }

    /// The dense layers of a stack, in order.
    pub fn layers(&self) -> [LayerShape; 3] {
        let [h1, h2] = self.hidden;
        let (into_second, into_last) = match self.topology {
            Topology::Plain => (h1, h2),
            Topology::Skip { squares: false } => (h1 - 1, h2),
            Topology::Skip { squares: true } => (2 * (h1 - 1), h2),
            Topology::Sfnnv16 => (2 * h1, 2 * (h1 + h2)),
        };
        let layer = |inputs, outputs| LayerShape { inputs, outputs };
        [
            layer(self.inputs(), h1),
            layer(into_second, h2),
            layer(into_last, 1),
        ]
    }

    /// The hash before the feature transformer.
    pub fn transformer_hash(&self) -> u32 {
        // Our own number: the published architectures say by their version whether there are piece-square values.
        const PIECE_SQUARE: u32 = 0x2D19_6B52;
        let psqt = if self.version == VERSION_OWN && self.psqt > 0 {
            PIECE_SQUARE
        } else {
            0
        };
        self.threat_inputs.hash(self.features.set().hash) ^ self.accumulators() ^ psqt
    }

    /// The hash before a stack of dense layers.
    pub fn network_hash(&self) -> u32 {
        const INPUT_SLICE: u32 = 0xEC42_E90D;
        const AFFINE: u32 = 0xCC03_DAE4;
        const CLIPPED_RELU: u32 = 0x538D_24C7;
        // Our own number: the published nets have no squares of sums, so their hashes know none.
        const SQUARED_SLICE: u32 = 0x7351_0A3D;
        // And those of our own with products are told from those with clipped sums and as many outputs.
        const PAIRED_SLICE: u32 = 0x2C95_E1B7;
        let slice = match self.activation {
            Activation::Screlu => SQUARED_SLICE,
            Activation::Pairwise if self.version == VERSION_OWN => PAIRED_SLICE,
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

    /// Bytes of the feature transformer in a file without compression, its hash not counted.
    pub fn transformer_size(&self) -> usize {
        let (pieces, threat_inputs) = (
            self.features.set().count(),
            self.threat_inputs.set().count(),
        );
        let weights = 2 * self.l1 * (pieces + 1) + self.l1 * threat_inputs;
        weights + 4 * self.psqt * (pieces + threat_inputs)
    }

    /// Bytes of the stacks of dense layers in a file, with their hashes.
    pub fn stacks_size(&self) -> usize {
        let layers: usize = self.layers().iter().map(|layer| layer.file_size()).sum();
        self.buckets * (4 + layers)
    }

    /// The stack of dense layers for a board with so many pieces, kings included.
    #[inline]
    pub fn bucket(&self, pieces: usize) -> usize {
        if self.buckets > 1 {
            pieces.clamp(1, 32).div_ceil(4) - 1
        } else {
            0
        }
    }

    /// Both perspectives' accumulators together.
    fn accumulators(&self) -> u32 {
        2 * self.l1 as u32
    }
}
