//! From the float model to the integer net: factors folded in, weights rounded, and what was lost on the way.

use std::fmt;

use super::features::{Active, KINGS, PIECE_ROWS, file_row};
use super::loss::UNITS;
use super::model::Model;
use super::quantised::{ACTIVATION_ONE, L1, OUTPUT_ONE, QuantisedNet, WEIGHT_ONE};
use super::transformer::folded;
use crate::data::Record;

/// Rounds the model into the file's integers; weights beyond an integer's range are cut off.
///
/// Everything the net says is multiplied by `output_scale`: labels may be on another scale than the one that the
/// engine's search expects.
pub fn quantise(model: &Model, output_scale: f32) -> QuantisedNet {
    let dense = &model.dense;
    let output_one = OUTPUT_ONE * output_scale;
    let mut net = QuantisedNet {
        transformer_bias: rounded(&dense.transformer_bias, ACTIVATION_ONE),
        l1_bias: hidden_bias(&dense.l1_bias),
        l1_weight: rounded_bytes(&dense.l1_weight, WEIGHT_ONE),
        l2_bias: hidden_bias(&dense.l2_bias),
        l2_weight: rounded_bytes(&dense.l2_weight, WEIGHT_ONE),
        output_bias: (dense.output_bias[0] * output_one).round() as i32,
        output_weight: rounded_bytes(&dense.output_weight, output_one / ACTIVATION_ONE),
        ..QuantisedNet::default()
    };
    for king in 0..KINGS {
        for piece_row in 0..PIECE_ROWS {
            let row = &mut net.transformer_weight[file_row(piece_row, king) * L1..][..L1];
            for (out, weight) in row
                .iter_mut()
                .zip(folded(&model.transformer, piece_row, king))
            {
                *out = (weight * ACTIVATION_ONE).round() as i16;
            }
        }
    }
    net
}

fn rounded(weights: &[f32], one: f32) -> Vec<i16> {
    weights.iter().map(|w| (w * one).round() as i16).collect()
}

/// The engine cuts a hidden sum off to a multiple of 64; half of that on top makes it round to the nearest.
fn hidden_bias(weights: &[f32]) -> Vec<i32> {
    let half = WEIGHT_ONE / 2.0;
    let one = ACTIVATION_ONE * WEIGHT_ONE;
    weights
        .iter()
        .map(|w| (w * one + half).round() as i32)
        .collect()
}

fn rounded_bytes(weights: &[f32], one: f32) -> Vec<i8> {
    weights.iter().map(|w| (w * one).round() as i8).collect()
}

/// How far the integer net is from the float model, in engine units.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parity {
    /// Mean absolute difference.
    pub mean: f64,
    /// Largest absolute difference.
    pub worst: f64,
    /// Mean absolute value of the float model, for comparison.
    pub size: f64,
}

/// Compares both on `records`, the float model times `output_scale`.
pub fn parity(
    (model, output_scale): (&Model, f32),
    net: &QuantisedNet,
    records: &[&Record],
) -> Parity {
    let mut parity = Parity::default();
    for record in records {
        let active = Active::of(record, false);
        let float = f64::from(model.output(&active) * UNITS * output_scale);
        let integer = f64::from(net.forward(&active.file_rows(0), &active.file_rows(1))) / 16.0;
        let difference = (float - integer).abs();
        parity.mean += difference / records.len() as f64;
        parity.worst = parity.worst.max(difference);
        parity.size += float.abs() / records.len() as f64;
    }
    parity
}

impl fmt::Display for Parity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "float versus integer: mean {:.2}, worst {:.1} units (mean |value| {:.0})",
            self.mean, self.worst, self.size
        )
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use shakmaty::{Bitboard, Chess, Color, Position, Role, Square};

    use super::*;
    use crate::nnue::{AccumulatorStack, BoardView, Network};
    use crate::train::features::record_of;
    use crate::train::material::material_net;
    use crate::util::rng::SplitMix64;

    /// A record as the engine's networks see a board.
    struct Seen(Record);

    impl BoardView for Seen {
        fn turn(&self) -> Color {
            Color::from_black(self.0.black_to_move())
        }
        fn king(&self, color: Color) -> Square {
            self.pieces(color, Role::King).first().unwrap()
        }
        fn pieces(&self, color: Color, role: Role) -> Bitboard {
            let wanted = (u8::from(role) - 1, u8::from(color.is_black()));
            self.0
                .pieces()
                .filter(|piece| (piece.role, piece.colour) == wanted)
                .map(|piece| Square::new(u32::from(piece.square)))
                .collect()
        }
    }

    fn some_records() -> Vec<Record> {
        let mut rng = SplitMix64::new(21);
        let mut game = Chess::default();
        (0..60)
            .map(|_| {
                let moves = game.legal_moves();
                game.play_unchecked(moves[rng.below(moves.len())]);
                record_of(game.board(), game.turn().is_black())
            })
            .collect()
    }

    /// The engine's own reading of a file must be the plain forward pass of the net that was written.
    fn assert_same(bytes: &[u8], net: &QuantisedNet) {
        let network = Network::from_bytes(bytes).unwrap();
        assert_eq!(network.to_bytes(), bytes);
        let mut stack = AccumulatorStack::new(Arc::new(network));
        for record in some_records() {
            let active = Active::of(&record, false);
            let plain = net.forward(&active.file_rows(0), &active.file_rows(1));
            stack.reset();
            assert_eq!(stack.evaluate(&Seen(record)).raw(), plain);
        }
    }

    #[test]
    fn trainer_file_and_engine_agree() {
        let mut rng = SplitMix64::new(4);
        let mut model = Model::initial(&mut rng, 0.1);
        for weight in model.transformer.iter_mut().step_by(3) {
            *weight += 0.1 * super::super::transformer::uniform(&mut rng);
        }
        let net = quantise(&model, 1.0);
        assert_same(&net.to_bytes(), &net);
        let report = parity(
            (&model, 1.0),
            &net,
            &some_records().iter().collect::<Vec<_>>(),
        );
        assert!(report.mean < 5.0, "{report}");
    }

    #[test]
    fn the_engine_reads_the_material_net() {
        assert!(Network::from_bytes(&material_net()).is_ok());
    }
}
