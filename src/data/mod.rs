//! Training data: file formats, filters, labels, and packed records in memory.
//!
//! * [`format`](mod@format), [`reader`]: input and output in any format, compressed or not: [`bin`], [`binpack`],
//!   [`plain`] and [`tree`]; [`bulletformat`], [`viriformat`] and [`lines`] of other programs; [`games`]: whole games,
//!   and PGN
//! * [`entry`]: a labelled position in full, in the trainer's compact form, and as a board for network evaluation; the
//!   units of its score, and the filter of positions
//! * [`label`]: networks that label positions
//! * [`ops`]: operations on files
//! * [`stream`], `chunk`: files of any size as records in random order, in bounded memory

pub mod bin;
pub mod binpack;
pub mod bulletformat;
mod chunk;
pub mod entry;
pub mod format;
pub mod games;
pub mod label;
pub mod lines;
pub mod ops;
pub mod plain;
pub mod reader;
pub mod stream;
pub mod tree;
pub mod viriformat;

pub use entry::{Entry, Filter, Record};
