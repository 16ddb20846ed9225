//! Chance in tests: a seed that can be given again.

use std::time::{SystemTime, UNIX_EPOCH};

/// The variable that repeats a test.
const VARIABLE: &str = "ZOOTHERA_SEED";

/// The seed of a test: the value of `ZOOTHERA_SEED`, or else `usual`. What is printed here is shown if the test fails.
pub fn seed(usual: u64) -> u64 {
    let seed = match std::env::var(VARIABLE) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{VARIABLE}={text} is no whole number")),
        Err(_) => usual,
    };
    eprintln!("{VARIABLE}={seed} repeats this test's random choices");
    seed
}

/// Another number in every run.
#[allow(dead_code)] // Not every test program with a seed wants a new one each time.
pub fn of_the_clock() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |time| time.as_nanos() as u64)
}
