//! Making nets: from files of labelled positions to a `.nnue` file.
//!
//! The rooms, from the ground up; a room uses those before it, never those after it.
//!
//! * [`samples`]: what is learned from: batches out of the stream of records, and the active features of a position.
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
