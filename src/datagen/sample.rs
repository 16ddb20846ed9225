//! Positions sampled from the search trees of a strong network, labelled with that network's static evaluation.
//!
//! A search evaluates half a million positions a second, of the kind that the student will evaluate in its own
//! searches. One in N evaluations is kept as a label, at almost no cost. With `--label` other networks label the
//! sampled positions ([`crate::data::label`]).
// CITE: distilling a teacher's static evaluation is common; here the positions are those of the teacher's own search.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;

use super::endgames::EndgameStarts;
use super::noisy::NoisyFilter;
use super::sample_buffer::{SampleBuffer, SampleFilter, SampleLabeller};
use super::workers::{self, OutputArgs, PlayedGame};
use crate::board::Position;
use crate::data::label::{Judge, LabelNet, Labeller, Labelling};
use crate::data::reader::Format;
use crate::game::ending::Ending;
use crate::game::limits::MoveArgs;
use crate::game::openings::{EvenOpenings, OpeningArgs};
use crate::game::referee::{self, RuleArgs};
use crate::game::workers::{Player, rng_of};
use crate::gpu::Device;
use crate::nnue::Network;
use crate::search::score::Value;
use crate::search::solo::Sampler;
use crate::search::{Limits, Solo};
use crate::util::rng::SplitMix64;
use crate::util::sync::Mutex;

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
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = share)]
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

/// Parses a share.
fn share(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "must be a number from 0 to 1".to_owned())
}

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
    workers::run(&args.output, &args.settings(network, judges), || SamplePlayer {
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
        let ending = referee::play(start, &self.args.rules, stop, |position| {
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
