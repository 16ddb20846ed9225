//! The engine thread: executes commands in order. It waits for a search only before it starts the next one.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crossbeam::channel::Receiver;

use super::command::{Command, Extra, PositionCommand};
use super::evalfile::{self, EMBEDDED_NAME};
use super::extra;
use super::go::{self, GoCommand};
use super::log;
use super::mailbox::{Mailbox, Message};
use super::options::{self, Id, OPTIONS, OptionValue};
use super::output::Output;
use super::print::{Printer, Setting};
use super::settings::Settings;
use super::terminal::Audience;
use crate::board::Position;
use crate::book::Book;
use crate::nnue::Network;
use crate::search::syzygy::LoadedTables;
use crate::search::tt::NoMemory;
use crate::search::{Limits, ThreadPool};
use crate::tools;
use crate::util::text::{Shown as _, excerpt};
use crate::util::{attention, reason, threads};

/// A change of state that the search threads share. During a search it is postponed.
enum Change {
    Hash(usize),
    Threads(usize),
    Net(evalfile::LoadedNet),
    Syzygy(String),
    /// `Clear Hash` or `ucinewgame`: clears the table and the histories.
    Clear,
    /// `Save Hash`: write the table to this file.
    SaveHash(PathBuf),
    /// `Load Hash`: fill the table from this file.
    LoadHash(PathBuf),
}

/// The engine's state for the protocol.
pub struct Engine {
    pub(super) output: Output,
    pub(super) mailbox: Mailbox,
    pub(super) position: Position,
    pub(super) settings: Settings,
    audience: Audience,
    debug: bool,
    /// Created on first use, so that the handshake is fast.
    pool: Option<ThreadPool>,
    /// Hash size in MiB for `pool`, or of `pool` once it exists.
    hash: usize,
    threads: usize,
    postponed: Vec<Change>,
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
            hash: options::default_int(Id::Hash) as usize,
            threads: options::default_int(Id::Threads) as usize,
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
                self.change("ucinewgame", Change::Clear);
            }
            Command::Position(command) => {
                if let Err(reason) = self.set_position(&command) {
                    self.output.error(&format!("position: {reason}; the position is unchanged"));
                }
            }
            Command::Go(go) => self.go(number, &go),
            Command::Stop => self.mailbox.stop(number),
            Command::PonderHit => self.mailbox.ponderhit(number),
            Command::Extra(extra, arguments) => self.extra(number, extra, &arguments),
            Command::Register | Command::Quit => {}
        }
    }

    fn handshake(&mut self) {
        self.audience = Audience::Gui;
        let mut lines = vec![
            format!("id name Zoothera {}", env!("CARGO_PKG_VERSION")),
            String::from("id author the Zoothera developers"),
        ];
        lines.extend(OPTIONS.iter().map(options::Spec::declaration));
        lines.extend(tuning_declarations());
        lines.push("uciok".into());
        self.output.line(lines.join("\n"));
    }

    /// Replaces the position as a whole. After an error it is unchanged.
    fn set_position(&mut self, command: &PositionCommand) -> Result<(), String> {
        let mut position = match &command.fen {
            None => Position::startpos(),
            Some(fen) => {
                let mode = self.settings.castling_mode();
                Position::from_fen(fen, mode)
                    .map_err(|error| format!("FEN '{}': {}", excerpt(fen), reason::chain(&error)))?
            }
        };
        for (index, text) in command.moves.iter().enumerate() {
            let m = position.parse_uci(&text.to_ascii_lowercase()).map_err(|error| {
                let reason = reason::chain(&error);
                format!("move {} ('{}'): {reason}", index + 1, excerpt(text))
            })?;
            position.do_move(m);
        }
        self.position = position;
        Ok(())
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
        let setting = Setting {
            number,
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
            self.output.info(&format!("go: {}", go::describe(&limits)));
        }
        let printer = Arc::new(Printer::new(setting, self.output.clone(), self.mailbox.clone()));
        self.search = number;
        self.mailbox.begin_search(number, go::is_endless(&limits), limits.ponder);
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

    /// Stops a running search and waits for its `bestmove`. After the end of the input there is no user to wait, so
    /// each search runs to its end.
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
            let mut pool = ThreadPool::new(Network::embedded(), self.threads, 1);
            report_threads(&self.output, self.threads, pool.threads());
            report_hash(&self.output, self.hash, pool.set_hash(self.hash));
            self.mailbox.set_controller(pool.controller());
            pool
        })
    }

    fn set_option(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
        let Some(spec) = options::find(name) else {
            return set_parameter(name, value);
        };
        let value = spec.parse(value)?;
        if self.settings.apply(spec.id, &value) {
            return Ok(());
        }
        match spec.id {
            Id::Hash => self.change(spec.name, Change::Hash(value.int() as usize)),
            Id::Threads => self.change(spec.name, Change::Threads(value.int() as usize)),
            Id::EvalFile => match evalfile::load(value.text()) {
                Ok(net) => {
                    self.net_rejected = false;
                    self.change(spec.name, Change::Net(net));
                }
                Err(reason) => {
                    // Short, because a GUI may show only the beginning of a line; the reason has a line of its own.
                    self.net_rejected = true;
                    let short = format!("EvalFile not loaded; using {}", self.net);
                    self.output.error(&short);
                    self.output.info(&format!("EvalFile: {reason}"));
                }
            },
            Id::SyzygyPath => self.change(spec.name, Change::Syzygy(unquoted(value.text()).to_owned())),
            Id::ClearHash => self.change(spec.name, Change::Clear),
            Id::SaveHash => self.change(spec.name, Change::SaveHash(self.hash_file(spec.name)?)),
            Id::LoadHash => self.change(spec.name, Change::LoadHash(self.hash_file(spec.name)?)),
            Id::BookFile => self.set_book(unquoted(value.text()))?,
            Id::DebugLogFile => self.output.log_to(open_log(&value)?),
            _ => {}
        }
        Ok(())
    }

    /// The file named by `Hash File`; `name` is the option that needs it.
    fn hash_file(&self, name: &str) -> Result<PathBuf, String> {
        match unquoted(&self.settings.hash_file) {
            "" => Err(format!("{name}: no file name; set Hash File first")),
            file => Ok(PathBuf::from(file)),
        }
    }

    /// Opens the book `name`; an empty name closes the book. After an error the book in use stays open.
    fn set_book(&mut self, name: &str) -> Result<(), String> {
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

    /// Applies a change now, or after the running search.
    fn change(&mut self, name: &str, change: Change) {
        if self.mailbox.is_searching() {
            self.output.info(&format!("{name}: will be applied after this search"));
            self.postponed.push(change);
        } else {
            self.apply(change);
        }
    }

    /// Applies the postponed changes if no search is running.
    fn apply_postponed(&mut self) {
        if !self.postponed.is_empty() && !self.mailbox.is_searching() {
            for change in std::mem::take(&mut self.postponed) {
                self.apply(change);
            }
        }
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Hash(mib) => {
                self.hash = mib;
                if let Some(pool) = &mut self.pool {
                    report_hash(&self.output, mib, pool.set_hash(mib));
                }
            }
            Change::Threads(threads) => {
                self.threads = threads;
                if let Some(pool) = &mut self.pool {
                    pool.set_threads(threads);
                    report_threads(&self.output, threads, pool.threads());
                    self.mailbox.set_controller(pool.controller());
                }
            }
            Change::Net(net) => {
                self.pool().set_network(net.network);
                self.net = net.name;
                self.output.info(&net.summary);
            }
            Change::Syzygy(path) => match self.pool().set_syzygy_path(&path) {
                Ok(loaded) => report_tables(&self.output, &loaded),
                Err(error) => self
                    .output
                    .error(&format!("SyzygyPath: {}; the tables in use are unchanged", reason::chain(&error))),
            },
            Change::SaveHash(path) => {
                self.hash_on_disk(&path, true);
                self.mailbox.write_done();
            }
            Change::LoadHash(path) => self.hash_on_disk(&path, false),
            Change::Clear => {
                // Without threads there are no histories or table entries to clear.
                if let Some(pool) = &mut self.pool {
                    pool.clear();
                }
            }
        }
    }

    fn extra(&mut self, number: u64, extra: Extra, arguments: &[String]) {
        match extra {
            Extra::Display => self.output.line(self.position.diagram().trim_end()),
            Extra::Help => self.output.line(extra::help()),
            Extra::Cpu => self.output.line(tools::cpu::report().trim_end()),
            Extra::Eval => {
                let network = self.pool().network();
                self.output.line(tools::eval::explain(&self.position, &network).trim_end());
            }
            Extra::Flip => {
                let flipped = extra::flipped(&self.position.fen());
                match Position::from_fen(&flipped, self.position.castling_mode()) {
                    Ok(position) => self.position = position,
                    Err(error) => {
                        self.output.error(&format!("flip: {}; the position is unchanged", reason::chain(&error)))
                    }
                }
            }
            Extra::Perft => match arguments.first().and_then(|text| text.parse().ok()) {
                Some(depth) => self.perft(number, depth),
                None => self.output.error("perft: missing depth; expected a number of plies"),
            },
            Extra::ExportNet => {
                let network = self.pool().network();
                match tools::net::export_named(&network, unquoted(&arguments.join(" "))) {
                    Ok(summary) => self.output.info(&format!("network saved to {summary}")),
                    Err(error) => self.output.error(&format!("export_net: {}", reason::chain(&error))),
                }
                self.mailbox.write_done();
            }
            Extra::Bench | Extra::GenFens => self.tool(extra, arguments),
        }
    }

    fn perft(&mut self, number: u64, depth: i64) {
        let (mailbox, output) = (&self.mailbox, &self.output);
        let chess960 = self.settings.chess960;
        mailbox.set_long_job(true);
        extra::perft(&mut self.position.clone(), depth, chess960, output, &|| {
            attention::heed();
            mailbox.is_stopped(number)
        });
        mailbox.set_long_job(false);
    }

    /// Runs tools that search with threads of their own.
    fn tool(&mut self, tool: Extra, arguments: &[String]) {
        self.finish_search();
        let network = self.pool().network();
        self.mailbox.set_long_job(true);
        let result = extra::tool(tool, arguments, network, &self.output);
        self.mailbox.set_long_job(false);
        if let Err(error) = result {
            self.output.error(&reason::chain(&error));
        }
    }
}

/// Reports a number of threads below the requested one.
fn report_threads(output: &Output, requested: usize, obtained: usize) {
    if obtained < requested && threads::EXIST {
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
    let found = format!("{} files, up to {} men", loaded.files, loaded.men);
    if !loaded.problems.is_empty() {
        let used: Vec<_> = loaded.directories.iter().map(|directory| format!("'{}'", directory.shown())).collect();
        output.error(&format!("SyzygyPath: {}; using {found} in {}", loaded.problems_in_words(), used.join(", ")));
    } else if loaded.files > 0 {
        output.info(&format!("SyzygyPath: {found}"));
    }
}

/// Opens the debug log for appending; `None` for an empty name.
fn open_log(value: &OptionValue) -> Result<Option<File>, String> {
    let name = unquoted(value.text());
    if name.is_empty() {
        return Ok(None);
    }
    log::open(Path::new(name)).map(Some).map_err(|error| {
        let reason = reason::chain(&error);
        format!("setoption Debug Log File: '{}': {reason}", excerpt(name))
    })
}

/// A path without surrounding quotes.
fn unquoted(path: &str) -> &str {
    let inner = ['"', '\''].iter().find_map(|&quote| path.strip_prefix(quote)?.strip_suffix(quote));
    inner.unwrap_or(path).trim()
}

/// Message of a panic.
fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a message")
}

/// The search parameters as options; empty without the feature `tune`.
#[cfg(feature = "tune")]
fn tuning_declarations() -> Vec<String> {
    let spin = |p: &crate::search::params::Parameter| {
        format!("option name {} type spin default {} min {} max {}", p.name, p.default, p.min, p.max)
    };
    crate::search::params::TABLE.iter().map(spin).collect()
}

#[cfg(not(feature = "tune"))]
fn tuning_declarations() -> Vec<String> {
    Vec::new()
}

/// Sets a search parameter.
#[cfg(feature = "tune")]
fn set_parameter(name: &str, value: Option<&str>) -> Result<(), String> {
    let parameter = crate::search::params::TABLE.iter().find(|p| p.name.eq_ignore_ascii_case(name));
    let Some(p) = parameter else {
        return Err(unknown_option(name));
    };
    let number = value.and_then(|text| text.trim().parse().ok()).filter(|number| (p.min..=p.max).contains(number));
    let refusal = || format!("setoption {}: the value must be an integer from {} to {}", p.name, p.min, p.max);
    crate::search::params::set(p.name, number.ok_or_else(refusal)?);
    Ok(())
}

#[cfg(not(feature = "tune"))]
fn set_parameter(name: &str, _value: Option<&str>) -> Result<(), String> {
    let parameter = crate::search::params::TABLE.iter().find(|p| p.name.eq_ignore_ascii_case(name));
    Err(parameter.map_or_else(
        || unknown_option(name),
        |p| {
            let name = p.name;
            format!("setoption {name}: search parameters can only be set in a build with --features tune")
        },
    ))
}

fn unknown_option(name: &str) -> String {
    format!("setoption: unknown option '{}'; type 'help' for the list", excerpt(name))
}
