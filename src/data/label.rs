//! Networks that label positions, if they differ from the playing network.
//!
//! A student learns most from positions of its own searches and from labels by stronger networks. The mean of several
//! networks has a smaller error than each of them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use anyhow::{Result, bail};

use crate::nnue::{AccumulatorStack, Board, Network};

/// A network file and the factor for its values, written `FILE` or `FILE@FACTOR`.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelNet {
    file: PathBuf,
    /// Scales the network's values; networks differ in the size of a unit.
    factor: f64,
}

impl FromStr for LabelNet {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        // File names may contain an @. Only a number after the last one is a factor.
        let split = text.rsplit_once('@');
        let (file, factor) = split.and_then(|(file, factor)| Some((file, factor.parse().ok()?))).unwrap_or((text, 1.0));
        if !(0.01..=100.0).contains(&factor) {
            bail!("`{text}`: the factor must be between 0.01 and 100");
        }
        Ok(Self { file: file.into(), factor })
    }
}

impl LabelNet {
    /// A network file and the factor for its values.
    pub fn new(file: &Path, factor: f64) -> Self {
        Self { file: file.into(), factor }
    }

    /// The network file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Combines the loaded network with the factor.
    pub fn judge(&self, network: Arc<Network>) -> Judge {
        Judge { network, factor: self.factor }
    }
}

/// A labelling network and the factor for its values.
#[derive(Clone)]
pub struct Judge {
    network: Arc<Network>,
    factor: f64,
}

impl Judge {
    /// A network with factor 1.
    pub fn of(network: Arc<Network>) -> Self {
        Self { network, factor: 1.0 }
    }
}

/// Identifies the judge in the settings of a data file. Changing the text makes existing files unresumable.
impl fmt::Debug for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} times {}", self.network.info().sha256, self.factor)
    }
}

/// Mean of the judges' static evaluations, for one thread.
pub struct Labeller(Vec<(AccumulatorStack, f64)>);

impl Labeller {
    /// Creates a labeller with all `judges`. Returns `None` if there are none.
    pub fn new(judges: &[Judge]) -> Option<Self> {
        let stack = |judge: &Judge| (AccumulatorStack::new(judge.network.clone()), judge.factor);
        (!judges.is_empty()).then(|| Self(judges.iter().map(stack).collect()))
    }

    /// Returns the label of each board: the mean of the judges' values times their factors, in engine units, from the
    /// side to move's view.
    pub fn label<'a>(&mut self, boards: impl Iterator<Item = &'a Board> + Clone) -> Vec<i32> {
        self.label_with(|stack, emit| {
            for board in boards.clone() {
                // Samples are far apart in the search, but similar on the board. The king cache of the previous
                // boards makes the refresh cheap.
                stack.reset();
                emit(stack.evaluate(board).value());
            }
        })
    }

    /// Returns a label for each value that `evaluate` emits. `evaluate` is called with every judge in turn and must
    /// evaluate the same positions in the same order.
    // Network by network: consecutive positions use mostly the same weights, which are then cached.
    pub fn label_with(&mut self, mut evaluate: impl FnMut(&mut AccumulatorStack, &mut dyn FnMut(i32))) -> Vec<i32> {
        let nets = self.0.len() as f64;
        let mut sums: Vec<f64> = Vec::new();
        for (stack, factor) in &mut self.0 {
            let mut index = 0;
            evaluate(stack, &mut |value| {
                if index == sums.len() {
                    sums.push(0.0);
                }
                sums[index] += f64::from(value) * *factor;
                index += 1;
            });
        }
        let mean = |sum: f64| (sum / nets).round() as i32;
        sums.into_iter().map(mean).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{CastlingMode, Position};
    use crate::data::entry::Entry;
    use crate::data::network_board::board_of_entry;

    #[test]
    fn factor_follows_the_last_at_sign() {
        let parse = |text: &str| text.parse::<LabelNet>().map(|net| (net.file, net.factor));
        let cases = [
            ("a.nnue", ("a.nnue", 1.0)),
            ("a.nnue@0.5", ("a.nnue", 0.5)),
            ("me@home/a.nnue", ("me@home/a.nnue", 1.0)),
            ("me@home/a.nnue@2", ("me@home/a.nnue", 2.0)),
        ];
        for (text, (file, factor)) in cases {
            assert_eq!(parse(text).expect(text), (file.into(), factor));
        }
        for wrong in ["a.nnue@0", "a.nnue@-1", "a.nnue@1000", "a.nnue@nan"] {
            let error = parse(wrong).expect_err(wrong).to_string();
            assert!(error.contains(wrong), "{error}");
        }
    }

    #[test]
    fn labeller_returns_the_mean_of_its_judges() {
        let network = Network::embedded();
        let judge = |factor| Judge { network: network.clone(), factor };
        assert!(Labeller::new(&[]).is_none());
        let mut labeller = Labeller::new(&[judge(0.5), judge(2.5)]).expect("two judges");
        let mut alone = AccumulatorStack::new(network.clone());
        let positions =
            ["rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2", "8/5k2/3p4/3P4/2Q5/q7/5K2/8 b - - 0 1"]
                .map(|fen| Position::from_fen(fen, CastlingMode::Standard).expect("a legal position"));
        let wanted = positions.each_ref().map(|position| {
            alone.reset();
            let value = f64::from(alone.evaluate(position).value());
            (value * 1.5).round() as i32
        });
        let boards = positions.each_ref().map(Board::from);
        assert_eq!(labeller.label(boards.iter()), wanted);
        let unpacked = positions.map(|position| board_of_entry(&Entry::of(&position)));
        let unpacked = unpacked.map(|board| board.expect("a king on each side"));
        assert_eq!(unpacked, boards);
    }
}
