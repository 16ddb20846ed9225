//! Making nets: the training model, its optimiser, and the way into a `.nnue` file.

pub mod dense;
pub mod export;
pub mod features;
pub mod loss;
pub mod material;
pub mod model;
pub mod optimiser;
pub mod quantised;
pub mod run;
pub mod schedule;
pub mod simd;
pub mod trainer;
pub mod transformer;

pub use material::material_net;
