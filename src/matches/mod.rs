//! `zoothera match`: matches between two nets or two sets of options.
//!
//! * [`side`]: net and options of a player, and the engine that plays with them
//! * [`plan`]: the command line, and all inputs that determine the games
//! * [`table`]: plays a game by its number, and writes it as text
//! * [`score`]: results, Elo and its error, and the sequential test
//! * [`report`]: the file from which a match is resumed; the result as text and JSON
//! * [`run`]: a match from its first game to its last
//!
//! Both players run in this process, each with its own search threads, hash table and histories.

pub mod plan;
pub mod report;
pub mod run;
pub mod score;
mod side;
mod table;
