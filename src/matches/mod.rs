//! `zoothera match`: two nets or two settings of this program play each other.
//!
//! * [`args`]: the command line
//! * [`clock`]: time controls, and the clock of a game
//! * [`side`]: net and options of a player, and the engine that plays with them
//! * [`plan`]: all that the games depend on
//! * [`table`]: plays a game by its number
//! * [`score`]: results, Elo and its error
//! * [`sprt`]: the sequential test
//! * [`state`]: the file from which a match is continued
//! * [`pgn`]: games as text
//! * [`report`]: the result as text and JSON
//! * [`run`]: a match from its first game to its last
//!
//! Both players are in this process. A player has its own search threads, hash table and histories.

pub mod args;
mod clock;
mod pgn;
mod plan;
mod report;
pub mod run;
mod score;
mod side;
mod sprt;
mod state;
mod table;
