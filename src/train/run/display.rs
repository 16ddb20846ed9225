//! What a run shows while it runs: on a terminal one line that moves, elsewhere a line per validation.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

use super::checkpoint::Report;
use super::plot::sparkline;
use crate::util::progress::short_time;

/// How often the moving line is drawn.
const PERIOD: Duration = Duration::from_millis(250);
/// Characters of the bar.
const BAR: usize = 24;
/// Validations of the sparkline.
const SPARKS: usize = 16;

/// Writes to standard error; a failure to write is no reason to end a run.
pub struct Display {
    terminal: bool,
    drawn: Instant,
    open: bool,
}

/// How far a run has come, for the line.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    /// Share of the run that has passed, 0 to 1.
    pub done: f64,
    /// Positions shown.
    pub shown: u64,
    /// Positions a second since this process began to learn.
    pub speed: f64,
    /// Seconds that the rest will take.
    pub left: f64,
    /// Loss of the last batches.
    pub loss: f64,
    /// Every validation so far.
    pub history: &'a [Report],
}

impl Display {
    /// For this process's standard error.
    pub fn new() -> Self {
        Self {
            terminal: stderr().is_terminal(),
            drawn: Instant::now(),
            open: false,
        }
    }

    /// Draws the moving line, if there is a terminal and it is time.
    pub fn tick(&mut self, moment: Moment) {
        if !self.terminal || self.drawn.elapsed() < PERIOD {
            return;
        }
        self.drawn = Instant::now();
        self.open = true;
        let line = format!(
            "{} {:5.1} %  {:.1} M  {:.0} k/s  {} left  loss {:.6}  {}",
            bar(moment.done),
            100.0 * moment.done,
            moment.shown as f64 / 1e6,
            moment.speed / 1e3,
            short_time(moment.left),
            moment.loss,
            sparkline(moment.history, SPARKS)
        );
        let mut out = stderr().lock();
        let _ = write!(out, "\r\x1b[K{line}").and_then(|()| out.flush());
    }

    /// Prints a line that stays.
    pub fn say(&mut self, text: &str) {
        let clear = if self.open { "\r\x1b[K" } else { "" };
        self.open = false;
        let _ = writeln!(stderr(), "{clear}{text}");
    }

    /// Prints a validation.
    pub fn report(&mut self, report: &Report, moment: Moment) {
        self.say(&format!(
            "{:7.1} M  {:5.1} %  train {:.6}  held out {:.6}  rate {:.6}  {:6.1} k/s  {} left",
            report.shown as f64 / 1e6,
            100.0 * moment.done,
            report.train,
            report.held_out,
            report.rate,
            moment.speed / 1e3,
            short_time(moment.left)
        ));
    }
}

impl Default for Display {
    fn default() -> Self {
        Self::new()
    }
}

fn bar(done: f64) -> String {
    let full = (done.clamp(0.0, 1.0) * BAR as f64) as usize;
    format!("[{}{}]", "#".repeat(full), "-".repeat(BAR - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_of_one_length() {
        assert_eq!(bar(0.5), "[############------------]");
        assert_eq!(bar(7.0).len(), BAR + 2);
    }
}
