//! Tuning of the search parameters by self-play.
//!
//! [`spsa`] is the optimiser, and [`screen`] the experiment that measures which parameters matter. Both are independent
//! of chess. In builds with the feature `tune`, `run` and `screening` feed them with the results of games. `duel` plays
//! the games in processes of their own, because parameters are global to a process. `state` saves and loads the
//! progress.

#[cfg(feature = "tune")]
pub mod duel;
#[cfg(feature = "tune")]
pub mod run;
pub mod screen;
#[cfg(feature = "tune")]
pub mod screening;
pub mod spsa;
#[cfg(feature = "tune")]
mod state;
