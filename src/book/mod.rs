//! Opening books in the Polyglot format: asked for a move, shown, and made of games.
//!
//! * `entry`: 16 bytes of a file, and its code for moves
//! * `polyglot`: a book that was read, and the choice of a move by weight
//! * `build`: a book of the games of a PGN
//! * `run`: the commands `book build` and `book show`

mod build;
mod entry;
mod polyglot;
pub(crate) mod run;

pub use build::{BookBuilder, BuildOptions};
pub use polyglot::{Book, BookMove};
