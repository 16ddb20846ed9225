//! The search threads and their shared state.
//!
//! * [`job`]: the state of one search that its threads share
//! * [`worker`]: the state of one thread, and the only functions that make and undo a move
//! * [`pool`], [`actor`], [`vote`]: start, control and end of the threads, and their vote on the best move
//! * [`solo`]: a search on the caller's thread, and an observer of its positions, for data generation

pub mod actor;
pub mod job;
pub mod pool;
pub mod solo;
pub mod vote;
pub mod worker;
