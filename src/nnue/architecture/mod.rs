//! The description of a net, from which all code that depends on its shape is derived.
//!
//! * [`shape`]: the numbers that describe a net at run time, and the sizes and hashes that they imply. [`chain`]: the
//!   part of them after the accumulators
//! * [`kinds`](mod@kinds): the declaration of a kind of net for the compiler ([`CompiledNet`]), one row for each kind
//!   that this binary has code for, and the published nets. An [`Architecture`] is a shape of one of these kinds and
//!   cannot be constructed in any other way
//! * [`own`]: the shape words of our own format; [`blocks`]: the parameters of the first layer in file order;
//!   [`display`]: architectures as text
//!
//! A new width, or a new combination of existing parts, is a row in [`kinds`](mod@kinds). A feature set also needs a
//! file in [`features`](super::features) and a line in its lists. A new chain of layers needs a value in [`chain`] and
//! a type in [`forward`](super::simd::forward).

pub(crate) mod blocks;
pub(crate) mod chain;
mod display;
pub(crate) mod kinds;
pub(crate) mod own;
mod shape;

use std::ops::Deref;

pub(crate) use chain::Chain;
pub use chain::{Activation, LayerShape, Topology};
pub(crate) use kinds::{CompiledNet, KindVisitor, NetKind, kinds};
pub use shape::{Shape, VERSION_1, VERSION_2, VERSION_3, VERSION_OWN};

use super::error::UnsupportedShape;
use super::features::Features;
use super::features::attack_inputs::AttackInputs;
use super::features::threat_inputs::ThreatInputs;

/// A shape that this binary has code for. Dereferences to its [`Shape`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Architecture {
    shape: Shape,
    kind: NetKind,
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
    pub const HALF_KP: Self = kinds::PUBLISHED[0].1;

    /// A shape of a kind of net. `features` and `chain` must be listed in the kind's row.
    const fn new(kind: NetKind, version: u32, features: Features, chain: Chain, buckets: usize) -> Self {
        let row = kind.row();
        let Chain { activation, topology, hidden } = chain;
        let (threat_inputs, l1, psqt) = (row.threat_inputs, row.l1, row.psqt);
        let attacks = AttackInputs::None;
        let shape =
            Shape { version, features, threat_inputs, attacks, l1, activation, topology, hidden, buckets, psqt };
        Self { shape, kind }
    }

    /// All architectures of the published nets, in the order in which the parser compares them with a header.
    pub fn published() -> impl Iterator<Item = Self> {
        kinds::PUBLISHED.into_iter().map(|(_, architecture)| architecture)
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
        let Chain { activation, topology, hidden } = Chain::trained(activation);
        let own = own::like(&Shape {
            version: VERSION_OWN,
            features,
            threat_inputs: ThreatInputs::None,
            attacks: AttackInputs::None,
            l1,
            activation,
            topology,
            hidden,
            buckets,
            psqt: if psqt { 8 } else { 0 },
        })?;
        let same = |published: &Self| published.is_like(&own);
        Ok(Self::published().find(same).unwrap_or(own))
    }

    /// The architecture that results from training with this one as a warm start; `None` if it cannot be trained.
    pub(crate) fn trained(&self) -> Option<Self> {
        let found = self.with_features(self.features)?;
        self.is_like(&found).then_some(found)
    }

    /// The architecture of nets trained with these features and otherwise the settings of this one, if it exists.
    pub(crate) fn with_features(&self, features: Features) -> Option<Self> {
        let &Shape { l1, activation, buckets, psqt, .. } = &self.shape;
        Self::of_settings(features, l1, activation, buckets, psqt > 0).ok()?.with_attacks(self.attacks)
    }

    /// The same architecture with these attack inputs, in our own format; `None` if the rows of pieces on squares are
    /// not mirrored by the own king, or the net has threat inputs.
    pub(crate) fn with_attacks(mut self, attacks: AttackInputs) -> Option<Self> {
        let set = self.features.set();
        if attacks != AttackInputs::None {
            if !set.mirrored || self.threat_inputs != ThreatInputs::None {
                return None;
            }
            self.shape.version = VERSION_OWN;
        }
        self.shape.attacks = attacks;
        Some(self)
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

    /// The kind of net that code is compiled for.
    pub(crate) fn kind(self) -> NetKind {
        self.kind
    }
}
