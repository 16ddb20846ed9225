//! Quantisation: folds the factor rows into the float model and rounds it to the integer net.

use super::calibrate::calibrate;
use crate::data::Record;
use crate::nnue::architecture::{LayerShape, Topology};
use crate::nnue::layers::{Dense, Direct, Head};
use crate::nnue::transformer::Transformer;
use crate::nnue::{Activation, Architecture, Network};
use crate::train::model::rows::ActiveRow;
use crate::train::model::shapes::{
    ACTIVATION_ONE, OUTPUT_ONE, SKIP, WEIGHT_ONE, direct_sum_one, direct_weight_one, first_weight_one,
};
use crate::train::model::{Model, psqt, rows};

/// Quantises a model and calibrates the integer net on `records`.
pub fn export(model: &Model, output_scale: f32, records: &[Record]) -> Network {
    let mut net = quantise(model, output_scale);
    calibrate(&mut net, model, output_scale, records);
    net
}

/// Rounds the model to the file's integers; weights beyond an integer's range are clamped.
///
/// The net's outputs are multiplied by `output_scale`, because the labels' scale can differ from the scale that the
/// engine's search expects.
pub fn quantise(model: &Model, output_scale: f32) -> Network {
    let mut net = Network::zeroed(model.architecture);
    let (transformer, heads) = net.parameters_mut();
    let rounded = |weight: f32| (weight * ACTIVATION_ONE).round() as i16;
    let biases = transformer.biases_mut().iter_mut();
    biases.zip(&model.dense.transformer_bias).for_each(|(out, &bias)| *out = rounded(bias));
    let l1 = model.architecture.l1;
    for (row, at) in file_rows(model.architecture) {
        let out = &mut transformer.weights_mut()[at * l1..][..l1];
        for (out, weight) in out.iter_mut().zip(model.row(row)) {
            *out = rounded(weight);
        }
    }
    quantise_psqt(model, output_scale, transformer);
    for (stack, head) in heads.iter_mut().enumerate() {
        *head = if model.architecture.is_direct() {
            Head::from_direct(quantised_direct(model, stack, output_scale))
        } else {
            quantised_head(model, stack, output_scale)
        };
    }
    net
}

/// Quantises the piece-square values, which are in units of the output.
fn quantise_psqt(model: &Model, output_scale: f32, transformer: &mut Transformer) {
    let architecture = model.architecture;
    let width = architecture.psqt;
    if width == 0 {
        return;
    }
    for (row, at) in file_rows(architecture) {
        let values = &mut transformer.psqt_mut()[at * width..][..width];
        let floats = psqt::layout(architecture).folded(&model.dense.psqt, row);
        for (out, value) in values.iter_mut().zip(floats) {
            *out = (value * OUTPUT_ONE * output_scale).round() as i32;
        }
    }
}

/// Returns the active rows of a model, each with its row in the file.
fn file_rows(architecture: Architecture) -> impl Iterator<Item = (usize, usize)> {
    let (set, layout) = (architecture.features.set(), rows::layout(architecture));
    (0..layout.active_rows()).map(move |row| match layout.active_row(row) {
        ActiveRow::Piece { king, piece_row } => (row, set.row(king as u16, piece_row as u16).into()),
        ActiveRow::Attack(attack) => (row, set.count() + attack),
    })
}

/// Half of the step to which the sums of a net without hidden layers are truncated. Added to the bias, it makes the
/// engine round to the nearest.
pub fn direct_half(activation: Activation) -> i32 {
    1 << (Direct::shift(activation) - 1)
}

/// Quantises stack `stack` of a net without hidden layers.
fn quantised_direct(model: &Model, stack: usize, output_scale: f32) -> Direct {
    let (activation, inputs) = (model.architecture.activation, model.architecture.inputs());
    let one = direct_weight_one(activation, output_scale);
    let weights = &model.dense.output_weight[inputs * stack..][..inputs];
    let weights: Vec<i16> = weights.iter().map(|weight| (weight * one).round() as i16).collect();
    let bias = (model.dense.output_bias[stack] * direct_sum_one(activation, output_scale)).round() as i32;
    Direct::new(bias.saturating_add(direct_half(activation)), &weights)
}

/// Quantises the dense layers of stack `stack`.
fn quantised_head(model: &Model, stack: usize, output_scale: f32) -> Head {
    let (dense, output_one) = (&model.dense, OUTPUT_ONE * output_scale);
    let layers = model.architecture.layers();
    let of_stack = |number: usize, weights: &[f32], biases: &[f32]| {
        let LayerShape { inputs, outputs } = layers[number];
        let rows = outputs * stack..outputs * (stack + 1);
        (weights[inputs * rows.start..inputs * rows.end].to_vec(), biases[rows].to_vec())
    };
    let (mut weights1, biases1) = of_stack(0, &dense.l1_weight, &dense.l1_bias);
    let (weights2, biases2) = of_stack(1, &dense.l2_weight, &dense.l2_bias);
    let (weights3, biases3) = of_stack(2, &dense.output_weight, &dense.output_bias);
    let mut integers1 = hidden_bias(&biases1);
    if let Topology::Skip { .. } = model.architecture.topology {
        // The skip output is not truncated, and has the scale of the output.
        integers1[SKIP] = (biases1[SKIP] * ACTIVATION_ONE * WEIGHT_ONE * output_scale).round() as i32;
        let row = weights1.chunks_exact_mut(layers[0].inputs).nth(SKIP);
        row.into_iter().flatten().for_each(|w| *w *= output_scale);
    }
    let first_one = first_weight_one(model.architecture.activation);
    let output_bias = (biases3[0] * output_one).round() as i32;
    let [first, second, output] = layers;
    let (rows1, rows2) = (rounded_rows(first, &weights1, first_one), rounded_rows(second, &weights2, WEIGHT_ONE));
    let rows3 = rounded_rows(output, &weights3, output_one / ACTIVATION_ONE);
    Head::from_layers([
        Dense::new(first, integers1, &rows1),
        Dense::new(second, hidden_bias(&biases2), &rows2),
        Dense::new(output, vec![output_bias], &rows3),
    ])
}

/// Quantises biases of a hidden layer. The engine truncates a sum to a multiple of 64; adding half of that makes it
/// round to the nearest.
fn hidden_bias(weights: &[f32]) -> Vec<i32> {
    let half = WEIGHT_ONE / 2.0;
    let one = ACTIVATION_ONE * WEIGHT_ONE;
    weights.iter().map(|w| (w * one + half).round() as i32).collect()
}

/// Quantises rows of weights and pads them with zeros to the row length of the file.
fn rounded_rows(layer: LayerShape, weights: &[f32], one: f32) -> Vec<i8> {
    let mut rows = vec![0; layer.weights()];
    let pairs = rows.chunks_exact_mut(layer.row());
    for (out, row) in pairs.zip(weights.chunks_exact(layer.inputs)) {
        let pairs = out.iter_mut().zip(row);
        pairs.for_each(|(out, weight)| *out = (weight * one).round() as i8);
    }
    rows
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use shakmaty::{Chess, Position};

    use super::*;
    use crate::data::Record;
    use crate::nnue::AccumulatorStack;
    use crate::train::integer::material::material_net;
    use crate::train::integer::report::ExportReport;
    use crate::train::model::shapes;
    use crate::train::samples::active::record_of;
    use crate::train::step::loss::Loss;
    use crate::util::rng::SplitMix64;

    fn test_records() -> Vec<Record> {
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

    /// Asserts that the engine, which parses the file, computes the same outputs as the plain evaluation of the net.
    fn assert_same(net: &Network) {
        let bytes = net.to_bytes();
        let network = Network::from_bytes(&bytes).unwrap();
        assert_eq!(network.to_bytes(), bytes);
        let mut stack = AccumulatorStack::new(Arc::new(network));
        for record in test_records() {
            let plain = net.trace(&record).raw();
            stack.reset();
            assert_eq!(stack.evaluate(&record).raw(), plain);
        }
    }

    #[test]
    fn engine_reproduces_exported_net() {
        shapes::for_tests().for_each(check_export);
    }

    fn check_export(architecture: Architecture) {
        let mut rng = SplitMix64::new(4);
        let mut model = Model::initial(&mut rng, architecture, 0.1);
        // Different weights for every stack.
        let first = if architecture.is_direct() { &mut model.dense.output_weight } else { &mut model.dense.l1_weight };
        for weight in first.iter_mut().step_by(5) {
            *weight += 0.02 * crate::train::model::rows::uniform(&mut rng);
        }
        for weight in model.transformer.iter_mut().step_by(3) {
            *weight += 0.1 * crate::train::model::rows::uniform(&mut rng);
        }
        for value in model.dense.psqt.iter_mut().step_by(3) {
            *value += 0.1 * crate::train::model::rows::uniform(&mut rng);
        }
        let net = quantise(&model, 1.0);
        assert_same(&net);
        let report = ExportReport::of(&model, 1.0, &net, &test_records(), Loss::SQUARES);
        // The rounding error grows with the root of the number of inputs, and with that of active rows.
        let max_mean = 7.0 * (architecture.l1 as f64 / 256.0).sqrt().max(1.0);
        // Products are truncated to integers, and most products are small.
        let max_mean = max_mean * if architecture.activation == Activation::Pairwise { 1.3 } else { 1.0 };
        assert!(report.mean < max_mean, "{report}");
        let fitted = export(&model, 1.0, &test_records());
        let after = ExportReport::of(&model, 1.0, &fitted, &test_records(), Loss::SQUARES);
        assert!(after.mean < report.mean, "{after} {report}");
        assert_same(&fitted);
    }

    #[test]
    fn engine_reads_material_net() {
        for squares in [false, true] {
            assert!(Network::from_bytes(&material_net(squares)).is_ok());
        }
    }
}
