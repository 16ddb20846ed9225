//! `.tree`: positions that were sampled inside searches, four to five bytes each.
//!
//! Samples lie close together on the tree of their game: from one to the next some moves are taken back and others
//! made. A file is a row of blocks ([`block`]), each with the root of one game ([`root`]) and its samples in the order
//! of the search. A sample ([`code`]) says how many moves to take back, how many to make, how its score differs from
//! the last one's, and the moves: which of the side's pieces, and which of the squares that the piece might go to
//! ([`packed_position`]).
//! Moves of the game and of the search are not told apart; the result is the root's.
// CITE: numbering a move by piece and destination is .binpack's (Tomasz Sobczyk, 2020); trees are ours.

mod bits;
mod block;
mod code;
mod encode;
mod packed_position;
mod root;
#[cfg(test)]
mod tests;

pub use block::{Decoder, HEADER_BYTES, Header, KIND, MOST_PAYLOAD, SamplePath, for_each};
pub use encode::{Encoder, TreeWriter};
pub use packed_position::PackedMove;
pub use root::Root;
