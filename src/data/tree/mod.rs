//! The `.tree` format: positions sampled from search trees, four to five bytes each.
//!
//! Successive samples are close together in the search tree: a few moves are undone and others made between them. A
//! file is a sequence of blocks ([`block`]). A block has the root of one game and the game's samples in
//! search order. A sample ([`code`]) consists of the number of moves to undo, the number of moves to make, the score
//! difference from the previous sample, and the moves. A move is an index into the side's pieces and an index into the
//! piece's target squares ([`packed_position`]).
//!
//! Moves of the game and of the search are not distinguished. The root stores the game result.
// CITE: numbering a move by piece and destination is .binpack's (Tomasz Sobczyk, 2020); trees are ours.

mod block;
mod code;
mod packed_position;
#[cfg(test)]
mod tests;

pub use crate::data::tree::block::Root;
pub use crate::data::tree::block::{Encoder, TreeWriter};
pub use block::{Decoder, HEADER_BYTES, Header, KIND, MAX_PAYLOAD, SamplePath, for_each};
pub use packed_position::PackedMove;
