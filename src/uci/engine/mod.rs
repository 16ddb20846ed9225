//! The engine thread: executes commands in order. It waits for a search only before it starts the next one.
//!
//! This file has UCI's commands, [`non_uci`] has those beyond it, and [`option_changes`] does what a changed option
//! needs.

mod non_uci;
mod option_changes;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crossbeam::channel::Receiver;

use super::command::{self, Command, GoCommand, PositionCommand};
use super::options::{self, EMBEDDED_NAME, OPTIONS, Settings, UciOption};
use super::output::{Audience, Output, PrintOptions, Printer};
use super::reader::{Mailbox, Message};
use crate::board::Position;
use crate::nnue::Network;
use crate::search::tt::NoMemory;
use crate::search::{Limits, ThreadPool};
use crate::util::text::excerpt;
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

/// Message of a panic.
fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a message")
}
