//! The samples of a game: gathered as its searches meet them, labelled and weighed many at a time, and encoded.
//!
//! Many at a time, because nets that label are larger than a cache: one that goes over a row of neighbours alone finds
//! the weights of the last one there.

use std::ops::Range;

use anyhow::{Context as _, Result};

use super::workers::PlayedGame;
use crate::board::{Move, Position};
use crate::data::entry::Entry;
use crate::data::label::Labeller;
use crate::data::pieces::Pieces;
use crate::data::reader::Format;
use crate::data::tree::{Encoder, PackedMove, Root};
use crate::search::score::Value;
use crate::util::rng::SplitMix64;

/// Samples that wait for their labels at most.
const MOST_WAITING: usize = 1024;

/// Which samples are kept, by what they are worth.
#[derive(Clone, Copy, Debug)]
pub struct SampleFilter {
    /// None whose |value| is larger.
    pub max_score: i32,
    /// Beyond this |value| not all.
    pub thin_beyond: i32,
    /// But one in so many.
    pub thin: usize,
}

impl SampleFilter {
    fn keeps(self, value: Value, rng: &mut SplitMix64) -> bool {
        let size = value.abs();
        size <= self.max_score && (size <= self.thin_beyond || rng.below(self.thin) == 0)
    }
}

/// Takes the samples of game after game.
pub struct SampleBuffer {
    filter: SampleFilter,
    format: Format,
    /// Without one, the value of the net that plays is the label.
    labeller: Option<Labeller>,
    /// Thins out the game's samples.
    rng: SplitMix64,
    current: SearchPath,
    waiting: Vec<Sample>,
    /// The ways to all that wait, one after the other.
    paths: Vec<PackedMove>,
    kept: Kept,
}

/// A position, and the value that the net that plays gave it.
struct Sample {
    entry: Entry,
    pieces: Pieces,
    value: Value,
    path: Range<usize>,
}

/// The way to the position that the game has come to, and behind it to that of a sample.
#[derive(Default)]
struct SearchPath {
    /// Moves that led to the game's first position.
    before: usize,
    /// Moves of the game so far, and while a sample is taken those of the search.
    path: Vec<PackedMove>,
    /// How many moves the game has.
    played: usize,
}

impl SearchPath {
    /// Makes `path` the way to a position behind the game's last one.
    fn go_to(&mut self, position: &Position) {
        self.path.truncate(self.played);
        let moves = position.moves_since(self.before + self.played);
        self.path.extend(moves.map(Move::bits_of));
    }
}

/// Samples with their labels.
enum Kept {
    /// For formats that hold positions on their own.
    Entries(Vec<Entry>),
    /// For the format that holds the ways to them. What went wrong, if anything, waits for the end of the game: a
    /// search cannot be stopped by those who look on.
    Tree(Result<Box<Encoder>>),
}

impl SampleBuffer {
    /// An empty one.
    pub fn new(filter: SampleFilter, format: Format, labeller: Option<Labeller>) -> Self {
        Self {
            filter,
            format,
            labeller,
            rng: SplitMix64::new(0),
            current: SearchPath::default(),
            waiting: Vec::new(),
            paths: Vec::new(),
            kept: Kept::Entries(Vec::new()),
        }
    }

    /// Forgets the game before for one that begins at `start`.
    pub fn begin(&mut self, start: &Position, rng: SplitMix64) {
        self.rng = rng;
        self.current = SearchPath {
            before: start.history_len(),
            ..SearchPath::default()
        };
        self.waiting.clear();
        self.paths.clear();
        self.kept = match self.format {
            Format::Tree => Kept::Tree(Ok(Box::new(Encoder::new(Root::of(start))))),
            _ => Kept::Entries(Vec::new()),
        };
    }

    /// Hears that the game has come to a position.
    pub fn follow(&mut self, position: &Position) {
        if let Kept::Tree(_) = self.kept {
            self.current.go_to(position);
            self.current.played = self.current.path.len();
        }
    }

    /// Takes a position that the search has given `value`.
    pub fn put(&mut self, position: &Position, value: Value) {
        let first = self.paths.len();
        if let Kept::Tree(_) = self.kept {
            self.current.go_to(position);
            self.paths.extend_from_slice(&self.current.path);
        }
        self.waiting.push(Sample {
            entry: Entry::of(position),
            pieces: Pieces::of(position),
            value,
            path: first..self.paths.len(),
        });
        if self.waiting.len() == MOST_WAITING {
            self.settle();
        }
    }

    /// The game, now that white's result is known.
    ///
    /// # Errors
    /// When a sample could not be encoded.
    pub fn finish(&mut self, white: i8) -> Result<PlayedGame> {
        self.settle();
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

    /// Labels what waits, and keeps what the sieve leaves of it.
    fn settle(&mut self) {
        if let Some(labeller) = &mut self.labeller {
            let values = labeller.label(self.waiting.iter().map(|sample| &sample.pieces));
            for (sample, value) in self.waiting.iter_mut().zip(values) {
                sample.value = value;
            }
        }
        for sample in self.waiting.drain(..) {
            if self.filter.keeps(sample.value, &mut self.rng) {
                self.kept.keep(&sample, &self.paths);
            }
        }
        self.paths.clear();
    }
}

impl Kept {
    fn keep(&mut self, sample: &Sample, paths: &[PackedMove]) {
        let score = sample.value.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
        match self {
            Self::Entries(entries) => entries.push(Entry {
                score,
                ..sample.entry
            }),
            Self::Tree(tree) => {
                if let Ok(encoder) = tree
                    && let Err(error) = encoder.sample(&paths[sample.path.clone()], score)
                {
                    let what = "a sample's path; this is a bug, please report it";
                    *tree = Err(error).context(what);
                }
            }
        }
    }
}
