//! Tuning of the search parameters by self-play.
//!
//! [`methods`] has the optimiser, and the experiment that measures which parameters matter. Both are independent of
//! chess. In builds with the feature `tune`, `runs` feeds them with the results of games, and saves and loads the
//! progress. `duel` plays the games in processes of their own, because parameters are global to a process.

#[cfg(feature = "tune")]
pub mod duel;
pub mod methods;
#[cfg(feature = "tune")]
pub mod runs;
