//! The engine thread: executes commands in order. It waits for a search only before it starts the next one.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use crossbeam::channel::Receiver;

use super::command::{Command, GoCommand, NON_UCI_COMMANDS, NonUciCommand, PositionCommand};
use super::options::{Action, EMBEDDED_NAME, Kind, OPTIONS, Settings, UciOption, unquoted};
use super::output::{Audience, Output, PrintOptions, Printer};
use super::reader::{Mailbox, Message};
use super::{command, options, output};
use crate::board::Position;
use crate::book::Book;
use crate::nnue::Network;
use crate::search::score::LoadedTables;
use crate::search::tt::NoMemory;
use crate::search::{Limits, ThreadPool};
use crate::tools::perft::divide;
use crate::tools::{self, bench, genfens};
use crate::util::quantity::{nodes_per_second, short_number};
use crate::util::text::{Shown as _, excerpt};
use crate::util::{reason, sync};

/// A change of state that the search threads share.
type Postponed = Box<dyn FnOnce(&mut Engine)>;

/// The engine's state for the protocol.
pub struct Engine {
    output: Output,
    mailbox: Mailbox,
    position: Position,
    settings: Settings,
    audience: Audience,
    debug: bool,
    /// Created on first use, so that the handshake is fast.
    pool: Option<ThreadPool>,
    /// Changes that wait for the end of the running search.
    postponed: Vec<Postponed>,
    /// Name of the net in use.
    net: String,
    /// Whether an `EvalFile` was rejected and the next `go` must report it.
    net_rejected: bool,
    /// Line number of the last `go`.
    search: u64,
}

impl Engine {
    /// An engine at the starting position.
    pub fn new(output: Output, mailbox: Mailbox, audience: Audience) -> Self {
        Self {
            output,
            mailbox,
            position: Position::startpos(),
            settings: Settings::new(),
            audience,
            debug: false,
            pool: None,
            postponed: Vec::new(),
            net: EMBEDDED_NAME.to_owned(),
            net_rejected: false,
            search: 0,
        }
    }

    /// Handles messages until [`Message::End`].
    pub fn run(&mut self, messages: &Receiver<Message>) {
        for message in messages {
            let ended = matches!(message, Message::End);
            self.handle(message);
            self.mailbox.finished();
            if ended {
                break;
            }
        }
    }

    /// Handles the messages in the queue and returns.
    pub fn run_pending(&mut self, messages: &Receiver<Message>) {
        for message in messages.try_iter() {
            self.handle(message);
            self.mailbox.finished();
        }
    }

    /// Waits for a running search to end, then applies the postponed changes.
    pub fn wait(&mut self) {
        if let Some(pool) = &self.pool {
            pool.wait();
        }
        self.apply_postponed();
    }

    /// Handles one message. A panic in the engine's code ends the command, but not the engine.
    pub fn handle(&mut self, message: Message) {
        let handled = catch_unwind(AssertUnwindSafe(|| {
            self.apply_postponed();
            match message {
                Message::Command(number, command) => self.command(number, *command),
                Message::Reject(reason) => self.output.error(&reason),
                Message::SearchEnded(number) if number == self.search => self.wait(),
                Message::SearchEnded(_) => {}
                Message::End => self.wait(),
            }
        }));
        if let Err(panic) = handled {
            self.mailbox.set_long_job(false);
            self.mailbox.reset_writes();
            self.output.error(&format!("internal error: {}; this is a bug, please report it", panic_text(&*panic)));
        }
    }

    fn command(&mut self, number: u64, command: Command) {
        let writes = command.writes_file();
        match command {
            Command::Uci => self.handshake(),
            Command::Debug(on) => self.debug = on,
            Command::IsReady => {
                self.pool();
                self.output.line("readyok");
            }
            Command::SetOption { name, value } => {
                if let Err(reason) = self.set_option(&name, value.as_deref()) {
                    self.output.error(&reason);
                    if writes {
                        self.mailbox.write_done();
                    }
                }
            }
            Command::UciNewGame => {
                self.settings.level.new_game();
                self.settings.book.new_game();
                self.clear("ucinewgame");
            }
            Command::Position(command) => {
                if let Err(reason) = self.set_position(&command) {
                    self.output.error(&format!("position: {reason}"));
                }
            }
            Command::Go(go) => self.go(number, &go),
            Command::Stop => self.mailbox.stop(number),
            Command::PonderHit => self.mailbox.ponderhit(number),
            Command::NonUci(command, arguments) => self.non_uci(number, command, &arguments),
            Command::Register | Command::Quit => {}
        }
    }

    fn handshake(&mut self) {
        self.audience = Audience::Gui;
        let mut lines = vec![
            format!("id name Zoothera {}", env!("CARGO_PKG_VERSION")),
            String::from("id author the Zoothera developers"),
        ];
        lines.extend(OPTIONS.iter().map(UciOption::declaration));
        lines.extend(options::tuning_declarations());
        lines.push("uciok".into());
        self.output.line(lines.join("\n"));
    }

    /// Replaces the position. An illegal move ends the list: the legal moves before it are made, so that `go` answers
    /// for the game up to there and not for an earlier position. With an invalid FEN the position does not change.
    fn set_position(&mut self, command: &PositionCommand) -> Result<(), String> {
        let mut position = match &command.fen {
            None => Position::startpos(),
            Some(fen) => {
                let mode = self.settings.castling_mode();
                Position::from_fen(fen, mode).map_err(|error| {
                    format!("FEN '{}': {}; the position is unchanged", excerpt(fen), reason::chain(&error))
                })?
            }
        };
        let mut result = Ok(());
        for (index, text) in command.moves.iter().enumerate() {
            match position.parse_uci(&text.to_ascii_lowercase()) {
                Ok(m) => {
                    position.do_move(m);
                }
                Err(error) => {
                    let (reason, number) = (reason::chain(&error), index + 1);
                    let word = excerpt(text);
                    result = Err(format!("move {number} ('{word}'): {reason}; using the moves before it"));
                    break;
                }
            }
        }
        self.position = position;
        result
    }

    fn go(&mut self, number: u64, go: &GoCommand) {
        self.finish_search();
        let (limits, problems) = go.limits(&self.position);
        if !problems.is_empty() {
            self.output.error(&problems.join("; "));
        }
        for note in go.notes() {
            self.output.info(&note);
        }
        if let Some(depth) = go.perft {
            return self.perft(number, depth);
        }
        if self.book_move(&limits) {
            return;
        }
        let shown = PrintOptions {
            root: self.position.clone(),
            chess960: self.settings.chess960,
            show_wdl: Arc::clone(&self.settings.show_wdl),
            audience: self.audience,
        };
        if std::mem::take(&mut self.net_rejected) {
            let reminder = format!("EvalFile was not loaded; using {}", self.net);
            self.output.info(&reminder);
        }
        if let Some(message) = self.settings.level.change_message() {
            self.output.info(&message);
        }
        if self.debug {
            self.output.info(&format!("go: {}", command::describe(&limits)));
        }
        let printer = Arc::new(Printer::new(shown, self.output.clone(), {
            let mailbox = self.mailbox.clone();
            move || mailbox.send(Message::SearchEnded(number), 0)
        }));
        self.search = number;
        self.mailbox.begin_search(number, command::is_endless(&limits), limits.ponder);
        let (position, options) = (self.position.clone(), self.settings.for_search());
        let started = catch_unwind(AssertUnwindSafe(|| {
            self.pool().go(position, limits, options, Arc::clone(&printer) as _);
        }));
        if let Err(panic) = started {
            self.output.error(&format!("internal error: {}; this is a bug, please report it", panic_text(&*panic)));
            printer.rescue();
        }
        self.mailbox.catch_up(number);
    }

    /// Plays a move from the book, if the book applies and contains one.
    fn book_move(&self, limits: &Limits) -> bool {
        let choice = &self.settings.book;
        if self.settings.search.analyse_mode {
            return false;
        }
        let Some(found) = choice.probe(&self.position, limits) else {
            return false;
        };
        let (position, chess960) = (&self.position, self.settings.chess960);
        let (san, name) = (position.san(found.m), position.uci(found.m, chess960));
        self.output.info(&format!("Book: {san}, weight {}", found.weight));
        self.output.line(format!("bestmove {name}"));
        true
    }

    /// Stops a running search and waits for its `bestmove`. After the end of the input no user is waiting, so each
    /// search runs to its end.
    fn finish_search(&mut self) {
        if self.mailbox.is_searching()
            && !self.mailbox.input_has_ended()
            && let Some(controller) = self.mailbox.controller()
        {
            controller.stop();
        }
        self.wait();
    }

    /// The search threads, created on first use.
    fn pool(&mut self) -> &mut ThreadPool {
        self.pool.get_or_insert_with(|| {
            // The table is allocated in a second step, because only that step returns its actual size.
            let mut pool = ThreadPool::new(Network::embedded(), self.settings.threads, 1);
            report_threads(&self.output, self.settings.threads, pool.threads());
            report_hash(&self.output, self.settings.hash, pool.set_hash(self.settings.hash));
            self.mailbox.set_controller(pool.controller());
            pool
        })
    }

    fn set_option(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
        let Some(option) = options::find(name) else {
            return options::set_parameter(name, value);
        };
        let value = option.set(value, &mut self.settings)?;
        option.action.map_or(Ok(()), |action| self.act(action, &value))
    }

    fn non_uci(&mut self, number: u64, command: NonUciCommand, arguments: &[String]) {
        match command {
            NonUciCommand::Display => self.output.line(self.position.diagram().trim_end()),
            NonUciCommand::Help => self.output.line(help()),
            NonUciCommand::Cpu => self.output.line(tools::cpu::report().trim_end()),
            NonUciCommand::Eval => {
                let network = self.pool().network();
                self.output.line(tools::eval::explain(&self.position, &network).trim_end());
            }
            NonUciCommand::Flip => {
                let flipped = flipped(&self.position.fen());
                match Position::from_fen(&flipped, self.position.castling_mode()) {
                    Ok(position) => self.position = position,
                    Err(error) => {
                        self.output.error(&format!("flip: {}; the position is unchanged", reason::chain(&error)))
                    }
                }
            }
            NonUciCommand::Perft => match arguments.first().and_then(|text| text.parse().ok()) {
                Some(depth) => self.perft(number, depth),
                None => self.output.error("perft: missing depth; expected a number of plies"),
            },
            NonUciCommand::ExportNet => {
                let network = self.pool().network();
                match tools::net::export_named(&network, unquoted(&arguments.join(" "))) {
                    Ok(summary) => self.output.info(&format!("network saved to {summary}")),
                    Err(error) => self.output.error(&format!("export_net: {}", reason::chain(&error))),
                }
                self.mailbox.write_done();
            }
            NonUciCommand::Bench | NonUciCommand::GenFens => self.tool(command, arguments),
        }
    }

    fn perft(&mut self, number: u64, depth: i64) {
        let (mailbox, output) = (&self.mailbox, &self.output);
        let chess960 = self.settings.chess960;
        mailbox.set_long_job(true);
        let counted = perft(&mut self.position.clone(), depth, chess960, output, &|| {
            sync::poll();
            mailbox.is_stopped(number)
        });
        // Before the last lines: to an `isready` after them, the commands in between must have been executed.
        mailbox.set_long_job(false);
        report_perft(counted, output);
    }

    /// Runs tools that search with their own threads.
    fn tool(&mut self, tool: NonUciCommand, arguments: &[String]) {
        self.finish_search();
        let network = self.pool().network();
        self.mailbox.set_long_job(true);
        let result = run_tool(tool, arguments, network, &self.output);
        self.mailbox.set_long_job(false);
        if let Err(error) = result {
            self.output.error(&reason::chain(&error));
        }
    }
}

// What belongs to a change of an option. Changes of resources that the search threads share are postponed until a
// running search ends.

impl Engine {
    /// Does what belongs to an option with a new value.
    fn act(&mut self, action: Action, value: &str) -> Result<(), String> {
        match action {
            Action::Hash => self.resize_hash(),
            Action::Threads => self.restart_threads(),
            Action::EvalFile => self.set_net(value),
            Action::ClearHash => self.clear("Clear Hash"),
            Action::SaveHash => self.save_hash()?,
            Action::LoadHash => self.load_hash()?,
            Action::BookFile => self.set_book(value)?,
            Action::SyzygyPath => self.open_tables(),
            Action::LogFile => self.set_log(value)?,
        }
        Ok(())
    }

    fn resize_hash(&mut self) {
        let mib = self.settings.hash;
        self.after_search("Hash", move |engine| {
            if let Some(pool) = &mut engine.pool {
                report_hash(&engine.output, mib, pool.set_hash(mib));
            }
        });
    }

    fn restart_threads(&mut self) {
        let threads = self.settings.threads;
        self.after_search("Threads", move |engine| {
            if let Some(pool) = &mut engine.pool {
                pool.set_threads(threads);
                report_threads(&engine.output, threads, pool.threads());
                engine.mailbox.set_controller(pool.controller());
            }
        });
    }

    fn open_tables(&mut self) {
        let path = self.settings.syzygy_path.clone();
        self.after_search("SyzygyPath", move |engine| match engine.pool().set_syzygy_path(unquoted(&path)) {
            Ok(loaded) => report_tables(&engine.output, &loaded),
            Err(error) => {
                engine.output.error(&format!("SyzygyPath: {}; the tables in use are unchanged", reason::chain(&error)))
            }
        });
    }

    /// Loads the net that `EvalFile` names. After an error the current net remains in use.
    fn set_net(&mut self, name: &str) {
        match options::load_net(name) {
            Ok(net) => {
                self.net_rejected = false;
                self.after_search("EvalFile", move |engine| {
                    engine.pool().set_network(net.network);
                    engine.net = net.name;
                    engine.output.info(&net.summary);
                });
            }
            Err(reason) => {
                // The message is short, because a GUI may show only the beginning of a line. A second line has the
                // reason.
                self.net_rejected = true;
                self.output.error(&format!("EvalFile not loaded; using {}", self.net));
                self.output.info(&format!("EvalFile: {reason}"));
            }
        }
    }

    /// Clears the table and the histories, for the command or option `name`.
    fn clear(&mut self, name: &str) {
        self.after_search(name, |engine| {
            // Without threads there are no histories or table entries to clear.
            if let Some(pool) = &mut engine.pool {
                pool.clear();
            }
        });
    }

    /// Writes the table to `Hash File`.
    fn save_hash(&mut self) -> Result<(), String> {
        let path = self.hash_file("Save Hash")?;
        self.after_search("Save Hash", move |engine| {
            engine.hash_on_disk(&path, true);
            engine.mailbox.write_done();
        });
        Ok(())
    }

    /// Fills the table from `Hash File`.
    fn load_hash(&mut self) -> Result<(), String> {
        let path = self.hash_file("Load Hash")?;
        self.after_search("Load Hash", move |engine| engine.hash_on_disk(&path, false));
        Ok(())
    }

    /// The file named by `Hash File`; `name` is the option that needs it.
    fn hash_file(&self, name: &str) -> Result<PathBuf, String> {
        match unquoted(&self.settings.hash_file) {
            "" => Err(format!("{name}: no file name; set Hash File first")),
            file => Ok(PathBuf::from(file)),
        }
    }

    /// Saves or loads the table and reports the result.
    fn hash_on_disk(&mut self, path: &Path, saves: bool) {
        let pool = self.pool();
        let (name, done, result) = if saves {
            ("Save Hash", "written to", pool.save_hash(path))
        } else {
            ("Load Hash", "read from", pool.load_hash(path))
        };
        match result {
            Ok(table) => self.output.info(&format!(
                "{name}: {} MiB {done} {} ({:.1} MB)",
                table.megabytes,
                path.shown(),
                table.file_bytes as f64 / 1e6
            )),
            Err(error) => {
                self.output.error(&format!("{name}: {}; the table in use is unchanged", reason::chain(&error)))
            }
        }
    }

    /// Opens the book that `Book File` names; an empty name closes the book. After an error the current book stays
    /// open.
    fn set_book(&mut self, name: &str) -> Result<(), String> {
        let name = unquoted(name);
        if name.is_empty() {
            self.settings.book.book = None;
            return Ok(());
        }
        let book = Book::open(Path::new(name)).map_err(|error| {
            let reason = reason::chain(&error);
            format!("Book File: {reason}; the book in use is unchanged")
        })?;
        self.output.info(&format!("Book File: {} moves", book.len()));
        self.settings.book.book = Some(Arc::new(book));
        Ok(())
    }

    /// Copies input and output to the file that `Debug Log File` names; an empty name ends the log.
    fn set_log(&mut self, name: &str) -> Result<(), String> {
        let name = unquoted(name);
        let log = (!name.is_empty()).then(|| output::open(Path::new(name))).transpose();
        let log = log.map_err(|error| {
            let reason = reason::chain(&error);
            format!("setoption Debug Log File: '{}': {reason}", excerpt(name))
        })?;
        self.output.log_to(log);
        Ok(())
    }

    /// Applies a change now, or after the running search.
    fn after_search(&mut self, name: &str, change: impl FnOnce(&mut Self) + 'static) {
        if self.mailbox.is_searching() {
            self.output.info(&format!("{name}: will be applied after this search"));
            self.postponed.push(Box::new(change));
        } else {
            change(self);
        }
    }

    /// Applies the postponed changes if no search is running.
    fn apply_postponed(&mut self) {
        if !self.postponed.is_empty() && !self.mailbox.is_searching() {
            for change in std::mem::take(&mut self.postponed) {
                change(self);
            }
        }
    }
}

/// Reports a number of threads below the requested one.
fn report_threads(output: &Output, requested: usize, obtained: usize) {
    if obtained < requested && sync::THREADS_EXIST {
        output.info(&format!("Threads: cannot start {requested} threads; using {obtained}"));
    }
}

/// Reports a table below the requested size.
fn report_hash(output: &Output, requested: usize, obtained: Result<usize, NoMemory>) {
    match obtained {
        Ok(obtained) if obtained < requested => {
            output.info(&format!("Hash: not enough memory for {requested} MiB; using {obtained} MiB"))
        }
        Ok(_) => {}
        Err(error) => output.error(&format!("Hash: {error}")),
    }
}

/// Reports the tables in use, and problems. Prints nothing if there are neither.
fn report_tables(output: &Output, loaded: &LoadedTables) {
    let found = format!("{} files, up to {} pieces", loaded.files, loaded.pieces);
    if !loaded.problems.is_empty() {
        let used: Vec<_> = loaded.directories.iter().map(|directory| format!("'{}'", directory.shown())).collect();
        output.error(&format!("SyzygyPath: {}; using {found} in {}", loaded.problems_in_words(), used.join(", ")));
    } else if loaded.files > 0 {
        output.info(&format!("SyzygyPath: {found}"));
    }
}

/// Message of a panic.
fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a message")
}

// Commands beyond UCI: thin wrappers of [`crate::tools`] and [`crate::board`].

/// Maximum depth of perft in plies. No perft deeper than 10 ends in practice.
const MAX_PERFT_DEPTH: i64 = 64;

/// Commands and options, one per line.
fn help() -> String {
    let mut lines = vec![
        format!("UCI: {}", command::protocol_words().collect::<Vec<_>>().join(" ")),
        format!("  go  {}", command::keywords().collect::<Vec<_>>().join(" ")),
        String::from("Beyond UCI:"),
    ];
    lines.extend(NON_UCI_COMMANDS.iter().map(|(name, _, doc)| format!("  {name:<10} {doc}")));
    lines.push("Options (setoption name NAME value VALUE):".into());
    lines.extend(OPTIONS.iter().map(|option| {
        let range = match &option.kind {
            Kind::Spin(default, range, _) => format!("{default}, {} to {}", range.start(), range.end()),
            Kind::Check(default, _) => default.to_string(),
            Kind::Button => "button".into(),
            Kind::Text("", _) => "text".into(),
            Kind::Text(default, _) if default.len() > 20 => "text".into(),
            Kind::Text(default, _) => (*default).into(),
        };
        format!("  {:<18} {} ({range})", option.name, option.help)
    }));
    lines.join("\n")
}

/// Runs a tool that prints lines.
fn run_tool(tool: NonUciCommand, arguments: &[String], network: Arc<Network>, output: &Output) -> Result<()> {
    let mut out = Lines { output, rest: Vec::new() };
    if tool == NonUciCommand::GenFens {
        let request = genfens::Request::parse(&arguments.join(" "))?;
        genfens::generate(&request, network, &mut out)
    } else {
        let options = bench::BenchOptions::from_words(arguments)?;
        bench::bench(options, network, &mut out, &mut std::io::stderr()).map(drop)
    }
}

/// Writer for the tools that splits text into lines and sends them to the output.
struct Lines<'a> {
    output: &'a Output,
    rest: Vec<u8>,
}

impl Write for Lines<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        while let Some(end) = self.rest.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            self.output.line(String::from_utf8_lossy(&line[..end]));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Counts the move paths below each move and prints them, until `is_stopped` returns true. Returns the total and
/// the nodes per second, or `None` if it was stopped.
fn perft(
    position: &mut Position,
    depth: i64,
    chess960: bool,
    output: &Output,
    is_stopped: &dyn Fn() -> bool,
) -> Option<(u64, f64)> {
    let start = std::time::Instant::now();
    let depth = depth.clamp(1, MAX_PERFT_DEPTH) as u32;
    let mut lines = Lines { output, rest: Vec::new() };
    let total = divide(position, depth, chess960, is_stopped, &mut lines).ok()??;
    Some((total, nodes_per_second(total, start.elapsed()) as f64))
}

/// Prints the result of [`perft`].
fn report_perft(counted: Option<(u64, f64)>, output: &Output) {
    let Some((total, speed)) = counted else {
        return output.info("perft: stopped");
    };
    output.line(format!("\nNodes searched: {total}\n"));
    output.info(&format!("{} nodes per second", short_number(speed)));
}

/// The FEN with the colours exchanged and the ranks reversed.
fn flipped(fen: &str) -> String {
    let swap = |c: char| {
        if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() }
    };
    let mut fields: Vec<String> = fen.split(' ').map(String::from).collect();
    if let Some(board) = fields.first_mut() {
        *board =
            board.split('/').rev().map(|rank| rank.chars().map(swap).collect::<String>()).collect::<Vec<_>>().join("/");
    }
    if let Some(turn) = fields.get_mut(1) {
        *turn = if turn == "w" { "b".into() } else { "w".into() };
    }
    if let Some(castling) = fields.get_mut(2) {
        // White's rights are first in a FEN.
        let swapped: String = castling.chars().map(swap).collect();
        let (white, black): (String, String) = swapped.chars().partition(char::is_ascii_uppercase);
        *castling = white + &black;
    }
    if let Some(square) = fields.get_mut(3) {
        *square = square.replace('3', "#").replace('6', "3").replace('#', "6");
    }
    fields.join(" ")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::output::tests::Page;
    use super::*;

    #[test]
    fn flip_exchanges_the_colours() {
        let fen = "rnbqkbnr/pppp1ppp/8/8/4pP2/8/PPPPP1PP/RNBQKBNR b KQk f3 0 3";
        let flip = "rnbqkbnr/ppppp1pp/8/4Pp2/8/8/PPPP1PPP/RNBQKBNR w Kkq f6 0 3";
        assert_eq!(flipped(fen), flip);
        assert_eq!(flipped(flip), fen);
        assert_eq!(flipped("4k3/8/8/8/8/8/8/4K3 w - - 0 1"), "4k3/8/8/8/8/8/8/4K3 b - - 0 1");
    }

    #[test]
    fn perft_prints_each_move_and_total_and_stops() {
        let page = Page::default();
        let output = Output::new(page.clone(), || {});
        report_perft(perft(&mut Position::startpos(), 3, false, &output, &|| false), &output);
        report_perft(perft(&mut Position::startpos(), 60, false, &output, &|| true), &output);
        output.flush(Duration::from_secs(5));
        let text = page.text();
        assert!(text.contains("e2e4: 600\n") && text.contains("Nodes searched: 8902\n"), "{text}");
        assert!(text.contains("perft: stopped"));
    }

    #[test]
    fn help_lists_every_command_and_option() {
        let help = help();
        assert!(NON_UCI_COMMANDS.iter().all(|(name, ..)| help.contains(name)));
        assert!(OPTIONS.iter().all(|option| help.contains(option.name)));
    }
}
