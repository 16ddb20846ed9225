//! Clocks of a game at the terminal.

use std::str::FromStr;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::board::Color;
use crate::search::{Limits, SideClock};

/// Maximum number of minutes and of seconds for each move.
const MAX_MINUTES: f64 = 600.0;
const MAX_INCREMENT: u64 = 600;

/// A time control: `5+3` is five minutes and three seconds for each move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    base: Duration,
    increment: Duration,
}

impl FromStr for Control {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (minutes, seconds) = text.trim().split_once('+').unwrap_or((text.trim(), "0"));
        let (Ok(minutes), Ok(seconds)) = (minutes.trim().parse::<f64>(), seconds.trim().parse::<u64>()) else {
            bail!("expected minutes and seconds for each move, such as 5+3");
        };
        if !(minutes > 0.0 && minutes <= MAX_MINUTES && seconds <= MAX_INCREMENT) {
            bail!("expected more than 0 and at most 600 minutes, and at most 600 seconds for each move");
        }
        Ok(Self { base: Duration::from_secs_f64(60.0 * minutes), increment: Duration::from_secs(seconds) })
    }
}

impl Control {
    /// The value of the tag `TimeControl`: `300+3`.
    pub(super) fn tag(self) -> String {
        match self.increment.as_secs() {
            0 => self.base.as_secs().to_string(),
            increment => format!("{}+{increment}", self.base.as_secs()),
        }
    }

    /// `5:00 and 3 s for each move`
    pub(super) fn in_words(self) -> String {
        match self.increment.as_secs() {
            0 => shown(self.base),
            increment => format!("{} and {increment} s for each move", shown(self.base)),
        }
    }
}

/// The clocks of both sides, and those before each move.
pub(super) struct Clocks {
    increment: Duration,
    /// White's and Black's time.
    left: [Duration; 2],
    before: Vec<[Duration; 2]>,
}

impl Clocks {
    pub(super) fn new(control: Control) -> Self {
        Self { increment: control.increment, left: [control.base; 2], before: Vec::new() }
    }

    /// Ends a turn. Returns the seconds left.
    pub(super) fn press(&mut self, color: Color, used: Duration) -> f64 {
        self.before.push(self.left);
        let left = &mut self.left[color.fold_wb(0, 1)];
        *left = left.saturating_sub(used) + self.increment;
        left.as_secs_f64()
    }

    /// Restores the clocks before the last move.
    pub(super) fn take_back(&mut self) {
        if let Some(before) = self.before.pop() {
            self.left = before;
        }
    }

    fn left(&self, color: Color) -> Duration {
        self.left[color.fold_wb(0, 1)]
    }

    /// Whether this side's time is up after this time of its turn.
    pub(super) fn is_up(&self, color: Color, used: Duration) -> bool {
        used >= self.left(color)
    }

    /// A side's time at the start of its turn.
    pub(super) fn shown(&self, color: Color) -> String {
        shown(self.left(color))
    }

    /// Both clocks during the user's turn.
    pub(super) fn both(&self, user: Color, used: Duration) -> String {
        let yours = shown(self.left(user).saturating_sub(used));
        format!("You have {yours}, the engine has {}", self.shown(!user))
    }

    /// Limits of the engine's search.
    pub(super) fn limits(&self) -> Limits {
        let side = |color: Color| SideClock {
            time: Some(self.left(color).as_millis() as i64),
            increment: self.increment.as_millis() as i64,
        };
        Limits { white: side(Color::White), black: side(Color::Black), ..Limits::default() }
    }
}

/// `4:58`, or `0:09.3` in the last twenty seconds.
fn shown(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 20 {
        return format!("0:{:02}.{}", seconds, time.subsec_millis() / 100);
    }
    match seconds / 3600 {
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_accepts_minutes_and_seconds() {
        let tag = |text: &str| text.parse::<Control>().map(Control::tag).ok();
        for (text, expected) in [("5+3", "300+3"), ("5", "300"), ("0.5+0", "30"), (" 90 + 30 ", "5400+30")] {
            assert_eq!(tag(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "x", "5+x", "-1", "0", "601", "5+601", "nan", "inf", "5+3+1"] {
            assert_eq!(tag(text), None, "{text}");
        }
    }

    #[test]
    fn clocks_add_the_increment_and_restore_a_move() {
        let mut clocks = Clocks::new("1+2".parse().expect("a control"));
        assert_eq!(clocks.press(Color::White, Duration::from_secs(12)), 50.0);
        assert_eq!((clocks.shown(Color::White), clocks.shown(Color::Black)), ("0:50".into(), "1:00".into()));
        assert!(!clocks.is_up(Color::White, Duration::from_secs(49)));
        assert!(clocks.is_up(Color::White, Duration::from_secs(50)));
        assert_eq!(clocks.both(Color::White, Duration::from_millis(40_700)), "You have 0:09.3, the engine has 1:00");
        clocks.take_back();
        assert_eq!(clocks.shown(Color::White), "1:00");
    }
}
