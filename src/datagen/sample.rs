//! Positions sampled from the search trees of a strong network, labelled with that network's static evaluation.
//!
//! A search evaluates half a million positions a second, of the kind that the student will evaluate in its own
//! searches. One in N evaluations is kept as a label, at almost no cost. With `--label` other networks label the
//! sampled positions ([`crate::data::label`]).

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context as _, Result};

use super::games::{self, OutputArgs, PlayedGame};
use super::selection::{EndgameStarts, Lines, Maker, NoisyFilter};
use crate::board::{Move, Position};
use crate::data::entry::Entry;
use crate::data::label::{CardLabeller, Judge, LabelNet, Labeller, Labelling};
use crate::data::reader::Format;
use crate::data::tree::{Encoder, PackedMove, Root};
use crate::game::ending::Ending;
use crate::game::play::{self, EvenOpenings, MoveArgs, OpeningArgs, Player, RuleArgs, rng_of};
use crate::gpu::Device;
use crate::nnue::{AccumulatorStack, Board, Network};
use crate::search::score::Value;
use crate::search::{Limits, Sampler, Solo};
use crate::util::quantity::parse_share;
use crate::util::rng::SplitMix64;
use crate::util::sync::Mutex;

// CITE: distilling a teacher's static evaluation is common; here the positions are those of the teacher's own search.

/// Default nodes per move.
const DEFAULT_NODES: u64 = 1500;

/// Arguments of `datagen sample`.
#[derive(clap::Args, Clone, Debug)]
pub struct SampleArgs {
    /// Output file and number of positions.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Network that plays, and labels unless --label is given; the embedded one if absent
    #[arg(long, value_name = "FILE")]
    pub net: Option<std::path::PathBuf>,
    /// Network that labels, and a factor for its values; repeat it for the mean of several networks
    #[arg(long, value_name = "FILE[@FACTOR]")]
    pub label: Vec<LabelNet>,
    /// Device on which the networks of --label label
    #[arg(long, value_name = "cpu|gpu|auto[:NAME]", default_value = "cpu")]
    pub device: Device,
    /// Keep one in N evaluated positions, at random
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..))]
    pub one_in: u32,
    /// Discard positions with a larger |value|, in engine units
    #[arg(long, value_name = "UNITS", default_value_t = 4000)]
    pub max_score: u16,
    /// Thin out positions with a |value| beyond this, in engine units: keep one in --thin. Samples are thinned out
    /// by the value of the playing network before they are labelled, and others by their label
    #[arg(long, value_name = "UNITS", default_value_t = 1000)]
    pub thin_beyond: u16,
    /// Keep one in K of the positions beyond --thin-beyond; 1 keeps all
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub thin: u32,
    /// Keep this share of the positions in which a capture or a promotion wins material, at random; 1 keeps all
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = parse_share)]
    pub noisy: f64,
    /// For each sample, also write N positions on average that follow from it by one to four random legal moves, with
    /// labels of the same networks and filtered alike
    #[arg(long, value_name = "N", default_value_t = 0.0, value_parser = made)]
    pub made: f64,
    /// After each game, N more games on average that start from its quiet samples with 10 to 22 pieces and a small
    /// |value|
    #[arg(long, value_name = "N", default_value_t = 0.0, value_parser = endgames)]
    pub endgames: f64,
    /// Openings of the games.
    #[command(flatten)]
    pub openings: OpeningArgs,
    /// Search limits per move; 1500 nodes if absent.
    #[command(flatten)]
    pub moves: MoveArgs,
    /// Adjudication rules.
    #[command(flatten)]
    pub rules: RuleArgs,
}

/// Largest number of made positions for each sample.
const MAX_MADE: f64 = 1000.0;

/// Largest number of endgames after each game.
const MAX_ENDGAMES: f64 = 100.0;

/// Parses a number of made positions.
fn made(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=MAX_MADE).contains(number));
    number.ok_or_else(|| format!("must be a number from 0 to {MAX_MADE}"))
}

/// Parses a number of endgames.
fn endgames(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=MAX_ENDGAMES).contains(number));
    number.ok_or_else(|| format!("must be a number from 0 to {MAX_ENDGAMES}"))
}

impl SampleArgs {
    fn filter(&self) -> SampleFilter {
        SampleFilter {
            max_score: self.max_score.into(),
            thin_beyond: self.thin_beyond.into(),
            thin: self.thin as usize,
            noisy: NoisyFilter::keeping(self.noisy),
        }
    }

    /// Settings that determine the data, as text. `--resume` requires them to be unchanged.
    fn settings(&self, network: &Network, judges: &[Judge]) -> String {
        let labels = match judges {
            [] => String::new(),
            judges => format!(", labels {judges:?}"),
        };
        let made = if self.made > 0.0 { format!(", made {}", self.made) } else { String::new() };
        let endgames = if self.endgames > 0.0 { format!(", endgames {}", self.endgames) } else { String::new() };
        let noisy = if self.noisy < 1.0 { format!(", noisy {}", self.noisy) } else { String::new() };
        format!(
            "sample: net {}{labels}{made}{endgames}{noisy}, one in {}, max {}, thin {} beyond {} before labels, {:?}, \
             {:?}, {:?}",
            network.info().sha256,
            self.one_in,
            self.max_score,
            self.thin,
            self.thin_beyond,
            self.openings,
            self.moves,
            self.rules
        )
    }
}

impl SampleArgs {
    /// Checks the book and the settings without playing a game.
    ///
    /// # Errors
    /// Fails if the book cannot be read or has no usable position, or a number is out of its range.
    pub fn check(&self) -> Result<()> {
        EvenOpenings::new(&self.openings).map(|_| ())
    }
}

/// Generates samples until the file has the requested number of positions. `network` plays. Without judges, it also
/// labels. Returns the number of positions.
///
/// # Errors
/// Fails if the output file or the book cannot be used, and on an I/O error. The error names the file.
pub fn run(args: &SampleArgs, network: &Arc<Network>, labelling: &Labelling) -> Result<u64> {
    let nets = args.net.as_deref().into_iter();
    let nets = nets.chain(args.label.iter().map(LabelNet::file));
    args.output.check_inputs(nets.chain(args.openings.book.as_deref()))?;
    let openings = EvenOpenings::new(&args.openings)?;
    let limits = args.moves.limits(DEFAULT_NODES);
    let format = Format::of(&args.output.out)?;
    let own = [Judge::of(network.clone())];
    // The search does not evaluate made positions.
    let judges = labelling.judges();
    let labeller = || match labelling.card() {
        Some(card) => Some(SampleLabeller::Card(card.clone())),
        None if judges.is_empty() && args.made > 0.0 => Labeller::new(&own).map(SampleLabeller::Processor),
        None => Labeller::new(judges).map(SampleLabeller::Processor),
    };
    games::generate(&args.output, &args.settings(network, judges), || SamplePlayer {
        args,
        openings: &openings,
        limits: &limits,
        solo: Solo::new(network.clone(), args.output.hash as usize),
        buffer: Arc::new(Mutex::new(SampleBuffer::new(args.filter(), format, labeller(), args.made))),
    })
}

/// Plays and samples games on one thread.
struct SamplePlayer<'a> {
    args: &'a SampleArgs,
    openings: &'a EvenOpenings,
    limits: &'a Limits,
    solo: Solo,
    /// Shared with the sampler of the current game only; the lock is never contended.
    buffer: Arc<Mutex<SampleBuffer>>,
}

impl Player for SamplePlayer<'_> {
    type Game = PlayedGame;

    fn play(&mut self, number: u64, stop: &AtomicBool) -> Result<Option<PlayedGame>> {
        let mut rng = rng_of(self.args.output.seed, number);
        // The endgames have random numbers of their own, so the game itself does not depend on them.
        let starts = EndgameStarts::new(self.args.endgames, SplitMix64::new(!rng.clone().next_u64()));
        let starts = Arc::new(Mutex::new(starts));
        let start = self.openings.next(&mut rng, &mut self.solo)?;
        let Some(mut played) = self.play_from(start, rng, &starts, stop)? else { return Ok(None) };
        let endgames = starts.lock().take();
        for start in endgames {
            self.solo.clear();
            let rng = starts.lock().next_rng();
            let Some(endgame) = self.play_from(start, rng, &starts, stop)? else { return Ok(None) };
            played.append(endgame);
        }
        Ok(Some(played))
    }
}

impl SamplePlayer<'_> {
    /// Plays and samples the game that begins at `start`. `starts` considers its samples. Returns `None` if `stop` was
    /// set before its end.
    fn play_from(
        &mut self,
        start: Position,
        mut rng: SplitMix64,
        starts: &Arc<Mutex<EndgameStarts>>,
        stop: &AtomicBool,
    ) -> Result<Option<PlayedGame>> {
        self.buffer.lock().begin(&start, SplitMix64::new(rng.next_u64()));
        self.solo.set_sampler(Some(Box::new(Picker {
            rng,
            one_in: self.args.one_in as usize,
            buffer: self.buffer.clone(),
            starts: starts.clone(),
        })));
        let ending = play::play_game(start, &self.args.rules, stop, |position| {
            self.buffer.lock().follow(position);
            self.solo.search(position, self.limits).into()
        });
        self.solo.set_sampler(None);
        let finish = |ending: Ending| self.buffer.lock().finish(ending.white);
        ending.map(finish).transpose()
    }
}

/// Samples the evaluated positions of a search at random.
struct Picker {
    rng: SplitMix64,
    one_in: usize,
    buffer: Arc<Mutex<SampleBuffer>>,
    starts: Arc<Mutex<EndgameStarts>>,
}

impl Sampler for Picker {
    fn evaluated(&mut self, position: &Position, value: Value) {
        if self.rng.below(self.one_in) == 0 {
            self.buffer.lock().put(position, value);
            self.starts.lock().consider(position, value);
        }
    }
}

// Sample buffer of a game: collects samples from its searches, labels and filters them in batches, and encodes them.
//
// Batches make labelling faster. A labelling network is larger than the CPU cache, but consecutive samples use mostly
// the same weights. When one network labels a whole batch, these weights stay cached.
//
// Samples that the playing network values beyond the limit of [`SampleFilter::thin_beyond`] are thinned out before
// they are labelled: labels are the larger part of the work, and a third of the samples of short games are beyond it.

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
mod sample_buffer_tests {
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
