//! Making nets: the training model, its optimiser, and the way into a `.nnue` file.

pub mod features;
pub mod material;
pub mod quantised;

pub use material::material_net;
