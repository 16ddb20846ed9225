//! The float model: the forward pass, and the way back for one position.

use super::dense::Dense;
use super::features::Active;
use super::quantised::{HIDDEN, L1};
use super::simd::{InputMajor, Kernels, Row};
use super::transformer::{self, Table};
use crate::util::rng::SplitMix64;

/// All parameters. Activations of 1.0 stand for 127 in the integer net, an output of 1.0 for 600 engine units.
#[derive(Clone, Debug)]
pub struct Model {
    /// Real and factor rows of the feature transformer.
    pub transformer: Table,
    /// Everything else.
    pub dense: Dense,
    /// The first layer's weights once more, for the forward pass; `refresh` brings them up to date.
    l1_input_major: Box<InputMajor>,
}

/// What the forward pass leaves for the way back.
pub struct Activations {
    inputs: [f32; 2 * L1],
    hidden1: [f32; HIDDEN],
    hidden2: [f32; HIDDEN],
    /// The net's output, side to move's view.
    pub output: f32,
}

impl Model {
    /// A fresh model, factor rows uniform within `span`.
    pub fn initial(rng: &mut SplitMix64, span: f32) -> Self {
        let mut model = Self {
            transformer: transformer::initial(rng, span),
            dense: Dense::initial(rng),
            l1_input_major: Box::new([[0.0; HIDDEN]; 2 * L1]),
        };
        model.refresh();
        model
    }

    /// Must be called after the dense weights have changed.
    pub fn refresh(&mut self) {
        for (output, weights) in self.dense.l1_weight.chunks_exact(2 * L1).enumerate() {
            for (row, &weight) in self.l1_input_major.iter_mut().zip(weights) {
                row[output] = weight;
            }
        }
    }

    /// The forward pass.
    pub fn forward(&self, kernels: Kernels, active: &Active) -> Activations {
        let mut inputs = [0.0; 2 * L1];
        let bias: &Row = as_array(&self.dense.transformer_bias);
        for (side, half) in inputs.as_chunks_mut::<L1>().0.iter_mut().enumerate() {
            kernels.accumulate(bias, &self.transformer, active.side(side), half);
        }
        let sums =
            kernels.first_layer(&inputs, &self.l1_input_major, as_array(&self.dense.l1_bias));
        let hidden1 = sums.map(|sum| sum.clamp(0.0, 1.0));
        let hidden2 = self.second_layer(&hidden1);
        let output = self.dense.output_bias[0] + dot(&self.dense.output_weight, &hidden2);
        Activations {
            inputs,
            hidden1,
            hidden2,
            output,
        }
    }

    fn second_layer(&self, hidden: &[f32; HIDDEN]) -> [f32; HIDDEN] {
        let mut out: [f32; HIDDEN] = *as_array(&self.dense.l2_bias);
        for (sum, weights) in out
            .iter_mut()
            .zip(self.dense.l2_weight.chunks_exact(HIDDEN))
        {
            *sum = (*sum + dot(weights, hidden)).clamp(0.0, 1.0);
        }
        out
    }

    /// The way back: adds the dense parameters' gradient to `gradient`, and puts the slopes of both accumulators
    /// into `rows` (side to move first, bfloat16). `slope` is the loss's slope by the output.
    pub fn backward(
        &self,
        kernels: Kernels,
        at: &Activations,
        slope: f32,
        gradient: &mut Dense,
        rows: &mut [u16; 2 * L1],
    ) {
        gradient.output_bias[0] += slope;
        let mut slopes2 = [0.0; HIDDEN];
        for (i, out) in slopes2.iter_mut().enumerate() {
            gradient.output_weight[i] += slope * at.hidden2[i];
            *out = through(at.hidden2[i], slope * self.dense.output_weight[i]);
            gradient.l2_bias[i] += *out;
        }
        let mut slopes1 = [0.0; HIDDEN];
        let weights = self.dense.l2_weight.chunks_exact(HIDDEN);
        let gradients = gradient.l2_weight.chunks_exact_mut(HIDDEN);
        for (&slope, (weights, gradients)) in slopes2.iter().zip(weights.zip(gradients)) {
            if slope != 0.0 {
                for i in 0..HIDDEN {
                    slopes1[i] += slope * weights[i];
                    gradients[i] += slope * at.hidden1[i];
                }
            }
        }
        for (i, slope) in slopes1.iter_mut().enumerate() {
            *slope = through(at.hidden1[i], *slope);
            gradient.l1_bias[i] += *slope;
        }
        kernels.first_layer_back(
            &at.inputs,
            &slopes1,
            &self.dense.l1_weight,
            &mut gradient.l1_weight,
            rows,
        );
    }
}

/// A slope on its way back through a clipped unit: only open units pass it on.
fn through(activation: f32, slope: f32) -> f32 {
    let open = activation > 0.0 && activation < 1.0;
    if open { slope } else { 0.0 }
}

fn dot(a: &[f32], b: &[f32; HIDDEN]) -> f32 {
    // Sixteen partial sums, which the compiler keeps in vectors.
    let mut sums = [0.0; 16];
    for (a, b) in a.as_chunks::<16>().0.iter().zip(b.as_chunks::<16>().0) {
        for i in 0..16 {
            sums[i] += a[i] * b[i];
        }
    }
    sums.iter().sum()
}

/// A tensor whose length is a constant of the architecture, as the array that it is.
fn as_array<const N: usize>(tensor: &[f32]) -> &[f32; N] {
    tensor
        .try_into()
        .expect("tensors are made with their length")
}
