//! The terminal: its capabilities, progress lines, and Ctrl-C.

use std::io;
use std::io::{IsTerminal, Write};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::text::printable;

/// Writer for messages that quote untrusted text. Replaces everything that could change the state of the terminal.
pub struct Printable<W>(pub W);

impl<W: Write> Write for Printable<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.0.write_all(printable(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Whether a stream is a terminal that supports ANSI escape sequences for clearing lines, cursor movement and colours.
/// Enables the sequences on older Windows consoles.
pub fn supports_escapes(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && anstyle_query::windows::enable_ansi_colors().unwrap_or(true)
}

/// Whether to write colours to a stream: it supports escape sequences, and neither `NO_COLOR` nor `TERM=dumb` is set.
pub fn use_colour(stream: &impl IsTerminal) -> bool {
    // CITE: no-color.org: any value except the empty one disables colours.
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    !dumb && !anstyle_query::no_color() && supports_escapes(stream)
}

/// Width in columns of the terminal on standard output; `None` if it is not a terminal or the width is unknown.
pub fn stdout_columns() -> Option<usize> {
    #[cfg(any(unix, windows))]
    return terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.into());
    #[cfg(not(any(unix, windows)))]
    return None;
}

// Progress line of a long job: rewritten in place on a terminal, printed every 20 seconds elsewhere, every second in
// WebAssembly, where a page shows it.

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

// Interrupts: Ctrl-C, and on Unix SIGTERM and SIGHUP. The first interrupt requests an orderly shutdown, which saves
// the results so far. A later interrupt ends the process immediately.

/// Signals within this time after the first are ignored, so that the process does not lose its work: a closed terminal
/// sends SIGHUP more than once, and service managers send SIGTERM and SIGHUP together.
const GRACE_PERIOD: Duration = Duration::from_millis(500);

/// Error of a job that an interrupt ended early. The process then exits with [`EXIT_CODE`].
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Interrupted(String);

impl Interrupted {
    /// The error with this message.
    pub fn error(message: impl Into<String>) -> anyhow::Error {
        Self(message.into()).into()
    }
}

/// Exit code of a process that was ended by an interrupt, equal to the code that shells use for Ctrl-C.
pub const EXIT_CODE: u8 = 130;

/// Flag that is set by the first interrupt.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Installs the process's signal handler, which calls `then` at the first interrupt. May be called once in a
    /// process. The flag is never set on WebAssembly, which has no signals.
    pub fn listen(then: impl Fn() + Send + 'static) -> Self {
        let interrupt = Self::default();
        let flag = interrupt.clone();
        let mut first = None;
        set_handler(move || {
            let since = first.get_or_insert_with(Instant::now).elapsed();
            if !flag.0.swap(true, SeqCst) {
                then();
            } else if since > GRACE_PERIOD {
                std::process::exit(EXIT_CODE.into());
            }
        });
        interrupt
    }

    /// The process's interrupt flag, without a callback. The first call installs the signal handler.
    pub fn shared() -> Self {
        static SHARED: OnceLock<Interrupt> = OnceLock::new();
        SHARED.get_or_init(|| Self::listen(|| ())).clone()
    }

    /// Whether an interrupt has been received.
    pub fn is_set(&self) -> bool {
        self.0.load(SeqCst)
    }
}

/// Installs a handler for the signals, unless one is already installed. SIGHUP stays ignored under `nohup`.
#[cfg(unix)]
#[allow(unsafe_code)]
fn set_handler(handler: impl FnMut() + Send + 'static) {
    // SAFETY: `signal` has no precondition, and `SIG_IGN` runs no code of ours.
    let before = unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
    let failed = ctrlc::set_handler(handler).is_err();
    if failed || before == libc::SIG_IGN {
        // SAFETY: as above; restores the previous handler.
        unsafe { libc::signal(libc::SIGHUP, before) };
    }
}

#[cfg(windows)]
fn set_handler(handler: impl FnMut() + Send + 'static) {
    // Fails if a handler is already installed, which then stays in effect.
    let _ = ctrlc::set_handler(handler);
}

#[cfg(target_family = "wasm")]
fn set_handler(_handler: impl FnMut() + Send + 'static) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_writer_filters_control_characters() {
        let mut sink = Printable(Vec::new());
        let (name, why) = ("\u{1b}]0;x\u{7}.pgn", "é\u{202e}");
        writeln!(sink, "cannot read {name}: {why}").expect("a vector");
        assert_eq!(String::from_utf8_lossy(&sink.0), "cannot read  ]0;x .pgn: é\n");
    }
}
