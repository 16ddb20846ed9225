//! Calibration after quantisation: corrects each layer's biases by the mean quantisation error, and fits the output
//! layer again. The report compares the result with the float model.
//!
//! Rounding errors do not cancel where units have the same value most of the time: 32 weights of saturated units, each
//! off by a quarter, shift every output in the same direction. So the mean error of each hidden unit's sum is added to
//! its bias, layer by layer. Then the output layer's integers are fitted to the float model's outputs by least squares.

use std::fmt;
use std::ops::RangeInclusive;

use crate::data::Record;
use crate::nnue::architecture::Topology;
use crate::nnue::inspect::{Trace, activated, second_layer_inputs, sums};
use crate::nnue::layers::{Dense, Direct, Head};
use crate::nnue::{Activation, Network};
use crate::train::model::shapes::{
    ACTIVATION_ONE, HIDDEN, OUTPUT_ONE, SKIP, UNITS, WEIGHT_ONE, direct_sum_one, input_one,
};
use crate::train::model::{LayerSums, Model};
use crate::train::step::layers::Loss;

// CITE: M. Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias Correction" (2019): the idea of
// correcting biases layer by layer, there for image networks.

/// Passes over the output's weights in each fit; further passes do not change the rounded result.
const PASSES: usize = 200;
/// Regularisation: cost of a weight's squared distance from its rounded value, relative to the squared error of one
/// position. An input of one step in every position has the same cost. This keeps the weights of rarely active units
/// near their rounded values instead of fitting them to the few positions that use them.
const RIDGE: f64 = 1.0;
/// Number of fitted terms: the output's weights and, last, its bias.
const TERMS: usize = HIDDEN + 1;

/// One position: the sums of the float model and the inputs of the integer net.
struct Case {
    float: LayerSums,
    inputs: Vec<u8>,
}

/// Sums of a layer for one position in both nets.
struct BothSums {
    float: Vec<f32>,
    integer: Vec<i32>,
}

/// One position of a fit: inputs of the output layer and the target of its sum.
#[derive(Clone)]
struct FitCase {
    hidden: Vec<u8>,
    target: f64,
}

/// Calibrates the biases and output layers of `net` to `model` times `output_scale` on `records`.
pub fn calibrate(net: &mut Network, model: &Model, output_scale: f32, records: &[Record]) {
    let (architecture, dense) = (*net.architecture(), model.read_dense());
    if architecture.is_direct() {
        return calibrate_direct(net, model, output_scale, records);
    }
    for stack in 0..architecture.buckets {
        let in_stack = |record: &&Record| architecture.bucket(record.piece_count() as usize) == stack;
        let case = |record: &Record| Case { float: model.sums(&dense, record), inputs: net.inputs(record) };
        let cases: Vec<Case> = records.iter().filter(in_stack).map(case).collect();
        let topology = architecture.topology;
        calibrate_head(&mut net.parameters_mut().1[stack], topology, output_scale, &cases);
    }
}

/// Calibrates the biases of a net without hidden layers. Its weights are fine enough to stay as they are.
fn calibrate_direct(net: &mut Network, model: &Model, output_scale: f32, records: &[Record]) {
    let (architecture, dense) = (*net.architecture(), model.read_dense());
    let one = f64::from(direct_sum_one(architecture.activation, output_scale));
    let shift = Direct::shift(architecture.activation);
    let mut errors = vec![(0.0, 0.0); architecture.buckets];
    for record in records {
        let (sum, count) = &mut errors[architecture.bucket(record.piece_count() as usize)];
        // Half a step of the truncated output is its mean error.
        let integer = (f64::from(net.trace(record).output) + 0.5) * f64::from(1 << shift);
        *sum += f64::from(model.sums(&dense, record).output) * one + f64::from(1 << (shift - 1)) - integer;
        *count += 1.0;
    }
    for (head, (sum, count)) in net.parameters_mut().1.iter_mut().zip(errors) {
        if count > 0.0 {
            let bias = head.direct.bias().saturating_add((sum / count).round() as i32);
            *head = Head::from_direct(Direct::new(bias, head.direct.weights()));
        }
    }
}

/// Calibrates one stack of layers on its positions `cases`.
fn calibrate_head(head: &mut Head, topology: Topology, output_scale: f32, cases: &[Case]) {
    if cases.is_empty() {
        return;
    }
    let of_case =
        |case: &Case| BothSums { float: case.float.hidden1.clone(), integer: sums(&head.first, &case.inputs) };
    let mut errors = mean_errors(cases.iter().map(of_case));
    if let Topology::Skip { .. } = topology {
        errors[SKIP] = skip_error(cases.iter().map(of_case), output_scale);
    }
    head.first = shifted(&head.first, &errors);
    let handed_on = |head: &Head, case: &Case| second_layer_inputs(topology, &sums(&head.first, &case.inputs));
    let sums2 = |head: &Head, case: &Case| sums(&head.second, &handed_on(head, case).0);
    let of_case = |case: &Case| BothSums { float: case.float.hidden2.clone(), integer: sums2(head, case) };
    let errors = mean_errors(cases.iter().map(of_case));
    head.second = shifted(&head.second, &errors).into_second();
    let of_case = |case: &Case| {
        let skip = f64::from(handed_on(head, case).1);
        let target = f64::from(case.float.output * OUTPUT_ONE * output_scale) - skip;
        FitCase { hidden: activated(&sums2(head, case)), target }
    };
    let fit = Fit::of(cases.iter().map(of_case));
    let output = &head.output;
    let (mut weights, mut bias) = (output.weights().to_vec(), output.biases()[0]);
    fit.improve(&mut weights, &mut bias, RIDGE * cases.len() as f64);
    head.output = Dense::new(output.shape(), vec![bias], &weights);
}

/// Mean of float sum minus integer sum of each unit, in integer units, over the positions in which the unit is neither
/// off nor saturated: elsewhere an error has no effect.
fn mean_errors(cases: impl Iterator<Item = BothSums>) -> [f64; HIDDEN] {
    // Plus half a step, because the engine truncates: see `hidden_bias` in `quantise.rs`.
    const HALF: f32 = WEIGHT_ONE / 2.0;
    let mut errors = [(0.0, 0.0); HIDDEN];
    for sums in cases {
        for ((error, float), integer) in errors.iter_mut().zip(sums.float).zip(sums.integer) {
            if (0.0..1.0).contains(&float) {
                error.0 += f64::from(float * ACTIVATION_ONE * WEIGHT_ONE + HALF) - f64::from(integer);
                error.1 += 1.0;
            }
        }
    }
    errors.map(|(sum, count)| if count > 0.0 { sum / count } else { 0.0 })
}

/// Mean of float sum minus integer sum of the skip connection. Its sum is scaled like the output and not truncated.
fn skip_error(cases: impl Iterator<Item = BothSums>, output_scale: f32) -> f64 {
    let one = f64::from(ACTIVATION_ONE * WEIGHT_ONE * output_scale);
    let (mut sum, mut count) = (0.0, 0.0);
    for sums in cases {
        sum += f64::from(sums.float[SKIP]) * one - f64::from(sums.integer[SKIP]);
        count += 1.0;
    }
    sum / count
}

/// Returns the layer with `errors` added to its biases.
fn shifted(layer: &Dense, errors: &[f64; HIDDEN]) -> Dense {
    let biases = layer.biases().iter().zip(errors);
    let biases = biases.map(|(bias, error)| bias + error.round() as i32);
    Dense::new(layer.shape(), biases.collect(), layer.weights())
}

/// The squared error of the output layer as a quadratic function of its integers.
struct Fit {
    /// Sums of products of two inputs.
    inputs: [[f64; TERMS]; TERMS],
    /// Sums of products of an input and the target output.
    target: [f64; TERMS],
}

impl Fit {
    fn of(cases: impl Iterator<Item = FitCase>) -> Self {
        let mut fit = Self { inputs: [[0.0; TERMS]; TERMS], target: [0.0; TERMS] };
        for FitCase { hidden, target } in cases {
            let mut inputs = [1.0; TERMS];
            for (input, unit) in inputs.iter_mut().zip(hidden) {
                *input = f64::from(unit);
            }
            for (i, row) in fit.inputs.iter_mut().enumerate() {
                for (sum, input) in row.iter_mut().zip(inputs) {
                    *sum += inputs[i] * input;
                }
                fit.target[i] += inputs[i] * target;
            }
        }
        fit
    }

    /// Sets the weights and the bias to integers with a small error: rounds each in turn and adjusts the later ones to
    /// compensate. A weight's squared distance from its start value costs `ridge`.
    // CITE: the order of rounding and compensation is that of "optimal brain quantisation", E. Frantar, D. Alistarh
    // (2022).
    fn improve(&self, weights: &mut [i8], bias: &mut i32, ridge: f64) {
        let mut terms = [f64::from(*bias); TERMS];
        for (term, weight) in terms.iter_mut().zip(weights.iter()) {
            *term = f64::from(*weight);
        }
        let rounded = terms;
        for next in 0..TERMS {
            self.descend(&mut terms, next, &rounded, ridge);
            terms[next] = terms[next].round();
        }
        for (weight, term) in weights.iter_mut().zip(terms) {
            *weight = term as i8;
        }
        *bias = terms[HIDDEN] as i32;
    }

    /// Coordinate descent: sets each term from `first` on to its best real value, given the others. The error falls
    /// with every step.
    fn descend(&self, terms: &mut [f64; TERMS], first: usize, rounded: &[f64; TERMS], ridge: f64) {
        for _ in 0..PASSES {
            for i in first..TERMS {
                // The weight of a unit that is always off has no effect.
                if self.inputs[i][i] > 0.0 {
                    let output: f64 = self.inputs[i].iter().zip(*terms).map(|(a, b)| a * b).sum();
                    // The bias affects every position and needs no regularisation.
                    let ridge = if i < HIDDEN { ridge } else { 0.0 };
                    let correction = ridge * (rounded[i] - terms[i]);
                    let step = (self.target[i] - output + correction) / (self.inputs[i][i] + ridge);
                    let limit = if i < HIDDEN { 127.0 } else { f64::from(i32::MAX) };
                    terms[i] = (terms[i] + step).clamp(-limit, limit);
                }
            }
        }
    }
}

// Report on quantisation: error, loss, and the use of the net's units.

/// Comparison of the integer net with the float model on a set of positions.
#[derive(Clone, Debug)]
pub struct ExportReport {
    /// Positions compared.
    pub positions: usize,
    /// Mean absolute difference, in engine units.
    pub mean: f64,
    /// Largest absolute difference, in engine units.
    pub worst: f64,
    /// Mean absolute output of the float model in engine units, for comparison.
    pub size: f64,
    /// Mean loss of the float model and of the integer net.
    pub losses: [f64; 2],
    /// Use of units: the accumulators of both sides, the first and the second hidden layer.
    pub layers: [LayerReport; 3],
    /// Dense weights at the end of their range, per thousand.
    pub limited: f64,
    /// Minimum and maximum weight of the transformer in the file.
    pub transformer_range: RangeInclusive<i16>,
}

/// Numbers of positions in which a unit has certain values.
#[derive(Clone, Copy, Debug, Default)]
struct UnitCounts {
    /// A value above 0.
    active: usize,
    /// The maximum value.
    saturated: usize,
}

/// Ranges of the histogram of a layer's values.
const RANGES: usize = 8;

/// Activity of the units of a layer.
#[derive(Clone, Debug)]
pub struct LayerReport {
    name: &'static str,
    /// Maximum value of a unit.
    max: u8,
    counts: Vec<UnitCounts>,
    /// Numbers of values above 0, by equal ranges.
    histogram: [usize; RANGES],
    positions: usize,
}

impl ExportReport {
    /// Compares both nets on `records`: the outputs, with the float model times `output_scale`, and the losses.
    pub fn of(model: &Model, output_scale: f32, net: &Network, records: &[Record], loss: Loss) -> Self {
        let mut report = Self {
            positions: records.len(),
            mean: 0.0,
            worst: 0.0,
            size: 0.0,
            losses: [0.0; 2],
            layers: [
                LayerReport::new("transformer", max_input(net.architecture().activation)),
                LayerReport::new("layer 1", 127),
                LayerReport::new("layer 2", 127),
            ],
            limited: limited_weights(net),
            transformer_range: range(net.transformer().weights()),
        };
        let (one, dense) = (OUTPUT_ONE * output_scale, model.read_dense());
        for record in records {
            let mut trace = net.trace(record);
            // Zeros may follow the inputs of the second layer.
            let [_, second, _] = net.architecture().layers();
            trace.hidden[0].truncate(second.inputs);
            let outputs = [model.output(&dense, record), trace.raw() as f32 / one];
            report.add_difference(outputs.map(|output| f64::from(output * UNITS * output_scale)));
            let target = loss.target(record);
            report.add_losses(outputs.map(|output| f64::from(loss.of(output, target).0)));
            report.add_units(&trace);
        }
        report
    }

    /// Adds the difference of the outputs, in engine units.
    fn add_difference(&mut self, [float, integer]: [f64; 2]) {
        let difference = (float - integer).abs();
        self.mean += difference / self.positions as f64;
        self.worst = self.worst.max(difference);
        self.size += float.abs() / self.positions as f64;
    }

    fn add_losses(&mut self, losses: [f64; 2]) {
        for (mean, loss) in self.losses.iter_mut().zip(losses) {
            *mean += loss / self.positions as f64;
        }
    }

    fn add_units(&mut self, trace: &Trace) {
        let [hidden1, hidden2] = &trace.hidden;
        for (layer, units) in self.layers.iter_mut().zip([&trace.inputs, hidden1, hidden2]) {
            layer.add(units);
        }
    }
}

impl LayerReport {
    fn new(name: &'static str, max: u8) -> Self {
        Self { name, max, counts: Vec::new(), histogram: [0; RANGES], positions: 0 }
    }

    fn add(&mut self, units: &[u8]) {
        self.counts.resize(units.len(), UnitCounts::default());
        for (count, &unit) in self.counts.iter_mut().zip(units) {
            count.active += usize::from(unit > 0);
            count.saturated += usize::from(unit == self.max);
        }
        for &unit in units.iter().filter(|unit| **unit > 0) {
            let range = usize::from(unit - 1) * RANGES / usize::from(self.max);
            self.histogram[range.min(RANGES - 1)] += 1;
        }
        self.positions += 1;
    }

    /// The values above 0 by eighths of the range, in per cent.
    fn eighths(&self) -> String {
        let all = self.histogram.iter().sum::<usize>().max(1);
        self.histogram.map(|count| format!("{:.0}", 100.0 * count as f64 / all as f64)).join(" ")
    }

    /// Number of units that were always 0.
    pub fn dead(&self) -> usize {
        self.counts.iter().filter(|count| count.active == 0).count()
    }

    /// Number of units that always had their maximum value.
    pub fn stuck(&self) -> usize {
        let all = self.positions;
        self.counts.iter().filter(|count| count.saturated == all).count()
    }

    /// Mean over units and positions of the count that `pick` returns.
    fn share(&self, pick: impl Fn(&UnitCounts) -> usize) -> f64 {
        let sum: usize = self.counts.iter().map(pick).sum();
        sum as f64 / (self.counts.len() * self.positions).max(1) as f64
    }
}

impl ExportReport {
    /// Writes what was measured on the positions.
    fn write_measured(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "float versus integer on {} positions: mean {:.2}, worst {:.1} units (mean |value| {:.0})",
            self.positions, self.mean, self.worst, self.size
        )?;
        let [float, integer] = self.losses;
        writeln!(f, "loss: float {float:.6}, integer {integer:.6}")?;
        for layer in self.layers.iter().filter(|layer| !layer.counts.is_empty()) {
            writeln!(
                f,
                "{:<12} {} units: {:.1} % active, {:.1} % saturated; {} dead, {} always saturated",
                layer.name,
                layer.counts.len(),
                100.0 * layer.share(|count| count.active),
                100.0 * layer.share(|count| count.saturated),
                layer.dead(),
                layer.stuck()
            )?;
            writeln!(f, "{:<12} active values by eighths of the range: {} %", "", layer.eighths())?;
        }
        Ok(())
    }
}

impl fmt::Display for ExportReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.positions > 0 {
            self.write_measured(f)?;
        }
        let (low, high) = (self.transformer_range.start(), self.transformer_range.end());
        write!(
            f,
            "weights      transformer {low} to {high}; {:.1} per thousand dense weights at their limit",
            self.limited
        )
    }
}

/// Maximum value of an activated accumulator in the integer net.
fn max_input(activation: Activation) -> u8 {
    input_one(activation) as u8
}

/// Weights of the layers at the end of their range, per thousand.
fn limited_weights(net: &Network) -> f64 {
    if net.architecture().is_direct() {
        let weights = || net.heads().iter().flat_map(|head| head.direct.weights());
        let limited = weights().filter(|weight| weight.unsigned_abs() >= i16::MAX as u16);
        return 1000.0 * limited.count() as f64 / weights().count() as f64;
    }
    let layers = || net.heads().iter().flat_map(Head::layers);
    let weights = || layers().flat_map(|layer| layer.weights());
    let limited = weights().filter(|weight| weight.unsigned_abs() >= 127);
    1000.0 * limited.count() as f64 / weights().count() as f64
}

fn range(weights: &[i16]) -> RangeInclusive<i16> {
    let min = weights.iter().min().copied().unwrap_or(0);
    let max = weights.iter().max().copied().unwrap_or(0);
    min..=max
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fit_recovers_exact_integers() {
        let weights: Vec<i32> = (0..HIDDEN as i32).map(|i| 7 * i - 100).collect();
        let mut rng = crate::util::rng::SplitMix64::new(3);
        let cases: Vec<FitCase> = (0..2000)
            .map(|_| {
                let hidden: Vec<u8> = (0..HIDDEN).map(|_| rng.below(128) as u8).collect();
                let products = hidden.iter().zip(&weights).map(|(&a, b)| i32::from(a) * b);
                let dot: i32 = products.sum();
                FitCase { hidden, target: f64::from(dot + 4321) }
            })
            .collect();
        let mut found: Vec<i8> = weights.iter().map(|w| (w + 1) as i8).collect();
        let mut bias = 0;
        Fit::of(cases.into_iter()).improve(&mut found, &mut bias, 2000.0 * RIDGE);
        let found: Vec<i32> = found.into_iter().map(i32::from).collect();
        assert_eq!((found, bias), (weights, 4321));
    }

    #[test]
    fn fit_keeps_weight_of_rarely_used_unit() {
        // 1000 positions with no error, and one position with a large error and a unit of its own.
        let mut cases = vec![FitCase { hidden: vec![0; HIDDEN], target: 0.0 }; 1000];
        for (at, FitCase { hidden, target }) in cases.iter_mut().enumerate() {
            hidden[0] = (at % 128) as u8;
            *target = f64::from(hidden[0]) * 10.0;
        }
        let mut odd = vec![0; HIDDEN];
        odd[1] = 20;
        cases.push(FitCase { hidden: odd, target: -2000.0 });
        let fit = Fit::of(cases.iter().cloned());
        let fitted = |ridge: f64| {
            let (mut weights, mut bias) = (vec![10_i8; HIDDEN], 0);
            fit.improve(&mut weights, &mut bias, ridge);
            (weights[0], weights[1], bias)
        };
        assert_eq!(fitted(0.0), (10, -100, 0), "without regularisation");
        let regularised = fitted(RIDGE * cases.len() as f64);
        assert!(regularised.0 == 10 && regularised.1 > -30, "{regularised:?}");
    }

    #[test]
    fn mean_errors_ignore_saturated_units() {
        let mut floats = vec![0.5; HIDDEN];
        floats[1] = 1.5;
        let cases = [4000, 4100].map(|sum| BothSums { float: floats.clone(), integer: vec![sum; HIDDEN] });
        let errors = mean_errors(cases.into_iter());
        assert_eq!(errors[0], 4064.0 + 32.0 - 4050.0);
        assert_eq!(errors[1], 0.0);
    }
}
