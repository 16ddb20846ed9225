//! The one description of a net, from which everything that depends on its shape follows.
//!
//! [`shape`] has the numbers that describe a net, and what they imply: sizes and hashes. [`mod@compiled`] is the list
//! of the sizes that this binary has code for; accumulators and the trainer are made from it. An [`Architecture`] is a
//! shape that was found in that list: there is no other way to make one. [`published`] names those of other engines,
//! [`own`] reads and writes the words by which a net of our own describes itself.
//!
//! A new width, or another combination of what exists, is a line in [`mod@compiled`]; a feature set is a file in
//! [`features`](super::features) as well, and layers of a new kind are a variant of [`Activation`] or [`Topology`] with
//! their kernel.

pub(crate) mod blocks;
pub(crate) mod compiled;
mod display;
pub(crate) mod own;
mod published;
mod shape;

use std::ops::Deref;

pub(crate) use compiled::{Compiled, compiled};
pub use shape::{
    Activation, LayerShape, Shape, Topology, VERSION_1, VERSION_2, VERSION_3, VERSION_OWN,
};

use super::error::UnsupportedShape;
use super::features::Features;
use super::features::threat_inputs::ThreatInputs;

/// The shape of a net that this binary runs. Its numbers are those of the [`Shape`] that it dereferences to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Architecture {
    shape: Shape,
    compiled: Compiled,
}

impl Deref for Architecture {
    type Target = Shape;
    #[inline(always)]
    fn deref(&self) -> &Shape {
        &self.shape
    }
}

impl Architecture {
    /// HalfKP 256x2-32-32-1, as in Stockfish 12 and 13.
    pub const HALF_KP: Self = published::PUBLISHED[0].1;

    /// The architecture of that shape; `None` if there is no code for it.
    const fn of(shape: Shape) -> Option<Self> {
        match Compiled::of(&shape) {
            Some(compiled) => Some(Self { shape, compiled }),
            None => None,
        }
    }

    /// Every architecture of the published nets, in the order in which a header is compared with them.
    pub fn published() -> impl Iterator<Item = Self> {
        published::PUBLISHED
            .into_iter()
            .map(|(_, architecture)| architecture)
    }

    /// Every architecture of nets of our own.
    pub fn own() -> impl Iterator<Item = Self> {
        own::all()
    }

    /// What the words of a net of our own describe: [`own`] has their meanings.
    ///
    /// # Errors
    /// The first word whose value is not supported beside those before it, and the values that are.
    pub fn from_words(words: [u32; own::WORDS]) -> Result<Self, UnsupportedShape> {
        own::from_words(words)
    }

    /// The architecture of the nets that are trained with these settings: the published one where there is one, so
    /// that other engines read the net too, or else one of our own. Both hidden layers have 32 units; behind products
    /// of halves the first one has 16. With `psqt` a feature has a piece-square value for each stack.
    ///
    /// # Errors
    /// As [`Self::from_words`].
    pub fn of_settings(
        features: Features,
        l1: usize,
        activation: Activation,
        buckets: usize,
        psqt: bool,
    ) -> Result<Self, UnsupportedShape> {
        let (h1, topology) = match activation {
            Activation::Crelu | Activation::Screlu => (32, Topology::Plain),
            Activation::Pairwise | Activation::WidePairwise => {
                (16, Topology::Skip { squares: true })
            }
        };
        let own = own::like(&Shape {
            version: VERSION_OWN,
            features,
            threat_inputs: ThreatInputs::None,
            l1,
            activation,
            topology,
            hidden: [h1, 32],
            buckets,
            psqt: if psqt { 8 } else { 0 },
        })?;
        let same = |published: &Self| published.is_like(&own);
        Ok(Self::published().find(same).unwrap_or(own))
    }

    /// The architecture of the nets that training on from such a net makes; `None` if it cannot be trained.
    pub(crate) fn trained(&self) -> Option<Self> {
        let &Shape {
            features,
            l1,
            activation,
            buckets,
            psqt,
            ..
        } = &self.shape;
        let found = Self::of_settings(features, l1, activation, buckets, psqt > 0).ok()?;
        self.is_like(&found).then_some(found)
    }

    /// Whether the shapes are the same but for the version of their files.
    fn is_like(&self, other: &Self) -> bool {
        let version = self.version;
        self.shape
            == Shape {
                version,
                ..other.shape
            }
    }

    /// The same without squares of the first layer's outputs: SFNNv4 and v5 have one header.
    pub(super) fn without_squares(mut self) -> Self {
        if let Topology::Skip { squares } = &mut self.shape.topology {
            *squares = false;
        }
        self
    }

    /// Which code runs it.
    #[inline(always)]
    pub(crate) fn compiled(self) -> Compiled {
        self.compiled
    }
}
