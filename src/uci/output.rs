//! One way out: a thread that owns standard output.
//!
//! Whoever has something to say sends it here and goes on, so that a GUI that does not read for a while can block
//! neither the search nor the reader of its commands. Lines never mix, each is flushed, and a closed pipe ends
//! the process. The debug log hangs on the same queue, which keeps its lines in the order of events.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender, bounded, unbounded};
use parking_lot::Mutex;

use super::log;
use crate::util::text::printable;
use crate::util::threads;

/// Something for the writer thread.
enum Item {
    /// Lines for the GUI (without the last newline).
    Out(String),
    /// A line that came in; only the log wants it.
    In(String),
    /// Another log, or none.
    Log(Option<File>),
    /// Answer when everything before has been written.
    Flush(Sender<()>),
}

/// A handle to the writer; cheap to clone, never blocks.
#[derive(Clone)]
pub struct Output {
    queue: Sender<Item>,
    /// Where there are no threads, whoever sends also writes.
    writer: Option<Arc<Mutex<Writer>>>,
}

impl Output {
    /// Writes to `sink` from a thread of its own; `on_closed` runs when the sink refuses.
    pub fn new(sink: impl Write + Send + 'static, on_closed: fn()) -> Self {
        let (queue, items) = unbounded();
        let mut writer = Writer {
            sink: Box::new(sink),
            items,
            start: Instant::now(),
            log: None,
            on_closed,
        };
        if threads::EXIST {
            thread::spawn(move || while writer.wait() {});
            return Self {
                queue,
                writer: None,
            };
        }
        let writer = Some(Arc::new(Mutex::new(writer)));
        Self { queue, writer }
    }

    /// The process's standard output; the process ends when that is closed.
    pub fn stdout() -> Self {
        Self::new(std::io::stdout(), || std::process::exit(0))
    }

    /// Writes a line (or several, kept together).
    pub fn line(&self, text: impl Into<String>) {
        self.send(Item::Out(text.into()));
    }

    /// Writes `info string TEXT`, on one line whatever `text` holds.
    pub fn info(&self, text: &str) {
        self.line(format!("info string {}", one_line(text)));
    }

    /// Reports a rejected input: the one line that says what and why.
    pub fn error(&self, text: &str) {
        self.line(format!("info string ERROR: {}", one_line(text)));
    }

    /// Notes a line of input in the log.
    pub fn heard(&self, line: &str) {
        self.send(Item::In(line.to_owned()));
    }

    /// Logs to `file` from now on, or not at all.
    pub fn log_to(&self, file: Option<File>) {
        self.send(Item::Log(file));
    }

    /// Waits until everything has been written, but no longer than `patience`.
    pub fn flush(&self, patience: Duration) {
        let (done, wait) = bounded(1);
        self.send(Item::Flush(done));
        // Not written in time: nobody is reading.
        let _ = wait.recv_timeout(patience);
    }

    /// Waits until everything has been written, however slowly it is read.
    pub fn drain(&self) {
        let (done, wait) = bounded(1);
        self.send(Item::Flush(done));
        // Fails when the writer has ended, because its sink is closed.
        let _ = wait.recv();
    }

    fn send(&self, item: Item) {
        // Fails only when the writer has ended because its sink is closed: nobody is left to tell.
        let _ = self.queue.send(item);
        if let Some(writer) = &self.writer {
            writer.lock().write_pending();
        }
    }
}

fn one_line(text: &str) -> String {
    printable(text).replace('\n', " ")
}

/// Takes items out of the queue and writes them.
struct Writer {
    sink: Box<dyn Write + Send>,
    items: Receiver<Item>,
    start: Instant,
    log: Option<File>,
    on_closed: fn(),
}

impl Writer {
    /// Waits for an item and writes it; false once nothing more comes, or can be written.
    fn wait(&mut self) -> bool {
        self.items.recv().is_ok_and(|item| self.write(item))
    }

    /// Writes what is there.
    fn write_pending(&mut self) {
        while self.items.try_recv().is_ok_and(|item| self.write(item)) {}
    }

    /// False when the sink refuses.
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

/// Adds lines to the log: seconds since the start, direction, text. A log that cannot be written is dropped.
fn note(log: &mut Option<File>, start: Instant, direction: &str, text: &str) {
    if let Some(file) = log {
        let seconds = start.elapsed().as_secs_f64();
        let lines: String = text
            .lines()
            .map(|line| format!("{seconds:.6} {direction} {line}\n"))
            .collect();
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
    fn lines_stay_lines() {
        let page = Page::default();
        let output = Output::new(page.clone(), || {});
        output.error("two\nlines");
        output.line("uciok");
        output.flush(Duration::from_secs(5));
        assert_eq!(page.text(), "info string ERROR: two lines\nuciok\n");
    }

    #[test]
    fn the_log_hears_both_directions() {
        let path = std::env::temp_dir().join(format!("zoothera-log-{}.tmp", std::process::id()));
        let output = Output::new(Page::default(), || {});
        output.log_to(File::create(&path).ok());
        output.heard("isready");
        output.line("readyok");
        output.flush(Duration::from_secs(5));
        let log = std::fs::read_to_string(&path).unwrap_or_default();
        let _ = std::fs::remove_file(&path);
        assert!(
            log.contains(">> isready\n") && log.contains("<< readyok\n"),
            "{log}"
        );
    }
}
