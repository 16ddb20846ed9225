//! After rounding: what it did to a layer on average goes back into the layer's biases, and the output layer is fitted
//! anew.
//!
//! Rounding errors do not cancel where units stand at the same value most of the time: 32 weights of saturated units,
//! each off by a quarter, move every output the same way. So each hidden unit's bias takes back the mean error of its
//! sum, one layer after the other, and the output's integers become those that come nearest to the float model's
//! outputs.
// CITE: M. Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias Correction" (2019): the idea of
// correcting biases layer by layer, there for image networks.

use crate::data::Record;
use crate::nnue::Network;
use crate::nnue::architecture::Topology;
use crate::nnue::layers::{Dense, Head};
use crate::nnue::trace::{activated, second_layer_inputs, sums};
use crate::train::model::scales::{ACTIVATION_ONE, HIDDEN, OUTPUT_ONE, WEIGHT_ONE};
use crate::train::model::topology::SKIP;
use crate::train::model::{LayerSums, Model};

/// Passes over the output's weights each time; more change nothing that a rounding would show.
const PASSES: usize = 200;
/// What a weight's distance from its rounded value costs, beside the squared error of a position. A unit that is on by
/// one step everywhere is worth as much: weights of units that hardly any position uses stay where they are, instead of
/// going wherever these few want them.
const HOLD: f64 = 1.0;
/// The output's weights and, last, its bias.
const TERMS: usize = HIDDEN + 1;

/// A position, as both nets see it.
struct Case {
    float: LayerSums,
    inputs: Vec<u8>,
}

/// Moves the biases and the output layers of `net` towards `model` times `output_scale`, as both are on `records`.
pub fn calibrate(net: &mut Network, model: &Model, output_scale: f32, records: &[Record]) {
    let (architecture, dense) = (*net.architecture(), model.read_dense());
    for stack in 0..architecture.buckets {
        let seen = |record: &&Record| architecture.bucket(record.piece_count() as usize) == stack;
        let case = |record: &Record| Case {
            float: model.sums(&dense, record),
            inputs: net.inputs(record),
        };
        let cases: Vec<Case> = records.iter().filter(seen).map(case).collect();
        let topology = architecture.topology;
        calibrate_head(
            &mut net.parameters_mut().1[stack],
            topology,
            output_scale,
            &cases,
        );
    }
}

/// The same for one stack of layers, whose positions are `cases`.
fn calibrate_head(head: &mut Head, topology: Topology, output_scale: f32, cases: &[Case]) {
    if cases.is_empty() {
        return;
    }
    let of_case = |case: &Case| (case.float.hidden1.clone(), sums(&head.first, &case.inputs));
    let mut errors = mean_errors(cases.iter().map(of_case));
    if let Topology::Skip { .. } = topology {
        errors[SKIP] = skip_error(cases.iter().map(of_case), output_scale);
    }
    head.first = shifted(&head.first, &errors);
    let handed_on =
        |head: &Head, case: &Case| second_layer_inputs(topology, &sums(&head.first, &case.inputs));
    let sums2 = |head: &Head, case: &Case| sums(&head.second, &handed_on(head, case).0);
    let of_case = |case: &Case| (case.float.hidden2.clone(), sums2(head, case));
    let errors = mean_errors(cases.iter().map(of_case));
    head.second = shifted(&head.second, &errors);
    let of_case = |case: &Case| {
        let skipping = f64::from(handed_on(head, case).1);
        let wanted = f64::from(case.float.output * OUTPUT_ONE * output_scale) - skipping;
        (activated(&sums2(head, case)), wanted)
    };
    let fit = Fit::of(cases.iter().map(of_case));
    let output = &head.output;
    let (mut weights, mut bias) = (output.weights().to_vec(), output.biases()[0]);
    fit.improve(&mut weights, &mut bias, HOLD * cases.len() as f64);
    head.output = Dense::new(output.shape(), vec![bias], &weights);
}

/// How far each unit's integer sum lies below the float one on average, where the unit is neither off nor saturated:
/// elsewhere it does not matter.
fn mean_errors(cases: impl Iterator<Item = (Vec<f32>, Vec<i32>)>) -> [f64; HIDDEN] {
    // Half a step on top, because the engine cuts off: see `hidden_bias` in `quantise.rs`.
    const HALF: f32 = WEIGHT_ONE / 2.0;
    let mut errors = [(0.0, 0.0); HIDDEN];
    for (floats, integers) in cases {
        for ((error, float), integer) in errors.iter_mut().zip(floats).zip(integers) {
            if (0.0..1.0).contains(&float) {
                error.0 +=
                    f64::from(float * ACTIVATION_ONE * WEIGHT_ONE + HALF) - f64::from(integer);
                error.1 += 1.0;
            }
        }
    }
    errors.map(|(sum, count)| if count > 0.0 { sum / count } else { 0.0 })
}

/// How far the integer sum of the output that skips lies below the float one on average; it is multiplied with the
/// output, and nothing of it is cut off.
fn skip_error(cases: impl Iterator<Item = (Vec<f32>, Vec<i32>)>, output_scale: f32) -> f64 {
    let one = f64::from(ACTIVATION_ONE * WEIGHT_ONE * output_scale);
    let (mut sum, mut count) = (0.0, 0.0);
    for (floats, integers) in cases {
        sum += f64::from(floats[SKIP]) * one - f64::from(integers[SKIP]);
        count += 1.0;
    }
    sum / count
}

/// The layer with other biases.
fn shifted(layer: &Dense, errors: &[f64; HIDDEN]) -> Dense {
    let biases = layer.biases().iter().zip(errors);
    let biases = biases.map(|(bias, error)| bias + error.round() as i32);
    Dense::new(layer.shape(), biases.collect(), layer.weights())
}

/// The squared error of the output layer, as a function of its integers: all that their choice depends on.
struct Fit {
    /// Sums of products of two inputs.
    inputs: [[f64; TERMS]; TERMS],
    /// Sums of products of an input and the wanted output.
    wanted: [f64; TERMS],
}

impl Fit {
    fn of(cases: impl Iterator<Item = (Vec<u8>, f64)>) -> Self {
        let mut fit = Self {
            inputs: [[0.0; TERMS]; TERMS],
            wanted: [0.0; TERMS],
        };
        for (hidden, wanted) in cases {
            let mut inputs = [1.0; TERMS];
            for (input, unit) in inputs.iter_mut().zip(hidden) {
                *input = f64::from(unit);
            }
            for (i, row) in fit.inputs.iter_mut().enumerate() {
                for (sum, input) in row.iter_mut().zip(inputs) {
                    *sum += inputs[i] * input;
                }
                fit.wanted[i] += inputs[i] * wanted;
            }
        }
        fit
    }

    /// Sets the weights and the bias to integers of little error: each is rounded in turn, and those after it take up
    /// what its rounding did. A weight's squared distance from what it was costs `hold`.
    // CITE: the order of rounding and taking up is that of "optimal brain quantisation", E. Frantar, D. Alistarh
    // (2022).
    fn improve(&self, weights: &mut [i8], bias: &mut i32, hold: f64) {
        let mut terms = [f64::from(*bias); TERMS];
        for (term, weight) in terms.iter_mut().zip(weights.iter()) {
            *term = f64::from(*weight);
        }
        let rounded = terms;
        for next in 0..TERMS {
            self.descend(&mut terms, next, (&rounded, hold));
            terms[next] = terms[next].round();
        }
        for (weight, term) in weights.iter_mut().zip(terms) {
            *weight = term as i8;
        }
        *bias = terms[HIDDEN] as i32;
    }

    /// Sets one term after the other, from `first` on, to its best real value, the others given: the error falls with
    /// every step.
    fn descend(
        &self,
        terms: &mut [f64; TERMS],
        first: usize,
        (rounded, hold): (&[f64; TERMS], f64),
    ) {
        for _ in 0..PASSES {
            for i in first..TERMS {
                // A unit that is always off has no best weight.
                if self.inputs[i][i] > 0.0 {
                    let said: f64 = self.inputs[i].iter().zip(*terms).map(|(a, b)| a * b).sum();
                    // The bias is what every position has a say in.
                    let hold = if i < HIDDEN { hold } else { 0.0 };
                    let pull = hold * (rounded[i] - terms[i]);
                    let step = (self.wanted[i] - said + pull) / (self.inputs[i][i] + hold);
                    let limit = if i < HIDDEN {
                        127.0
                    } else {
                        f64::from(i32::MAX)
                    };
                    terms[i] = (terms[i] + step).clamp(-limit, limit);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fit_finds_the_integers_that_were_there() {
        let weights: Vec<i32> = (0..HIDDEN as i32).map(|i| 7 * i - 100).collect();
        let mut rng = crate::util::rng::SplitMix64::new(3);
        let cases: Vec<(Vec<u8>, f64)> = (0..2000)
            .map(|_| {
                let hidden: Vec<u8> = (0..HIDDEN).map(|_| rng.below(128) as u8).collect();
                let products = hidden.iter().zip(&weights).map(|(&a, b)| i32::from(a) * b);
                let dot: i32 = products.sum();
                (hidden, f64::from(dot + 4321))
            })
            .collect();
        let mut found: Vec<i8> = weights.iter().map(|w| (w + 1) as i8).collect();
        let mut bias = 0;
        Fit::of(cases.into_iter()).improve(&mut found, &mut bias, 2000.0 * HOLD);
        let found: Vec<i32> = found.into_iter().map(i32::from).collect();
        assert_eq!((found, bias), (weights, 4321));
    }

    #[test]
    fn the_fit_leaves_a_unit_alone_that_is_hardly_used() {
        // A thousand positions that the weights get right, and one, with a unit of its own, that is far off.
        let mut cases = vec![(vec![0; HIDDEN], 0.0); 1000];
        for (at, (hidden, wanted)) in cases.iter_mut().enumerate() {
            hidden[0] = (at % 128) as u8;
            *wanted = f64::from(hidden[0]) * 10.0;
        }
        let mut odd = vec![0; HIDDEN];
        odd[1] = 20;
        cases.push((odd, -2000.0));
        let fit = Fit::of(cases.iter().cloned());
        let fitted = |hold: f64| {
            let (mut weights, mut bias) = (vec![10_i8; HIDDEN], 0);
            fit.improve(&mut weights, &mut bias, hold);
            (weights[0], weights[1], bias)
        };
        assert_eq!(fitted(0.0), (10, -100, 0), "nothing holds it");
        let held = fitted(HOLD * cases.len() as f64);
        assert!(held.0 == 10 && held.1 > -30, "{held:?}");
    }

    #[test]
    fn mean_errors_are_those_of_open_units() {
        let mut floats = vec![0.5; HIDDEN];
        floats[1] = 1.5;
        let cases = [4000, 4100].map(|sum| (floats.clone(), vec![sum; HIDDEN]));
        let errors = mean_errors(cases.into_iter());
        assert_eq!(errors[0], 4064.0 + 32.0 - 4050.0);
        assert_eq!(errors[1], 0.0);
    }
}
