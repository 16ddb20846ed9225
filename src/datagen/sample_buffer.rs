//! Sample buffer of a game: collects samples from its searches, labels and filters them in batches, and encodes them.
//!
//! Batches make labelling faster. A labelling network is larger than the CPU cache, but consecutive samples use mostly
//! the same weights. When one network labels a whole batch, these weights stay cached.
//!
//! Samples that the playing network values beyond the limit of [`SampleFilter::thin_beyond`] are thinned out before
//! they are labelled: labels are the larger part of the work, and a third of the samples of short games are beyond it.

use std::ops::Range;

use anyhow::{Context as _, Result};

use super::made::{Lines, Maker};
use super::noisy::NoisyFilter;
use super::workers::PlayedGame;
use crate::board::{Move, Position};
use crate::data::entry::Entry;
use crate::data::label::{CardLabeller, Labeller};
use crate::data::reader::Format;
use crate::data::tree::{Encoder, PackedMove, Root};
use crate::nnue::{AccumulatorStack, Board};
use crate::search::score::Value;
use crate::util::rng::SplitMix64;

/// Largest number of samples in a batch.
const MAX_PENDING: usize = 1024;

/// Filter of samples by their value.
#[derive(Clone, Copy, Debug)]
pub struct SampleFilter {
    /// Largest |value|, in engine units.
    pub max_score: i32,
    /// Samples with a larger |value| are thinned out.
    pub thin_beyond: i32,
    /// One in `thin` of these samples is kept.
    pub thin: usize,
    /// Filter by exchanges.
    pub noisy: NoisyFilter,
}

impl SampleFilter {
    /// Whether a position is subject to thinning.
    fn thins(self, value: Value) -> bool {
        value.abs() > self.thin_beyond
    }

    /// Whether a labelled position is kept. Positions that were thinned out before they were labelled are not thinned
    /// out again.
    fn keeps(self, sample: &Sample, rng: &mut SplitMix64) -> bool {
        let is_thinned = sample.is_thinned || !self.thins(sample.value) || rng.below(self.thin) == 0;
        sample.value.abs() <= self.max_score && is_thinned
    }
}

/// Labels the samples of a thread.
pub enum SampleLabeller {
    /// On the processor.
    Processor(Labeller),
    /// On a card, which all threads share.
    Card(CardLabeller),
}

/// Buffer for the samples of one game after the other.
pub struct SampleBuffer {
    filter: SampleFilter,
    format: Format,
    /// `None` if the value of the playing network is the label.
    labeller: Option<SampleLabeller>,
    /// Number of made positions for each sample.
    made: f64,
    maker: Maker,
    /// Random numbers for thinning out the samples of the game.
    rng: SplitMix64,
    current: SearchPath,
    /// The current batch: samples, each followed by the positions made from it.
    pending: Vec<Sample>,
    /// The samples of the batch without the made positions, for the labelling networks.
    boards: Vec<SampleBoards>,
    /// Concatenated paths of the pending samples.
    paths: Vec<PackedMove>,
    kept: Kept,
    /// The first error of labelling. It is reported at the end of the game, because a sampler cannot stop the search.
    error: Option<anyhow::Error>,
}

/// A sampled or made position and its value, which is the playing network's before labelling.
struct Sample {
    entry: Entry,
    value: Value,
    path: Range<usize>,
    /// Whether the position, or the sample that it was made from, is one of those that remain after thinning out.
    is_thinned: bool,
}

/// The board of a sample, and the lines to the positions made from it.
struct SampleBoards {
    board: Board,
    lines: Option<Lines>,
}

/// Moves from the start of the game to its current position, continued to the position of a sample.
#[derive(Default)]
struct SearchPath {
    /// Number of moves in the history of the game's first position.
    before: usize,
    /// Moves of the game so far, followed by the search moves of the last sample.
    path: Vec<PackedMove>,
    /// Number of moves of the game so far.
    played: usize,
}

impl SearchPath {
    /// Sets `path` to the moves that lead to `position`, which follows the current position of the game.
    fn set_to(&mut self, position: &Position) {
        self.path.truncate(self.played);
        let moves = position.moves_since(self.before + self.played);
        self.path.extend(moves.map(Move::bits_of));
    }
}

/// Samples with their labels.
enum Kept {
    /// For formats of single positions.
    Entries(Vec<Entry>),
    /// For the format that stores paths. An encoding error is reported at the end of the game, because a sampler cannot
    /// stop the search.
    Tree(Result<Box<Encoder>>),
}

impl SampleBuffer {
    /// Creates an empty buffer. `made` is the number of made positions for each sample; they require a labeller.
    pub fn new(filter: SampleFilter, format: Format, labeller: Option<SampleLabeller>, made: f64) -> Self {
        Self {
            filter,
            format,
            labeller,
            made,
            maker: Maker::new(made, filter.noisy, SplitMix64::new(0)),
            rng: SplitMix64::new(0),
            current: SearchPath::default(),
            pending: Vec::new(),
            boards: Vec::new(),
            paths: Vec::new(),
            kept: Kept::Entries(Vec::new()),
            error: None,
        }
    }

    /// Clears the buffer for a game that starts at `start`.
    pub fn begin(&mut self, start: &Position, rng: SplitMix64) {
        // The random numbers of made positions are a sequence of their own, so the samples do not depend on it.
        self.maker = Maker::new(self.made, self.filter.noisy, SplitMix64::new(!rng.clone().next_u64()));
        self.rng = rng;
        self.current = SearchPath { before: start.history_len(), ..SearchPath::default() };
        self.pending.clear();
        self.boards.clear();
        self.paths.clear();
        self.kept = match self.format {
            Format::Tree => Kept::Tree(Ok(Box::new(Encoder::new(Root::of(start))))),
            _ => Kept::Entries(Vec::new()),
        };
    }

    /// Records the current position of the game.
    pub fn follow(&mut self, position: &Position) {
        if let Kept::Tree(_) = self.kept {
            self.current.set_to(position);
            self.current.played = self.current.path.len();
        }
    }

    /// Adds a position that the search evaluated as `value`.
    pub fn put(&mut self, position: &Position, value: Value) {
        if !self.filter.noisy.admits(position, &mut self.rng) {
            return;
        }
        let is_thinned = self.filter.thins(value);
        if is_thinned && self.rng.below(self.filter.thin) != 0 {
            return;
        }
        let is_tree = matches!(self.kept, Kept::Tree(_));
        let first = self.paths.len();
        if is_tree {
            self.current.set_to(position);
            self.paths.extend_from_slice(&self.current.path);
        }
        let to_sample = first..self.paths.len();
        self.pending.push(Sample { entry: Entry::of(position), value, path: to_sample.clone(), is_thinned });
        let (pending, paths) = (&mut self.pending, &mut self.paths);
        let lines = self.maker.lines_from(position, |made, moves| {
            let first = paths.len();
            if is_tree {
                paths.extend_from_within(to_sample.clone());
                paths.extend(moves.iter().map(|m| m.bits()));
            }
            pending.push(Sample { entry: Entry::of(made), value: 0, path: first..paths.len(), is_thinned });
        });
        self.boards.push(SampleBoards { board: Board::from(position), lines });
        if self.pending.len() >= MAX_PENDING {
            self.flush();
        }
    }

    /// Encodes the game, given its result from White's view: -1, 0, 1.
    ///
    /// # Errors
    /// Fails if a sample could not be labelled or encoded.
    pub fn finish(&mut self, white: i8) -> Result<PlayedGame> {
        self.flush();
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        match std::mem::replace(&mut self.kept, Kept::Entries(Vec::new())) {
            Kept::Entries(mut entries) => {
                entries.iter_mut().for_each(|entry| entry.set_result(white));
                PlayedGame::encode(&entries, self.format)
            }
            Kept::Tree(encoder) => {
                let encoder = encoder?;
                let positions = encoder.count();
                let mut bytes = Vec::new();
                encoder.finish(white, &mut bytes)?;
                Ok(PlayedGame { bytes, positions })
            }
        }
    }

    /// Returns the labels of the pending samples; none if the playing network's values are the labels.
    fn labels(&mut self) -> Result<Vec<Value>> {
        match &mut self.labeller {
            None => Ok(Vec::new()),
            Some(SampleLabeller::Processor(labeller)) => Ok(labeller.label_with(|stack, emit| {
                for board in &mut self.boards {
                    board.evaluate(stack, emit);
                }
            })),
            Some(SampleLabeller::Card(card)) => {
                card.label(self.pending.iter().map(|sample| sample.entry.packed_position()).collect())?.wait()
            }
        }
    }

    /// Labels and filters the pending samples.
    fn flush(&mut self) {
        match self.labels() {
            Ok(values) => self.pending.iter_mut().zip(values).for_each(|(sample, value)| sample.value = value),
            Err(error) => self.error = self.error.take().or(Some(error)),
        }
        for sample in self.pending.drain(..) {
            if self.filter.keeps(&sample, &mut self.rng) {
                self.kept.keep(&sample, &self.paths);
            }
        }
        self.boards.clear();
        self.paths.clear();
    }
}

impl SampleBoards {
    /// Evaluates the sample and the positions made from it, in the order of the batch.
    fn evaluate(&mut self, stack: &mut AccumulatorStack, emit: &mut dyn FnMut(Value)) {
        stack.reset();
        emit(stack.evaluate(&self.board).value());
        if let Some(lines) = &mut self.lines {
            lines.evaluate(stack, emit);
        }
    }
}

impl Kept {
    fn keep(&mut self, sample: &Sample, paths: &[PackedMove]) {
        let score = sample.value.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
        match self {
            Self::Entries(entries) => entries.push(Entry { score, score_alone: true, ..sample.entry }),
            Self::Tree(tree) => {
                if let Ok(encoder) = tree
                    && let Err(error) = encoder.sample(&paths[sample.path.clone()], score)
                {
                    let what = "cannot encode the path of a sample; this is a bug, please report it";
                    *tree = Err(error).context(what);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::label::Judge;
    use crate::nnue::Network;

    /// The samples of a game that are kept when 400 are put with this value of the playing network. All have the same
    /// label, close to 0.
    fn kept(value: Value, thin_beyond: i32, thin: usize) -> u64 {
        let filter = SampleFilter { max_score: 4000, thin_beyond, thin, noisy: NoisyFilter::ALL };
        let labeller = Labeller::new(&[Judge::of(Network::embedded())]).map(SampleLabeller::Processor);
        let mut buffer = SampleBuffer::new(filter, Format::Bin, labeller, 0.0);
        let start = Position::startpos();
        buffer.begin(&start, SplitMix64::new(5));
        (0..400).for_each(|_| buffer.put(&start, value));
        buffer.finish(0).expect("a game").positions
    }

    #[test]
    fn samples_are_thinned_once_by_the_value_of_the_playing_net_or_by_the_label() {
        assert_eq!(kept(0, 1000, 4), 400);
        // By the value of the playing net, before labelling.
        assert!((70..130).contains(&kept(1001, 1000, 4)));
        // By the label, and not again by it.
        let label = Labeller::new(&[Judge::of(Network::embedded())]).expect("a net");
        let board = Board::from(&Position::startpos());
        let label = { label }.label([&board].into_iter())[0].abs();
        assert!(label > 0, "the start position is not level for the net");
        assert!((70..130).contains(&kept(0, label - 1, 4)));
        assert!((70..130).contains(&kept(5000, label - 1, 4)));
    }

    #[test]
    fn value_of_the_playing_net_beyond_max_score_does_not_discard_a_sample() {
        assert_eq!(kept(9000, 1000, 1), 400);
    }
}
