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
use crate::util::threads;

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
    /// No complete line has arrived, and waiting is not possible.
    Nothing,
    End,
}

/// Result of [`Reader::read_command`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A line was read and dispatched.
    Read,
    /// No complete line has arrived.
    Nothing,
    /// No line follows: the input has ended, or `quit` was read.
    Ended,
}

/// Reads `input` to its end or to `quit`. After `quit` it calls `exit`; after the end of the input, the engine thread
/// ends the process.
pub struct Reader {
    /// Receiver of the commands.
    mailbox: Mailbox,
    /// Receiver of immediate replies.
    output: Output,
    /// Whether to report unknown words: before `uci` only to a person, because a GUI may try several protocols.
    is_uci: bool,
    /// Ends the process; does nothing in tests.
    exit: fn(),
    lines: Lines<BufReader<Box<dyn Read + Send>>>,
    /// Number of the last line.
    number: u64,
}

impl Reader {
    /// A reader of `input`. `reports_unknown` is whether unknown words before `uci` are errors.
    pub fn new(
        input: impl Read + Send + 'static,
        mailbox: Mailbox,
        output: Output,
        reports_unknown: bool,
        exit: fn(),
    ) -> Self {
        let input: Box<dyn Read + Send> = Box::new(input);
        let lines = Lines::new(BufReader::with_capacity(1 << 16, input));
        Self { mailbox, output, is_uci: reports_unknown, exit, lines, number: 0 }
    }

    /// Reads on the current thread, and calls `work` after every command.
    pub fn run(mut self, mut work: impl FnMut()) {
        loop {
            match self.read_command() {
                Progress::Read => work(),
                // An input that cannot be waited for counts as ended.
                Progress::Nothing => return self.end(),
                Progress::Ended => return,
            }
            while self.mailbox.backlog() > MAX_BACKLOG && self.mailbox.is_busy() {
                thread::sleep(Duration::from_millis(1));
            }
        }
    }

    /// Reads and dispatches one line.
    pub fn read_command(&mut self) -> Progress {
        self.number += 1;
        let text = match self.lines.next() {
            Input::Text(text) => text,
            Input::TooLong => {
                let limit = MAX_LINE >> 20;
                self.report(format!("skipped a line of more than {limit} MiB"));
                return Progress::Read;
            }
            Input::Nothing => return Progress::Nothing,
            Input::End => {
                self.end();
                return Progress::Ended;
            }
        };
        self.output.log_input(&text);
        match text.parse() {
            Ok(Command::Quit) => {
                self.quit();
                return Progress::Ended;
            }
            Ok(command) => {
                self.is_uci |= command == Command::Uci;
                if command.writes_file() {
                    self.mailbox.expect_write();
                }
                self.dispatch(self.number, command, text.len());
            }
            Err(error) => self.reject(error, self.is_uci),
        }
        Progress::Read
    }

    /// Announces the end of the input.
    fn end(&self) {
        self.mailbox.end_input();
        self.mailbox.send(Message::End, 0);
    }

    fn dispatch(&self, number: u64, command: Command, bytes: usize) {
        match command {
            Command::Stop => self.mailbox.stop(number),
            Command::PonderHit => self.mailbox.ponderhit(number),
            Command::IsReady if self.is_ready() => self.output.line("readyok"),
            command => {
                // A searching thread processes the command only after the end of the search.
                if !threads::EXIST && command.ends_search() {
                    self.mailbox.stop(number);
                }
                self.mailbox.send(Message::Command(number, Box::new(command)), bytes);
            }
        }
    }

    /// Whether `isready` can be answered at once: the queue is empty, or a long job is running that the GUI must not
    /// mistake for a hang. Otherwise the reply waits in the queue, for example after a change of the hash size.
    fn is_ready(&self) -> bool {
        let started = self.mailbox.controller().is_some();
        self.mailbox.has_long_job() || (started && !self.mailbox.is_waiting())
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
    fn quit(&self) {
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

/// Splits input into lines. A part of a line is kept until its rest arrives.
struct Lines<R> {
    input: R,
    line: Vec<u8>,
    too_long: bool,
}

impl<R: BufRead> Lines<R> {
    fn new(input: R) -> Self {
        Self { input, line: Vec::new(), too_long: false }
    }

    /// The next line. Invalid UTF-8 is replaced by replacement characters.
    fn next(&mut self) -> Input {
        loop {
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Input::Nothing,
                Err(_) => &[], // A read error counts as the end of the input.
            };
            if chunk.is_empty() {
                if self.line.is_empty() && !self.too_long {
                    return Input::End;
                }
                break;
            }
            let end = chunk.iter().position(|&byte| byte == b'\n');
            let taken = end.unwrap_or(chunk.len());
            self.too_long |= self.line.len() + taken > MAX_LINE;
            if self.too_long {
                self.line.clear();
            } else {
                self.line.extend_from_slice(&chunk[..taken]);
            }
            self.input.consume(end.map_or(taken, |end| end + 1));
            if end.is_some() {
                break;
            }
        }
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.too_long) {
            Input::TooLong
        } else {
            Input::Text(String::from_utf8_lossy(&line).into_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8], capacity: usize) -> Vec<Input> {
        let mut lines = Lines::new(BufReader::with_capacity(capacity, bytes));
        std::iter::from_fn(|| Some(lines.next()).filter(|line| *line != Input::End)).collect()
    }

    /// Input that arrives in parts: before each part, a read would block.
    struct Parts(Vec<&'static [u8]>, bool);

    impl Read for Parts {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(ErrorKind::WouldBlock.into());
            }
            let part = if self.0.is_empty() { &[] } else { self.0.remove(0) };
            to[..part.len()].copy_from_slice(part);
            Ok(part.len())
        }
    }

    #[test]
    fn lines_keep_a_part_until_its_rest_arrives() {
        let mut lines = Lines::new(BufReader::new(Parts(vec![b"isre", b"ady\nst", b"op\n"], false)));
        let read: Vec<Input> = std::iter::repeat_with(|| lines.next()).take(6).collect();
        let text = |text: &str| Input::Text(text.into());
        let expected = [Input::Nothing, Input::Nothing, text("isready"), Input::Nothing, text("stop"), Input::Nothing];
        assert_eq!(read, expected);
        assert_eq!(lines.next(), Input::End);
    }

    #[test]
    fn lines_accept_any_bytes() {
        for capacity in [1, 3, 4096] {
            let read = lines(b"uci\r\n\n\xff\xfe go\0\nlast without end", capacity);
            let expected = ["uci\r", "", "\u{fffd}\u{fffd} go\0", "last without end"];
            assert_eq!(read, expected.map(|text| Input::Text(text.into())));
        }
    }

    #[test]
    fn lines_skip_too_long_line() {
        let mut bytes = vec![b'x'; MAX_LINE + 1];
        bytes.extend_from_slice(b"\nisready\n");
        assert_eq!(lines(&bytes, 4096), [Input::TooLong, Input::Text("isready".into())]);
        assert_eq!(lines(&vec![b'y'; MAX_LINE], 4096).len(), 1);
    }
}
