//! What the tools that inspect a net show: a non-incremental evaluation of a board with all intermediate activations,
//! built from the scalar kernel, and a summary of the file.

use sha2::{Digest, Sha256};
use shakmaty::{Color, Piece, Role};

use super::Board;
use super::accumulator::NetOutput;
use super::architecture::Architecture;
use super::features::attack_inputs::{AttackInputs, AttackView};
use super::layers::Dense;
use super::network::Network;
use super::simd::scalar;
pub(crate) use super::simd::scalar::{activated, second_layer_inputs, sums};

/// The activation of every unit for a position.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    /// The inputs of the first dense layer, starting with the side to move's half. Without hidden layers, the bytes of
    /// the same units.
    pub inputs: Vec<u8>,
    /// The inputs of the second and of the last dense layer; empty without hidden layers.
    pub hidden: [Vec<u8>; 2],
    /// The output of the dense layers, from the side to move's point of view.
    pub output: i32,
    /// The piece-square part; 0 for networks without one.
    pub psqt: i32,
}

impl Trace {
    /// The sum of both parts, in sixteenths of engine units.
    pub fn raw(&self) -> i32 {
        self.psqt.wrapping_add(self.output)
    }

    /// The value in engine units, as [`NetOutput::value`].
    pub fn value(&self) -> i32 {
        NetOutput { psqt: self.psqt, positional: self.output, bucket: 0 }.value()
    }
}

impl Network {
    /// Evaluates a board and records the activation of every unit.
    pub(crate) fn trace(&self, board: impl Into<Board>) -> Trace {
        self.trace_with(&board.into(), self.architecture().attacks)
    }

    /// Evaluates a board without the attack inputs, and records the activation of every unit.
    pub(crate) fn trace_without_attacks(&self, board: impl Into<Board>) -> Trace {
        self.trace_with(&board.into(), AttackInputs::None)
    }

    fn trace_with(&self, board: &Board, attacks: AttackInputs) -> Trace {
        let (inputs, psqt) = (self.inputs_with(board, attacks), self.psqt(board, attacks));
        let shape = self.architecture();
        let head = &self.heads()[shape.bucket(board.count())];
        if shape.is_direct() {
            let [own, other] = self.accumulators(board, attacks);
            let output = scalar::direct(shape.activation, &head.direct, &own, &other);
            return Trace { inputs, hidden: [Vec::new(), Vec::new()], output, psqt };
        }
        let (hidden, output) = scalar::trace(shape.topology, head, &inputs);
        Trace { inputs, hidden, output, psqt }
    }

    /// Half the difference between both sides' piece-square values, including threat inputs, wrapping.
    fn psqt(&self, board: &Board, attacks: AttackInputs) -> i32 {
        let shape = self.architecture();
        let (width, column) = (shape.psqt, shape.bucket(board.count()));
        if width == 0 {
            return 0;
        }
        let threat_inputs = shape.threat_inputs.set();
        let of_side = |side: Color| {
            let mut sum = 0_i32;
            let mut add = |row: usize| sum = sum.wrapping_add(self.transformer().psqt()[row * width + column]);
            self.for_each_feature(board, side, attacks, |feature| {
                add(threat_inputs.count() + usize::from(feature));
            });
            threat_inputs.active(board, side, |threat_input| add(threat_input as usize));
            sum
        };
        of_side(board.turn()).wrapping_sub(of_side(!board.turn())) / 2
    }

    /// The inputs of the first dense layer: both accumulators after the activation, the side to move's first.
    pub(crate) fn inputs(&self, board: impl Into<Board>) -> Vec<u8> {
        self.inputs_with(&board.into(), self.architecture().attacks)
    }

    fn inputs_with(&self, board: &Board, attacks: AttackInputs) -> Vec<u8> {
        let shape = self.architecture();
        let sides = self.accumulators(board, attacks);
        let mut inputs = vec![0; shape.inputs()];
        let halves = inputs.chunks_exact_mut(shape.inputs() / 2);
        for (half, sums) in halves.zip(&sides) {
            scalar::transform(shape.activation, sums, half);
        }
        inputs
    }

    /// Both accumulators, the side to move's first.
    fn accumulators(&self, board: &Board, attacks: AttackInputs) -> [Vec<i16>; 2] {
        [board.turn(), !board.turn()].map(|side| self.accumulator(board, side, attacks))
    }

    /// Calls `visit` with every active feature of pieces on squares, and then with every active one of `attacks`.
    fn for_each_feature(&self, board: &Board, perspective: Color, attacks: AttackInputs, mut visit: impl FnMut(u16)) {
        let set = self.architecture().features.set();
        let view = set.view(perspective, board.king(perspective));
        for color in Color::ALL {
            let kings = if set.has_kings() { 6 } else { 5 };
            for role in Role::ALL.into_iter().take(kings) {
                for square in board.pieces(color, role) {
                    visit(set.index(view, perspective, Piece { color, role }, square));
                }
            }
        }
        let first = set.count() as u16;
        attacks.active(board, [AttackView::new(perspective, view)], |[row]| visit(first + row));
    }

    /// The accumulator of one perspective, wrapping.
    fn accumulator(&self, board: &Board, perspective: Color, attacks: AttackInputs) -> Vec<i16> {
        let l1 = self.architecture().l1;
        let mut sums = self.transformer().biases().to_vec();
        self.for_each_feature(board, perspective, attacks, |feature| {
            let row = &self.transformer().weights()[usize::from(feature) * l1..][..l1];
            let pairs = sums.iter_mut().zip(row);
            pairs.for_each(|(sum, &weight)| *sum = sum.wrapping_add(weight));
        });
        self.architecture().threat_inputs.set().active(board, perspective, |threat_input| {
            let pairs = sums.iter_mut().zip(self.transformer().threat_input(threat_input));
            pairs.for_each(|(sum, weight)| *sum = sum.wrapping_add(weight.into()));
        });
        sums
    }
}

// Summary of a network for display.

/// Metadata of a network file and ranges of its parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NetInfo {
    /// The architecture.
    pub architecture: Architecture,
    /// The description in the file, with invalid UTF-8 replaced.
    pub description: String,
    /// Whether the transformer is compressed in the file.
    pub compressed: bool,
    /// Size of the file in bytes.
    pub size: usize,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// Range of each block of parameters, in file order.
    pub ranges: Vec<ParameterRange>,
}

/// Smallest and largest number of a block of parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParameterRange {
    /// Name of the block.
    pub name: &'static str,
    /// Smallest number.
    pub min: i32,
    /// Largest number.
    pub max: i32,
}

impl Network {
    /// Computes the summary. Takes tens of milliseconds because it hashes the whole network.
    pub fn info(&self) -> NetInfo {
        let bytes = self.to_bytes();
        NetInfo {
            architecture: *self.architecture(),
            description: self.description(),
            compressed: self.is_compressed(),
            size: bytes.len(),
            sha256: hex_sha256(&bytes),
            ranges: self.ranges(),
        }
    }

    /// The range of each block of parameters, in file order.
    fn ranges(&self) -> Vec<ParameterRange> {
        const NAMES: [(&str, &str); 3] = [
            ("layer 1 biases", "layer 1 weights"),
            ("layer 2 biases", "layer 2 weights"),
            ("output biases", "output weights"),
        ];
        let mut ranges = vec![
            range("transformer biases", self.transformer().biases()),
            range("transformer weights", self.transformer().weights()),
        ];
        let threat_inputs = self.transformer().threat_inputs();
        if !threat_inputs.is_empty() {
            ranges.push(range("threat input weights", &threat_inputs));
        }
        if !self.transformer().psqt().is_empty() {
            ranges.push(range("piece-square values", self.transformer().psqt()));
        }
        if self.architecture().is_direct() {
            let biases: Vec<i32> = self.heads().iter().map(|head| head.direct.bias()).collect();
            ranges.push(range("output biases", &biases));
            ranges.push(range("output weights", self.heads().iter().flat_map(|head| head.direct.weights())));
            return ranges;
        }
        for (i, (biases, weights)) in NAMES.into_iter().enumerate() {
            let layers = || self.heads().iter().map(move |head| head.layers()[i]);
            ranges.push(range(biases, layers().flat_map(Dense::biases)));
            ranges.push(range(weights, layers().flat_map(Dense::weights)));
        }
        ranges
    }
}

/// The SHA-256 of a file's bytes, in hexadecimal.
pub fn hex_sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The range of `numbers`, which are the block `name`.
fn range<'a, T: Copy + Into<i32> + 'a>(name: &'static str, numbers: impl IntoIterator<Item = &'a T>) -> ParameterRange {
    let empty = ParameterRange { name, min: i32::MAX, max: i32::MIN };
    numbers.into_iter().fold(empty, |range, &number| {
        let number = number.into();
        ParameterRange { name, min: range.min.min(number), max: range.max.max(number) }
    })
}
