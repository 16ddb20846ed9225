//! Networks: file format, feature sets, accumulators, and the SIMD forward pass.
//!
//! [`architecture`] is the one description of a net, from which all else follows; [`features`] are its inputs.
//!
//! A net is parsed, never transmuted: [`container`] reads a header and finds its architecture, [`network`] holds the
//! parameters ([`transformer`], [`layers`]). [`accumulator`] keeps the first layer up to
//! date through a game, and [`simd`] does the arithmetic with the best kernel this processor has.
//! The scalar kernel is the specification of all the others; [`trace`] looks into a net by its pieces.

mod accumulator;
pub(crate) mod architecture;
mod container;
mod error;
pub(crate) mod features;
mod info;
pub(crate) mod layers;
mod leb128;
mod memory;
mod network;
mod output;
mod paired;
mod reader;
mod rows;
mod simd;
#[doc(hidden)]
pub mod synthetic;
pub(crate) mod trace;
pub(crate) mod transformer;
mod version;
mod view;

pub use accumulator::AccumulatorStack;
pub use architecture::{Activation, Architecture, Chain, LayerShape, Shape, VERSION_OWN};
pub use error::{Fault, NetError, UnsupportedShape};
pub use features::relations::Relations;
pub use features::{FeatureSet, Features};
pub use info::NetInfo;
pub(crate) use info::hex_sha256;
pub use network::Network;
pub use output::NetOutput;
pub use simd::Kernel;
pub use view::BoardView;
