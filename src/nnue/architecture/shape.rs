//! The numbers that describe a net, and the sizes and hashes that follow from them.

use super::chain::{Activation, Chain, LayerShape, Topology};
use crate::board::AttackKinds;
use crate::nnue::features::Features;
use crate::nnue::features::attack_inputs::AttackInputs;
use crate::nnue::features::threat_inputs::ThreatInputs;

pub use crate::nnue::version::{VERSION_1, VERSION_2, VERSION_3, VERSION_OWN};

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
    /// Numbers of outputs of the first two dense layers; the third has one.
    pub hidden: [usize; 2],
    /// Number of layer stacks, selected by the number of pieces.
    pub buckets: usize,
    /// Number of piece-square values per feature, one for each bucket; 0 if there are none.
    pub psqt: usize,
}

impl Shape {
    /// The layers after the accumulators.
    pub(crate) const fn chain(&self) -> Chain {
        Chain { activation: self.activation, topology: self.topology, hidden: self.hidden }
    }

    /// Number of inputs of the first dense layer.
    pub fn inputs(&self) -> usize {
        self.chain().inputs(self.l1)
    }

    /// The dense layers of a stack, in order.
    pub fn layers(&self) -> [LayerShape; 3] {
        self.chain().layers(self.l1)
    }

    /// The kinds of attacks whose changes the accumulators need.
    pub(crate) const fn attack_kinds(&self) -> AttackKinds {
        match self.attacks {
            AttackInputs::None => self.threat_inputs.set().kinds(),
            attacks => attacks.kinds(),
        }
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
        let layers: usize = self.layers().iter().map(|layer| layer.file_size()).sum();
        self.buckets * (4 + layers)
    }

    /// The index of the layer stack for a board with `pieces` pieces, kings included.
    #[inline]
    pub fn bucket(&self, pieces: usize) -> usize {
        if self.buckets > 1 { pieces.clamp(1, 32).div_ceil(4) - 1 } else { 0 }
    }

    /// Total width of both perspectives' accumulators.
    fn accumulators(&self) -> u32 {
        2 * self.l1 as u32
    }
}
