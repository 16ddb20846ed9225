//! Progress display of a run: a moving line on a terminal, one line per validation elsewhere.

use std::io::{Write, stderr};
use std::time::{Duration, Instant};

use crate::train::run::checkpoint::Validation;
use crate::train::run::plot::sparkline;
use crate::util::console::supports_escapes;
use crate::util::quantity::short_time;

/// Interval at which the moving line is drawn.
const PERIOD: Duration = Duration::from_millis(250);
/// Width of the bar in characters.
const BAR: usize = 24;
/// Number of validations in the sparkline.
const SPARKS: usize = 16;

/// Writes progress to standard error and ignores write errors, which should not end a run.
pub struct RunDisplay {
    /// Whether permanent lines are omitted.
    pub quiet: bool,
    terminal: bool,
    drawn: Instant,
    open: bool,
}

/// Progress of a run, for the moving line.
#[derive(Clone, Copy)]
pub struct Status<'a> {
    /// Completed share of the run, 0 to 1.
    pub done: f64,
    /// Positions shown.
    pub shown: u64,
    /// Positions per second since this process started training.
    pub speed: f64,
    /// Estimated seconds to the end.
    pub left: f64,
    /// Loss of the last batch.
    pub loss: f64,
    /// Every validation so far.
    pub history: &'a [Validation],
}

impl RunDisplay {
    /// Creates a display for this process's standard error.
    pub fn new() -> Self {
        Self { quiet: false, terminal: supports_escapes(&stderr()), drawn: Instant::now(), open: false }
    }

    /// Draws the moving line, if standard error is a terminal and [`PERIOD`] has passed.
    pub fn tick(&mut self, status: Status) {
        if !self.terminal || self.drawn.elapsed() < PERIOD {
            return;
        }
        self.drawn = Instant::now();
        self.open = true;
        let line = format!(
            "{} {:5.1} %  {:.1} M  {:.0} k/s  {} left  loss {:.6}  {}",
            bar(status.done),
            100.0 * status.done,
            status.shown as f64 / 1e6,
            status.speed / 1e3,
            short_time(status.left),
            status.loss,
            sparkline(status.history, SPARKS)
        );
        let mut out = stderr().lock();
        let _ = write!(out, "\r\x1b[K{line}").and_then(|()| out.flush());
    }

    /// Prints a permanent line.
    pub fn print(&mut self, text: &str) {
        let clear = if self.open { "\r\x1b[K" } else { "" };
        self.open = false;
        let _ = if self.quiet { write!(stderr(), "{clear}") } else { writeln!(stderr(), "{clear}{text}") };
    }

    /// Prints a validation.
    pub fn report(&mut self, report: &Validation, status: Status) {
        self.print(&format!(
            "{:7.1} M  {:5.1} %  train {:.6}  held out {}  rate {}  {:6.1} k/s  {} left",
            report.shown as f64 / 1e6,
            100.0 * status.done,
            report.train,
            report.measured().map_or_else(|| "none".to_owned(), |loss| format!("{loss:.6}")),
            short_rate(report.rate),
            status.speed / 1e3,
            short_time(status.left)
        ));
    }
}

impl Default for RunDisplay {
    fn default() -> Self {
        Self::new()
    }
}

/// Formats a learning rate with at most four significant digits, as people type it: 0.004, 0.0002, 0.000001234.
pub fn short_rate(rate: f32) -> String {
    let rounded: f64 = format!("{rate:.3e}").parse().unwrap_or(rate.into());
    format!("{rounded}")
}

fn bar(done: f64) -> String {
    let full = (done.clamp(0.0, 1.0) * BAR as f64) as usize;
    format!("[{}{}]", "#".repeat(full), "-".repeat(BAR - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_print_as_typed() {
        let texts = [0.004, 0.0002, 0.000_000_12, 0.003_892_343, 1.0, 0.0].map(short_rate);
        assert_eq!(texts, ["0.004", "0.0002", "0.00000012", "0.003892", "1", "0"]);
    }

    #[test]
    fn bar_has_constant_length() {
        assert_eq!(bar(0.5), "[############------------]");
        assert_eq!(bar(7.0).len(), BAR + 2);
    }
}
