//! From the float model to the integer net: factors folded in, weights rounded.

use super::calibrate::calibrate;
use crate::data::Record;
use crate::nnue::Network;
use crate::nnue::layers::{Dense, Head};
use crate::train::model::Model;
use crate::train::model::scales::{ACTIVATION_ONE, HIDDEN, OUTPUT_ONE, WEIGHT_ONE, input_one};

/// The integer net of a model, as near to it on `records` as integers come.
pub fn export(model: &Model, output_scale: f32, records: &[Record]) -> Network {
    let mut net = quantise(model, output_scale);
    calibrate(&mut net, model, output_scale, records);
    net
}

/// Rounds the model into the file's integers; weights beyond an integer's range are cut off.
///
/// Everything the net says is multiplied by `output_scale`: labels may be on another scale than the one that the
/// engine's search expects.
pub fn quantise(model: &Model, output_scale: f32) -> Network {
    let mut net = Network::zeroed(model.architecture);
    let (transformer, heads) = net.parameters_mut();
    let rounded = |weight: f32| (weight * ACTIVATION_ONE).round() as i16;
    let biases = transformer.biases_mut().iter_mut();
    biases
        .zip(&model.dense.transformer_bias)
        .for_each(|(out, &bias)| *out = rounded(bias));
    let (l1, set) = (model.architecture.l1, model.architecture.features.set());
    for king in 0..set.kings {
        for piece_row in 0..set.piece_rows() {
            let at = usize::from(set.row(king as u16, piece_row as u16)) * l1;
            let row = &mut transformer.weights_mut()[at..][..l1];
            for (out, weight) in row.iter_mut().zip(model.row(piece_row, king)) {
                *out = rounded(weight);
            }
        }
    }
    for (stack, head) in heads.iter_mut().enumerate() {
        *head = quantised_head(model, stack, output_scale);
    }
    net
}

/// The dense layers of the stack of that number.
fn quantised_head(model: &Model, stack: usize, output_scale: f32) -> Head {
    let (dense, output_one) = (&model.dense, OUTPUT_ONE * output_scale);
    let units = HIDDEN * stack..HIDDEN * (stack + 1);
    let rows = |tensor: &[f32], inputs: usize, one: f32| {
        rounded_bytes(&tensor[inputs * units.start..inputs * units.end], one)
    };
    let (inputs, activation) = (model.architecture.inputs(), model.architecture.activation);
    let first_one = WEIGHT_ONE * ACTIVATION_ONE / input_one(activation);
    let output_bias = (dense.output_bias[stack] * output_one).round() as i32;
    let [first, second, output] = model.architecture.layers();
    Head::from_layers([
        Dense::new(
            first,
            hidden_bias(&dense.l1_bias[units.clone()]),
            &rows(&dense.l1_weight, inputs, first_one),
        ),
        Dense::new(
            second,
            hidden_bias(&dense.l2_bias[units.clone()]),
            &rows(&dense.l2_weight, HIDDEN, WEIGHT_ONE),
        ),
        Dense::new(
            output,
            vec![output_bias],
            &rows(&dense.output_weight, 1, output_one / ACTIVATION_ONE),
        ),
    ])
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use shakmaty::{Chess, Position};

    use super::*;
    use crate::data::Record;
    use crate::nnue::{AccumulatorStack, Architecture};
    use crate::train::integer::material::material_net;
    use crate::train::integer::report::ExportReport;
    use crate::train::model::shapes;
    use crate::train::samples::active::record_of;
    use crate::util::rng::SplitMix64;

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

    /// The engine's own reading of a file must be the plain evaluation of the net that was written.
    fn assert_same(net: &Network) {
        let bytes = net.to_bytes();
        let network = Network::from_bytes(&bytes).unwrap();
        assert_eq!(network.to_bytes(), bytes);
        let mut stack = AccumulatorStack::new(Arc::new(network));
        for record in some_records() {
            let plain = net.trace(&record).output;
            stack.reset();
            assert_eq!(stack.evaluate(&record).raw(), plain);
        }
    }

    #[test]
    fn trainer_file_and_engine_agree() {
        shapes::all().for_each(check_export);
    }

    fn check_export(architecture: Architecture) {
        let mut rng = SplitMix64::new(4);
        let mut model = Model::initial(&mut rng, architecture, 0.1);
        // Every stack its own.
        for weight in model.dense.l1_weight.iter_mut().step_by(5) {
            *weight += 0.02 * crate::train::model::transformer::uniform(&mut rng);
        }
        for weight in model.transformer.iter_mut().step_by(3) {
            *weight += 0.1 * crate::train::model::transformer::uniform(&mut rng);
        }
        let net = quantise(&model, 1.0);
        assert_same(&net);
        let report = ExportReport::of((&model, 1.0), &net, &some_records());
        // The roundings of more inputs add up to more.
        let most = 5.0 * (architecture.l1 as f64 / 256.0).sqrt().max(1.0);
        assert!(report.mean < most, "{report}");
        let fitted = export(&model, 1.0, &some_records());
        let after = ExportReport::of((&model, 1.0), &fitted, &some_records());
        assert!(after.mean < report.mean, "{after} {report}");
        assert_same(&fitted);
    }

    #[test]
    fn the_engine_reads_the_material_net() {
        for squares in [false, true] {
            assert!(Network::from_bytes(&material_net(squares)).is_ok());
        }
    }
}
