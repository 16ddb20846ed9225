//! The reader thread. It never waits for the engine: whatever happens there, `stop`, `ponderhit`, `quit` and (while
//! something runs) `isready` act at once; the rest, complaints too, goes through the mailbox in order.
//!
//! The end of the input only means that there are no more commands: what was read is carried out, except that a search
//! without an end of its own is stopped, because nobody is left to stop it.

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::thread;
use std::time::{Duration, Instant};

use super::command::{Command, CommandError};
use super::mailbox::{Mailbox, Message};
use super::output::Output;
use crate::util::text::excerpt;

/// A longer line is refused: a game of 5000 moves takes 0.05 MiB.
const LONGEST_LINE: usize = 4 << 20;
/// Input that the engine may lag behind before the reader slows down, so that memory stays bounded.
const LARGEST_BACKLOG: usize = 64 << 20;
/// How long quick commands in the queue may take after `quit`.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long a search or a long job may take to notice `quit`.
const SHORT_PATIENCE: Duration = Duration::from_millis(50);

/// A line of input.
#[derive(Debug, PartialEq, Eq)]
enum Input {
    Text(String),
    TooLong,
    End,
}

/// Reads `input` to its end or to `quit`; after `quit` it calls `exit`, while at the end the engine thread ends all.
pub struct Reader {
    /// Where commands go.
    pub mailbox: Mailbox,
    /// Where immediate answers go.
    pub output: Output,
    /// Whether to complain about unknown words before `uci`: welcome to a person, not to a GUI that probes which
    /// protocol the engine speaks.
    pub outspoken: bool,
    /// Ends the process; does nothing in tests.
    pub exit: fn(),
}

impl Reader {
    /// Runs in this thread.
    pub fn run(self, input: impl Read) {
        self.run_between(input, || {});
    }

    /// Runs in this thread, and calls `work` after every command.
    pub fn run_between(self, input: impl Read, mut work: impl FnMut()) {
        let mut input = BufReader::with_capacity(1 << 16, input);
        let mut uci_heard = self.outspoken;
        for number in 1_u64.. {
            let text = match read_line(&mut input) {
                Input::Text(text) => text,
                Input::TooLong => {
                    let limit = LONGEST_LINE >> 20;
                    self.complain(format!("a line of more than {limit} MiB was skipped"));
                    continue;
                }
                Input::End => {
                    self.mailbox.end_input();
                    return self.mailbox.send(Message::End, 0);
                }
            };
            self.output.heard(&text);
            match text.parse() {
                Ok(Command::Quit) => break,
                Ok(command) => {
                    uci_heard |= command == Command::Uci;
                    if command.writes_file() {
                        self.mailbox.expect_write();
                    }
                    self.dispatch(number, command, text.len());
                }
                Err(error) => self.reject(error, uci_heard),
            }
            work();
            while self.mailbox.backlog() > LARGEST_BACKLOG && self.mailbox.is_busy() {
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
            command => self
                .mailbox
                .send(Message::Command(number, Box::new(command)), bytes),
        }
    }

    /// Whether `isready` can be answered here: nothing waits before it, or something long runs that the GUI must
    /// not take for a hang. Otherwise the answer has to queue behind, say, a change of the hash size.
    fn is_ready(&self) -> bool {
        let started = self.mailbox.controller().is_some();
        self.mailbox.has_long_job() || (started && !self.mailbox.is_busy())
    }

    /// Says what is wrong with a line.
    fn reject(&self, error: CommandError, uci_heard: bool) {
        match error {
            CommandError::Empty => {}
            CommandError::Malformed(reason) => self.complain(reason),
            CommandError::Unknown(text) if uci_heard => {
                self.complain(format!("unknown command: {}", excerpt(&text)));
            }
            CommandError::Unknown(_) => {}
        }
    }

    /// Has an error reported, after what the lines before it have to say.
    fn complain(&self, reason: String) {
        let bytes = reason.len();
        self.mailbox.send(Message::Reject(reason), bytes);
    }

    /// Stops everything, lets quick commands that were read before finish, and files be written, and exits.
    fn quit(self) {
        self.mailbox.stop(u64::MAX);
        self.mailbox.send(Message::End, 0);
        let start = Instant::now();
        while self.mailbox.is_busy() {
            let running = self.mailbox.is_searching() || self.mailbox.has_long_job();
            let patience = if running { SHORT_PATIENCE } else { PATIENCE };
            if start.elapsed() > patience && !self.mailbox.is_writing() {
                break;
            }
            thread::sleep(Duration::from_micros(200));
        }
        self.output.flush(SHORT_PATIENCE);
        (self.exit)();
    }
}

/// The next line. Any bytes will do: those that are not UTF-8 become replacement characters.
fn read_line(input: &mut impl BufRead) -> Input {
    let mut line = Vec::new();
    let mut too_long = false;
    loop {
        let chunk = match input.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => &[], // A broken input is an ended one.
        };
        if chunk.is_empty() {
            if line.is_empty() && !too_long {
                return Input::End;
            }
            break;
        }
        let end = chunk.iter().position(|&byte| byte == b'\n');
        let taken = end.unwrap_or(chunk.len());
        too_long |= line.len() + taken > LONGEST_LINE;
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
    if too_long {
        Input::TooLong
    } else {
        Input::Text(String::from_utf8_lossy(&line).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8], capacity: usize) -> Vec<Input> {
        let mut input = BufReader::with_capacity(capacity, bytes);
        std::iter::from_fn(|| Some(read_line(&mut input)).filter(|line| *line != Input::End))
            .collect()
    }

    #[test]
    fn any_bytes_make_lines() {
        for capacity in [1, 3, 4096] {
            let read = lines(b"uci\r\n\n\xff\xfe go\0\nlast without end", capacity);
            let expected = ["uci\r", "", "\u{fffd}\u{fffd} go\0", "last without end"];
            assert_eq!(read, expected.map(|text| Input::Text(text.into())));
        }
    }

    #[test]
    fn a_line_without_measure_is_skipped() {
        let mut bytes = vec![b'x'; LONGEST_LINE + 1];
        bytes.extend_from_slice(b"\nisready\n");
        assert_eq!(
            lines(&bytes, 4096),
            [Input::TooLong, Input::Text("isready".into())]
        );
        assert_eq!(lines(&vec![b'y'; LONGEST_LINE], 4096).len(), 1);
    }
}
