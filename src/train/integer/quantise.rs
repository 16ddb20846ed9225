//! Quantisation: folds the factor rows into the float model and rounds it to the integer net; and back, for further
//! training.

use super::calibrate::calibrate;
use crate::data::Record;
use crate::nnue::architecture::{LayerShape, Topology};
use crate::nnue::features::FeatureSet;
use crate::nnue::layers::{Dense, Direct, Head};
use crate::nnue::{Activation, Architecture, Network};
use crate::train::model::Model;
use crate::train::model::parameters::{ActiveRow, DenseParameters, RowLayout, psqt_zeros};
use crate::train::model::shapes::{
    ACTIVATION_ONE, OUTPUT_ONE, SKIP, WEIGHT_ONE, direct_sum_one, direct_weight_one, first_weight_one,
};

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
    let (l1, psqt) = (model.architecture.l1, RowLayout::psqt(model.architecture));
    for (row, at) in file_rows(model.architecture) {
        let out = transformer.weights_mut()[at * l1..][..l1].iter_mut();
        out.zip(model.row(row)).for_each(|(out, weight)| *out = rounded(weight));
        // These are in units of the output.
        let out = transformer.psqt_mut()[at * psqt.width..][..psqt.width].iter_mut();
        let values = psqt.folded(&model.dense.psqt, row);
        out.zip(values).for_each(|(out, value)| *out = (value * OUTPUT_ONE * output_scale).round() as i32);
    }
    for (stack, head) in heads.iter_mut().enumerate() {
        *head = if model.architecture.is_direct() {
            Head::from_direct(quantised_direct(model, stack, output_scale))
        } else {
            quantised_head(model, stack, output_scale)
        };
    }
    net
}

/// Returns the active rows of a model, each with its row in the file.
fn file_rows(architecture: Architecture) -> impl Iterator<Item = (usize, usize)> {
    let (set, layout) = (architecture.features.set(), RowLayout::weights(architecture));
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

// Dequantisation.

/// Dequantises a net into a model of `architecture`, which may have more king buckets: each takes the rows of the net's
/// bucket that contains it, so that the model computes the same values. The factor row of a piece, if there is one, is
/// the mean of its rows over the king buckets, so that their common part is still trained in one place.
///
/// # Panics
/// Panics if the shapes differ in anything else, or the buckets are not parts of the net's
/// ([`FeatureSet::buckets_in`]).
pub fn unfold(net: &Network, architecture: Architecture, output_scale: f32) -> Model {
    let (set, finer) = (net.architecture().features.set(), architecture.features.set());
    let buckets = finer.buckets_in(set).expect("the model's king buckets are parts of the net's");
    let sources = Sources { set, buckets };
    let mut model = Model::zeros(architecture);
    model.dense = dense_of(net, architecture, output_scale);
    let weights = net.transformer().weights();
    sources
        .unfold(RowLayout::weights(architecture), &mut model.transformer, |at| f32::from(weights[at]) / ACTIVATION_ONE);
    let (values, one) = (net.transformer().psqt(), OUTPUT_ONE * output_scale);
    sources.unfold(RowLayout::psqt(architecture), &mut model.dense.psqt, |at| values[at] as f32 / one);
    model
}

/// Rows of a net by the king buckets of a model.
struct Sources {
    set: &'static FeatureSet,
    /// For each king bucket of the model, that of the net.
    buckets: Vec<usize>,
}

impl Sources {
    /// Fills a table of the model, given the numbers of the net's table as floats by their index.
    fn unfold(&self, layout: RowLayout, table: &mut [f32], number: impl Fn(usize) -> f32) {
        let width = layout.width;
        if width == 0 {
            return;
        }
        let fill = |row: &mut [f32], first: usize| {
            row.iter_mut().zip(first..).for_each(|(out, at)| *out = number(at));
        };
        let (blocks, attacks) = table.split_at_mut(layout.blocks());
        fill(attacks, self.set.count() * width);
        for (piece_row, block) in blocks.chunks_exact_mut(layout.block()).enumerate() {
            let (real, factor) = block.split_at_mut(layout.kings * width);
            for (real, &bucket) in real.chunks_exact_mut(width).zip(&self.buckets) {
                fill(real, usize::from(self.set.row(bucket as u16, piece_row as u16)) * width);
                factor.iter_mut().zip(&*real).for_each(|(factor, real)| *factor += real / layout.kings as f32);
            }
            for real in real.chunks_exact_mut(width) {
                real.iter_mut().zip(&*factor).for_each(|(real, factor)| *real -= factor);
            }
        }
    }
}

fn dense_of(net: &Network, architecture: Architecture, output_scale: f32) -> DenseParameters {
    if architecture.is_direct() {
        return direct_of(net, architecture, output_scale);
    }
    let output_one = OUTPUT_ONE * output_scale;
    // The rounding offset that the export adds.
    let half = WEIGHT_ONE as i32 / 2;
    let of_layer = |number: usize| net.heads().iter().map(move |head| head.layers()[number]);
    let bias = |number: usize| -> Vec<f32> {
        let biases = of_layer(number).flat_map(|layer| layer.biases());
        let float = |&bias: &i32| (bias - half) as f32 / (ACTIVATION_ONE * WEIGHT_ONE);
        biases.map(float).collect()
    };
    let weight = |number: usize, one: f32| -> Vec<f32> {
        // Zeros follow the inputs of a row in the file.
        let row = |layer: &Dense| (layer.shape().row(), layer.shape().inputs);
        let rows = of_layer(number).flat_map(|layer| {
            let (row, inputs) = row(layer);
            layer.weights().chunks_exact(row).flat_map(move |row| &row[..inputs])
        });
        rows.map(|&weight| f32::from(weight) / one).collect()
    };
    let first_one = first_weight_one(net.architecture().activation);
    let transformer = net.transformer().biases().iter();
    let mut dense = DenseParameters {
        transformer_bias: transformer.map(|&bias| f32::from(bias) / ACTIVATION_ONE).collect(),
        l1_weight: weight(0, first_one),
        l1_bias: bias(0),
        l2_weight: weight(1, WEIGHT_ONE),
        l2_bias: bias(1),
        output_weight: weight(2, output_one / ACTIVATION_ONE),
        output_bias: of_layer(2).map(|layer| layer.biases()[0] as f32 / output_one).collect(),
        psqt: psqt_zeros(architecture),
    };
    if let Topology::Skip { .. } = net.architecture().topology {
        unfold_skip(net, output_scale, &mut dense);
    }
    dense
}

/// Dequantises the output of a net without hidden layers.
fn direct_of(net: &Network, architecture: Architecture, output_scale: f32) -> DenseParameters {
    let activation = architecture.activation;
    let (weight_one, sum_one) = (direct_weight_one(activation, output_scale), direct_sum_one(activation, output_scale));
    let heads = || net.heads().iter().map(|head| &head.direct);
    let transformer = net.transformer().biases().iter();
    DenseParameters {
        transformer_bias: transformer.map(|&bias| f32::from(bias) / ACTIVATION_ONE).collect(),
        output_weight: heads().flat_map(|of| of.weights()).map(|&weight| f32::from(weight) / weight_one).collect(),
        output_bias: heads().map(|of| of.bias().saturating_sub(direct_half(activation)) as f32 / sum_one).collect(),
        ..DenseParameters::zeros(architecture)
    }
}

/// Dequantises the skip output, which has the scale of the output and no rounding offset.
fn unfold_skip(net: &Network, output_scale: f32, dense: &mut DenseParameters) {
    let rows = dense.l1_weight.chunks_exact_mut(net.architecture().inputs());
    for row in rows.skip(SKIP).step_by(SKIP + 1) {
        row.iter_mut().for_each(|weight| *weight /= output_scale);
    }
    let biases = dense.l1_bias.iter_mut().skip(SKIP).step_by(SKIP + 1);
    for (bias, head) in biases.zip(net.heads()) {
        let one = ACTIVATION_ONE * WEIGHT_ONE * output_scale;
        *bias = head.first.biases()[SKIP] as f32 / one;
    }
}

#[cfg(test)]
mod tests {
    use super::{quantise, *};
    use crate::data::Record;
    use crate::nnue::{AccumulatorStack, Activation, Features};
    use crate::train::integer::calibrate::ExportReport;
    use crate::train::integer::material::material_net;
    use crate::train::model::parameters::uniform;
    use crate::train::model::shapes;
    use crate::train::samples::record_of;
    use crate::train::step::layers::Loss;
    use crate::util::rng::SplitMix64;
    use shakmaty::{Chess, Color, Position, Square};
    use std::sync::Arc;

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
            *weight += 0.02 * crate::train::model::parameters::uniform(&mut rng);
        }
        for weight in model.transformer.iter_mut().step_by(3) {
            *weight += 0.1 * crate::train::model::parameters::uniform(&mut rng);
        }
        for value in model.dense.psqt.iter_mut().step_by(3) {
            *value += 0.1 * crate::train::model::parameters::uniform(&mut rng);
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

    #[test]
    fn dequantised_net_quantises_to_same_bytes() {
        shapes::for_tests().for_each(|architecture| check_round_trip(architecture, 1.0));
        check_round_trip(Architecture::HALF_KP, 0.6);
        let with_skip = shapes::for_tests().filter(|shape| matches!(shape.topology, Topology::Skip { .. }));
        let with_skip = with_skip.min_by_key(|shape| shape.l1);
        check_round_trip(with_skip.expect("a trainable shape has a skip connection"), 0.6);
    }

    #[test]
    fn finer_king_buckets_get_the_rows_of_the_coarser_one() {
        let narrow = shape_with_kings(Features::HalfKav2Hm4);
        let net = Network::from_bytes(&quantise(&random_model(narrow), 0.6).to_bytes()).unwrap();
        for features in [Features::HalfKav2Hm4, Features::HalfKav2Hm8, Features::HalfKav2Hm16] {
            let wide = shape_with_kings(features);
            let again = quantise(&unfold(&net, wide, 0.6), 0.6);
            let (set, coarser) = (wide.features.set(), narrow.features.set());
            for square in Square::ALL {
                for piece_row in 0..set.piece_rows() as u16 {
                    let of = |set: &FeatureSet| set.row(set.view(Color::White, square).king, piece_row).into();
                    let (new, old): (usize, usize) = (of(set), of(coarser));
                    let rows = |net: &Network, at: usize| net.transformer().weights()[at * 256..][..256].to_vec();
                    assert_eq!(rows(&again, new), rows(&net, old), "{features} {square} {piece_row}");
                    let values = |net: &Network, at: usize| net.transformer().psqt()[at * 8..][..8].to_vec();
                    assert_eq!(values(&again, new), values(&net, old), "{features} {square} {piece_row}");
                }
            }
        }
    }

    fn shape_with_kings(features: Features) -> Architecture {
        Architecture::of_settings(features, 256, Activation::Pairwise, [16, 32], 8, true).expect("a trainable shape")
    }

    fn check_round_trip(architecture: Architecture, scale: f32) {
        let net = quantise(&random_model(architecture), scale);
        let bytes = net.to_bytes();
        let read = Network::from_bytes(&bytes).unwrap();
        let again = quantise(&unfold(&read, architecture, scale), scale);
        assert!(again.to_bytes() == bytes);
    }

    /// Returns a model in which the rows of a piece differ between the king buckets.
    fn random_model(architecture: Architecture) -> Model {
        let mut rng = SplitMix64::new(9);
        let mut model = Model::initial(&mut rng, architecture, 0.5);
        for weight in model.transformer.iter_mut().step_by(7) {
            *weight += uniform(&mut rng);
        }
        for value in model.dense.psqt.iter_mut().step_by(5) {
            *value += uniform(&mut rng);
        }
        model
    }
}
