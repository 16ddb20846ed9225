//! Tuning the search's parameters by games of the engine against itself.
//!
//! [`spsa`] is the optimiser and [`screen`] the experiment that says which parameters matter; neither knows anything of
//! chess. In builds with the feature `tune`, `run` and `screening` drive them with the results of `duel`, which plays
//! the games in the processes of `players`: parameters are global to a process, so that each has its own. `state` keeps
//! what they know.

#[cfg(feature = "tune")]
pub mod duel;
#[cfg(feature = "tune")]
mod players;
#[cfg(feature = "tune")]
pub mod run;
pub mod screen;
#[cfg(feature = "tune")]
pub mod screening;
pub mod spsa;
#[cfg(feature = "tune")]
mod state;
