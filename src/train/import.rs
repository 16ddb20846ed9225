//! The way back: from a net file or a checkpoint to a float model, to learn on from.

use std::path::Path;

use anyhow::{Context, Result};

use super::checkpoint;
use super::dense::Dense;
use super::model::Model;
use super::quantised::{ACTIVATION_ONE, OUTPUT_ONE, QuantisedNet, WEIGHT_ONE};
use super::transformer::{block, factor};

/// The model of a net file of a shape that can be trained, or of a checkpoint. A net file was written with its
/// output multiplied by `output_scale`, which is taken off again.
///
/// # Errors
/// When the file is neither.
pub fn model_of(path: &Path, output_scale: f32) -> Result<Model> {
    if checkpoint::is_checkpoint(path)? {
        return Ok(checkpoint::read(path)?.1.model);
    }
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let net = QuantisedNet::from_bytes(&bytes)
        .with_context(|| format!("{} is no checkpoint and no net", path.display()))?
        .with_context(|| {
            format!(
                "{} is no net that can be trained: HalfKP of width 128, 256 or 512, or HalfKAv2_hm of 256 or 512, with two layers of 32",
                path.display()
            )
        })?;
    Ok(unfold(&net, output_scale))
}

/// Floats in place of integers. The factor row of a piece is the mean of its rows over the king squares, so that
/// what they have in common goes on being learnt in common.
fn unfold(net: &QuantisedNet, output_scale: f32) -> Model {
    let form = net.form;
    let (l1, features) = (form.l1, form.features);
    let mut model = Model::zeros(form);
    model.dense = dense_of(net, OUTPUT_ONE * output_scale);
    let blocks = model.transformer.chunks_exact_mut(block(form));
    for (piece_row, block) in blocks.enumerate() {
        let (real, factor) = block.split_at_mut(factor(features) * l1);
        for (king, real) in real.chunks_exact_mut(l1).enumerate() {
            let at = features.file_row(piece_row, king) * l1;
            let row = &net.transformer_weight[at..][..l1];
            for ((real, factor), &weight) in real.iter_mut().zip(factor.iter_mut()).zip(row) {
                *real = f32::from(weight) / ACTIVATION_ONE;
                *factor += *real / features.kings() as f32;
            }
        }
        for real in real.chunks_exact_mut(l1) {
            real.iter_mut()
                .zip(&*factor)
                .for_each(|(real, factor)| *real -= factor);
        }
    }
    model
}

fn dense_of(net: &QuantisedNet, output_one: f32) -> Dense {
    // What the export adds for rounding.
    let half = WEIGHT_ONE as i32 / 2;
    let bias = |biases: &[i32]| -> Vec<f32> {
        let float = |&bias: &i32| (bias - half) as f32 / (ACTIVATION_ONE * WEIGHT_ONE);
        biases.iter().map(float).collect()
    };
    let weight = |weights: &[i8], one: f32| -> Vec<f32> {
        weights.iter().map(|&w| f32::from(w) / one).collect()
    };
    Dense {
        transformer_bias: net
            .transformer_bias
            .iter()
            .map(|&bias| f32::from(bias) / ACTIVATION_ONE)
            .collect(),
        l1_weight: weight(
            &net.l1_weight,
            WEIGHT_ONE * ACTIVATION_ONE / net.form.activation.one(),
        ),
        l1_bias: bias(&net.l1_bias),
        l2_weight: weight(&net.l2_weight, WEIGHT_ONE),
        l2_bias: bias(&net.l2_bias),
        output_weight: weight(&net.output_weight, output_one / ACTIVATION_ONE),
        output_bias: (net.output_bias.iter())
            .map(|&bias| bias as f32 / output_one)
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::activation::Activation;
    use crate::train::export::quantise;
    use crate::train::features::FeatureSet;
    use crate::train::form::{Form, WIDTHS};
    use crate::train::transformer::uniform;
    use crate::util::rng::SplitMix64;

    #[test]
    fn a_net_that_is_read_and_written_is_the_same() {
        for l1 in WIDTHS {
            check_round_trip(Form::of_width(l1), 1.0);
        }
        check_round_trip(
            Form {
                activation: Activation::Screlu,
                ..Form::PUBLISHED
            },
            0.6,
        );
        check_round_trip(
            Form {
                features: FeatureSet::HalfKav2Hm,
                buckets: 8,
                ..Form::PUBLISHED
            },
            1.0,
        );
    }

    fn check_round_trip(form: Form, scale: f32) {
        let mut rng = SplitMix64::new(9);
        let mut model = Model::initial(&mut rng, form, 0.5);
        for weight in model.transformer.iter_mut().step_by(7) {
            *weight += uniform(&mut rng);
        }
        let net = quantise(&model, scale);
        let read = QuantisedNet::from_bytes(&net.to_bytes()).unwrap().unwrap();
        assert!(read == net);
        assert!(quantise(&unfold(&read, scale), scale) == net);
    }
}
