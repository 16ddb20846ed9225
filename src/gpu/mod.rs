//! Graphics cards, through `wgpu` (Vulkan, Metal or DX12), with the feature `gpu`; and static evaluations on them.
//!
//! Without the feature, which WebAssembly lacks, this module only has functions that return an error. The training step
//! on a card is in [`crate::train::gpu`].
//!
//! * [`device`]: the choice between the processor and a card
//! * `card`: finding and opening cards, and their errors
//! * `evaluator`: a network's parameters in the layout of the shader, and static evaluations on a card
//! * [`networks`]: evaluations for several threads, whose positions share batches

#[cfg(all(feature = "gpu", target_family = "wasm"))]
compile_error!("the feature `gpu` is not for WebAssembly");

#[cfg(feature = "gpu")]
pub mod card;
pub mod device;
#[cfg(feature = "gpu")]
pub mod evaluator;
pub mod networks;

pub use device::{CardChoice, Device};

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
