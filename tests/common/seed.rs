//! Random seeds of tests, which can be repeated.

use std::time::{SystemTime, UNIX_EPOCH};

/// Environment variable with the seed of a test to be repeated.
const VARIABLE: &str = "ZOOTHERA_SEED";

/// The seed of a test: the value of `ZOOTHERA_SEED`, or else `default`. Prints the seed, which the test runner shows if
/// the test fails.
pub fn seed(default: u64) -> u64 {
    let seed = match std::env::var(VARIABLE) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{VARIABLE}={text} is not a whole number")),
        Err(_) => default,
    };
    eprintln!("{VARIABLE}={seed} repeats the random choices of this test");
    seed
}

/// A seed from the clock, different in every run.
pub fn from_clock() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |time| time.as_nanos() as u64)
}
