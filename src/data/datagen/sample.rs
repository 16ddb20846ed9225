//! Positions from inside the search of a strong network, labelled with that network's static evaluation.
//!
//! A search asks the network half a million times a second, about positions as the student will be asked about them.
//! Every one in N of its answers is kept: labels that cost next to nothing. With `--label` other nets answer for those
//! that are kept ([`crate::data::label`]): a student learns from the positions where it will be asked.
// CITE: distilling a teacher's static evaluation is common; here the positions are those of the teacher's own search.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use parking_lot::Mutex;

use super::crew::{self, OutputArgs, PlayedGame, Player, rng_of};
use super::game::{self, MoveArgs, RuleArgs};
use super::openings::{EvenOpenings, OpeningArgs};
use crate::board::{Move, Position};
use crate::data::entry::Entry;
use crate::data::label::{Judge, LabelNet, Labeller};
use crate::data::reader::Format;
use crate::data::tree::{Encoder, PackedMove, Stem};
use crate::nnue::Network;
use crate::search::sampler::Sampler;
use crate::search::score::Value;
use crate::search::{Limits, Solo};
use crate::util::rng::SplitMix64;

/// Nodes for a move unless told otherwise.
const DEFAULT_NODES: u64 = 1500;

/// Arguments of `datagen sample`.
#[derive(clap::Args, Clone, Debug)]
pub struct SampleArgs {
    /// The file and how much goes into it.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Network that plays, and labels without --label; the embedded one if absent
    #[arg(long, value_name = "FILE")]
    pub net: Option<std::path::PathBuf>,
    /// Network that labels, its values times the factor; of several the mean counts
    #[arg(long, value_name = "FILE[@FACTOR]")]
    pub label: Vec<LabelNet>,
    /// Keep one in so many evaluated positions, by chance
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..))]
    pub one_in: u32,
    /// Keep no position whose |value| is larger, in engine units
    #[arg(long, value_name = "UNITS", default_value_t = 4000)]
    pub max_score: u16,
    /// Beyond this |value| keep only one in --thin
    #[arg(long, value_name = "UNITS", default_value_t = 1000)]
    pub thin_beyond: u16,
    /// Keep one in so many of the positions beyond --thin-beyond; 1 keeps all
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub thin: u32,
    /// Where games begin.
    #[command(flatten)]
    pub openings: OpeningArgs,
    /// What a move may cost; 1500 nodes if absent.
    #[command(flatten)]
    pub moves: MoveArgs,
    /// When games end.
    #[command(flatten)]
    pub rules: RuleArgs,
}

impl SampleArgs {
    /// What the data depend on, in words.
    fn settings(&self, network: &Network, judges: &[Judge]) -> String {
        let labels = match judges {
            [] => String::new(),
            judges => format!(", labels {judges:?}"),
        };
        format!(
            "sample: net {}{labels}, one in {}, max {}, thin {} beyond {}, {:?}, {:?}, {:?}",
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

/// Samples until the file is full. `network` plays; the `judges` label, or it does where there are none.
///
/// # Errors
/// When the file, the book or the disk is at fault; the error says which.
pub fn run(args: &SampleArgs, network: &Arc<Network>, judges: &[Judge]) -> Result<()> {
    let openings = EvenOpenings::new(&args.openings)?;
    let limits = args.moves.limits(DEFAULT_NODES);
    let format = Format::of(&args.output.out)?;
    crew::run(&args.output, &args.settings(network, judges), || {
        SamplePlayer {
            args,
            judges,
            openings: &openings,
            limits: &limits,
            format,
            solo: Solo::new(network.clone(), args.output.hash as usize),
        }
    })
}

/// Samples games on one thread.
struct SamplePlayer<'a> {
    args: &'a SampleArgs,
    judges: &'a [Judge],
    openings: &'a EvenOpenings,
    limits: &'a Limits,
    format: Format,
    solo: Solo,
}

impl Player for SamplePlayer<'_> {
    fn play(&mut self, number: u64, stop: &AtomicBool) -> Result<Option<PlayedGame>> {
        let mut rng = rng_of(self.args.output.seed, number);
        self.solo.clear();
        let start = self.openings.next(&mut rng, &mut self.solo)?;
        let basket = Arc::new(Mutex::new(Basket::new(self.format, &start)));
        let labeller = Labeller::new(self.judges);
        let picker = Picker::new(self.args, labeller, rng, basket.clone());
        self.solo.set_sampler(Some(Box::new(picker)));
        let result = game::play(start, &self.args.rules, stop, |position| {
            basket.lock().follow(position);
            self.solo.search(position, self.limits)
        });
        self.solo.set_sampler(None);
        let basket = std::mem::replace(&mut *basket.lock(), Basket::Entries(Vec::new()));
        match result {
            Some(white) => basket.finish(white, self.format).map(Some),
            None => Ok(None),
        }
    }
}

/// The samples of a game.
enum Basket {
    /// For formats that hold positions on their own.
    Entries(Vec<Entry>),
    /// For the format that holds the ways to them.
    Tree(Box<Walk>),
}

/// A game's samples, encoded as they come.
struct Walk {
    /// What went wrong, if anything: a search cannot be stopped by those who look on.
    encoded: Result<Encoder>,
    /// Moves that led to the game's first position.
    before: usize,
    /// Moves of the game so far, and while a sample is taken those of the search.
    path: Vec<PackedMove>,
    /// How many moves the game has.
    played: usize,
}

impl Basket {
    fn new(format: Format, start: &Position) -> Self {
        if format != Format::Tree {
            return Self::Entries(Vec::new());
        }
        Self::Tree(Box::new(Walk {
            encoded: Ok(Encoder::new(Stem::of(start))),
            before: start.history_len(),
            path: Vec::new(),
            played: 0,
        }))
    }

    /// Hears that the game has come to a position.
    fn follow(&mut self, position: &Position) {
        if let Self::Tree(walk) = self {
            walk.go_to(position);
            walk.played = walk.path.len();
        }
    }

    fn put(&mut self, position: &Position, score: i16) {
        match self {
            Self::Entries(entries) => entries.push(Entry {
                score,
                ..Entry::of(position)
            }),
            Self::Tree(walk) => walk.put(position, score),
        }
    }

    /// The game, now that white's result is known.
    fn finish(self, white: i8, format: Format) -> Result<PlayedGame> {
        match self {
            Self::Entries(mut entries) => {
                entries.iter_mut().for_each(|entry| entry.set_result(white));
                PlayedGame::encode(&entries, format)
            }
            Self::Tree(walk) => {
                let encoder = walk.encoded?;
                let positions = encoder.count();
                let mut bytes = Vec::new();
                encoder.finish(white, &mut bytes)?;
                Ok(PlayedGame { bytes, positions })
            }
        }
    }
}

impl Walk {
    /// Makes `path` the way to a position behind the game's last one.
    fn go_to(&mut self, position: &Position) {
        self.path.truncate(self.played);
        let moves = position.moves_since(self.before + self.played);
        self.path.extend(moves.map(Move::bits_of));
    }

    fn put(&mut self, position: &Position, score: i16) {
        self.go_to(position);
        if let Ok(encoder) = &mut self.encoded
            && let Err(error) = encoder.sample(&self.path, score)
        {
            self.encoded = Err(error.context("a sample's path; this is a bug, please report it"));
        }
    }
}

/// Chooses among the positions that a search evaluates.
struct Picker {
    rng: SplitMix64,
    one_in: usize,
    max_score: i32,
    thin_beyond: i32,
    thin: usize,
    /// Without one, the value of the net that plays is the label.
    labeller: Option<Labeller>,
    /// Shared with the player, who takes the basket when the game is over; nobody else ever holds it.
    basket: Arc<Mutex<Basket>>,
}

impl Picker {
    fn new(
        args: &SampleArgs,
        labeller: Option<Labeller>,
        rng: SplitMix64,
        basket: Arc<Mutex<Basket>>,
    ) -> Self {
        Self {
            rng,
            one_in: args.one_in as usize,
            max_score: args.max_score.into(),
            thin_beyond: args.thin_beyond.into(),
            thin: args.thin as usize,
            labeller,
            basket,
        }
    }
}

impl Sampler for Picker {
    fn evaluated(&mut self, position: &Position, value: Value) {
        if self.rng.below(self.one_in) != 0 {
            return;
        }
        let value = match &mut self.labeller {
            None => value,
            Some(labeller) => labeller.label(position),
        };
        if value.abs() > self.max_score {
            return;
        }
        if value.abs() > self.thin_beyond && self.rng.below(self.thin) != 0 {
            return;
        }
        let score = value.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
        self.basket.lock().put(position, score);
    }
}
