//! Opening books in the Polyglot format: probing, printing, and building from games.
//!
//! * `polyglot`: entries of 16 bytes, a book in memory, and the choice of a move by weight
//! * `run`: building of a book from the games of a PGN, and the commands `book build` and `book show`

mod polyglot;
pub(crate) mod run;

pub use polyglot::{Book, BookMove};
