//! Report on quantisation: error, loss, and the use of the net's units.

use std::fmt;
use std::ops::RangeInclusive;

use crate::data::Record;
use crate::nnue::inspect::Trace;
use crate::nnue::layers::Head;
use crate::nnue::{Activation, Network};
use crate::train::model::Model;
use crate::train::model::shapes::{OUTPUT_ONE, UNITS, input_one};
use crate::train::step::loss::Loss;

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
