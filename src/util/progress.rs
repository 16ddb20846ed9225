//! Progress line of a long job: rewritten in place on a terminal, printed every 20 seconds elsewhere, every second in
//! WebAssembly, where a page shows it.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use super::console::supports_escapes;

/// Minimum time between updates on a terminal.
const TERMINAL_PERIOD: Duration = Duration::from_millis(500);
/// Minimum time between lines in a log.
const LOG_PERIOD: Duration = Duration::from_secs(if cfg!(target_family = "wasm") { 1 } else { 20 });

/// Prints progress lines to standard error at a limited rate.
pub struct ProgressLine {
    /// Whether standard error is a terminal that supports escape sequences.
    terminal: bool,
    started: Instant,
    /// Time of the last line.
    shown: Option<Instant>,
}

impl ProgressLine {
    /// A progress line that has not been printed; starts the clock.
    pub fn new() -> Self {
        Self { terminal: supports_escapes(&io::stderr()), started: Instant::now(), shown: None }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Prints a line if enough time has passed since the last one. `line` takes the seconds since the start.
    pub fn tick(&mut self, line: impl FnOnce(f64) -> String) {
        let period = if self.terminal { TERMINAL_PERIOD } else { LOG_PERIOD };
        let since = self.shown.unwrap_or(self.started).elapsed();
        if since >= period {
            self.shown = Some(Instant::now());
            self.show(&line(self.seconds()), false);
        }
    }

    /// Prints the last line.
    pub fn finish(&mut self, line: &str) {
        self.show(line, true);
    }

    /// Clears the line on a terminal, before other output.
    pub fn clear(&self) {
        if self.terminal && self.shown.is_some() {
            let mut err = io::stderr().lock();
            let _ = write!(err, "\r\x1b[K");
            let _ = err.flush();
        }
    }

    /// Prints a line and ignores errors: the job continues if standard error is closed.
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
