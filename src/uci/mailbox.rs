//! State that the reader thread and the engine thread share.
//!
//! Commands pass through a channel and are numbered in the order of input. `stop` and `ponderhit` must overtake that
//! channel, but must not affect a later `go`. So they store a *mark*, the number of their line. A search that starts
//! compares the marks with the line of its own `go` and applies the later ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};

use crossbeam::channel::{Receiver, Sender, unbounded};

use super::command::Command;
use crate::search::Controller;
use crate::util::sync::Mutex;
use crate::util::threads;

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
        let searching = usize::from(!threads::EXIST && self.is_searching());
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
