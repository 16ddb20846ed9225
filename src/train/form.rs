//! What is trained: the choices that the sizes of everything else follow from.
//!
//! What holds a model for longer than a step (the model, the moments, checkpoints, the integer net) has the size that it
//! was made with. What computes on it (kernels, snapshot, shares, trainer) has the width as a parameter, so that the
//! compiler knows every trip count; a run chooses among the three once, when it begins.

use anyhow::{Result, bail};

use super::activation::Activation;
use super::features::FeatureSet;
use super::quantised::HIDDEN;
use crate::nnue::Architecture;
use crate::nnue::architecture;
use crate::nnue::own::Own;

/// The widths that can be trained.
pub const WIDTHS: [usize; 3] = [128, 256, 512];

/// The width of the published HalfKP nets, and the default.
pub const PUBLISHED: usize = 256;

/// The shape of a net that can be trained. All have two hidden layers of 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// What it sees.
    pub features: FeatureSet,
    /// Width of one perspective's accumulator.
    pub l1: usize,
    /// What becomes of the accumulators.
    pub activation: Activation,
    /// Stacks of layers after the transformer, by the number of pieces: 1 or 8.
    pub buckets: usize,
}

impl Form {
    /// Stockfish 12's.
    pub const PUBLISHED: Self = Self {
        features: FeatureSet::HalfKp,
        l1: PUBLISHED,
        activation: Activation::Crelu,
        buckets: 1,
    };

    /// Stockfish 12's but for the width.
    pub const fn of_width(l1: usize) -> Self {
        Self {
            l1,
            ..Self::PUBLISHED
        }
    }

    /// Refuses what cannot be trained, or what the engine would not read.
    ///
    /// # Errors
    /// The first choice that is none.
    pub fn check(self) -> Result<()> {
        let Self { l1, buckets, .. } = self;
        if !WIDTHS.contains(&l1) {
            bail!("l1 is {l1}, but must be 128, 256 or 512");
        }
        if self.features == FeatureSet::HalfKav2Hm && l1 == 128 {
            bail!("l1 is 128, but must be 256 or 512 with half-kav2-hm");
        }
        if buckets != 1 && buckets != 8 {
            bail!("buckets is {buckets}, but must be 1 or 8");
        }
        Ok(())
    }

    /// The stack for a position of so many pieces, kings included.
    #[inline]
    pub fn bucket(self, pieces: u32) -> usize {
        architecture::bucket(self.buckets, pieces as usize)
    }

    /// The architecture of the nets of this form: the published one where it fits, so that other engines read the net
    /// too, or else one of our own.
    pub fn architecture(self) -> Architecture {
        if self == Self::PUBLISHED {
            return Architecture::HalfKp;
        }
        Architecture::Own(Own {
            features: self.features.engine(),
            l1: self.l1,
            squared: self.activation == Activation::Screlu,
            hidden: HIDDEN,
            buckets: self.buckets,
        })
    }

    /// The form of nets of that architecture, if it can be trained.
    pub fn of_architecture(architecture: Architecture) -> Option<Self> {
        let own = match architecture {
            Architecture::HalfKp => return Some(Self::PUBLISHED),
            Architecture::Own(own) if own.hidden == HIDDEN => own,
            _ => return None,
        };
        let mut sets = FeatureSet::ALL.into_iter();
        let form = Self {
            features: sets.find(|set| set.engine() == own.features)?,
            l1: own.l1,
            activation: if own.squared {
                Activation::Screlu
            } else {
                Activation::Crelu
            },
            buckets: own.buckets,
        };
        form.check().is_ok().then_some(form)
    }
}
