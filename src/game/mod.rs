//! Games of the engine against itself, as used by data generation, tuning and matches.
//!
//! * [`clock`]: time controls, and the clock of a game
//! * [`ending`]: result and cause of a game's end
//! * [`play`]: threads that play numbered games, which are returned in order; starting positions, checked by a small
//!   search; the limits of a move, a game until the rules of chess or adjudication end it, and the tally of games
//!
//! The random numbers of a game depend only on the seed and the number of the game, so results do not depend on the
//! number of threads.

#[cfg(feature = "full")]
pub mod clock;
// Reviews use it, also without the feature `full`.
pub mod ending;
#[cfg(feature = "full")]
pub mod play;
