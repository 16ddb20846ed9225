//! Generation of training data by self-play on all cores.
//!
//! * [`sample`]: positions sampled from search trees, labelled with a static evaluation: many and cheap
//! * [`selection`]: which positions: drops those with a winning exchange, adds children by random moves, and chooses
//!   the starts of further games from endgames
//! * [`games`]: writing of games in the order of their numbers, and the output file, which can be resumed after any
//!   interruption; self-play games, with the score of its search for every position
//!
//! Openings, play, adjudication and worker threads are in [`crate::game`].
//!
//! Every game takes its random numbers from the seed and its own number, and starts with empty hash tables and
//! histories. The data therefore depend on the seed and the settings, not on the number of threads or interruptions.

pub mod games;
pub mod sample;
pub mod selection;
