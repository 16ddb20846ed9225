//! What the engine writes: the writer thread, which owns standard output; the debug log; and the reports of a search,
//! as UCI for a GUI or as a table for a person at a terminal.
//!
//! All output is queued here, so a GUI that does not read for a while cannot block the search or the reader. Lines
//! never mix, each is flushed, and a closed pipe ends the process. The debug log uses the same queue, so its lines
//! are in the order of events.
//!
//! The printer of a search ensures the guarantees of the protocol. The last line before `bestmove` starts with the
//! best move and has the final counters. A principal variation contains only legal moves. `bestmove` is printed exactly
//! once.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use crossbeam::channel::{Receiver, Sender, bounded, unbounded};

use crate::board::{Move, Position};
use crate::search::score::{Line, Outcome, Progress, Reporter, Score, ScoreBound};
use crate::util::console::use_colour;
use crate::util::files::{Kind, is_read_only};
use crate::util::quantity::{nodes_per_second, short_number};
use crate::util::sync::{self, Mutex};
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

// Printer of the reports of one search.

/// Inputs of the printer of one search.
pub struct PrintOptions {
    /// Root position.
    pub root: Position,
    /// Whether castling is printed as king takes rook.
    pub chess960: bool,
    /// Whether to print win, draw and loss after the score. It is read for each line, so it may change during a
    /// search.
    pub show_wdl: Arc<AtomicBool>,
    /// Reader of the output.
    pub audience: Audience,
}

/// The lines that were printed last.
#[derive(Default)]
struct Printed {
    /// By rank, from the first.
    lines: Vec<Line>,
    /// Node count of the latest line.
    nodes: u64,
}

/// Prints the reports of one search.
pub struct Printer {
    options: PrintOptions,
    output: Output,
    /// Tells the engine that the search has ended.
    announce_end: Box<dyn Fn() + Send + Sync>,
    /// Scratch board for writing and checking variations.
    board: Mutex<Position>,
    /// The lines that were printed last.
    last: Mutex<Printed>,
    /// Whether the root has no legal move, which is then already reported.
    is_over: bool,
    done: OnceLock<()>,
}

impl Printer {
    /// A printer for one search. If the game is over, reports the result at once, because the search reports no line.
    /// `announce_end` is called once, directly before `bestmove`.
    pub fn new(options: PrintOptions, output: Output, announce_end: impl Fn() + Send + Sync + 'static) -> Self {
        let is_over = options.root.legal_moves().is_empty();
        if is_over {
            let score = if options.root.in_check() { "mate 0" } else { "cp 0" };
            output.line(format!("info depth 0 score {score}"));
        }
        let board = Mutex::new(options.root.clone());
        let (announce_end, last) = (Box::new(announce_end), Mutex::default());
        Self { options, output, announce_end, board, last, is_over, done: OnceLock::new() }
    }

    /// Prints `bestmove` with any legal move if `done` was not called because the search failed.
    pub fn rescue(&self) {
        let best = self.options.root.legal_moves().first().copied();
        self.finish(&Outcome::without_search(best));
    }

    fn finish(&self, outcome: &Outcome) {
        if self.done.set(()).is_err() {
            return;
        }
        self.final_lines(outcome);
        // Announced before the move. A GUI may send `isready` as soon as it receives the move, and the reply must
        // follow the changes that were postponed until the end of this search.
        (self.announce_end)();
        self.output.line(self.best_move(outcome));
    }

    /// Prints the lines of all ranks, unless the same lines were printed last and no node was searched since.
    fn final_lines(&self, outcome: &Outcome) {
        let Some(best) = outcome.best else {
            if !self.is_over {
                self.output.line("info depth 0 score cp 0"); // None of `searchmoves` is legal.
            }
            return;
        };
        let mut line = outcome.line.clone().unwrap_or_else(|| Line {
            depth: 1,
            seldepth: 1,
            multipv: 1,
            score: Score::Centipawns(0),
            bound: ScoreBound::Exact,
            wdl: [0, 1000, 0],
            pv: Vec::new(),
        });
        if line.pv.first() != Some(&best) {
            line.pv = vec![best];
        }
        line.multipv = 1;
        let mut lines = vec![line];
        lines.extend(outcome.others.iter().cloned());
        let printed = std::mem::take(&mut *self.last.lock());
        if printed.lines != lines || printed.nodes < outcome.progress.nodes {
            lines.iter().for_each(|line| self.line(line, &outcome.progress));
        }
    }

    fn best_move(&self, outcome: &Outcome) -> String {
        let moves: Vec<Move> = outcome.best.into_iter().chain(outcome.ponder).collect();
        let written = self.write_moves(&moves, |board, m| board.uci(m, self.options.chess960));
        let mut written = written.split(' ').filter(|text| !text.is_empty());
        let mut line = format!("bestmove {}", written.next().unwrap_or("(none)"));
        if let Some(ponder) = written.next() {
            let _ = write!(line, " ponder {ponder}");
        }
        line
    }

    /// The moves as text, each converted by `write`, up to the first illegal one.
    fn write_moves(&self, moves: &[Move], write: impl Fn(&Position, Move) -> String) -> String {
        let mut board = self.board.lock();
        let mut text = String::new();
        let mut made = 0;
        for &m in moves {
            if !(board.pseudo_legal(m) && board.legal(m)) {
                break;
            }
            if made > 0 {
                text.push(' ');
            }
            text.push_str(&write(&board, m));
            board.do_move(m);
            made += 1;
        }
        for _ in 0..made {
            board.undo_move();
        }
        text
    }

    fn uci_line(&self, line: &Line, progress: &Progress) -> String {
        let mut text = format!("info depth {} seldepth {} multipv {}", line.depth, line.seldepth, line.multipv);
        push_score(&mut text, line.score);
        // Writing to a string cannot fail, here and below.
        let _ = match line.bound {
            ScoreBound::Exact => Ok(()),
            ScoreBound::Lower => write!(text, " lowerbound"),
            ScoreBound::Upper => write!(text, " upperbound"),
        };
        if self.options.show_wdl.load(Relaxed) {
            let [win, draw, loss] = line.wdl;
            let _ = write!(text, " wdl {win} {draw} {loss}");
        }
        let _ = write!(text, " nodes {} nps {}", progress.nodes, nodes_per_second(progress.nodes, progress.time));
        if let Some(permill) = progress.hashfull {
            let _ = write!(text, " hashfull {permill}");
        }
        let _ = write!(text, " tbhits {} time {}", progress.tb_hits, progress.time.as_millis());
        let moves = self.write_moves(&line.pv, |board, m| board.uci(m, self.options.chess960));
        if !moves.is_empty() {
            let _ = write!(text, " pv {moves}");
        }
        text
    }
}

/// Appends `score cp X` or `score mate X`.
fn push_score(text: &mut String, score: Score) {
    let _ = match score {
        Score::Centipawns(value) => write!(text, " score cp {value}"),
        Score::Mate(moves) => write!(text, " score mate {moves}"),
    };
}

impl Reporter for Printer {
    fn line(&self, line: &Line, progress: &Progress) {
        let mut last = self.last.lock();
        last.lines.truncate(line.multipv.saturating_sub(1));
        last.lines.push(line.clone());
        last.nodes = progress.nodes;
        drop(last);
        match self.options.audience {
            Audience::Gui => self.output.line(self.uci_line(line, progress)),
            Audience::Person { colour } => {
                let moves = self.write_moves(&line.pv, Position::san);
                self.output.line(report(line, progress, &moves, colour));
            }
        }
    }

    fn current_move(&self, depth: i32, m: Move, number: usize) {
        if self.options.audience == Audience::Gui {
            let name = self.options.root.uci(m, self.options.chess960);
            self.output.line(format!("info depth {depth} currmove {name} currmovenumber {number}"));
        }
    }

    fn message(&self, text: &str) {
        self.output.info(text);
    }

    fn done(&self, outcome: &Outcome) {
        self.finish(outcome);
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

#[cfg(test)]
mod print_tests {
    use std::time::Duration;

    use super::tests::Page;
    use super::*;
    use crate::board::CastlingMode;

    struct Bench {
        page: Page,
        output: Output,
        printer: Printer,
    }

    fn printer(fen: &str, chess960: bool) -> Bench {
        let page = Page::default();
        let output = Output::new(page.clone(), || {});
        let mode = if chess960 { CastlingMode::Chess960 } else { CastlingMode::Standard };
        let options = PrintOptions {
            root: Position::from_fen(fen, mode).expect("a valid FEN"),
            chess960,
            show_wdl: Arc::new(AtomicBool::new(true)),
            audience: Audience::Gui,
        };
        let printer = Printer::new(options, output.clone(), || {});
        Bench { page, output, printer }
    }

    impl Bench {
        fn text(&self) -> String {
            self.output.flush(Duration::from_secs(5));
            self.page.text()
        }
        fn moves(&self, list: &str) -> Vec<Move> {
            let mut board = self.printer.options.root.clone();
            let mut moves = Vec::new();
            for text in list.split(' ') {
                let m = board.parse_uci(text).expect("a legal move");
                board.do_move(m);
                moves.push(m);
            }
            moves
        }
    }

    fn line(depth: i32, score: Score, pv: Vec<Move>) -> Line {
        Line { depth, seldepth: depth + 2, multipv: 1, score, bound: ScoreBound::Exact, wdl: [500, 300, 200], pv }
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    fn progress() -> Progress {
        Progress { nodes: 2000, time: Duration::from_millis(10), hashfull: Some(3), tb_hits: 0 }
    }

    #[test]
    fn line_has_every_field_and_the_castling_notation_of_the_gui() {
        for (chess960, castle) in [(false, "e1g1"), (true, "e1h1")] {
            let bench = printer("4k3/8/8/8/8/8/8/4K2R w K - 0 1", chess960);
            let pv = bench.moves("e1h1 e8e7");
            bench.printer.line(&line(3, Score::Centipawns(-12), pv), &progress());
            let expected = "info depth 3 seldepth 5 multipv 1 score cp -12 wdl 500 300 200 nodes 2000 nps 200000 \
                            hashfull 3 tbhits 0 time 10 pv";
            assert_eq!(bench.text(), format!("{expected} {castle} e8e7\n"));
        }
    }

    #[test]
    fn last_line_starts_with_the_best_move() {
        let bench = printer(START, false);
        let good = line(4, Score::Centipawns(20), bench.moves("e2e4 e7e5"));
        bench.printer.line(&good, &progress());
        let low = Line { bound: ScoreBound::Upper, depth: 5, ..good.clone() };
        bench.printer.line(&low, &progress());
        let (best, ponder) = (Some(good.pv[0]), Some(good.pv[1]));
        let outcome = Outcome { best, ponder, line: Some(good), others: Vec::new(), progress: progress() };
        bench.printer.done(&outcome);
        bench.printer.done(&outcome);
        bench.printer.rescue();
        let text = bench.text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert!(lines[1].contains("upperbound") && lines[2].contains(" pv e2e4 e7e5") && !lines[2].contains("bound"));
        assert_eq!(lines[3], "bestmove e2e4 ponder e7e5");
    }

    /// Output of a search that ends `more` nodes after the last line it printed.
    fn ended_after(more: u64) -> Vec<String> {
        let bench = printer(START, false);
        let good = line(4, Score::Centipawns(20), bench.moves("e2e4 e7e5"));
        bench.printer.line(&good, &progress());
        let mut last = progress();
        last.nodes += more;
        bench.printer.done(&Outcome {
            best: good.pv.first().copied(),
            ponder: None,
            line: Some(good),
            others: Vec::new(),
            progress: last,
        });
        bench.text().lines().map(String::from).collect()
    }

    #[test]
    fn last_line_is_repeated_only_with_new_counters() {
        assert_eq!(ended_after(0).len(), 2);
        let lines = ended_after(500);
        assert_eq!(lines.len(), 3);
        assert!(lines[1].contains("depth 4 ") && lines[1].contains(" nodes 2500 "));
    }

    #[test]
    fn final_line_keeps_its_bound() {
        let bench = printer(START, false);
        let found = Line { bound: ScoreBound::Lower, ..line(5, Score::Centipawns(70), bench.moves("d2d4")) };
        bench.printer.done(&Outcome {
            best: found.pv.first().copied(),
            ponder: None,
            line: Some(found),
            others: Vec::new(),
            progress: progress(),
        });
        let text = bench.text();
        assert!(text.starts_with("info depth 5 ") && text.contains(" score cp 70 lowerbound "), "{text}");
    }

    #[test]
    fn variation_ends_before_illegal_move() {
        let bench = printer(START, false);
        let mut pv = bench.moves("e2e4");
        pv.push(pv[0]);
        bench.printer.line(&line(1, Score::Mate(2), pv), &progress());
        assert!(bench.text().contains("score mate 2") && bench.text().ends_with(" pv e2e4\n"));
    }

    #[test]
    fn finished_game_is_reported_at_once() {
        let nothing = Outcome::without_search(None);
        for (fen, score) in [("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "cp 0"), ("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "mate 0")] {
            let bench = printer(fen, false);
            assert_eq!(bench.text(), format!("info depth 0 score {score}\n"));
            bench.printer.done(&nothing);
            assert!(bench.text().ends_with("bestmove (none)\n"));
        }
    }
}
