//! Games of the engine against itself, as used by data generation, tuning and matches.
//!
//! * [`openings`]: starting positions, checked by a small search
//! * [`limits`]: search limits of a move
//! * [`referee`]: plays a game until the rules of chess or adjudication end it
//! * [`ending`]: result and cause of a game's end
//! * [`tally`]: games won, drawn and lost
//! * [`workers`]: threads that play numbered games; the games are returned in order
//!
//! The random numbers of a game depend only on the seed and the number of the game, so results do not depend on the
//! number of threads.

pub mod ending;
pub mod limits;
pub mod openings;
pub mod referee;
pub mod tally;
pub mod workers;
