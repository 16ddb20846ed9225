//! Training data: reading game files, choosing positions, and keeping them packed in memory.

pub mod binpack;
pub mod filter;
pub mod info;
pub mod record;

pub use filter::Filter;
pub use record::Record;
