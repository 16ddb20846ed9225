//! Graphics cards, through `wgpu` (Vulkan, Metal or DX12), with the feature `gpu`; the choice between the processor and
//! a card; and static evaluations on cards.
//!
//! Without the feature, which WebAssembly lacks, this module only has functions that return an error. The training step
//! on a card is in [`crate::train::gpu`].
//!
//! * `card`: finding and opening cards, and their errors
//! * `evaluator`: a network's parameters in the layout of the shader, and static evaluations on a card
//! * [`networks`]: evaluations for several threads, whose positions share batches

#[cfg(all(feature = "gpu", target_family = "wasm"))]
compile_error!("the feature `gpu` is not for WebAssembly");

#[cfg(feature = "gpu")]
pub mod card;
#[cfg(feature = "gpu")]
pub mod evaluator;
pub mod networks;

use std::str::FromStr;

/// A position as a card reads it: two words of occupied squares (a1 is bit 0 of the first), four words with a nibble
/// for each of them in order (2 * role + colour, pawn 0, white 0), an unused word, and bit 8 of the last: Black moves.
pub type PackedPosition = [u32; 8];

/// The error of a program that was built without support for graphics cards.
#[cfg(not(feature = "gpu"))]
pub fn unsupported() -> anyhow::Error {
    if cfg!(target_family = "wasm") {
        anyhow::anyhow!("WebAssembly programs cannot use graphics cards: use a native program, or --device cpu")
    } else {
        anyhow::anyhow!(
            "this program was built without support for graphics cards: build one that has it with \
             `cargo build --release --features gpu`, or use --device cpu"
        )
    }
}

/// The error of a net that no card can evaluate.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "a graphics card cannot evaluate nets of the shape {0}, only those of Stockfish 14 to 17.1 and nets trained with \
     --activation pairwise"
)]
pub struct UnsupportedNet(pub String);

/// The card that a user chose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardChoice(Option<String>);

impl CardChoice {
    /// Returns the choice of a card by a part of its name or its number in `zoothera gpu`; `None` for the fastest.
    pub fn of(name: Option<&str>) -> Self {
        Self(name.map(str::to_owned))
    }
}

/// The device that trains or labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Device {
    /// The processor.
    Cpu,
    /// A graphics card.
    Gpu(CardChoice),
    /// A graphics card that can do the work, if there is one, and otherwise the processor.
    Auto(CardChoice),
}

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, name) = match text.split_once(':') {
            Some((kind, name)) => (kind, Some(name)),
            None => (text, None),
        };
        match (kind, name) {
            ("cpu", None) => Ok(Self::Cpu),
            (_, Some("")) => Err("the name of the card is missing after the colon".into()),
            ("gpu", name) => Ok(Self::Gpu(CardChoice::of(name))),
            ("auto", name) => Ok(Self::Auto(CardChoice::of(name))),
            _ => Err("the device must be cpu, gpu, gpu:NAME, auto or auto:NAME".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_parses_kind_and_card() {
        let parsed = |text: &str| text.parse::<Device>();
        assert_eq!(parsed("cpu"), Ok(Device::Cpu));
        assert_eq!(parsed("gpu"), Ok(Device::Gpu(CardChoice::of(None))));
        assert_eq!(parsed("auto:2"), Ok(Device::Auto(CardChoice::of(Some("2")))));
        assert_eq!(parsed("gpu:Radeon RX"), Ok(Device::Gpu(CardChoice::of(Some("Radeon RX")))));
        for wrong in ["", "cuda", "cpu:0", "gpu:", "GPU"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
