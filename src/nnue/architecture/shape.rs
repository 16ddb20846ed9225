//! The numbers that describe a net, and the sizes and hashes that follow from them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::board::AttackKinds;
use crate::nnue::features::Features;
use crate::nnue::features::attack_inputs::AttackInputs;
use crate::nnue::features::threat_inputs::ThreatInputs;
use crate::nnue::version::VERSION_OWN;

/// Widths of accumulators are multiples of this number: 32 numbers of 16 bits are a cache line.
pub(crate) const WIDTH_STEP: usize = 32;

/// Columns in a block of the rows of threat and attack inputs.
pub(crate) const PAIRED_COLUMNS: usize = 64;

/// Maximum width of an accumulator.
pub(crate) const MAX_WIDTH: usize = 3072;

/// Activation of the accumulators before the first dense layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// Clipped between 0 and 1; at the default width this is the architecture of Stockfish 12, which other engines read
    Crelu,
    /// The square of the clipped sums; only Zoothera reads such a net
    // CITE: SCReLU, as bullet's and other engines' nets have it.
    Screlu,
    /// Products of the two halves of each clipped accumulator, then the layers of Stockfish 15.1 to 17.1 (SFNNv5): one
    /// of the sixteen outputs is a skip connection, the others feed the next layer, squared and clipped
    Pairwise,
    /// As [`Self::Pairwise`] with sums twice as fine, clipped between 0 and 255 (SFNNv10)
    #[serde(skip)]
    WidePairwise,
}

impl fmt::Display for Activation {
    /// Writes the name used on the trainer's command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Crelu => "crelu",
            Self::Screlu => "screlu",
            Self::Pairwise => "pairwise",
            Self::WidePairwise => "wide pairwise",
        })
    }
}

impl Activation {
    /// Whether an input of the first dense layer is the product of two sums.
    #[inline(always)]
    pub const fn is_pairwise(self) -> bool {
        matches!(self, Self::Pairwise | Self::WidePairwise)
    }
}

/// Connections between the dense layers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Topology {
    /// Three layers with clipped ReLUs between them (SFNNv1 to v3).
    Plain,
    /// As [`Self::Plain`], but the last output of the first layer is a skip connection to the output (SFNNv4).
    Skip {
        /// Whether the other outputs feed the second layer twice, squared and clipped (SFNNv5 and later).
        squares: bool,
    },
    /// Every layer's inputs are the activations of all earlier layers, squared and clipped. The difference of the last
    /// two outputs of the first layer is added to the network's output (SFNNv16).
    Sfnnv16,
    /// No hidden layers: weights of 16 bits lead from the units of the accumulators to the output.
    Direct,
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
    /// The place of a layer that the net does not have.
    pub(in crate::nnue) const NONE: Self = Self { inputs: 0, outputs: 0 };

    /// Length of a row in a file: the number of inputs, padded to a multiple of 32.
    pub fn row(self) -> usize {
        self.inputs.next_multiple_of(32)
    }

    /// Number of weights in a file.
    pub fn weights(self) -> usize {
        self.outputs * self.row()
    }

    /// Size in bytes in a file: i32 biases, then i8 weights, one row per output.
    pub fn file_size(self) -> usize {
        4 * self.outputs + self.weights()
    }
}

/// The numbers that describe a net; all sizes and hashes are derived from them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The first word of the file.
    pub version: u32,
    /// The input features: pieces on squares.
    pub features: Features,
    /// The threat inputs.
    pub threat_inputs: ThreatInputs,
    /// The attack inputs of our own nets.
    pub attacks: AttackInputs,
    /// Width of the accumulator of one perspective.
    pub l1: usize,
    /// Activation of the accumulators.
    pub activation: Activation,
    /// Connections between the dense layers.
    pub topology: Topology,
    /// Numbers of outputs of the first two dense layers; the third has one. Zeros without hidden layers.
    pub hidden: [usize; 2],
    /// Number of layer stacks, selected by the number of pieces.
    pub buckets: usize,
    /// Number of piece-square values per feature, one for each bucket; 0 if there are none.
    pub psqt: usize,
}

impl Shape {
    /// Number of units of both accumulators, which are the inputs of the first dense layer.
    pub const fn inputs(&self) -> usize {
        if self.activation.is_pairwise() { self.l1 } else { 2 * self.l1 }
    }

    /// Whether the accumulators lead to the output without hidden layers.
    #[inline(always)]
    pub const fn is_direct(&self) -> bool {
        matches!(self.topology, Topology::Direct)
    }

    /// The dense layers of a stack, in order. Without hidden layers the first two have no inputs and outputs.
    pub fn layers(&self) -> [LayerShape; 3] {
        let [h1, h2] = self.hidden;
        let layer = |inputs, outputs| LayerShape { inputs, outputs };
        let (into_second, into_last) = match self.topology {
            Topology::Plain => (h1, h2),
            Topology::Skip { squares: false } => (h1 - 1, h2),
            Topology::Skip { squares: true } => (2 * (h1 - 1), h2),
            Topology::Sfnnv16 => (2 * h1, 2 * (h1 + h2)),
            Topology::Direct => return [LayerShape::NONE, LayerShape::NONE, layer(self.inputs(), 1)],
        };
        [layer(self.inputs(), h1), layer(into_second, h2), layer(into_last, 1)]
    }

    /// The kinds of attacks whose changes the accumulators need.
    pub(crate) const fn attack_kinds(&self) -> AttackKinds {
        match self.attacks {
            AttackInputs::None => self.threat_inputs.set().kinds(),
            attacks => attacks.kinds(),
        }
    }

    /// Whether rows of bytes can lie in pairs of columns, whose blocks have 64 columns.
    pub(in crate::nnue) const fn has_whole_pairs(&self) -> bool {
        self.l1.is_multiple_of(PAIRED_COLUMNS)
    }

    /// Number of rows of weights for pieces on squares and attack inputs.
    pub fn rows(&self) -> usize {
        self.features.set().count() + self.attacks.rows()
    }

    /// The hash before the feature transformer.
    pub fn transformer_hash(&self) -> u32 {
        // Our own constant: in the published architectures, the version implies whether there are piece-square values.
        const PIECE_SQUARE: u32 = 0x2D19_6B52;
        let psqt = if self.version == VERSION_OWN && self.psqt > 0 { PIECE_SQUARE } else { 0 };
        // Our own constant: distinguishes the sets of attack inputs.
        const ATTACKS: u32 = 0x1B56_C4E9;
        let attacks = ATTACKS.wrapping_mul(self.attacks as u32);
        self.threat_inputs.hash(self.features.set().hash) ^ self.accumulators() ^ psqt ^ attacks
    }

    /// The hash before a stack of dense layers.
    pub fn network_hash(&self) -> u32 {
        const INPUT_SLICE: u32 = 0xEC42_E90D;
        const AFFINE: u32 = 0xCC03_DAE4;
        const CLIPPED_RELU: u32 = 0x538D_24C7;
        // Our own constant: no published net squares its sums, so their hashes have no value for it.
        const SQUARED_SLICE: u32 = 0x7351_0A3D;
        // Our own constant: distinguishes products from clipped sums with the same number of outputs.
        const PAIRED_SLICE: u32 = 0x2C95_E1B7;
        let slice = match self.activation {
            Activation::Screlu => SQUARED_SLICE,
            Activation::Pairwise if self.version == VERSION_OWN => PAIRED_SLICE,
            _ => INPUT_SLICE,
        };
        // Our own constant: distinguishes nets without hidden layers.
        const DIRECT: u32 = 0x5E1F_83C9;
        let direct = if self.is_direct() { DIRECT } else { 0 };
        let mut hash = slice ^ self.accumulators() ^ direct;
        let layers = self.layers();
        for (i, layer) in layers.iter().enumerate() {
            hash = AFFINE.wrapping_add(layer.outputs as u32) ^ (hash >> 1) ^ (hash << 31);
            if i + 1 < layers.len() {
                hash = hash.wrapping_add(CLIPPED_RELU);
            }
        }
        hash
    }

    /// The hash in the header, which combines the other two.
    pub fn file_hash(&self) -> u32 {
        self.transformer_hash() ^ self.network_hash()
    }

    /// Size in bytes of the feature transformer in an uncompressed file, without its hash.
    pub fn transformer_size(&self) -> usize {
        let (pieces, threat_inputs) = (self.rows(), self.threat_inputs.set().count());
        let weights = 2 * self.l1 * (pieces + 1) + self.l1 * threat_inputs;
        weights + 4 * self.psqt * (pieces + threat_inputs)
    }

    /// Size in bytes of the layer stacks in a file, with their hashes.
    pub fn stacks_size(&self) -> usize {
        let layers: usize = match self.topology {
            Topology::Direct => 4 + 2 * self.inputs(),
            _ => self.layers().iter().map(|layer| layer.file_size()).sum(),
        };
        self.buckets * (4 + layers)
    }

    /// The index of the layer stack for a board with `pieces` pieces, kings included: equal ranges of their number.
    #[inline]
    pub fn bucket(&self, pieces: usize) -> usize {
        (pieces.clamp(1, 32) - 1) * self.buckets / 32
    }

    /// Total width of both perspectives' accumulators.
    fn accumulators(&self) -> u32 {
        2 * self.l1 as u32
    }

    /// The numbers of outputs as text, such as `(15+1)-32-1`.
    pub(super) fn sizes(&self) -> String {
        let [h1, h2] = self.hidden;
        match self.topology {
            Topology::Plain | Topology::Sfnnv16 => format!("{h1}-{h2}-1"),
            Topology::Skip { .. } => format!("({}+1)-{h2}-1", h1 - 1),
            Topology::Direct => "1".to_owned(),
        }
    }

    /// A description of the activations.
    pub fn activations(&self) -> String {
        if self.is_direct() {
            return match self.activation {
                Activation::Crelu => "clipped ReLU",
                Activation::Screlu => "squared clipped ReLU",
                Activation::Pairwise | Activation::WidePairwise => "pairwise products",
            }
            .to_owned();
        }
        let accumulators = match self.activation {
            Activation::Crelu => "",
            Activation::Screlu => "squared clipped ReLU, then ",
            Activation::Pairwise | Activation::WidePairwise => "pairwise products, then ",
        };
        let layers = match self.topology {
            Topology::Plain => "clipped ReLU",
            Topology::Skip { squares: false } => "clipped ReLU; skip connection from one output",
            Topology::Skip { squares: true } => "clipped ReLU and its square; skip connection from one output",
            Topology::Sfnnv16 => {
                "clipped ReLU and its square, fed to all later layers; skip connection from two outputs"
            }
            Topology::Direct => "",
        };
        format!("{accumulators}{layers}")
    }

    /// The description text of a file, in the format of Stockfish's first nets. It is incomplete for nets of our own
    /// format, which also have shape words.
    pub fn description(&self) -> String {
        let (features, l1) = (self.features.set(), self.l1);
        let [_, second, output] = self.layers();
        let (name, count, inputs) = (features.name, features.count(), self.inputs());
        if self.is_direct() {
            return format!("Features={name}(Friend)[{count}->{l1}x2],Network=AffineTransform[1<-{inputs}]");
        }
        let (h1, h2) = (second.inputs, output.inputs);
        format!(
            "Features={name}(Friend)[{count}->{l1}x2],Network=AffineTransform[1<-{h2}](ClippedReLU[{h2}]\
            (AffineTransform[{h2}<-{h1}](ClippedReLU[{h1}](AffineTransform[{h1}<-{inputs}]\
            (InputSlice[{inputs}(0:{inputs})])))))"
        )
    }
}
