//! `zoothera match`: matches between two nets or two sets of options.
//!
//! * [`args`]: the command line
//! * [`clock`]: time controls, and the clock of a game
//! * [`side`]: net and options of a player, and the engine that plays with them
//! * [`plan`]: all inputs that determine the games
//! * [`table`]: plays a game by its number
//! * [`score`]: results, Elo and its error
//! * [`sprt`]: the sequential test
//! * [`state`]: the file from which a match is resumed
//! * [`pgn`]: games as text
//! * [`report`]: the result as text and JSON
//! * [`run`]: a match from its first game to its last
//!
//! Both players run in this process, each with its own search threads, hash table and histories.

pub mod args;
mod clock;
mod pgn;
mod plan;
mod report;
pub mod run;
pub mod score;
mod side;
mod sprt;
pub mod state;
mod table;
