//! Training data: file formats, filters, labels, and packed records in memory.
//!
//! * [`format`](mod@format), [`reader`], [`writer`]: input and output in any format: [`bin`], [`binpack`], [`plain`]
//!   and [`tree`]; [`bulletformat`], [`viriformat`], [`lines`] and [`pgn`] of other programs; [`games`]: whole games
//! * [`compression`], [`units`]: compressed files, and units of scores
//! * [`entry`], [`record`]: a labelled position in full, and in the trainer's compact form
//! * [`packed`], [`network_board`]: the pieces of a position in 24 bytes, and as a board for network evaluation
//! * [`filter`], [`label`]: selection of positions, and networks that label them
//! * [`ops`]: operations on files
//! * [`stream`]: files of any size as records in random order, in bounded memory

pub mod bin;
pub mod binpack;
pub mod bulletformat;
pub mod compression;
pub mod entry;
pub mod filter;
pub mod format;
pub mod games;
pub mod label;
pub mod lines;
pub mod network_board;
pub mod ops;
pub mod packed;
pub mod pgn;
pub mod plain;
pub mod reader;
pub mod record;
pub mod stream;
pub mod tree;
pub mod units;
pub mod viriformat;
pub mod writer;

pub use entry::Entry;
pub use filter::Filter;
pub use record::Record;
