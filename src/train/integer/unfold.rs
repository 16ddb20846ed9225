//! Dequantisation: converts the integer net to a float model for further training.

use crate::nnue::architecture::Topology;
use crate::nnue::layers::Dense;
use crate::nnue::{Architecture, Network};
use crate::train::model::Model;
use crate::train::model::dense::DenseParameters;
use crate::train::model::psqt;
use crate::train::model::scales::{ACTIVATION_ONE, OUTPUT_ONE, WEIGHT_ONE, input_one};
use crate::train::model::topology::SKIP;
use crate::train::model::transformer::{block, factor};

/// Dequantises a net. The factor row of a piece is the mean of its rows over the king squares, so that their common
/// part is still trained in one place.
pub fn unfold(net: &Network, architecture: Architecture, output_scale: f32) -> Model {
    let (l1, set) = (architecture.l1, architecture.features.set());
    let mut model = Model::zeros(architecture);
    model.dense = dense_of(net, output_scale);
    unfold_psqt(net, output_scale, &mut model);
    let weights = net.transformer().weights();
    let blocks = model.transformer.chunks_exact_mut(block(architecture));
    for (piece_row, block) in blocks.enumerate() {
        let (real, factor) = block.split_at_mut(factor(architecture.features) * l1);
        for (king, real) in real.chunks_exact_mut(l1).enumerate() {
            let at = usize::from(set.row(king as u16, piece_row as u16)) * l1;
            let row = &weights[at..][..l1];
            for ((real, factor), &weight) in real.iter_mut().zip(factor.iter_mut()).zip(row) {
                *real = f32::from(weight) / ACTIVATION_ONE;
                *factor += *real / set.kings as f32;
            }
        }
        for real in real.chunks_exact_mut(l1) {
            real.iter_mut().zip(&*factor).for_each(|(real, factor)| *real -= factor);
        }
    }
    model
}

/// Dequantises the piece-square values. A factor is the mean over the king buckets, as in the transformer.
fn unfold_psqt(net: &Network, output_scale: f32, model: &mut Model) {
    let (width, set) = (model.architecture.psqt, model.architecture.features.set());
    if width == 0 {
        return;
    }
    let blocks = model.dense.psqt.chunks_exact_mut(psqt::block(model.architecture));
    for (piece_row, block) in blocks.enumerate() {
        let (real, factor) = block.split_at_mut(set.kings * width);
        for (king, real) in real.chunks_exact_mut(width).enumerate() {
            let at = usize::from(set.row(king as u16, piece_row as u16)) * width;
            let values = &net.transformer().psqt()[at..][..width];
            for ((real, factor), &value) in real.iter_mut().zip(factor.iter_mut()).zip(values) {
                *real = value as f32 / (OUTPUT_ONE * output_scale);
                *factor += *real / set.kings as f32;
            }
        }
        for real in real.chunks_exact_mut(width) {
            let pairs = real.iter_mut().zip(&*factor);
            pairs.for_each(|(real, factor)| *real -= factor);
        }
    }
}

fn dense_of(net: &Network, output_scale: f32) -> DenseParameters {
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
        psqt: psqt::zeros(*net.architecture()),
    };
    if let Topology::Skip { .. } = net.architecture().topology {
        unfold_skip(net, output_scale, &mut dense);
    }
    dense
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
    use super::*;
    use crate::train::integer::quantise::quantise;
    use crate::train::model::shapes;
    use crate::train::model::transformer::uniform;
    use crate::util::rng::SplitMix64;

    #[test]
    fn dequantised_net_quantises_to_same_bytes() {
        for architecture in shapes::for_tests() {
            check_round_trip(architecture, 1.0);
        }
        check_round_trip(Architecture::HALF_KP, 0.6);
        let with_skip = shapes::all().filter(|shape| matches!(shape.topology, Topology::Skip { .. }));
        let with_skip = with_skip.min_by_key(|shape| shape.l1);
        check_round_trip(with_skip.expect("a trainable shape has a skip connection"), 0.6);
    }

    fn check_round_trip(architecture: Architecture, scale: f32) {
        let mut rng = SplitMix64::new(9);
        let mut model = Model::initial(&mut rng, architecture, 0.5);
        for weight in model.transformer.iter_mut().step_by(7) {
            *weight += uniform(&mut rng);
        }
        for value in model.dense.psqt.iter_mut().step_by(5) {
            *value += uniform(&mut rng);
        }
        let net = quantise(&model, scale);
        let bytes = net.to_bytes();
        let read = Network::from_bytes(&bytes).unwrap();
        let again = quantise(&unfold(&read, architecture, scale), scale);
        assert!(again.to_bytes() == bytes);
    }
}
