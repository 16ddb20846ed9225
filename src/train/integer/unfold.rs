//! Dequantisation: converts the integer net to a float model for further training.

use crate::nnue::architecture::Topology;
use crate::nnue::features::FeatureSet;
use crate::nnue::layers::Dense;
use crate::nnue::{Architecture, Network};
use crate::train::integer::quantise::direct_half;
use crate::train::model::dense::DenseParameters;
use crate::train::model::rows::{block, factor, layout};
use crate::train::model::shapes::{
    ACTIVATION_ONE, OUTPUT_ONE, SKIP, WEIGHT_ONE, direct_sum_one, direct_weight_one, input_one,
};
use crate::train::model::{Model, psqt};

/// Dequantises a net into a model of `architecture`, which may have more king buckets: each takes the rows of the net's
/// bucket that contains it, so that the model computes the same values. The factor row of a piece, if there is one, is
/// the mean of its rows over the king buckets, so that their common part is still trained in one place.
///
/// # Panics
/// Panics if the shapes differ in anything else, or the buckets are not parts of the net's
/// ([`FeatureSet::buckets_in`](crate::nnue::features::FeatureSet::buckets_in)).
pub fn unfold(net: &Network, architecture: Architecture, output_scale: f32) -> Model {
    let (l1, sources) = (architecture.l1, Sources::new(net, architecture));
    let mut model = Model::zeros(architecture);
    model.dense = dense_of(net, architecture, output_scale);
    unfold_psqt(net, &sources, output_scale, &mut model);
    let weights = net.transformer().weights();
    let (blocks, attacks) = model.transformer.split_at_mut(layout(architecture).blocks());
    let attack_weights = &weights[sources.set.count() * l1..];
    attacks.iter_mut().zip(attack_weights).for_each(|(real, &weight)| *real = f32::from(weight) / ACTIVATION_ONE);
    for (piece_row, block) in blocks.chunks_exact_mut(block(architecture)).enumerate() {
        let (real, factor) = block.split_at_mut(factor(architecture.features) * l1);
        for (king, real) in real.chunks_exact_mut(l1).enumerate() {
            let row = &weights[sources.row(king, piece_row) * l1..][..l1];
            real.iter_mut().zip(row).for_each(|(real, &weight)| *real = f32::from(weight) / ACTIVATION_ONE);
            factor.iter_mut().zip(&*real).for_each(|(factor, real)| *factor += real / sources.kings() as f32);
        }
        for real in real.chunks_exact_mut(l1) {
            real.iter_mut().zip(&*factor).for_each(|(real, factor)| *real -= factor);
        }
    }
    model
}

/// Rows of a net by the king buckets of a model.
struct Sources {
    set: &'static FeatureSet,
    /// For each king bucket of the model, that of the net.
    buckets: Vec<usize>,
}

impl Sources {
    fn new(net: &Network, architecture: Architecture) -> Self {
        let set = net.architecture().features.set();
        let buckets = architecture.features.set().buckets_in(set);
        Self { set, buckets: buckets.expect("the model's king buckets are parts of the net's") }
    }

    /// Number of king buckets of the model.
    fn kings(&self) -> usize {
        self.buckets.len()
    }

    /// The net's row for a king bucket of the model.
    fn row(&self, king: usize, piece_row: usize) -> usize {
        usize::from(self.set.row(self.buckets[king] as u16, piece_row as u16))
    }
}

/// Dequantises the piece-square values. A factor is the mean over the king buckets, as in the transformer.
fn unfold_psqt(net: &Network, sources: &Sources, output_scale: f32, model: &mut Model) {
    let (width, kings) = (model.architecture.psqt, sources.kings());
    if width == 0 {
        return;
    }
    let (layout, output_one) = (psqt::layout(model.architecture), OUTPUT_ONE * output_scale);
    let (blocks, attacks) = model.dense.psqt.split_at_mut(layout.blocks());
    let attack_values = &net.transformer().psqt()[sources.set.count() * width..];
    attacks.iter_mut().zip(attack_values).for_each(|(real, &value)| *real = value as f32 / output_one);
    for (piece_row, block) in blocks.chunks_exact_mut(layout.block()).enumerate() {
        let (real, factor) = block.split_at_mut(kings * width);
        for (king, real) in real.chunks_exact_mut(width).enumerate() {
            let values = &net.transformer().psqt()[sources.row(king, piece_row) * width..][..width];
            for ((real, factor), &value) in real.iter_mut().zip(factor.iter_mut()).zip(values) {
                *real = value as f32 / output_one;
                *factor += *real / kings as f32;
            }
        }
        for real in real.chunks_exact_mut(width) {
            let pairs = real.iter_mut().zip(&*factor);
            pairs.for_each(|(real, factor)| *real -= factor);
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
    let first_one = WEIGHT_ONE * ACTIVATION_ONE / input_one(net.architecture().activation);
    let transformer = net.transformer().biases().iter();
    let mut dense = DenseParameters {
        transformer_bias: transformer.map(|&bias| f32::from(bias) / ACTIVATION_ONE).collect(),
        l1_weight: weight(0, first_one),
        l1_bias: bias(0),
        l2_weight: weight(1, WEIGHT_ONE),
        l2_bias: bias(1),
        output_weight: weight(2, output_one / ACTIVATION_ONE),
        output_bias: of_layer(2).map(|layer| layer.biases()[0] as f32 / output_one).collect(),
        psqt: psqt::zeros(architecture),
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
    use shakmaty::{Color, Square};

    use super::*;
    use crate::nnue::{Activation, Features};
    use crate::train::integer::quantise::quantise;
    use crate::train::model::rows::uniform;
    use crate::train::model::shapes;
    use crate::util::rng::SplitMix64;

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
