//! Tables of results: the transposition table and its file, and endgame tablebases.
//!
//! * [`tt`], [`tt_file`]: the transposition table and its file format
//! * [`syzygy`]: tablebases; `table_files` reads them where the system cannot read at an offset; [`table_checksum`]:
//!   the checksums of their files

pub mod syzygy;
pub mod table_checksum;
#[cfg(not(any(unix, windows)))]
mod table_files;
pub mod tt;
pub mod tt_file;
