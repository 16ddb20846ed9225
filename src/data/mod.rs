//! Training data: file formats, filters, labels, and packed records in memory.
//!
//! * [`format`](mod@format), [`reader`]: input and output in any format: [`bin`], [`binpack`], [`plain`] and [`tree`];
//!   [`bulletformat`], [`viriformat`], [`lines`] and [`pgn`] of other programs; [`games`]: whole games
//! * [`compression`], [`units`]: compressed files, and units of scores
//! * [`entry`]: a labelled position in full, in the trainer's compact form, and as a board for network evaluation
//! * [`packed`]: the pieces of a position in 24 bytes
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
pub mod ops;
pub mod packed;
pub mod pgn;
pub mod plain;
pub mod reader;
pub mod stream;
pub mod tree;
pub mod units;
pub mod viriformat;

pub use crate::data::entry::Record;
pub use entry::Entry;
pub use filter::Filter;
