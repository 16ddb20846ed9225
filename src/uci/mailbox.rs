//! What the reader thread and the engine thread share.
//!
//! Commands travel through a channel and are numbered as they were read. `stop` and `ponderhit` must overtake that
//! channel, yet must not hit a `go` that comes after them: so they leave a *mark*, the number of the line they came
//! on. A search that begins looks at the marks and obeys those that are younger than its own `go`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};

use crossbeam::channel::{Receiver, Sender, unbounded};
use parking_lot::Mutex;

use super::command::Command;
use crate::search::Controller;

/// For the engine thread.
#[derive(Debug)]
pub enum Message {
    /// A command and the number of its line.
    Command(u64, Box<Command>),
    /// A line that is no command, and why.
    Reject(String),
    /// The search that began with this line is over (or about to say so).
    SearchEnded(u64),
    /// Nothing follows: the input has ended, or `quit` was read.
    End,
}

/// What both threads see. All atomics are `SeqCst`: they are touched once per command.
#[derive(Default)]
struct Shared {
    /// Messages sent and not yet dealt with.
    queued: AtomicUsize,
    /// Bytes of input behind those messages.
    backlog: AtomicUsize,
    stop_mark: AtomicU64,
    ponderhit_mark: AtomicU64,
    /// The input has ended (not by `quit`).
    input_ended: AtomicBool,
    /// The line of a `go` that runs and has no end of its own; 0 for none.
    endless: AtomicU64,
    /// The line of a `go ponder` that runs; 0 for none. It has no end of its own until a `ponderhit`.
    pondering: AtomicU64,
    /// The engine thread runs something long that is no search (bench, perft).
    long_job: AtomicBool,
    /// Commands read that write a file, and have not been carried out: `quit` must not cut them off.
    writes: AtomicUsize,
    /// Appears with the search threads, and changes with their number. Locked only to copy it.
    controller: Mutex<Option<Controller>>,
}

/// The sending side; cheap to clone.
#[derive(Clone)]
pub struct Mailbox {
    shared: Arc<Shared>,
    queue: Sender<Message>,
}

impl Mailbox {
    /// A mailbox and the end where the engine thread takes messages out.
    pub fn new() -> (Self, Receiver<Message>) {
        let (queue, messages) = unbounded();
        (
            Self {
                shared: Arc::default(),
                queue,
            },
            messages,
        )
    }

    /// Sends a message that took `bytes` of input.
    pub fn send(&self, message: Message, bytes: usize) {
        self.shared.queued.fetch_add(1, SeqCst);
        self.shared.backlog.fetch_add(bytes, SeqCst);
        // Fails only when the engine thread has ended.
        let _ = self.queue.send(message);
    }

    /// A message was dealt with; with nothing left the backlog starts again from zero.
    pub fn finished(&self) {
        if self.shared.queued.fetch_sub(1, SeqCst) == 1 {
            self.shared.backlog.store(0, SeqCst);
        }
    }

    /// Whether messages wait or are being dealt with.
    pub fn is_busy(&self) -> bool {
        self.shared.queued.load(SeqCst) > 0
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

    /// Tells the search whose `go ponder` was read before line `number` that the move was played.
    pub fn ponderhit(&self, number: u64) {
        self.shared.ponderhit_mark.fetch_max(number, SeqCst);
        if let Some(controller) = self.controller() {
            controller.ponderhit();
        }
    }

    /// Passes on what was said to the search of line `number` before it began. To be called just after it has.
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

    /// Notes that no more input comes, and stops a search that would have no end.
    pub fn end_input(&self) {
        self.shared.input_ended.store(true, SeqCst);
        self.stop_endless();
    }

    /// Whether the input has ended.
    pub fn input_has_ended(&self) -> bool {
        self.shared.input_ended.load(SeqCst)
    }

    /// Notes what kind of search the `go` of line `number` begins. To be called just before it does.
    pub fn begin_search(&self, number: u64, endless: bool, ponder: bool) {
        let mark = |is: bool| if is { number } else { 0 };
        self.shared.endless.store(mark(endless), SeqCst);
        self.shared.pondering.store(mark(ponder), SeqCst);
    }

    /// Once the input has ended: stops the search that runs if it has no end of its own.
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

    /// Whether a `stop` came after line `number`.
    pub fn is_stopped(&self, number: u64) -> bool {
        self.shared.stop_mark.load(SeqCst) > number
    }

    /// Marks the begin or the end of a long job.
    pub fn set_long_job(&self, running: bool) {
        self.shared.long_job.store(running, SeqCst);
    }

    /// Whether a long job runs.
    pub fn has_long_job(&self) -> bool {
        self.shared.long_job.load(SeqCst)
    }

    /// A command that writes a file was read.
    pub fn expect_write(&self) {
        self.shared.writes.fetch_add(1, SeqCst);
    }

    /// Such a command was carried out, or has failed. Commands that nobody announced are not counted.
    pub fn write_done(&self) {
        let less = |writes: usize| writes.checked_sub(1);
        let _ = self.shared.writes.fetch_update(SeqCst, SeqCst, less);
    }

    /// None of them will be carried out.
    pub fn forget_writes(&self) {
        self.shared.writes.store(0, SeqCst);
    }

    /// Whether a file is being written, or will be after the search that runs.
    pub fn is_writing(&self) -> bool {
        self.shared.writes.load(SeqCst) > 0
    }

    /// These search threads take over.
    pub fn set_controller(&self, controller: Controller) {
        *self.shared.controller.lock() = Some(controller);
    }

    /// The controller of the search threads, once they exist.
    pub fn controller(&self) -> Option<Controller> {
        self.shared.controller.lock().clone()
    }

    /// Whether a search runs.
    pub fn is_searching(&self) -> bool {
        self.controller()
            .is_some_and(|controller| controller.is_searching())
    }
}
