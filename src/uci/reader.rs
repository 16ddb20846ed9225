//! The reader thread. It never waits for the engine thread: `stop`, `ponderhit`, `quit` and (during a long job)
//! `isready` are executed at once. Everything else, including error messages, passes through the mailbox in order.
//!
//! The end of the input only means that no more commands follow. The queued commands are still executed. A search
//! without a limit is stopped, because no `stop` can arrive.

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender, unbounded};

use super::command::{Command, CommandError};
use super::output::Output;
use crate::search::Controller;
use crate::util::sync;
use crate::util::sync::Mutex;
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
                if !sync::THREADS_EXIST && command.ends_search() {
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

// State that the reader thread and the engine thread share.
//
// Commands pass through a channel and are numbered in the order of input. `stop` and `ponderhit` must overtake that
// channel, but must not affect a later `go`. So they store a *mark*, the number of their line. A search that starts
// compares the marks with the line of its own `go` and applies the later ones.

/// Message to the engine thread.
#[derive(Debug)]
pub enum Message {
    /// A command and the number of its line.
    Command(u64, Box<Command>),
    /// The error message for a line that is not a command.
    Reject(String),
    /// The search that this line started has ended, or is about to report its end.
    SearchEnded(u64),
    /// No message follows: the input has ended, or `quit` was read.
    End,
}

/// State that both threads use. All atomics are `SeqCst`: they are accessed once per command.
#[derive(Default)]
struct Shared {
    /// Messages that are sent but not finished.
    queued: AtomicUsize,
    /// Bytes of input of those messages.
    backlog: AtomicUsize,
    stop_mark: AtomicU64,
    ponderhit_mark: AtomicU64,
    /// Whether the input has ended (not by `quit`).
    input_ended: AtomicBool,
    /// Line of the running `go` if it has no limit; 0 otherwise.
    endless: AtomicU64,
    /// Line of the running `go ponder`; 0 for none. It has no limit until a `ponderhit`.
    pondering: AtomicU64,
    /// Whether the engine thread is running a long command other than a search (bench, perft).
    long_job: AtomicBool,
    /// Number of commands that write a file and are not finished. `quit` must wait for them.
    writes: AtomicUsize,
    /// Controller of the search threads, replaced when their number changes. Locked only to copy it.
    controller: Mutex<Option<Controller>>,
}

/// The sending side; cheap to clone.
#[derive(Clone)]
pub struct Mailbox {
    shared: Arc<Shared>,
    queue: Sender<Message>,
}

impl Mailbox {
    /// A mailbox, and the receiver for the engine thread.
    pub fn new() -> (Self, Receiver<Message>) {
        let (queue, messages) = unbounded();
        (Self { shared: Arc::default(), queue }, messages)
    }

    /// Sends a message that represents `bytes` of input.
    pub fn send(&self, message: Message, bytes: usize) {
        self.shared.queued.fetch_add(1, SeqCst);
        self.shared.backlog.fetch_add(bytes, SeqCst);
        // Fails only if the engine thread has ended.
        let _ = self.queue.send(message);
    }

    /// Marks a message as finished. When no message remains, the backlog is reset to zero.
    pub fn finished(&self) {
        if self.shared.queued.fetch_sub(1, SeqCst) == 1 {
            self.shared.backlog.store(0, SeqCst);
        }
    }

    /// Whether messages are waiting or being handled.
    pub fn is_busy(&self) -> bool {
        self.shared.queued.load(SeqCst) > 0
    }

    /// Whether messages are waiting. On a system without threads, the `go` of a running search is unfinished but does
    /// not count as waiting.
    pub fn is_waiting(&self) -> bool {
        let searching = usize::from(!sync::THREADS_EXIST && self.is_searching());
        self.shared.queued.load(SeqCst) > searching
    }

    /// Bytes of input since the queue was last empty.
    pub fn backlog(&self) -> usize {
        self.shared.backlog.load(SeqCst)
    }

    /// Stops every search whose `go` was read before line `number`.
    pub fn stop(&self, number: u64) {
        self.shared.stop_mark.fetch_max(number, SeqCst);
        if let Some(controller) = self.controller() {
            controller.stop();
        }
    }

    /// Forwards `ponderhit` to the search whose `go ponder` was read before line `number`.
    pub fn ponderhit(&self, number: u64) {
        self.shared.ponderhit_mark.fetch_max(number, SeqCst);
        if let Some(controller) = self.controller() {
            controller.ponderhit();
        }
    }

    /// Applies a `stop` or `ponderhit` that arrived before the search of line `number` had started. Must be called
    /// directly after its start.
    pub fn catch_up(&self, number: u64) {
        if let Some(controller) = self.controller() {
            if self.shared.ponderhit_mark.load(SeqCst) > number {
                controller.ponderhit();
            }
            if self.is_stopped(number) {
                controller.stop();
            }
        }
        self.stop_endless();
    }

    /// Records the end of the input, and stops a search without a limit.
    pub fn end_input(&self) {
        self.shared.input_ended.store(true, SeqCst);
        self.stop_endless();
    }

    /// Whether the input has ended.
    pub fn input_has_ended(&self) -> bool {
        self.shared.input_ended.load(SeqCst)
    }

    /// Records the kind of search that the `go` of line `number` starts. Must be called directly before its start.
    pub fn begin_search(&self, number: u64, endless: bool, ponder: bool) {
        let mark = |is: bool| if is { number } else { 0 };
        self.shared.endless.store(mark(endless), SeqCst);
        self.shared.pondering.store(mark(ponder), SeqCst);
    }

    /// Stops a running search without a limit if the input has ended.
    fn stop_endless(&self) {
        let pondering = self.shared.pondering.load(SeqCst);
        let endless = self.shared.endless.load(SeqCst) > 0
            || (pondering > 0 && self.shared.ponderhit_mark.load(SeqCst) <= pondering);
        if endless
            && self.input_has_ended()
            && let Some(controller) = self.controller()
        {
            controller.stop();
        }
    }

    /// Whether a `stop` was read after line `number`.
    pub fn is_stopped(&self, number: u64) -> bool {
        self.shared.stop_mark.load(SeqCst) > number
    }

    /// Marks the start or the end of a long job.
    pub fn set_long_job(&self, running: bool) {
        self.shared.long_job.store(running, SeqCst);
    }

    /// Whether a long job is running.
    pub fn has_long_job(&self) -> bool {
        self.shared.long_job.load(SeqCst)
    }

    /// Counts a command that writes a file, when it is read.
    pub fn expect_write(&self) {
        self.shared.writes.fetch_add(1, SeqCst);
    }

    /// Records that a counted command has finished, whether it succeeded or failed. Does nothing if the count is
    /// zero.
    pub fn write_done(&self) {
        let less = |writes: usize| writes.checked_sub(1);
        let _ = self.shared.writes.fetch_update(SeqCst, SeqCst, less);
    }

    /// Resets the count: the remaining commands will not be executed.
    pub fn reset_writes(&self) {
        self.shared.writes.store(0, SeqCst);
    }

    /// Whether a file is being written, or will be written after the running search.
    pub fn is_writing(&self) -> bool {
        self.shared.writes.load(SeqCst) > 0
    }

    /// Sets the controller of new search threads.
    pub fn set_controller(&self, controller: Controller) {
        *self.shared.controller.lock() = Some(controller);
    }

    /// The controller of the search threads, once they exist.
    pub fn controller(&self) -> Option<Controller> {
        self.shared.controller.lock().clone()
    }

    /// Whether a search is running.
    pub fn is_searching(&self) -> bool {
        self.controller().is_some_and(|controller| controller.is_searching())
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
