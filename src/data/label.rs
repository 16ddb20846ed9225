//! Networks that label positions, if they differ from the playing network.
//!
//! A student learns most from positions of its own searches and from labels by stronger networks. The mean of several
//! networks has a smaller error than each of them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use anyhow::{Result, bail};

use crate::gpu::networks::{CardNetworks, Pending};
use crate::gpu::{CardChoice, Device, PackedPosition, UnsupportedNet};
use crate::nnue::{AccumulatorStack, Board, Network};
use crate::util::sync;

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

    /// The factor for the network's values.
    pub fn factor(&self) -> f64 {
        self.factor
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

/// The judges, and the device on which they label.
pub struct Labelling {
    judges: Vec<Judge>,
    /// `None` to label on the processor.
    card: Option<CardLabeller>,
}

impl Labelling {
    /// Prepares the judges on a device, and prints the device unless it is the processor by choice. If no card can
    /// evaluate one of the nets, a notice is printed and the processor labels.
    ///
    /// # Errors
    /// Fails if no card matches the choice, or if the card cannot be used.
    pub fn new(judges: Vec<Judge>, device: &Device) -> Result<Self> {
        let on_card = |choice: &CardChoice| -> Result<CardLabeller> {
            let card = CardLabeller::new(&judges, choice)?;
            eprintln!("labelling on {}", card.card.name());
            Ok(card)
        };
        let fall_back = |error: &anyhow::Error| {
            eprintln!("labelling on the processor: {error:#}");
            Ok(None)
        };
        let card: Result<_> = match device {
            _ if judges.is_empty() => Ok(None),
            Device::Cpu => Ok(None),
            Device::Gpu(choice) => match on_card(choice) {
                Err(error) if error.is::<UnsupportedNet>() => fall_back(&error),
                card => card.map(Some),
            },
            Device::Auto(choice) => on_card(choice).map(Some).or_else(|error| fall_back(&error)),
        };
        Ok(Self { card: card?, judges })
    }

    /// The judges.
    pub fn judges(&self) -> &[Judge] {
        &self.judges
    }

    /// The labeller on the card, if a card labels.
    pub fn card(&self) -> Option<&CardLabeller> {
        self.card.as_ref()
    }
}

/// Mean of the judges' static evaluations on a graphics card, for any number of threads.
#[derive(Clone)]
pub struct CardLabeller {
    card: CardNetworks,
    factors: Vec<f64>,
}

/// Labels that a card computes.
pub struct PendingLabels {
    values: Pending,
    factors: Vec<f64>,
}

impl CardLabeller {
    fn new(judges: &[Judge], choice: &CardChoice) -> Result<Self> {
        let networks: Vec<Arc<Network>> = judges.iter().map(|judge| judge.network.clone()).collect();
        let factors = judges.iter().map(|judge| judge.factor).collect();
        Ok(Self { card: CardNetworks::open(choice, &networks)?, factors })
    }

    /// Starts to label at most 65,536 positions, as [`Labeller::label`].
    ///
    /// # Errors
    /// Fails if the card is lost.
    pub fn label(&self, positions: Vec<PackedPosition>) -> Result<PendingLabels> {
        Ok(PendingLabels { values: self.card.evaluate(positions)?, factors: self.factors.clone() })
    }
}

impl PendingLabels {
    /// Waits for the labels.
    ///
    /// # Errors
    /// Fails if the card is lost.
    pub fn wait(self) -> Result<Vec<i32>> {
        let values = self.values.wait()?;
        let mut sums = Sums::default();
        let positions = values.len() / self.factors.len().max(1);
        for (values, &factor) in values.chunks(positions.max(1)).zip(&self.factors) {
            values.iter().enumerate().for_each(|(index, &value)| sums.add(index, value, factor));
        }
        Ok(sums.means(self.factors.len()))
    }
}

/// Sums of the judges' values by position.
#[derive(Default)]
struct Sums(Vec<f64>);

impl Sums {
    /// Adds the value of a judge for the position with this index. The first judge's positions come in order.
    fn add(&mut self, index: usize, value: i32, factor: f64) {
        if index == self.0.len() {
            self.0.push(0.0);
        }
        self.0[index] += f64::from(value) * factor;
    }

    fn means(self, judges: usize) -> Vec<i32> {
        self.0.into_iter().map(|sum| (sum / judges as f64).round() as i32).collect()
    }
}

/// Mean of the judges' static evaluations on the processor, for one thread.
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
        let mut sums = Sums::default();
        for (stack, factor) in &mut self.0 {
            let mut index = 0;
            evaluate(stack, &mut |value| {
                sums.add(index, value, *factor);
                index += 1;
            });
        }
        sums.means(self.0.len())
    }
}

/// Labels boards. Each labeller gets a contiguous share and runs on its own thread.
pub fn label_in_parallel(labellers: &mut [Labeller], boards: &[Board]) -> Vec<i32> {
    let share = boards.len().div_ceil(labellers.len().max(1)).max(1);
    let work = labellers.iter_mut().zip(boards.chunks(share));
    sync::in_parallel(work.map(|(labeller, share)| move || labeller.label(share.iter())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{CastlingMode, Position};
    use crate::data::entry::Entry;
    use crate::data::entry::board_of_entry;

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

    /// Labels by a card. They use the first card of any kind, including a software device.
    #[cfg(feature = "gpu")]
    mod gpu {
        use super::*;
        use crate::gpu::card::cards;
        use crate::nnue::Architecture;
        use crate::nnue::synthetic::{self, A, B, Recipe};
        use crate::util::rng::SplitMix64;

        /// Returns entries of positions of random games.
        fn entries(count: usize) -> Vec<Entry> {
            let mut rng = SplitMix64::new(3);
            let start = Position::startpos;
            let (mut position, mut entries) = (start(), Vec::new());
            while entries.len() < count {
                let legal: Vec<_> = position.legal_moves().iter().copied().collect();
                if legal.is_empty() || position.fullmoves() > 70 {
                    position = start();
                    continue;
                }
                position.do_move(legal[rng.below(legal.len())]);
                entries.push(Entry::of(&position));
            }
            entries
        }

        /// Whether there is a card. Prints that the test is skipped if there is none.
        fn has_card() -> bool {
            use std::io::Write as _;
            if cards().is_empty() {
                // The test harness would show the output of `eprintln!` only for failed tests.
                let _ = writeln!(std::io::stderr(), "SKIPPED: no Vulkan, Metal or DX12 device");
            }
            !cards().is_empty()
        }

        fn on_processor(judges: &[Judge], entries: &[Entry]) -> Vec<i32> {
            let boards = entries.iter().map(|entry| board_of_entry(entry).expect("both kings"));
            Labeller::new(judges).expect("judges").label(boards.collect::<Vec<_>>().iter())
        }

        /// The first card by its number, which may be a software device.
        fn first_card() -> CardChoice {
            CardChoice::of(Some("1"))
        }

        #[test]
        fn values_of_every_kind_of_net_equal_those_of_the_processor() {
            if !has_card() {
                return;
            }
            let entries = entries(500);
            let packed: Vec<_> = entries.iter().map(Entry::packed_position).collect();
            let mut compared = Vec::new();
            let check = |architecture: Architecture, recipe: &Recipe| {
                let bytes = synthetic::network(architecture, recipe, false);
                let judge = Judge::of(Arc::new(Network::from_bytes(&bytes).expect("a network")));
                let card = match CardLabeller::new(std::slice::from_ref(&judge), &first_card()) {
                    Ok(card) => card,
                    Err(error) => {
                        eprintln!("{architecture}: {error:#}");
                        return false;
                    }
                };
                let found = card.label(packed.clone()).expect("the card works").wait().expect("the card works");
                assert_eq!(found, on_processor(&[judge], &entries), "{architecture}");
                true
            };
            for architecture in Architecture::published().chain(Architecture::own(&[256, 1024]).step_by(3)) {
                if check(architecture, &A) && check(architecture, &B) {
                    compared.push(architecture.to_string());
                }
            }
            assert!(compared.len() >= 10, "only {compared:?}");
        }

        #[test]
        fn means_and_threads_give_the_labels_of_the_processor() {
            if !has_card() {
                return;
            }
            let network = Network::embedded();
            let judge = |factor| Judge { network: network.clone(), factor };
            let judges = [judge(0.7), judge(1.4), judge(1.0)];
            let card = CardLabeller::new(&judges, &first_card()).expect("the card works");
            let entries = entries(3000);
            let expected = on_processor(&judges, &entries);
            let shares = [&entries[..1], &entries[1..1], &entries[1..700], &entries[700..1700], &entries[1700..]];
            let found: Vec<i32> = std::thread::scope(|scope| {
                let label = |share: &[Entry]| {
                    let packed = share.iter().map(Entry::packed_position).collect();
                    card.clone().label(packed).expect("the card works").wait().expect("the card works")
                };
                let running: Vec<_> = shares.map(|share| scope.spawn(move || label(share))).into();
                running.into_iter().flat_map(|job| job.join().expect("no panic")).collect()
            });
            assert_eq!(found, expected);
            assert!(card.label(vec![[0; 8]; 65_537]).is_err());
        }

        #[test]
        fn nets_that_no_card_evaluates_label_on_the_processor() {
            let net = Network::from_bytes(&synthetic::halfkp(&A)).expect("a network");
            let device = Device::Gpu(first_card());
            if has_card() {
                let labelling = Labelling::new(vec![Judge::of(Arc::new(net))], &device).expect("a notice");
                assert!(labelling.card().is_none() && labelling.judges().len() == 1);
            }
            let missing = Device::Gpu(CardChoice::of(Some("no such card")));
            let refused = Labelling::new(vec![Judge::of(Network::embedded())], &missing);
            let error = refused.err().expect("no such card").to_string();
            assert!(error.contains("no such card") || error.contains("no graphics card"), "{error}");
        }
    }
}
