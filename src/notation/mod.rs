//! Chess as text: moves in the notations that people use, positions with moves, EPD, and games in PGN.
//!
//! * [`moves`]: conversion of a text into a legal move, for every reader of moves except UCI
//! * [`positions`]: a position, and the moves after it; the lines of named openings; the syntax of EPD
//! * [`pgn`]: games with their tags, comments and variations, and places in them

pub mod moves;
pub mod pgn;
pub mod positions;

pub(crate) use positions::{position_from_fen, position_in_mode};
