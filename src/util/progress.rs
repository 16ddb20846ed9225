//! A line that tells how far a long job has come: rewritten in place on a terminal, printed now and then elsewhere.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// How often a terminal's line is rewritten.
const TERMINAL_PERIOD: Duration = Duration::from_millis(500);
/// How often a log gets a line.
const LOG_PERIOD: Duration = Duration::from_secs(20);

/// Shows lines on standard error, not too often.
pub struct Progress {
    terminal: bool,
    started: Instant,
    shown: Option<Instant>,
}

impl Progress {
    /// Nothing shown yet; the clock starts.
    pub fn new() -> Self {
        Self {
            terminal: io::stderr().is_terminal(),
            started: Instant::now(),
            shown: None,
        }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Shows the line if it is time to.
    pub fn tick(&mut self, line: impl FnOnce(f64) -> String) {
        let period = if self.terminal {
            TERMINAL_PERIOD
        } else {
            LOG_PERIOD
        };
        let since = self.shown.unwrap_or(self.started).elapsed();
        if since >= period {
            self.shown = Some(Instant::now());
            self.show(&line(self.seconds()), false);
        }
    }

    /// Shows the last line.
    pub fn finish(&mut self, line: &str) {
        self.show(line, true);
    }

    /// A closed standard error is no reason to stop.
    fn show(&self, line: &str, last: bool) {
        let mut err = io::stderr().lock();
        let _ = match (self.terminal, last) {
            (true, false) => write!(err, "\r{line}\x1b[K"),
            (true, true) => writeln!(err, "\r{line}\x1b[K"),
            (false, _) => writeln!(err, "{line}"),
        };
        let _ = err.flush();
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

/// A number as people read it: 812, 45.1 k, 3.20 M, 1.07 G.
pub fn short_number(value: f64) -> String {
    match value {
        v if v < 1e3 => format!("{v:.0}"),
        v if v < 1e6 => format!("{:.1} k", v / 1e3),
        v if v < 1e9 => format!("{:.2} M", v / 1e6),
        v => format!("{:.2} G", v / 1e9),
    }
}

/// A time as people read it: 42 s, 3 min 05 s, 2 h 10 min.
pub fn short_time(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "?".to_owned();
    }
    let seconds = seconds.round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_for_people() {
        assert_eq!(short_number(812.0), "812");
        assert_eq!(short_number(45_123.0), "45.1 k");
        assert_eq!(short_number(3.2e6), "3.20 M");
        assert_eq!(short_time(42.2), "42 s");
        assert_eq!(short_time(185.0), "3 min 05 s");
        assert_eq!(short_time(7830.0), "2 h 10 min");
        assert_eq!(short_time(f64::NAN), "?");
    }
}
