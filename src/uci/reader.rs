//! The reader thread. It never waits for the engine thread: `stop`, `ponderhit`, `quit` and (during a long job)
//! `isready` are executed at once. Everything else, including error messages, passes through the mailbox in order.
//!
//! The end of the input only means that no more commands follow. The queued commands are still executed. A search
//! without a limit is stopped, because no `stop` can arrive.

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::thread;
use std::time::{Duration, Instant};

use super::command::{Command, CommandError};
use super::mailbox::{Mailbox, Message};
use super::output::Output;
use crate::util::text::excerpt;

/// Maximum length of a line in bytes. A game of 5000 moves takes 0.05 MiB.
const MAX_LINE: usize = 4 << 20;
/// Bytes of unprocessed input at which the reader slows down, to bound the memory.
const MAX_BACKLOG: usize = 64 << 20;
/// Time limit for the quick commands in the queue after `quit`.
const QUIT_TIMEOUT: Duration = Duration::from_secs(1);
/// Time limit for a search or a long job to stop after `quit`.
const STOP_TIMEOUT: Duration = Duration::from_millis(50);

/// A line of input.
#[derive(Debug, PartialEq, Eq)]
enum Input {
    Text(String),
    TooLong,
    End,
}

/// Reads `input` to its end or to `quit`. After `quit` it calls `exit`; after the end of the input, the engine thread
/// ends the process.
pub struct Reader {
    /// Receiver of the commands.
    pub mailbox: Mailbox,
    /// Receiver of immediate replies.
    pub output: Output,
    /// Whether to report unknown words before `uci`. This helps a person, but not a GUI that tries several protocols.
    pub reports_unknown: bool,
    /// Ends the process; does nothing in tests.
    pub exit: fn(),
}

impl Reader {
    /// Reads on the current thread.
    pub fn run(self, input: impl Read) {
        self.run_between(input, || {});
    }

    /// Reads on the current thread, and calls `work` after every command.
    pub fn run_between(self, input: impl Read, mut work: impl FnMut()) {
        let mut input = BufReader::with_capacity(1 << 16, input);
        let mut is_uci = self.reports_unknown;
        for number in 1_u64.. {
            let text = match read_line(&mut input) {
                Input::Text(text) => text,
                Input::TooLong => {
                    let limit = MAX_LINE >> 20;
                    self.report(format!("skipped a line of more than {limit} MiB"));
                    continue;
                }
                Input::End => {
                    self.mailbox.end_input();
                    return self.mailbox.send(Message::End, 0);
                }
            };
            self.output.log_input(&text);
            match text.parse() {
                Ok(Command::Quit) => break,
                Ok(command) => {
                    is_uci |= command == Command::Uci;
                    if command.writes_file() {
                        self.mailbox.expect_write();
                    }
                    self.dispatch(number, command, text.len());
                }
                Err(error) => self.reject(error, is_uci),
            }
            work();
            while self.mailbox.backlog() > MAX_BACKLOG && self.mailbox.is_busy() {
                thread::sleep(Duration::from_millis(1));
            }
        }
        self.quit();
    }

    fn dispatch(&self, number: u64, command: Command, bytes: usize) {
        match command {
            Command::Stop => self.mailbox.stop(number),
            Command::PonderHit => self.mailbox.ponderhit(number),
            Command::IsReady if self.is_ready() => self.output.line("readyok"),
            command => self.mailbox.send(Message::Command(number, Box::new(command)), bytes),
        }
    }

    /// Whether `isready` can be answered at once: the queue is empty, or a long job is running that the GUI must not
    /// mistake for a hang. Otherwise the reply waits in the queue, for example after a change of the hash size.
    fn is_ready(&self) -> bool {
        let started = self.mailbox.controller().is_some();
        self.mailbox.has_long_job() || (started && !self.mailbox.is_busy())
    }

    /// Reports an invalid line.
    fn reject(&self, error: CommandError, is_uci: bool) {
        match error {
            CommandError::Empty => {}
            CommandError::Malformed(reason) => self.report(reason),
            CommandError::Unknown(text) if is_uci => {
                self.report(format!("unknown command: {}", excerpt(&text)));
            }
            CommandError::Unknown(_) => {}
        }
    }

    /// Queues an error message, after the output of earlier lines.
    fn report(&self, reason: String) {
        let bytes = reason.len();
        self.mailbox.send(Message::Reject(reason), bytes);
    }

    /// Stops the search, gives quick commands in the queue and file writes time to finish, and exits.
    fn quit(self) {
        self.mailbox.stop(u64::MAX);
        self.mailbox.send(Message::End, 0);
        let start = Instant::now();
        while self.mailbox.is_busy() {
            let running = self.mailbox.is_searching() || self.mailbox.has_long_job();
            let timeout = if running { STOP_TIMEOUT } else { QUIT_TIMEOUT };
            if start.elapsed() > timeout && !self.mailbox.is_writing() {
                break;
            }
            thread::sleep(Duration::from_micros(200));
        }
        self.output.flush(STOP_TIMEOUT);
        (self.exit)();
    }
}

/// The next line. Invalid UTF-8 is replaced by replacement characters.
fn read_line(input: &mut impl BufRead) -> Input {
    let mut line = Vec::new();
    let mut too_long = false;
    loop {
        let chunk = match input.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => &[], // A read error counts as the end of the input.
        };
        if chunk.is_empty() {
            if line.is_empty() && !too_long {
                return Input::End;
            }
            break;
        }
        let end = chunk.iter().position(|&byte| byte == b'\n');
        let taken = end.unwrap_or(chunk.len());
        too_long |= line.len() + taken > MAX_LINE;
        if too_long {
            line.clear();
        } else {
            line.extend_from_slice(&chunk[..taken]);
        }
        input.consume(end.map_or(taken, |end| end + 1));
        if end.is_some() {
            break;
        }
    }
    if too_long { Input::TooLong } else { Input::Text(String::from_utf8_lossy(&line).into_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8], capacity: usize) -> Vec<Input> {
        let mut input = BufReader::with_capacity(capacity, bytes);
        std::iter::from_fn(|| Some(read_line(&mut input)).filter(|line| *line != Input::End)).collect()
    }

    #[test]
    fn read_line_accepts_any_bytes() {
        for capacity in [1, 3, 4096] {
            let read = lines(b"uci\r\n\n\xff\xfe go\0\nlast without end", capacity);
            let expected = ["uci\r", "", "\u{fffd}\u{fffd} go\0", "last without end"];
            assert_eq!(read, expected.map(|text| Input::Text(text.into())));
        }
    }

    #[test]
    fn read_line_skips_too_long_line() {
        let mut bytes = vec![b'x'; MAX_LINE + 1];
        bytes.extend_from_slice(b"\nisready\n");
        assert_eq!(lines(&bytes, 4096), [Input::TooLong, Input::Text("isready".into())]);
        assert_eq!(lines(&vec![b'y'; MAX_LINE], 4096).len(), 1);
    }
}
