//! The position and the rules of chess: our own code to make and undo moves, on shakmaty's types and tables.
//!
//! shakmaty supplies squares, roles, bitboards, attack tables of leapers, Zobrist tables, FEN and the reference for
//! the tests. The search never calls its move generator, which is slower.

pub(crate) mod attacks;
mod generate;
mod make;
pub(crate) mod moves;
mod notation;
pub mod openings;
pub mod perft;
mod position;
mod see;
#[cfg(test)]
mod tests;
mod threats;

pub use generate::CheckInfo;
pub use moves::{DirtyPiece, DirtyPieces, Move, MoveList};
pub(crate) use notation::from_shakmaty;
pub use position::Position;
pub(crate) use see::{material, piece_value, value_as_target};
pub use shakmaty::{Bitboard, CastlingMode, Color, File, Piece, Role, Square};
pub(crate) use threats::{AttackChange, AttackKinds, DirtyThreats, PieceCodes};
