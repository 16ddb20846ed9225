//! A network's parameters in the layout of `shaders/evaluate.wgsl`.

use super::UnsupportedNet;
use crate::nnue::architecture::Topology;
use crate::nnue::features::attack_inputs::AttackInputs;
use crate::nnue::features::threat_inputs::ThreatInputs;
use crate::nnue::{Activation, Network, Shape};

/// Possible outputs of the first layer, and outputs of the second one.
const FIRST: [usize; 2] = [8, 16];
const SECOND: usize = 32;
/// Feature planes of a king bucket.
const PLANES: usize = 11;
/// Weights in a block of a row, which a thread sums.
const BLOCK: usize = 8;

/// The parameters of a network for a card.
pub struct Tables {
    /// Constants that precede the shader.
    pub constants: String,
    /// King buckets by square.
    pub king_buckets: [u32; 64],
    /// Weights of the rows, two to a word.
    pub weights: Vec<u32>,
    /// Biases of the accumulator, two to a word.
    pub biases: Vec<u32>,
    /// Piece-square values `[row][stack]`, or a 0 if there are none.
    pub psqt: Vec<i32>,
    /// The layer stacks.
    pub dense: Vec<u32>,
}

impl Tables {
    /// Converts the parameters of a network.
    ///
    /// # Errors
    /// Fails for nets that the shader does not support.
    pub fn of(network: &Network) -> Result<Self, UnsupportedNet> {
        let shape = network.architecture();
        let set = shape.features.set();
        if !is_supported(network) {
            return Err(UnsupportedNet(shape.to_string()));
        }
        let transformer = network.transformer();
        let (is_skip, has_squares) = match shape.topology {
            Topology::Skip { squares } => (true, squares),
            _ => (false, false),
        };
        let numbers = [
            ("L1", shape.l1),
            ("H1", shape.hidden[0]),
            ("INPUTS", shape.inputs() / 4),
            ("PIECE_ROWS", set.piece_rows()),
            ("UNUSED", set.unused),
            ("TURN", set.turn.into()),
            ("STACKS", shape.buckets),
        ];
        let flags = [
            ("MIRRORED", set.mirrored),
            ("HAS_PSQT", shape.psqt > 0),
            ("PAIRWISE", shape.activation == Activation::Pairwise),
            ("SKIP", is_skip),
            ("SQUARES", has_squares),
        ];
        let numbers = numbers.map(|(name, value)| format!("const {name}: u32 = {value}u;\n")).concat();
        let flags = flags.map(|(name, value)| format!("const {name}: bool = {value};\n")).concat();
        Ok(Self {
            constants: numbers + &flags,
            king_buckets: set.king_buckets.map(u32::from),
            weights: paired(transformer.weights()),
            biases: paired(transformer.biases()),
            psqt: if shape.psqt > 0 { transformer.psqt().to_vec() } else { vec![0] },
            dense: dense(network),
        })
    }
}

/// Whether the shader supports a net.
fn is_supported(network: &Network) -> bool {
    let shape = network.architecture();
    let Shape { activation, topology, hidden, .. } = **shape;
    let is_chain = match topology {
        Topology::Plain => activation == Activation::Crelu,
        Topology::Skip { .. } => activation == Activation::Pairwise,
        Topology::Sfnnv16 => false,
    };
    is_chain
        && FIRST.contains(&hidden[0])
        && hidden[1] == SECOND
        && shape.threat_inputs == ThreatInputs::None
        && shape.attacks == AttackInputs::None
        && shape.features.set().planes == PLANES
        && [0, shape.buckets].contains(&shape.psqt)
        && shape.l1.is_multiple_of(2 * BLOCK)
}

/// Puts two numbers in a word, the first one in the low half.
fn paired(numbers: &[i16]) -> Vec<u32> {
    let (pairs, _) = numbers.as_chunks::<2>();
    let word = |number: i16| u32::from(number.cast_unsigned());
    // The difference of the sums of words and of sign-extended low halves must be the sum of the high halves.
    pairs.iter().map(|&[low, high]| (word(high) << 16).wrapping_add(i32::from(low).cast_unsigned())).collect()
}

/// The layer stacks: the first layer by groups of four inputs, the others row by row.
fn dense(network: &Network) -> Vec<u32> {
    let word = |bytes: &[i8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte.cast_unsigned()));
    let mut words = Vec::new();
    for head in network.heads() {
        let [first, second, output] = head.layers();
        let row = first.shape().row();
        for group in (0..row).step_by(4) {
            words.extend(first.weights().chunks_exact(row).map(|weights| word(&weights[group..group + 4])));
        }
        words.extend(first.biases().iter().map(|bias| bias.cast_unsigned()));
        for layer in [second, output] {
            words.extend(layer.weights().chunks_exact(4).map(word));
            words.extend(layer.biases().iter().map(|bias| bias.cast_unsigned()));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsupported_nets_are_refused_by_their_shape() {
        let error = Tables::of(&Network::zeroed(crate::nnue::Architecture::HALF_KP)).err().expect("HalfKP");
        assert!(error.to_string().contains("HalfKP") && error.to_string().contains("Stockfish 14"), "{error}");
    }
}
