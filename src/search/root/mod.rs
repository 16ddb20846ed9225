//! The root: which moves are searched, the iterations, the lines, and the time.
//!
//! * [`root_move`], [`root_filter`]: the root moves and their results; their choice by tablebases
//! * [`iteration`], [`window`]: iterative deepening, MultiPV; the aspiration window
//! * [`lines`], [`tb_line`]: report lines; lines of tablebase wins, extended to mate
//! * [`time`]: the time budget of a move
//! * [`handicap`]: restrictions of a level below full strength

pub mod handicap;
pub mod iteration;
pub mod lines;
pub mod root_filter;
pub mod root_move;
pub mod tb_line;
pub mod time;
pub mod window;
