//! The position and the rules of chess: our own code to make and undo moves, on shakmaty's types and tables.
//!
//! shakmaty supplies squares, roles, bitboards, attack tables of leapers, Zobrist tables, FEN and the reference for
//! the tests. The search never calls its move generator, which is slower.

pub(crate) mod attacks;
mod dirty;
mod dirty_threats;
mod generate;
mod legality;
mod make;
pub(crate) mod moves;
mod notation;
pub mod opening_book;
pub mod openings;
pub mod perft;
mod piece_value;
mod position;
mod repetition;
mod see;
#[cfg(test)]
mod tests;
mod threat_delta;
pub(crate) mod zobrist;

pub use dirty::{DirtyPiece, DirtyPieces};
pub(crate) use dirty_threats::{AttackChange, AttackKinds, DirtyThreats};
pub use legality::CheckInfo;
pub use moves::{Move, MoveList};
pub(crate) use notation::from_shakmaty;
pub(crate) use piece_value::{material, piece_value, value_as_target};
pub use position::Position;
pub use shakmaty::{Bitboard, CastlingMode, Color, File, Piece, Role, Square};
pub(crate) use threat_delta::MoveBoards;
