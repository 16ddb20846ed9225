//! The writer thread, which owns standard output, the debug log, and the output for a person at a terminal.
//!
//! All output is queued here, so a GUI that does not read for a while cannot block the search or the reader. Lines
//! never mix, each is flushed, and a closed pipe ends the process. The debug log uses the same queue, so its lines
//! are in the order of events.

use std::fs::{File, OpenOptions};
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{io, thread};

use anyhow::{Context, Result, bail};
use crossbeam::channel::{Receiver, Sender, bounded, unbounded};

use crate::search::score::{Line, Progress, Score, ScoreBound};
use crate::util::claim::is_read_only;
use crate::util::console::use_colour;
use crate::util::identity::Kind;
use crate::util::quantity::{nodes_per_second, short_number};
use crate::util::sync;
use crate::util::sync::Mutex;
use crate::util::text::printable;

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
        if sync::THREADS_EXIST {
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
                note(&mut self.log, self.start, OUTPUT, &text);
                text.push('\n');
                let written = self.sink.write_all(text.as_bytes());
                if written.and_then(|()| self.sink.flush()).is_err() {
                    (self.on_closed)();
                    return false;
                }
            }
            Item::In(text) => note(&mut self.log, self.start, INPUT, &text),
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

// The file of the option `Debug Log File`.

/// Marks of input and output lines, after the time.
pub const INPUT: &str = ">>";
pub const OUTPUT: &str = "<<";
/// File kind of a log, recognised by its first line.
const KIND: Kind = Kind { name: "a debug log", is: begins_as_log };

/// Opens a log for appending.
///
/// # Errors
/// Fails if the file cannot be created or written, is a device, a pipe or a folder, or is not a log.
pub fn open(path: &Path) -> Result<File> {
    match path.metadata() {
        // Opening a pipe would block until its other end is open.
        Ok(found) if !found.is_file() => bail!("it is not a regular file"),
        Ok(found) if is_read_only(&found) => bail!("it is read-only"),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    KIND.check(path)?;
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.context("cannot open the file")
}

/// Whether the first line has the form of a log line: seconds, direction, text.
fn begins_as_log(head: &[u8]) -> bool {
    let mut words = head.splitn(3, |&byte| byte == b' ');
    let [Some(seconds), Some(direction)] = [words.next(), words.next()] else {
        return false;
    };
    let is_number = seconds.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    is_number && [INPUT, OUTPUT].contains(&String::from_utf8_lossy(direction).as_ref())
}

// Output for a person at a terminal, until `uci` shows that a GUI is connected: a greeting, and search lines in
// columns.

/// Reader of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// A program, which receives only UCI output.
    Gui,
    /// A person at a terminal.
    Person {
        /// Whether the output is coloured.
        colour: bool,
    },
}

/// The audience at standard input and output.
pub fn audience() -> Audience {
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        Audience::Person { colour: use_colour(&std::io::stdout()) }
    } else {
        Audience::Gui
    }
}

/// The first line for a person.
pub fn greeting() -> String {
    format!("Zoothera {}, a UCI chess engine. Type 'help' for the commands.", env!("CARGO_PKG_VERSION"))
}

/// One line of a search: depth, score, chances, time, nodes, speed, moves.
pub fn report(line: &Line, progress: &Progress, moves: &str, colour: bool) -> String {
    let bound = match line.bound {
        ScoreBound::Exact => ' ',
        ScoreBound::Lower => '+',
        ScoreBound::Upper => '-',
    };
    let (score, sign) = match line.score {
        Score::Centipawns(value) => (format!("{:+.2}", f64::from(value) / 100.0), value.signum()),
        Score::Mate(moves) => (format!("#{moves:+}"), if moves > 0 { 1 } else { -1 }),
    };
    let [win, draw, loss] = line.wdl.map(|permill| (u32::from(permill) + 5) / 10);
    let depth = format!("{:>3}/{:<3}", line.depth, line.seldepth);
    let score = format!("{score:>7}{bound}");
    let chances = format!("{win:>3}/{draw}/{loss}%");
    let seconds = progress.time.as_secs_f64();
    let nodes = short_number(progress.nodes as f64);
    let speed = short_number(nodes_per_second(progress.nodes, progress.time) as f64);
    let effort = format!("{seconds:>8.2}s {nodes:>7} {speed:>7}/s");
    let hue = match sign {
        1 => "32",
        -1 => "31",
        _ => "33",
    };
    let rank = if line.multipv > 1 { format!("({}) ", line.multipv) } else { String::new() };
    format!(
        "{} {} {} {}  {rank}{moves}",
        paint(&depth, "1", colour),
        paint(&score, hue, colour),
        paint(&format!("{chances:<12}"), "2", colour),
        paint(&effort, "2", colour),
    )
}

/// Sets `text` in an ANSI style.
fn paint(text: &str, style: &str, colour: bool) -> String {
    if colour { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
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

#[cfg(test)]
mod log_tests {
    use super::*;
    use std::fs;

    #[test]
    fn open_accepts_only_logs_and_keeps_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        for (text, is_log) in [
            ("", true),
            ("0.000123 >> uci\n", true),
            ("12.000123 << readyok\n", true),
            ("[Event \"?\"]\n", false),
            ("0.5\n", false),
        ] {
            fs::write(&path, text).expect("room");
            assert_eq!(open(&path).is_ok(), is_log, "{text}");
            assert_eq!(fs::read_to_string(&path).expect("a file"), text);
        }
        assert!(open(&folder.path().join("new")).is_ok());
        assert!(open(folder.path()).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn open_rejects_pipe_without_blocking() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.expect("there is a mkfifo").success());
        let error = open(&path).expect_err("a pipe").to_string();
        assert!(error.contains("not a regular file"), "{error}");
    }
}

#[cfg(test)]
mod terminal_tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn report_has_columns_with_and_without_colour() {
        let line = Line {
            depth: 12,
            seldepth: 20,
            multipv: 1,
            score: Score::Centipawns(34),
            bound: ScoreBound::Exact,
            wdl: [504, 300, 196],
            pv: Vec::new(),
        };
        let progress = Progress { nodes: 1_234_567, time: Duration::from_millis(800), hashfull: None, tb_hits: 0 };
        let plain = report(&line, &progress, "e4 e5", false);
        assert_eq!(plain, " 12/20    +0.34   50/30/20%       0.80s  1.23 M  1.54 M/s  e4 e5");
        let coloured = report(&line, &progress, "e4 e5", true);
        assert!(coloured.contains("\x1b[32m"));
    }
}
