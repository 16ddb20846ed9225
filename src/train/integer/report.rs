//! What the rounding to integers lost, and which units of the net do nothing.

use std::fmt;

use crate::data::Record;
use crate::nnue::layers::Head;
use crate::nnue::trace::Trace;
use crate::nnue::{Activation, Network};
use crate::train::model::Model;
use crate::train::model::scales::{OUTPUT_ONE, UNITS, input_one};
use crate::train::step::loss::Loss;

/// The integer net against the float model, on some positions.
#[derive(Clone, Debug)]
pub struct ExportReport {
    /// Positions compared.
    pub positions: usize,
    /// Mean absolute difference, in engine units.
    pub mean: f64,
    /// Largest absolute difference, in engine units.
    pub worst: f64,
    /// Mean absolute value of the float model, for comparison.
    pub size: f64,
    /// Mean loss of the float model and of the integer net.
    pub losses: [f64; 2],
    /// The accumulators of both sides, the first and the second hidden layer.
    pub layers: [LayerReport; 3],
    /// Weights of the dense layers at the end of their range, in thousandths.
    pub limited: f64,
    /// Least and greatest weight of the transformer in the file.
    pub transformer_range: (i16, i16),
}

/// How the units of a layer are used.
#[derive(Clone, Debug)]
pub struct LayerReport {
    name: &'static str,
    /// The most that a unit can show.
    most: u8,
    /// Times that a unit showed something, and that it showed the most that it can.
    counts: Vec<(usize, usize)>,
    positions: usize,
}

impl ExportReport {
    /// Compares both on `records`, the float model times `output_scale`, with each other and by `loss` with the labels.
    pub fn of(
        (model, output_scale): (&Model, f32),
        net: &Network,
        records: &[Record],
        loss: Loss,
    ) -> Self {
        let mut report = Self {
            positions: records.len(),
            mean: 0.0,
            worst: 0.0,
            size: 0.0,
            losses: [0.0; 2],
            layers: [
                LayerReport::new("transformer", most_input(net.architecture().activation)),
                LayerReport::new("layer 1", 127),
                LayerReport::new("layer 2", 127),
            ],
            limited: limited_weights(net),
            transformer_range: range(net.transformer().weights()),
        };
        let (one, dense) = (OUTPUT_ONE * output_scale, model.read_dense());
        for record in records {
            let mut trace = net.trace(record);
            // Behind what is handed on there may be zeros.
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

    /// What both say of a position, in engine units.
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
        for (layer, units) in self
            .layers
            .iter_mut()
            .zip([&trace.inputs, hidden1, hidden2])
        {
            layer.add(units);
        }
    }
}

impl LayerReport {
    fn new(name: &'static str, most: u8) -> Self {
        Self {
            name,
            most,
            counts: Vec::new(),
            positions: 0,
        }
    }

    fn add(&mut self, units: &[u8]) {
        self.counts.resize(units.len(), (0, 0));
        for (count, &unit) in self.counts.iter_mut().zip(units) {
            count.0 += usize::from(unit > 0);
            count.1 += usize::from(unit == self.most);
        }
        self.positions += 1;
    }

    /// Units that never showed anything.
    pub fn dead(&self) -> usize {
        self.counts.iter().filter(|count| count.0 == 0).count()
    }

    /// Units that always showed the most that they can.
    pub fn stuck(&self) -> usize {
        let all = self.positions;
        self.counts.iter().filter(|count| count.1 == all).count()
    }

    /// Share of units and positions where `pick`ed.
    fn share(&self, pick: impl Fn(&(usize, usize)) -> usize) -> f64 {
        let sum: usize = self.counts.iter().map(pick).sum();
        sum as f64 / (self.counts.len() * self.positions).max(1) as f64
    }
}

impl fmt::Display for ExportReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "float versus integer on {} positions: mean {:.2}, worst {:.1} units (mean |value| {:.0})",
            self.positions, self.mean, self.worst, self.size
        )?;
        let [float, integer] = self.losses;
        writeln!(f, "loss on them: float {float:.6}, integer {integer:.6}")?;
        for layer in &self.layers {
            writeln!(
                f,
                "{:<12} {} units: {:.1} % active, {:.1} % saturated; {} dead, {} always saturated",
                layer.name,
                layer.counts.len(),
                100.0 * layer.share(|count| count.0),
                100.0 * layer.share(|count| count.1),
                layer.dead(),
                layer.stuck()
            )?;
        }
        let (low, high) = self.transformer_range;
        write!(
            f,
            "weights      transformer {low} to {high}; {:.1} in a thousand of the layers' at their limit",
            self.limited
        )
    }
}

/// The most that an activated accumulator can show in the integer net.
fn most_input(activation: Activation) -> u8 {
    input_one(activation) as u8
}

/// Dense weights at the end of a byte's range, in thousandths.
fn limited_weights(net: &Network) -> f64 {
    let layers = || net.heads().iter().flat_map(Head::layers);
    let weights = || layers().flat_map(|layer| layer.weights());
    let limited = weights().filter(|weight| weight.unsigned_abs() >= 127);
    1000.0 * limited.count() as f64 / weights().count() as f64
}

fn range(weights: &[i16]) -> (i16, i16) {
    let least = weights.iter().min().copied().unwrap_or(0);
    let greatest = weights.iter().max().copied().unwrap_or(0);
    (least, greatest)
}
