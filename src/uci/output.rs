//! The writer thread, which owns standard output.
//!
//! All output is queued here, so a GUI that does not read for a while cannot block the search or the reader. Lines
//! never mix, each is flushed, and a closed pipe ends the process. The debug log uses the same queue, so its lines
//! are in the order of events.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender, bounded, unbounded};

use super::log;
use crate::util::sync::Mutex;
use crate::util::text::printable;
use crate::util::threads;

/// Queue item for the writer thread.
enum Item {
    /// Lines for the GUI (without the last newline).
    Out(String),
    /// An input line, for the log only.
    In(String),
    /// A new log file, or none.
    Log(Option<File>),
    /// Request for a reply once all earlier items are written.
    Flush(Sender<()>),
}

/// Handle to the writer; cheap to clone. Sending never blocks.
#[derive(Clone)]
pub struct Output {
    queue: Sender<Item>,
    /// On systems without threads, the sender also writes.
    writer: Option<Arc<Mutex<Writer>>>,
}

impl Output {
    /// Writes to `sink` from a separate thread. Calls `on_closed` if a write fails.
    pub fn new(sink: impl Write + Send + 'static, on_closed: fn()) -> Self {
        let (queue, items) = unbounded();
        let mut writer = Writer { sink: Box::new(sink), items, start: Instant::now(), log: None, on_closed };
        if threads::EXIST {
            thread::spawn(move || while writer.wait() {});
            return Self { queue, writer: None };
        }
        let writer = Some(Arc::new(Mutex::new(writer)));
        Self { queue, writer }
    }

    /// The process's standard output. The process exits when standard output is closed.
    pub fn stdout() -> Self {
        Self::new(std::io::stdout(), || std::process::exit(0))
    }

    /// Writes one line, or several lines that must not be separated.
    pub fn line(&self, text: impl Into<String>) {
        self.send(Item::Out(text.into()));
    }

    /// Writes `info string TEXT` as one line; line breaks in `text` become spaces.
    pub fn info(&self, text: &str) {
        self.line(format!("info string {}", one_line(text)));
    }

    /// Reports rejected input in one line.
    pub fn error(&self, text: &str) {
        self.line(format!("info string ERROR: {}", one_line(text)));
    }

    /// Adds an input line to the log.
    pub fn log_input(&self, line: &str) {
        self.send(Item::In(line.to_owned()));
    }

    /// Logs to `file` from now on, or stops logging.
    pub fn log_to(&self, file: Option<File>) {
        self.send(Item::Log(file));
    }

    /// Waits until everything is written, or until `timeout` has passed.
    pub fn flush(&self, timeout: Duration) {
        let (done, wait) = bounded(1);
        self.send(Item::Flush(done));
        // A timeout means that the GUI is not reading.
        let _ = wait.recv_timeout(timeout);
    }

    /// Waits until everything is written, without a timeout.
    pub fn drain(&self) {
        let (done, wait) = bounded(1);
        self.send(Item::Flush(done));
        // Fails if the writer has ended because its sink is closed.
        let _ = wait.recv();
    }

    fn send(&self, item: Item) {
        // Fails only if the writer has ended because its sink is closed; then there is no reader.
        let _ = self.queue.send(item);
        if let Some(writer) = &self.writer {
            writer.lock().write_pending();
        }
    }
}

fn one_line(text: &str) -> String {
    printable(text).replace('\n', " ")
}

/// Receives queue items and writes them.
struct Writer {
    sink: Box<dyn Write + Send>,
    items: Receiver<Item>,
    start: Instant,
    log: Option<File>,
    on_closed: fn(),
}

impl Writer {
    /// Waits for an item and writes it. Returns false when the queue or the sink is closed.
    fn wait(&mut self) -> bool {
        self.items.recv().is_ok_and(|item| self.write(item))
    }

    /// Writes the items in the queue.
    fn write_pending(&mut self) {
        while self.items.try_recv().is_ok_and(|item| self.write(item)) {}
    }

    /// Writes an item. Returns false if the sink fails.
    fn write(&mut self, item: Item) -> bool {
        match item {
            Item::Out(mut text) => {
                note(&mut self.log, self.start, log::OUTPUT, &text);
                text.push('\n');
                let written = self.sink.write_all(text.as_bytes());
                if written.and_then(|()| self.sink.flush()).is_err() {
                    (self.on_closed)();
                    return false;
                }
            }
            Item::In(text) => note(&mut self.log, self.start, log::INPUT, &text),
            Item::Log(file) => self.log = file,
            Item::Flush(done) => {
                let _ = done.send(());
            }
        }
        true
    }
}

/// Adds lines to the log: seconds since the start, direction, text. A log that cannot be written is closed.
fn note(log: &mut Option<File>, start: Instant, direction: &str, text: &str) {
    if let Some(file) = log {
        let seconds = start.elapsed().as_secs_f64();
        let lines: String = text.lines().map(|line| format!("{seconds:.6} {direction} {line}\n")).collect();
        if file.write_all(lines.as_bytes()).is_err() {
            *log = None;
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A sink whose content a test can read.
    #[derive(Clone, Default)]
    pub(crate) struct Page(pub Arc<Mutex<Vec<u8>>>);

    impl Write for Page {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl Page {
        pub(crate) fn text(&self) -> String {
            String::from_utf8_lossy(&self.0.lock()).into_owned()
        }
    }

    #[test]
    fn error_with_line_break_is_one_line() {
        let page = Page::default();
        let output = Output::new(page.clone(), || {});
        output.error("two\nlines");
        output.line("uciok");
        output.flush(Duration::from_secs(5));
        assert_eq!(page.text(), "info string ERROR: two lines\nuciok\n");
    }

    #[test]
    fn log_contains_input_and_output() {
        let path = std::env::temp_dir().join(format!("zoothera-log-{}.tmp", std::process::id()));
        let output = Output::new(Page::default(), || {});
        output.log_to(File::create(&path).ok());
        output.log_input("isready");
        output.line("readyok");
        output.flush(Duration::from_secs(5));
        let log = std::fs::read_to_string(&path).unwrap_or_default();
        let _ = std::fs::remove_file(&path);
        assert!(log.contains(">> isready\n") && log.contains("<< readyok\n"), "{log}");
    }
}
