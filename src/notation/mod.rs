//! Chess as text: moves in the notations that people use, positions with moves, EPD, and games in PGN.
//!
//! * [`spelling`]: the syntax of a written move
//! * [`moves`]: conversion of a text into a legal move, for every reader of moves except UCI
//! * [`line`](mod@line): a position, and the moves after it
//! * [`named_lines`]: the lines of named openings
//! * [`epd`]: the syntax of EPD
//! * [`pgn`]: games with their tags, comments and variations
//! * [`place`]: a place in a game, such as `15b`

pub mod epd;
pub mod line;
pub mod moves;
pub(crate) mod named_lines;
pub mod pgn;
pub mod place;
pub mod spelling;

pub(crate) use line::{position_from_fen, position_in_mode};
