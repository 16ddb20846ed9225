//! Text form of architectures.

use std::fmt;

use super::kinds::PUBLISHED;
use super::{Activation, Architecture, Shape, VERSION_1, VERSION_OWN};
use crate::nnue::features::attack_inputs::AttackInputs;
use crate::nnue::features::threat_inputs::ThreatInputs;

impl Architecture {
    /// The name of the architecture in Stockfish, or "own" for our own format.
    fn generation(&self) -> &'static str {
        if self.version == VERSION_OWN {
            return "own";
        }
        let named = PUBLISHED.iter().find(|(_, published)| published == self);
        // Only SFNNv4 has no squares, but a file can have its layers with any width.
        named.map_or("SFNNv4", |(name, _)| name)
    }

    /// The names of all published architectures, and a summary of our own.
    pub(crate) fn all_names() -> String {
        let published: Vec<String> = Self::published().map(|known| known.to_string()).collect();
        format!(
            "{}, and self-describing nets in its own format, but not the nets of Stockfish's development versions \
             between releases (such as SFNNv11 to v15)",
            published.join(", ")
        )
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.features)?;
        if self.threat_inputs != ThreatInputs::None {
            write!(f, " + {}", self.threat_inputs)?;
        }
        if self.attacks != AttackInputs::None {
            write!(f, " + attacks {}", self.attacks)?;
        }
        write!(f, " {}x2-{}", self.l1, self.chain().sizes())?;
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

impl Shape {
    /// A description of the activations.
    pub fn activations(&self) -> String {
        self.chain().activations()
    }

    /// The description text of a file, in the format of Stockfish's first nets. It is incomplete for nets of our own
    /// format, which also have shape words.
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
