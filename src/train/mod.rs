//! Training of nets: from files of labelled positions to a `.nnue` file.
//!
//! # Credit
//!
//! The code is written anew. The method follows nnue-pytorch (Stockfish's trainer): factorised features, a loss between
//! expected results of a logistic curve, the weight lambda between score and game result, the integer scales of the
//! export, piece-square outputs that start from piece values. SCReLU is as in the nets of bullet (Jamie Whiting). Ours:
//! sparse sharded steps on the CPU, fixed-point rows, the calibration of the export (over published ideas that its
//! files name), and exact resumption. Experiments are in `docs/experiments.md`.
//!
//! # Map
//!
//! Modules from the lowest layer to the highest; each uses only those before it.
//!
//! * [`samples`]: the training samples: batches from the stream of records, and the active features of a position.
//! * [`model`]: the float model: which shapes can be trained, its parameters, its plain forward pass, and what the
//!   integers of a net file stand for.
//! * [`step`]: one step along the gradient of a batch: the batch in shards, one for each thread, forward and backward
//!   through the layers (`simd` has the arithmetic), the loss, and the optimiser.
//! * [`integer`]: from the float model to the integer net of the engine and back: rounding, calibration, what it cost;
//!   and a net made by hand.
//! * [`run`]: a run from its settings to its files: schedules, validation, checkpoints, resuming, what it shows.

mod integer;
mod model;
pub(crate) mod run;
mod samples;
mod step;

pub(crate) use integer::material_net;
