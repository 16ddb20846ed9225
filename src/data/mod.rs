//! Training data: reading and writing its formats, choosing positions, and keeping them packed in memory.
//!
//! * [`reader`], [`writer`]: the doors in and out, over [`bin`], [`binpack`], [`plain`] and [`tree`]
//! * [`entry`], [`record`]: a labelled position in full, and as the trainer keeps it
//! * [`packed`], [`pieces`]: its pieces in little room, and as nets ask for them
//! * [`filter`], [`label`]: what is worth learning from, and nets that say what it is worth
//! * [`ops`]: work on files
//! * [`stream`]: files of any size as records in random order, in bounded memory
//! * [`datagen`]: making it

pub mod bin;
pub mod binpack;
pub mod datagen;
pub mod entry;
pub mod filter;
pub mod label;
pub mod ops;
pub mod packed;
pub mod pieces;
pub mod plain;
pub mod reader;
pub mod record;
pub mod stream;
pub mod tree;
pub mod writer;

pub use entry::Entry;
pub use filter::Filter;
pub use record::Record;
