//! A line that tells how far a long job has come: rewritten in place on a terminal, printed now and then elsewhere.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use super::console::obeys_escapes;

/// How often a terminal's line is rewritten.
const TERMINAL_PERIOD: Duration = Duration::from_millis(500);
/// How often a log gets a line.
const LOG_PERIOD: Duration = Duration::from_secs(20);

/// Shows lines on standard error, not too often.
pub struct ProgressLine {
    terminal: bool,
    started: Instant,
    shown: Option<Instant>,
}

impl ProgressLine {
    /// Nothing shown yet; the clock starts.
    pub fn new() -> Self {
        Self {
            terminal: obeys_escapes(&io::stderr()),
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

impl Default for ProgressLine {
    fn default() -> Self {
        Self::new()
    }
}
