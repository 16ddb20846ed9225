//! Target and loss of the net, in units of the expected game result.
// CITE: logistic expected results, lambda and the exponent of the loss: nnue-pytorch.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::data::Record;
use crate::train::model::shapes::UNITS;

/// Loss function of two expected results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum LossKind {
    /// Squared difference.
    Mse,
    /// A power of the absolute difference. An exponent above 2 gives small errors less weight and large errors more.
    Power,
    /// Cross entropy minus the entropy of the label.
    Bce,
}

/// Compares outputs with labels as expected results, where a pawn counts more near a draw.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// Loss function.
    pub kind: LossKind,
    /// Weight of the search score relative to the game result, 0 to 1.
    pub lambda: f32,
    /// Score in engine units at which the expected result is 73 %.
    pub scale: f32,
    /// Exponent of `LossKind::Power`.
    pub exponent: f32,
    /// Weight of the mean activation of the accumulators' units. [`Self::of`] does not include this term.
    pub sparsity: f32,
}

impl Loss {
    /// Squared differences from the score only.
    #[cfg(test)]
    pub const SQUARES: Self = Self { kind: LossKind::Mse, lambda: 1.0, scale: 361.0, exponent: 2.5, sparsity: 0.0 };

    /// Returns the target, an expected result from 0 to 1 for the side to move, from the record's labels.
    pub fn target(&self, record: &Record) -> f32 {
        let expected = sigmoid(f32::from(record.score) / self.scale);
        if record.has_score_alone() {
            return expected;
        }
        let result = (f32::from(record.result) + 1.0) / 2.0;
        self.lambda * expected + (1.0 - self.lambda) * result
    }

    /// Returns the loss of an output and its derivative with respect to the output.
    pub fn of(&self, output: f32, target: f32) -> (f32, f32) {
        let steepness = UNITS / self.scale;
        let expected = sigmoid(output * steepness);
        let error = expected - target;
        // Derivative of the expected result with respect to the output.
        let rise = expected * (1.0 - expected) * steepness;
        match self.kind {
            LossKind::Mse => (error * error, 2.0 * error * rise),
            LossKind::Power => {
                let root = error.abs().powf(self.exponent - 1.0);
                let slope = self.exponent * root * error.signum();
                (root * error.abs(), slope * rise)
            }
            LossKind::Bce => (entropy(target, expected) - entropy(target, target), error * steepness),
        }
    }
}

/// Returns the cross entropy of two expected results.
fn entropy(target: f32, expected: f32) -> f32 {
    // Keeps the logarithm finite where the sigmoid is 0 or 1.
    const MIN: f32 = 1e-7;
    let log = |x: f32| x.max(MIN).ln();
    -(target * log(expected) + (1.0 - target) * log(1.0 - expected))
}

/// The logistic function.
fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOSS: Loss = Loss::SQUARES;

    #[test]
    fn power_loss_generalises_squared_error() {
        let power = |exponent| Loss { kind: LossKind::Power, exponent, ..LOSS };
        for output in [-1.0, 0.1, 0.8] {
            let (square, two) = (LOSS.of(output, 0.6), power(2.0).of(output, 0.6));
            assert!((square.0 - two.0).abs() < 1e-6 && (square.1 - two.1).abs() < 1e-6);
        }
        // An error of 0.1: raising the exponent by one multiplies the loss by 0.1.
        let output = -(1.0_f32 / 0.6 - 1.0).ln() * LOSS.scale / UNITS;
        let ratio = power(3.0).of(output, 0.5).0 / power(2.0).of(output, 0.5).0;
        assert!((ratio - 0.1).abs() < 1e-4, "{ratio}");
    }

    #[test]
    fn loss_derivative_equals_finite_difference() {
        for kind in [LossKind::Mse, LossKind::Power, LossKind::Bce] {
            let loss = Loss { kind, lambda: 0.8, ..LOSS };
            for output in [-1.5, -0.2, 0.0, 0.7] {
                let (step, target) = (1e-2, 0.3);
                let rise = loss.of(output + step, target).0 - loss.of(output - step, target).0;
                let derivative = loss.of(output, target).1;
                assert!((rise / (2.0 * step) - derivative).abs() < 1e-3, "{kind:?} {output}");
            }
        }
    }

    #[test]
    fn game_result_is_ignored_for_score_only_records() {
        let loss = Loss { lambda: 0.75, scale: 600.0, ..LOSS };
        let board = shakmaty::Board::new();
        let mut record = crate::train::samples::active::record_of(&board, false);
        record.result = 1;
        assert!((loss.target(&record) - 0.625).abs() < 1e-6);
        record.trust_score_alone();
        assert!((loss.target(&record) - 0.5).abs() < 1e-6);
    }

    #[test]
    fn exact_output_has_zero_loss() {
        for kind in [LossKind::Mse, LossKind::Power, LossKind::Bce] {
            let loss = Loss { kind, lambda: 1.0, scale: 600.0, ..LOSS };
            for output in [-2.0, 0.0, 0.5] {
                assert!(loss.of(output, sigmoid(output)).0.abs() < 1e-6);
            }
        }
    }
}
