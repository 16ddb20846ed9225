//! Generation of training data by self-play on all cores.
//!
//! * [`sample`]: positions sampled from search trees, labelled with a static evaluation: many and cheap
//!   ([`sample_buffer`] collects, labels and encodes them, [`made`] adds children by random moves, [`endgames`] chooses
//!   starts of further games, [`noisy`] drops positions with a winning exchange)
//! * [`selfplay`]: whole games, every position with the score of its search
//! * [`workers`], [`store`]: writing of games in the order of their numbers, and the output file, which can be resumed
//!   after any interruption
//! * `attack_changes`: for tests, the rows of attack inputs that a move of the search changes
//!
//! Openings, play, adjudication and worker threads are in [`crate::game`].
//!
//! Every game takes its random numbers from the seed and its own number, and starts with empty hash tables and
//! histories. The data therefore depend on the seed and the settings, not on the number of threads or interruptions.

#[cfg(test)]
mod attack_changes;
pub mod endgames;
pub mod made;
pub mod noisy;
pub mod sample;
pub mod sample_buffer;
pub mod selfplay;
pub mod store;
pub mod workers;
