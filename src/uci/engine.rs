//! The engine thread: executes commands in order. It waits for a search only before it starts the next one.

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crossbeam::channel::Receiver;

use super::command::{Command, Extra, PositionCommand};
use super::go::GoCommand;
use super::options::{Change, OPTIONS, Settings, UciOption};
use super::output::{Audience, Output};
use super::player::EMBEDDED_NAME;
use super::print::{PrintOptions, Printer};
use super::reader::{Mailbox, Message, Progress, Reader};
use super::resources::{Postponed, report_hash, report_threads};
use super::{extra, go, options};
use crate::board::Position;
use crate::nnue::Network;
#[cfg(feature = "tune")]
use crate::search::rules;
use crate::search::{Limits, ThreadPool, params};
use crate::tools;
use crate::util::sync::Mutex;
use crate::util::text::excerpt;
use crate::util::{reason, sync};

/// The engine's state for the protocol.
pub struct Engine {
    pub(super) output: Output,
    pub(super) mailbox: Mailbox,
    pub(super) position: Position,
    pub(super) settings: Settings,
    audience: Audience,
    debug: bool,
    /// Created on first use, so that the handshake is fast.
    pub(super) pool: Option<ThreadPool>,
    /// Hash size in MiB for `pool`, or of `pool` once it exists.
    pub(super) hash: usize,
    pub(super) threads: usize,
    /// Changes that wait for the end of the running search.
    pub(super) postponed: Vec<Postponed>,
    /// Name of the net in use.
    pub(super) net: String,
    /// Whether an `EvalFile` was rejected and the next `go` must report it.
    pub(super) net_rejected: bool,
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
            hash: options::HASH as usize,
            threads: options::THREADS as usize,
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
        lines.extend(OPTIONS.iter().map(UciOption::declaration));
        lines.extend(tuning_declarations());
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
        let printer = Arc::new(Printer::new(shown, self.output.clone(), self.mailbox.clone()));
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
    pub(super) fn pool(&mut self) -> &mut ThreadPool {
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
        let Some(option) = options::find(name) else {
            return set_parameter(name, value);
        };
        match option.assign(value)?.change {
            Change::Search(set) | Change::Session(set) => set(&mut self.settings),
            Change::Resource(set) => set(self),
            Change::Action(act) => act(self)?,
            Change::Nothing => {}
        }
        Ok(())
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
            sync::poll();
            mailbox.is_stopped(number)
        });
        mailbox.set_long_job(false);
    }

    /// Runs tools that search with their own threads.
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

/// A path without surrounding quotes.
pub(super) fn unquoted(path: &str) -> &str {
    let inner = ['"', '\''].iter().find_map(|&quote| path.strip_prefix(quote)?.strip_suffix(quote));
    inner.unwrap_or(path).trim()
}

/// Message of a panic.
fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a message")
}

/// The search parameters and the switches of rules.
#[cfg(feature = "tune")]
fn tuning_table() -> impl Iterator<Item = &'static params::Parameter> {
    params::TABLE.iter().chain(rules::SWITCHES)
}

/// The search parameters and the switches of rules as options; empty without the feature `tune`.
#[cfg(feature = "tune")]
fn tuning_declarations() -> Vec<String> {
    let spin = |p: &params::Parameter| {
        format!("option name {} type spin default {} min {} max {}", p.name, p.default, p.min, p.max)
    };
    tuning_table().map(spin).collect()
}

#[cfg(not(feature = "tune"))]
fn tuning_declarations() -> Vec<String> {
    Vec::new()
}

/// Sets a search parameter or a switch of a rule.
#[cfg(feature = "tune")]
fn set_parameter(name: &str, value: Option<&str>) -> Result<(), String> {
    let parameter = tuning_table().find(|p| p.name.eq_ignore_ascii_case(name));
    let Some(p) = parameter else {
        return Err(unknown_option(name));
    };
    let number = value.and_then(|text| text.trim().parse().ok()).filter(|number| (p.min..=p.max).contains(number));
    let refusal = || format!("setoption {}: the value must be an integer from {} to {}", p.name, p.min, p.max);
    let number = number.ok_or_else(refusal)?;
    let _known = params::set(p.name, number) || rules::set(p.name, number);
    Ok(())
}

#[cfg(not(feature = "tune"))]
fn set_parameter(name: &str, _value: Option<&str>) -> Result<(), String> {
    let parameter = params::TABLE.iter().find(|p| p.name.eq_ignore_ascii_case(name));
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

// UCI on a platform with neither threads nor blocking input: a WebAssembly module in a browser's worker.
//
// The host calls [`Session::serve`] whenever input has arrived. The engine then executes the lines that it can read,
// and returns. During a search it reads further lines, if the host can deliver any, so that `stop` ends the search at
// once.

/// The engine between two calls of the host.
pub struct Session {
    reader: Arc<Mutex<Reader>>,
    engine: Engine,
    messages: Receiver<Message>,
}

impl Session {
    /// A session on an input whose reads never block. `reaches_search` is whether lines can arrive during a search. If
    /// they cannot, the host must be able to end the instance. `exit` ends the process after `quit`.
    pub fn new(input: impl Read + Send + 'static, output: &Output, reaches_search: bool, exit: fn()) -> Self {
        let (mailbox, messages) = Mailbox::new();
        let reader = Reader::new(input, mailbox.clone(), output.clone(), false, exit);
        let reader = Arc::new(Mutex::new(reader));
        let during_search = reader.clone();
        sync::set_host(reaches_search, move || {
            // The reader is not locked during a search: `serve` locks it only to read, and reading starts no search.
            while during_search.lock().read_command() == Progress::Read {}
        });
        Self { reader, engine: Engine::new(output.clone(), mailbox, Audience::Gui), messages }
    }

    /// Executes all lines that have arrived. Returns false once no line follows.
    pub fn serve(&mut self) -> bool {
        loop {
            let progress = self.reader.lock().read_command();
            self.engine.run_pending(&self.messages);
            if progress != Progress::Read {
                return progress == Progress::Nothing;
            }
        }
    }
}
