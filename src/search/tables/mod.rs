//! Tables of results: the transposition table and its file, and endgame tablebases.
//!
//! * [`tt`], [`tt_file`]: the transposition table and its file format
//! * [`syzygy`]: tablebases, in builds with the feature `full`; [`loaded_tables`]: what the search needs of them in
//!   every build; `table_files` reads them where the system cannot read at an offset; [`table_checksum`]: the checksums
//!   of their files

mod loaded_tables;
#[cfg(feature = "full")]
pub mod syzygy;
#[cfg(not(feature = "full"))]
#[path = "no_syzygy.rs"]
pub mod syzygy;
pub mod table_checksum;
#[cfg(all(feature = "full", not(any(unix, windows))))]
mod table_files;
pub mod tt;
pub mod tt_file;
