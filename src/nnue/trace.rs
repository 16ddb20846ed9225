//! Non-incremental evaluation of a board with all intermediate activations, built from the scalar kernel. Used by the
//! tools that inspect a net.

use shakmaty::{Color, Piece, Role};

pub(crate) use super::simd::scalar::{activated, second_layer_inputs, sums};

use super::Board;
use super::accumulator::NetOutput;
use super::features::attack_inputs::{AttackInputs, AttackView};
use super::network::Network;
use super::simd::scalar;

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
