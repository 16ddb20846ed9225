//! UCI: the protocol on standard input and output.
//!
//! There are three threads. The [`reader`] parses lines ([`command`]), executes commands at once where the protocol
//! requires it, and queues the rest. The [`engine`] executes them in order, checks options against one table
//! ([`options`]), and starts searches, which report to a printer. The writer thread prints all output ([`output`]). At
//! the end of the input, the queued commands are still executed; `quit` and a closed output end the process at once.
//!
//! A host without threads that cannot wait for input either, such as a browser, runs a [`Session`].

pub mod command;
pub mod engine;
pub mod options;
pub mod output;
pub mod reader;

use std::io::Read;
use std::sync::Arc;

use crossbeam::channel::Receiver;

use crate::util::sync::{self, Mutex};
use command::{Command, CommandError};
use engine::Engine;
use output::{Audience, Output};
use reader::{Mailbox, Message, Progress, Reader};

/// Runs UCI on standard input and output until `quit` or the end of the input.
pub fn run() -> anyhow::Result<()> {
    let output = Output::stdout();
    let audience = output::audience();
    if audience != Audience::Gui {
        output.line(output::greeting());
    }
    serve(std::io::stdin(), &output, audience, || std::process::exit(0));
    Ok(())
}

/// Runs UCI on any input and output until all of the input is executed. Calls `exit` at a `quit`.
pub fn serve(input: impl Read + Send + 'static, output: &Output, audience: Audience, exit: fn()) {
    let (mailbox, messages) = Mailbox::new();
    let reports_unknown = audience != Audience::Gui;
    let reader = Reader::new(input, mailbox.clone(), output.clone(), reports_unknown, exit);
    let mut engine = Engine::new(output.clone(), mailbox, audience);
    if sync::THREADS_EXIST {
        std::thread::spawn(move || reader.run(|| {}));
        engine.run(&messages);
    } else {
        // Without threads, every command ends before the next one is read.
        reader.run(|| engine.run_pending(&messages));
    }
    output.drain();
}

/// Executes commands from the command line, each to its end.
pub fn run_with_commands(commands: &[String]) -> anyhow::Result<()> {
    let output = Output::stdout();
    let (mailbox, messages) = Mailbox::new();
    let mut engine = Engine::new(output.clone(), mailbox, Audience::Gui);
    for (number, text) in (1..).zip(commands) {
        match text.parse() {
            Ok(Command::Quit) => break,
            Ok(command) => engine.handle(Message::Command(number, Box::new(command))),
            Err(CommandError::Empty) => {}
            Err(CommandError::Unknown(reason) | CommandError::Malformed(reason)) => output.error(&reason),
        }
        engine.wait();
        messages.try_iter().for_each(drop); // Only `SearchEnded`: the searches are over.
    }
    output.drain();
    Ok(())
}

// UCI on a platform with neither threads nor blocking input: a WebAssembly module in a browser's worker.
//
// The host calls `Session::serve` whenever input has arrived. The engine then executes the lines that it can read,
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
