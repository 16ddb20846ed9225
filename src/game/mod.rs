//! Games of the engine against itself: what data generation, tuning and matches share.
//!
//! * [`openings`]: where games begin, judged by a small search
//! * [`limits`]: what a move may cost
//! * [`referee`]: plays a game, and ends it by the rules or by the scores
//! * [`ending`]: how a game ended
//! * [`tally`]: games won, drawn and lost
//! * [`workers`]: threads that play numbered games, and hand them over in the order of their numbers
//!
//! Every game draws its random numbers from the seed and its own number. So results do not depend on the number of
//! threads.

pub mod ending;
pub mod limits;
pub mod openings;
pub mod referee;
pub mod tally;
pub mod workers;
