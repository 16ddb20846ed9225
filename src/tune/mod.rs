//! Tuning the search's parameters by games of the engine against itself.
//!
//! [`spsa`] is the optimiser, which knows nothing of chess. In builds with the feature `tune`, `run` drives it with the
//! results of `duel`, whose processes play the games: parameters are global to a process, so that each has its own.

#[cfg(feature = "tune")]
pub mod duel;
#[cfg(feature = "tune")]
pub mod run;
pub mod spsa;
