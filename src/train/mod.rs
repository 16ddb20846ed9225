//! Making nets: the training model, its optimiser, and the way into a `.nnue` file.

pub mod calibrate;
pub mod checkpoint;
pub mod config;
pub mod dataset;
pub mod dense;
pub mod display;
pub mod export;
pub mod features;
pub mod import;
pub mod index;
pub mod loss;
pub mod material;
pub mod model;
pub mod optimiser;
pub mod order;
pub mod pass;
pub mod picture;
pub mod plot;
mod position;
pub mod report;
pub mod run;
pub mod scales;
pub mod schedule;
pub mod shapes;
pub mod simd;
pub mod snapshot;
pub mod tail;
pub mod trainer;
pub mod transformer;

pub use material::material_net;
