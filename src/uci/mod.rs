//! UCI: the protocol on standard input and output.
//!
//! There are three threads. The [`reader`] parses lines ([`command`], [`go`]), executes commands at once where the
//! protocol requires it, and queues the rest. The [`engine`] executes them in order, checks options against one table
//! ([`options`]), and starts searches, which report to a printer ([`mod@print`]). The writer thread prints all output
//! ([`output`]). At the end of the input, the queued commands are still executed; `quit` and a closed output end the
//! process at once.
//!
//! A host without threads that cannot wait for input either, such as a browser, runs a [`engine::Session`].

pub mod command;
pub mod engine;
mod extra;
pub mod go;
pub mod options;
pub mod output;
mod player;
pub mod print;
pub mod reader;
mod resources;

use std::io::Read;

use crate::uci::output::Audience;
use crate::uci::reader::{Mailbox, Message};
use command::{Command, CommandError};
use engine::Engine;
use output::Output;
use reader::Reader;

use crate::util::sync;

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
