//! The description of a net, from which all code that depends on its shape is derived.
//!
//! [`shape`] contains the numbers that describe a net, and the sizes and hashes that they imply. [`mod@compiled`] lists
//! the sizes that this binary has code for; the accumulators and the trainer are generated from it. An
//! [`Architecture`] is a shape found in that list and cannot be constructed in any other way. [`published`] lists the
//! architectures of Stockfish's nets. [`own`] reads and writes the shape words of our own format. [`blocks`] lists the
//! parameters of the first layer in file order, and [`display`] prints architectures.
//!
//! To add a width, or a new combination of existing parts, add a line to [`mod@compiled`]. A feature set also needs a
//! file in [`features`](super::features). A new kind of layer needs a variant of [`Activation`] or [`Topology`] and a
//! kernel.

pub(crate) mod blocks;
pub(crate) mod compiled;
mod display;
pub(crate) mod own;
mod published;
mod shape;

use std::ops::Deref;

pub(crate) use compiled::{Compiled, compiled};
pub use shape::{Activation, LayerShape, Shape, Topology, VERSION_1, VERSION_2, VERSION_3, VERSION_OWN};

use super::error::UnsupportedShape;
use super::features::Features;
use super::features::threat_inputs::ThreatInputs;

/// A shape that this binary has code for. Dereferences to its [`Shape`].
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

    /// The architecture with this shape; `None` if there is no code for it.
    const fn of(shape: Shape) -> Option<Self> {
        match Compiled::of(&shape) {
            Some(compiled) => Some(Self { shape, compiled }),
            None => None,
        }
    }

    /// All architectures of the published nets, in the order in which the parser compares them with a header.
    pub fn published() -> impl Iterator<Item = Self> {
        published::PUBLISHED.into_iter().map(|(_, architecture)| architecture)
    }

    /// All architectures of our own format.
    pub fn own() -> impl Iterator<Item = Self> {
        own::all()
    }

    /// The architecture described by the shape words of our own format, see [`own`].
    ///
    /// # Errors
    /// Names the first number that is not supported together with the numbers before it, and the supported values.
    pub fn from_words(words: [u32; own::WORDS]) -> Result<Self, UnsupportedShape> {
        own::from_words(words)
    }

    /// The architecture of nets trained with these settings: the published one if it exists, so that other engines can
    /// read the net, and otherwise one of our own. Both hidden layers have 32 units, except that the first has 16 after
    /// pairwise products. With `psqt`, a feature has a piece-square value for each layer stack.
    ///
    /// # Errors
    /// As for [`Self::from_words`].
    pub fn of_settings(
        features: Features,
        l1: usize,
        activation: Activation,
        buckets: usize,
        psqt: bool,
    ) -> Result<Self, UnsupportedShape> {
        let (h1, topology) = match activation {
            Activation::Crelu | Activation::Screlu => (32, Topology::Plain),
            Activation::Pairwise | Activation::WidePairwise => (16, Topology::Skip { squares: true }),
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

    /// The architecture that results from training with this one as a warm start; `None` if it cannot be trained.
    pub(crate) fn trained(&self) -> Option<Self> {
        let &Shape { features, l1, activation, buckets, psqt, .. } = &self.shape;
        let found = Self::of_settings(features, l1, activation, buckets, psqt > 0).ok()?;
        self.is_like(&found).then_some(found)
    }

    /// Whether the shapes are equal, ignoring the version of their files.
    fn is_like(&self, other: &Self) -> bool {
        let version = self.version;
        self.shape == Shape { version, ..other.shape }
    }

    /// The same architecture without squares of the first layer's outputs (SFNNv4 and v5 have the same header).
    pub(super) fn without_squares(mut self) -> Self {
        if let Topology::Skip { squares } = &mut self.shape.topology {
            *squares = false;
        }
        self
    }

    /// The row of the list of compiled sizes that runs this architecture.
    #[inline(always)]
    pub(crate) fn compiled(self) -> Compiled {
        self.compiled
    }
}
