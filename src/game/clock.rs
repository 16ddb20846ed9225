//! Time controls, and the clock of a game.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::board::Color;
use crate::search::{Limits, SideClock};

/// A time control: `8+0.08`, `40/60+0.5`, `1:30+1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeControl {
    /// Moves for which the time is given; `None` for the whole game.
    moves: Option<u32>,
    /// Time in milliseconds.
    time: i64,
    /// Increment per move in milliseconds.
    increment: i64,
}

/// Milliseconds of `8`, `0.08` or `1:30`.
fn milliseconds(text: &str) -> Option<i64> {
    let (minutes, seconds) = text.split_once(':').unwrap_or(("0", text));
    let (minutes, seconds): (u32, f64) = (minutes.parse().ok()?, seconds.parse().ok()?);
    let time = 60_000.0 * f64::from(minutes) + 1000.0 * seconds;
    (seconds.is_sign_positive() && time < 1e9).then_some(time.round() as i64)
}

impl FromStr for TimeControl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = || {
            let (moves, rest) = match text.split_once('/') {
                Some((moves, rest)) => (Some(moves.parse().ok().filter(|&m| m > 0)?), rest),
                None => (None, text),
            };
            let (time, increment) = rest.split_once('+').unwrap_or((rest, "0"));
            Some(Self {
                moves,
                time: milliseconds(time).filter(|&time| time > 0)?,
                increment: milliseconds(increment)?,
            })
        };
        parsed().ok_or_else(|| "a time control is [MOVES/]SECONDS[+INCREMENT], as in 8+0.08, 40/60 or 1:30+1".into())
    }
}

/// Formats the control as in PGN's tag `TimeControl`.
impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let seconds = |ms: i64| ms as f64 / 1000.0;
        if let Some(moves) = self.moves {
            write!(f, "{moves}/")?;
        }
        write!(f, "{}", seconds(self.time))?;
        if self.increment > 0 {
            write!(f, "+{}", seconds(self.increment))?;
        }
        Ok(())
    }
}

/// The time of a search on a clock that counts nodes.
pub fn time_of_nodes(nodes: u64, nodes_per_ms: u64) -> Duration {
    Duration::from_secs_f64(nodes as f64 / nodes_per_ms as f64 / 1000.0)
}

/// The clock of both sides in one game.
#[derive(Clone, Debug)]
pub struct Clock {
    control: TimeControl,
    /// Microseconds left of White and Black.
    left: [i64; 2],
    /// Moves made by White and Black.
    moves: [u32; 2],
}

impl Clock {
    /// A clock that has not started.
    pub fn new(control: TimeControl) -> Self {
        Self { control, left: [1000 * control.time; 2], moves: [0; 2] }
    }

    /// The limits of the next move of `turn`.
    pub fn limits(&self, turn: Color, limits: &Limits) -> Limits {
        let side = |index: usize| SideClock { time: Some(self.left[index] / 1000), increment: self.control.increment };
        let made = self.moves[index(turn)];
        let to_go = |moves: u32| i64::from(moves - made % moves);
        Limits { white: side(0), black: side(1), moves_to_go: self.control.moves.map(to_go), ..limits.clone() }
    }

    /// Subtracts the time of a move by `turn`. Returns false if the time left plus `margin` was not enough.
    pub fn charge(&mut self, turn: Color, spent: Duration, margin: Duration) -> bool {
        let micros = |time: Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        let side = index(turn);
        self.left[side] -= micros(spent);
        if self.left[side] + micros(margin) < 0 {
            return false;
        }
        self.left[side] = self.left[side].max(0) + 1000 * self.control.increment;
        self.moves[side] += 1;
        if self.control.moves.is_some_and(|m| self.moves[side].is_multiple_of(m)) {
            self.left[side] += 1000 * self.control.time;
        }
        true
    }
}

fn index(color: Color) -> usize {
    usize::from(color.is_black())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_controls_are_read_and_written() {
        for (text, written) in [("8+0.08", "8+0.08"), ("40/60", "40/60"), ("1:30+1", "90+1"), ("0.5", "0.5")] {
            let control: TimeControl = text.parse().expect(text);
            assert_eq!(control.to_string(), written);
        }
        for text in ["", "0", "+1", "8+", "8-1", "-8", "0/60", "x", "8+0.08+1", "inf", "NaN"] {
            assert!(text.parse::<TimeControl>().is_err(), "{text}");
        }
    }

    #[test]
    fn clock_adds_increment_and_next_control_and_falls() {
        let mut clock = Clock::new("2/1+0.1".parse().expect("a control"));
        let white = |clock: &Clock| {
            let limits = clock.limits(Color::White, &Limits::default());
            (limits.white.time, limits.moves_to_go)
        };
        let seconds = Duration::from_millis;
        assert_eq!(white(&clock), (Some(1000), Some(2)));
        assert!(clock.charge(Color::White, seconds(300), Duration::ZERO));
        assert_eq!(white(&clock), (Some(800), Some(1)));
        assert!(clock.charge(Color::White, seconds(800), Duration::ZERO));
        assert_eq!(white(&clock), (Some(1100), Some(2)));
        assert!(!clock.clone().charge(Color::White, seconds(1101), Duration::ZERO));
        assert!(clock.charge(Color::White, seconds(1101), seconds(5)));
        let black = clock.limits(Color::Black, &Limits::default());
        assert_eq!(black.black.time, Some(1000));
    }
}
