//! Making training data: games of the engine against itself, on all cores.
//!
//! * [`sample`]: positions from inside the search, labelled with the network's static evaluation: many and cheap
//!   ([`sample_buffer`] gathers, labels and encodes them)
//! * [`selfplay`]: whole games, every position with the score of its search
//! * [`workers`], [`store`]: games that are written in the order of their numbers, and the file that can be continued
//!   after any kind of end
//!
//! Openings, the games themselves and the threads that play them are in [`crate::game`].
//!
//! Every game draws its random numbers from the seed and its own number, and starts with nothing remembered: the data
//! depend on the seed and the settings, not on the number of threads nor on interruptions.

pub mod sample;
pub mod sample_buffer;
pub mod selfplay;
pub mod store;
pub mod workers;
