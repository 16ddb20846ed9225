//! Opening books in the Polyglot format: probing, printing, and building from games.
//!
//! * `entry`: an entry of 16 bytes, and its code for moves
//! * `polyglot`: a book in memory, and the choice of a move by weight
//! * `build`: building of a book from the games of a PGN
//! * `run`: the commands `book build` and `book show`

mod build;
mod entry;
mod polyglot;
pub(crate) mod run;

pub use build::{BookBuilder, BuildOptions};
pub use polyglot::{Book, BookMove};
