//! Networks: file format, feature sets, accumulators, and the SIMD forward pass.
//!
//! # Credit
//!
//! Nearly all ideas here come from others; all code was written for this project.
//!
//! * NNUE itself, HalfKP, clipped accumulators with incremental updates, the dense layers after them: Yu Nasu's nets
//!   for shogi (2018), brought to chess by Hisayori Noda and Stockfish 12 (2020)
//! * the published feature sets, layer shapes, integer scales and the file format with its hashes and LEB128 blocks:
//!   Stockfish and nnue-pytorch, the trainer of its nets (Tomasz Sobczyk, Gary Linscott and others)
//! * pairwise products, piece-square outputs, the skip connection, layer stacks by number of pieces, threat and
//!   pawn-pair inputs: Stockfish's nets from 14 to 19
//! * SCReLU: bullet (Jamie Whiting) and engines that use it; the refresh cache ("Finny tables"): Luecx's Koivisto
//! * ours: self-describing files ([`architecture`]), king-bucket tables, kernels and their layouts
//!
//! Speed measurements are in `docs/experiments.md`.
//!
//! # Map
//!
//! * [`architecture`]: the description of a net that all other modules use; [`features`]: its inputs
//! * [`container`] (uses `version`; errors in `error`): the bytes of a file, from the header to the compressed blocks.
//!   A net is parsed, never transmuted
//! * [`network`]: the parameters, in [`transformer`] (its `rows`) and [`layers`]; `synthetic` for nets of random
//!   numbers in tests
//! * [`accumulator`]: the first layer, updated incrementally during a search; `board`: the part of a position that a
//!   net uses
//! * [`simd`]: the arithmetic, with the fastest kernel for the processor; the scalar kernel is the specification of all
//!   others
//! * [`inspect`]: an evaluation with all intermediate results, and a summary of a file

mod accumulator;
pub(crate) mod architecture;
mod board;
mod container;
mod error;
pub(crate) mod features;
pub(crate) mod inspect;
pub(crate) mod layers;
mod network;
mod rows;
mod simd;
#[doc(hidden)]
pub mod synthetic;
pub(crate) mod transformer;
mod version;

pub use accumulator::{AccumulatorStack, NetOutput};
pub use architecture::{Activation, Architecture, LayerShape, Shape, Topology};
pub use board::Board;
pub(crate) use container::KIND;
pub use error::{Fault, NetError, UnsupportedShape};
pub use features::attack_inputs::AttackInputs;
pub use features::threat_inputs::ThreatInputs;
pub use features::{BadTable, FeatureSet, Features};
pub use inspect::NetInfo;
pub(crate) use inspect::hex_sha256;
pub use network::Network;
pub use simd::Kernel;
pub use version::VERSION_OWN;
