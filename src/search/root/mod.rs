//! The root: which moves are searched, the iterations, the lines, and the time.
//!
//! * [`root_move`], [`root_filter`]: the root moves and their results; the choice of the moves by tablebases
//! * [`iteration`], [`window`]: iterative deepening, MultiPV, reports; the aspiration window
//! * [`tb_line`]: lines of tablebase wins, extended to mate
//! * [`time`]: the time budget of a move
//! * [`handicap`]: restrictions of a level below full strength

pub mod handicap;
pub mod iteration;
pub mod root_filter;
pub mod root_move;
pub mod tb_line;
pub mod time;
pub mod window;
