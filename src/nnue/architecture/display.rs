//! What people read of an architecture.

use std::fmt;

use super::published::PUBLISHED;
use super::{Activation, Architecture, Shape, Topology, VERSION_1, VERSION_OWN};
use crate::nnue::features::threat_inputs::ThreatInputs;

impl Architecture {
    /// The name that Stockfish's authors gave it; ours are only said to be ours.
    fn generation(&self) -> &'static str {
        if self.version == VERSION_OWN {
            return "own";
        }
        let named = PUBLISHED.iter().find(|(_, published)| published == self);
        // No squares are known but SFNNv4's, whatever the width.
        named.map_or("SFNNv4", |(name, _)| name)
    }

    /// The names of all published architectures, and those of our own in a few words.
    pub(crate) fn all_names() -> String {
        let published: Vec<String> = Self::published().map(|known| known.to_string()).collect();
        format!(
            "{}, and nets of its own that describe themselves; not the nets of Stockfish's development versions \
             between its releases (as SFNNv11 to v15)",
            published.join(", ")
        )
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [h1, h2] = self.hidden;
        write!(f, "{}", self.features)?;
        if self.threat_inputs != ThreatInputs::None {
            write!(f, " + {}", self.threat_inputs)?;
        }
        write!(f, " {}x2-", self.l1)?;
        match self.topology {
            Topology::Plain | Topology::Sfnnv16 => write!(f, "{h1}-{h2}-1")?,
            Topology::Skip { .. } => write!(f, "({}+1)-{h2}-1", h1 - 1)?,
        }
        if self.activation == Activation::Screlu {
            write!(f, " SCReLU")?;
        }
        if self.psqt > 0 && self.version == VERSION_OWN {
            write!(f, " PSQT")?;
        }
        if self.buckets > 1 {
            write!(f, " x{}", self.buckets)?;
        }
        if self.version != VERSION_1 {
            write!(f, " ({})", self.generation())?;
        }
        Ok(())
    }
}

impl fmt::Display for Activation {
    /// As the trainer's command line has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Crelu => "crelu",
            Self::Screlu => "screlu",
            Self::Pairwise => "pairwise",
            Self::WidePairwise => "wide pairwise",
        })
    }
}

impl Shape {
    /// The activations in words.
    pub fn activations(&self) -> String {
        let accumulators = match self.activation {
            Activation::Crelu => "",
            Activation::Screlu => "squared clipped ReLU, then ",
            Activation::Pairwise | Activation::WidePairwise => "pairwise products, then ",
        };
        let layers = match self.topology {
            Topology::Plain => "clipped ReLU",
            Topology::Skip { squares: false } => "clipped ReLU; one output skips",
            Topology::Skip { squares: true } => "clipped ReLU and its square; one output skips",
            Topology::Sfnnv16 => {
                "clipped ReLU and its square, all seen by all later layers; two outputs skip"
            }
        };
        format!("{accumulators}{layers}")
    }

    /// The text of a file, in the form of Stockfish's first nets; a net of our own tells the rest in words of its own.
    pub fn description(&self) -> String {
        let (features, l1) = (self.features.set(), self.l1);
        let [first, second, output] = self.layers();
        let (name, count, inputs) = (features.name, features.count(), first.inputs);
        let (h1, h2) = (second.inputs, output.inputs);
        format!(
            "Features={name}(Friend)[{count}->{l1}x2],Network=AffineTransform[1<-{h2}](ClippedReLU[{h2}]\
            (AffineTransform[{h2}<-{h1}](ClippedReLU[{h1}](AffineTransform[{h1}<-{inputs}]\
            (InputSlice[{inputs}(0:{inputs})])))))"
        )
    }
}
