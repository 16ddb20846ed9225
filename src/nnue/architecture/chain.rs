//! The chain of layers after the accumulators: activations, connections, and sizes.

use std::fmt;

use serde::{Deserialize, Serialize};

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

/// A chain of layers after the accumulators, of any width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Chain {
    /// Activation of the accumulators.
    pub activation: Activation,
    /// Connections between the dense layers.
    pub topology: Topology,
    /// Numbers of outputs of the first two dense layers; the third has one.
    pub hidden: [usize; 2],
}

impl Chain {
    /// The chain of SFNNv4.
    pub const SFNN_V4: Self = Self { topology: Topology::Skip { squares: false }, ..Self::SFNN_V5 };

    /// The chain of SFNNv5 to v9.
    pub const SFNN_V5: Self =
        Self { activation: Activation::Pairwise, topology: Topology::Skip { squares: true }, hidden: [16, 32] };

    /// The chain of SFNNv10.
    pub const SFNN_V10: Self = Self { activation: Activation::WidePairwise, ..Self::SFNN_V5 };

    /// The chain of SFNNv16.
    pub const SFNN_V16: Self = Self { topology: Topology::Sfnnv16, hidden: [32, 32], ..Self::SFNN_V10 };

    /// Clipped ReLUs between all layers, with `h1` and 32 outputs of the hidden ones.
    pub const fn plain(activation: Activation, h1: usize) -> Self {
        Self { activation, topology: Topology::Plain, hidden: [h1, 32] }
    }

    /// The chain of trained nets with this activation of the accumulators.
    pub const fn trained(activation: Activation) -> Self {
        match activation {
            Activation::Crelu | Activation::Screlu => Self::plain(activation, 32),
            Activation::Pairwise => Self::SFNN_V5,
            Activation::WidePairwise => Self::SFNN_V10,
        }
    }

    /// Number of inputs of the first dense layer, after accumulators of width `l1`.
    pub const fn inputs(&self, l1: usize) -> usize {
        match self.activation {
            Activation::Crelu | Activation::Screlu => 2 * l1,
            Activation::Pairwise | Activation::WidePairwise => l1,
        }
    }

    /// The dense layers in order, after accumulators of width `l1`.
    pub fn layers(&self, l1: usize) -> [LayerShape; 3] {
        let [h1, h2] = self.hidden;
        let (into_second, into_last) = match self.topology {
            Topology::Plain => (h1, h2),
            Topology::Skip { squares: false } => (h1 - 1, h2),
            Topology::Skip { squares: true } => (2 * (h1 - 1), h2),
            Topology::Sfnnv16 => (2 * h1, 2 * (h1 + h2)),
        };
        let layer = |inputs, outputs| LayerShape { inputs, outputs };
        [layer(self.inputs(l1), h1), layer(into_second, h2), layer(into_last, 1)]
    }

    /// The numbers of outputs as text, such as `(15+1)-32-1`.
    pub fn sizes(&self) -> String {
        let [h1, h2] = self.hidden;
        match self.topology {
            Topology::Plain | Topology::Sfnnv16 => format!("{h1}-{h2}-1"),
            Topology::Skip { .. } => format!("({}+1)-{h2}-1", h1 - 1),
        }
    }

    /// A description of the activations.
    pub fn activations(&self) -> String {
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
        };
        format!("{accumulators}{layers}")
    }
}
