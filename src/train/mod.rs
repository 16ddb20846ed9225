//! Training of nets: from files of labelled positions to a `.nnue` file.
//!
//! # Credit
//!
//! The code is an independent implementation. The method follows nnue-pytorch (Stockfish's trainer): factorised
//! features, a loss between expected results of a logistic curve, the weight lambda between score and game result, the
//! integer scales of the export, piece-square outputs that start from piece values. SCReLU is as in the nets of bullet
//! (Jamie Whiting). Our own parts: sparse sharded steps on the CPU, fixed-point rows, the calibration of the export
//! (based on published ideas that its files cite), and exact resumption. Experiments are in `docs/experiments.md`.
//!
//! # Map
//!
//! Modules from the lowest layer to the highest; each uses only the modules above it in this list.
//!
//! * [`samples`]: training samples: batches from the stream of records, and the active features of a position.
//! * [`model`]: the float model: trainable shapes, parameters, the reference forward pass, and the scales of the
//!   integers in a net file.
//! * [`step`]: one optimiser step on a batch: the batch in shards, one per thread, the forward and backward passes
//!   (`simd` has the arithmetic), the loss, and the optimiser.
//! * [`gpu`]: the same step on a graphics card.
//! * [`integer`]: conversion of the float model to the engine's integer net and back: quantisation, calibration and
//!   report; and a hand-made net.
//! * [`run`]: a run from its settings to its files: schedules, validation, checkpoints, resuming, progress display.

pub(crate) mod gpu;
mod integer;
mod model;
pub(crate) mod run;
mod samples;
mod step;

pub(crate) use integer::material_net;
