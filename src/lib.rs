//! Zoothera: a UCI chess engine with an efficiently updatable neural network.
//!
//! The rooms, from the ground up; a room may use those before it, never those after it.
//!
//! * [`util`]: random numbers, cache prefetch, large zeroed memory, files written whole.
//! * [`board`]: the position and its rules over shakmaty's types and tables.
//! * [`nnue`]: network files, feature sets, accumulators, and the SIMD forward pass.
//! * [`search`]: the alpha-beta search, its tables, its clock, and its threads.
//! * [`data`]: training data: its formats, work on files, generation.
//! * [`train`]: making nets: the training model, its optimiser, the export.
//! * [`tools`]: bench, EPD suites, analysis, evaluation traces, net inspection.
//! * [`tune`]: tuning the search's parameters by games.
//! * [`uci`]: the protocol: commands, options, the reader thread, the printers.
//! * [`cli`]: the command line as data.
#![deny(unsafe_code)]
#![deny(
    missing_docs,
    clippy::undocumented_unsafe_blocks,
    unsafe_op_in_unsafe_fn
)]

pub mod board;
pub mod cli;
pub mod data;
pub mod nnue;
pub mod search;
pub mod tools;
pub mod train;
#[cfg(any(feature = "tune", test))]
pub(crate) mod tune;
pub mod uci;
pub mod util;
